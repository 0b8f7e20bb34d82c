//! Jobs over providers of libfabric, on one host and on hosts that are network namespaces.
//!
//! The programs are built with the workspace (`make test` does that first); `setup` installs
//! libfabric.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::mpi::{between as mpi_between, compile, mpirun, open_mpis};
use crate::common::{self, Running, assert_one_line, parent_of};
use rustix::process::{Pid, Signal, kill_process};
use weft_netns::{Cluster, Options, available};

/// Providers that any host has; `tcp` has reliable datagrams of its own from libfabric 2.0 on.
const PROVIDERS: &[&str] = match cfg!(feature = "pypi") {
    true => &["tcp", "tcp;ofi_rxm", "sockets", "shm", "sm2", "udp;ofi_rxd"],
    false => &["tcp;ofi_rxm", "sockets", "shm", "udp;ofi_rxd"],
};

/// The provider between hosts.
const FAR: &str = if cfg!(feature = "pypi") { "tcp" } else { "tcp;ofi_rxm" };

/// Two hosts with two ranks each.
fn between() -> String {
    format!("--link fabric --provider {FAR} --hosts a:2,b:2")
}

/// `None` where there can be no hosts; the reason was said then.
fn two_hosts() -> Option<Cluster> {
    available().then(|| Cluster::new(2, Options::default()).unwrap())
}

fn command(words: &str, provider: &str, program: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("run").args(words.split_whitespace()).args(["--link", "fabric"]);
    command.args(["--provider", provider, "--"]).args(program.split_whitespace());
    command.stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

fn run(words: &str, provider: &str, program: &str) -> String {
    let output = command(words, provider, program).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{provider} {words} {program}: {text}");
    text
}

/// Its ranks use the libfabric that is named, and a wrong name ends the job.
#[test]
fn the_library_can_be_chosen() {
    let mut command =
        command("-n 2 --libfabric /proc/nowhere/libfabric.so", FAR, "weft-example hello");
    let text = text(&command.output().unwrap());
    let why = "libfabric cannot be loaded: WEFT_LIBFABRIC: /proc/nowhere/libfabric.so: cannot open";
    assert!(text.contains(why), "{text}");
}

#[test]
#[cfg(feature = "pypi")]
fn the_library_is_todays() {
    let version = weft_fabric::library_version().unwrap();
    assert!(version.starts_with("2."), "WEFT_LIBFABRIC names {version}: make test-mpi sets it");
}

#[test]
fn asp_is_verified_over_every_provider() {
    for &provider in PROVIDERS {
        let text = run("-n 3 -v", provider, "asp --sample 300 --check 40 --to JFK");
        assert!(
            text.contains("3 ranks on 1 host, fabric (asked for), nrx-imc"),
            "{provider}: {text}"
        );
        assert!(text.contains("verified against Dijkstra from 40 sources"), "{provider}: {text}");
    }
}

#[test]
fn regions_are_verified_and_invariants_hold() {
    for (words, program) in [
        ("-n 2 --check", "water --molecules 40 --steps 3 --verify"),
        ("-n 3 --preset nrx-hmc", "fft --points 4096 --verify"),
        ("-n 2 --preset irx-imc --encrypt", "radix --keys 20000 --verify"),
    ] {
        let text = run(words, FAR, program);
        assert!(text.contains("   verified "), "{words} {program}: {text}");
    }
}

#[test]
fn asp_on_two_hosts_whose_ranks_share_memory() {
    let Some(two) = two_hosts() else { return };
    let text = common::run(&two, &format!("{} -v", between()), common::ASP);
    assert!(text.contains("shm within hosts, fabric between (asked for), nrx-imc"), "{text}");
    assert!(text.contains("verified against Dijkstra from 40 sources"), "{text}");
}

#[test]
fn a_provider_that_is_not_there_ends_the_job_with_the_reason() {
    let output = command("-n 2", "verbs;ofi_nowhere", "weft-example hello").output().unwrap();
    let text = text(&output);
    assert!(!output.status.success(), "{text}");
    let why =
        "libfabric has no provider \"verbs;ofi_nowhere\" with reliable datagrams in order here";
    assert!(text.contains(why), "{text}");
    let own = command("-n 2", "weft", "weft-example hello").output().unwrap();
    assert!(!own.status.success(), "Weft ran on itself");
}

#[test]
fn messages_to_and_from_all_are_right_until_the_end() {
    let Some(two) = two_hosts() else { return };
    let mut job = Running::start_checked(&two, &between(), 4);
    job.chats();
    job.chats();
    let (counts, errors) = job.end_checked();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert_eq!(errors, "");
}

#[test]
fn a_killed_rank_is_named() {
    let Some(two) = two_hosts() else { return };
    for victim in [0, 3] {
        let job = Running::start(&two, &between(), 4);
        kill_process(job.ranks[victim].1, Signal::KILL).unwrap();
        let (errors, status) = job.finish();
        let said = format!("weft: rank {victim} of 4 (pid ");
        assert_one_line(&errors, &[&said, "was killed by signal 9 (SIGKILL)"]);
        assert_eq!(status, Some(128 + 9));
    }
}

#[test]
fn a_killed_host_ends_the_job_on_the_other() {
    let Some(two) = two_hosts() else { return };
    let job = Running::start(&two, &between(), 4);
    kill_process(parent_of(job.ranks[3].1), Signal::KILL).unwrap();
    let (errors, _) = job.finish();
    assert_one_line(&errors, &["weft: rank 2 of 4 ", "was lost with its host"]);
}

#[test]
fn ranks_of_hydra_meet_on_the_fabric() {
    let Some(two) = two_hosts() else { return };
    let mut command = common::hydra(&two, 2, 4, common::ASP);
    command.env("WEFT_LINK", "fabric").env("WEFT_PROVIDER", FAR);
    let text = text(&command.output().unwrap());
    assert!(text.contains("verified against Dijkstra from 40 sources"), "{text}");
}

/// Programs of `apps/mpi`, which check what they compute.
#[test]
fn mpi_programs_are_verified_on_the_fabric() {
    let Some(two) = two_hosts() else { return };
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps/mpi");
    let words = format!("{} -x WEFT_LINK -x WEFT_PROVIDER -n 4", mpi_between(&two));
    for (name, options, checked) in [
        ("cg", "--rows 16 --columns 16", "checked: no point is further than"),
        ("is", "--keys 16384 --bits 14 --rounds 3", "checked: 0 rounds are out of order"),
        ("mg", "--levels 4 --repeat 1", "checked: no point is further than"),
        ("transpose", "--rows 64 --rounds 5", "checked: 0 entries are not"),
    ] {
        let program = folder.path().join(name);
        let source = sources.join(name).with_extension("c");
        compile(&open_mpis("mpicc"), &[source], &["-lm"], &program);
        let mut command = mpirun(&words, &folder);
        command.arg(&program).args(options.split(' '));
        let mut command = common::on_first_host(&two, &command);
        command.env("WEFT_LINK", "fabric").env("WEFT_PROVIDER", FAR);
        let said = text(&command.output().unwrap());
        assert!(said.contains(checked), "{said}");
    }
}

/// The launcher's way to the host is another one, and stays.
#[test]
fn a_host_that_is_cut_off_the_fabric_alone_is_missed() {
    let Some(two) = two_hosts() else { return };
    let words = format!("--link fabric --provider {FAR} --hosts a:1,b:1 --silence 1");
    let mut job = Running::start(&two, &words, 2);
    job.chats();
    two.host(1).set_link(false).unwrap();
    let (errors, status) = job.finish();
    // Either may be the first to miss the other.
    assert_one_line(&errors, &["weft: rank ", " could not be reached for 1.0 s"]);
    assert_ne!(status, Some(0));
}

/// The provider's files have names in `/dev/shm`, and the launcher removes them.
#[test]
fn nothing_is_left_of_ranks_that_are_killed_over_shm() {
    // Of a rank's own endpoint; that of another may not be mapped yet.
    let file_of = |(rank, pid, _): &(usize, Pid, _)| {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
        let mut paths = maps.lines().filter_map(|line| Some(line.split_once("/dev/shm/weft-")?.1));
        let own = paths.find(|name| name.ends_with(&format!("-{rank}"))).unwrap();
        PathBuf::from(format!("/dev/shm/weft-{own}"))
    };
    for (victim, signal) in [(0, Signal::KILL), (1, Signal::ABORT)] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command("-n 2", "shm", common::built("weft-testee").to_str().unwrap());
        command.current_dir(&folder);
        let mut job = Running::start_this(command, 2);
        job.chats();
        let files: Vec<PathBuf> = job.ranks.iter().map(file_of).collect();
        assert!(files.iter().all(|file| file.exists()), "{files:?}");
        kill_process(job.ranks[victim].1, signal).unwrap();
        let (errors, _) = job.finish();
        assert_one_line(
            &errors,
            &[&format!("weft: rank {victim} of 2 (pid "), "was killed by signal"],
        );
        assert!(!files.iter().any(|file| file.exists()), "{files:?}");
        // Nor of what the providers psm and psm2 write about crashes.
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
