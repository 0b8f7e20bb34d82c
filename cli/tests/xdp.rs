//! Jobs between hosts over AF_XDP, started by `weft run`, on hosts made of network namespaces: answers are
//! right, ends are clean and leave nothing, and what cannot be had is said in one line.
//!
//! The programs are built with the workspace (`make test` does that first).
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use weft_netns::{Cluster, Host, INTERFACE, Options, available};

const ASP: &str = "asp --sample 300 --check 40 --to JFK";

/// `None` where there can be no cluster; the reason was said then.
fn cluster() -> Option<Cluster> {
    available().then(|| Cluster::new(2, Options::default()).unwrap())
}

fn built(program: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_weft")).with_file_name(program);
    assert!(path.exists(), "{} is not built: cargo build --workspace", path.display());
    path
}

/// `weft run` with these words, on the first host.
fn command(cluster: &Cluster, words: &str, program: &str) -> Command {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
    command.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
    let mut program = program.split_whitespace();
    command.arg("run").args(words.split_whitespace()).arg("--");
    command.arg(built(program.next().unwrap())).args(program);
    command
}

fn text(output: &Output) -> String {
    [&output.stderr[..], &output.stdout].map(String::from_utf8_lossy).concat()
}

/// Runs a program that must succeed, and returns what was written, errors first.
fn run(cluster: &Cluster, words: &str, program: &str) -> String {
    let output = command(cluster, words, program).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{words} {program}: {text}");
    text
}

fn asp_is_right(cluster: &Cluster, words: &str, ranks: u16) {
    let text = run(cluster, &format!("-v {words}"), ASP);
    assert!(text.contains("xdp between (native, copying, MTU 1500), "), "{words}: {text}");
    assert!(text.contains("AMS -> JFK   5,848 km"), "{words}: {text}");
    assert!(text.contains("verified against Dijkstra from 40 sources"), "{words}: {text}");
    assert!(text.contains(&format!("\n{ranks} ranks, ")), "{words}: {text}");
}

/// Whether there is an XDP program on the host's interface.
fn has_program(host: &Host) -> bool {
    let output = host.command("ip").args(["link", "show", INTERFACE]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).contains("xdp")
}

/// The kernel takes a program off after the last who had it has ended, not before.
fn nothing_remains(cluster: &Cluster) {
    for host in cluster.hosts() {
        let gone = (0..1000).any(|_| !has_program(host));
        assert!(gone, "{} has an XDP program", host.name());
    }
}

#[test]
fn asp_on_two_hosts() {
    let Some(two) = cluster() else { return };
    asp_is_right(&two, "--hosts a:1,b:1 --link xdp", 2);
    nothing_remains(&two);
    asp_is_right(&two, "--hosts a:2,b:2 --link xdp", 4);
    asp_is_right(&two, "--hosts a:2,b:1", 3);
    nothing_remains(&two);
}
