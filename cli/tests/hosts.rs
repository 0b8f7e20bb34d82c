//! `weft run --hosts` as its users meet it, on hosts made of network namespaces.
#![allow(clippy::unwrap_used)]

use std::process::{Output, Stdio};

use weft_netns::{Cluster, Options, available};

fn weft(cluster: &Cluster, words: &str) -> Output {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
    command.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
    command.args(words.split_whitespace()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_first_line_names_hosts_and_links() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let output = weft(&cluster, "run -v --hosts a,b:2 -n 3 --link udp -- true");
    let err = text(&output.stderr);
    let cores = match std::thread::available_parallelism().unwrap().get() {
        1 => "1 core".to_owned(),
        cores => format!("{cores} cores"),
    };
    let first = format!(
        "weft: 3 ranks on 2 hosts (a: 1 on {cores}, eth0 10.77.0.1; b: 2 on {cores}, eth0 10.77.0.2), \
         shm within hosts, udp between (asked for), pupa"
    );
    let last = "weft: true exited without joining the job: is it a Weft program?";
    assert_eq!(err.lines().collect::<Vec<_>>(), [first.as_str(), last]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_host_that_is_not_there_is_one_line() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let output = weft(&cluster, "run --hosts a,nowhere -- true");
    assert_eq!(output.status.code(), Some(1));
    let line = "weft: host nowhere: the remote shell cannot get there: Could not resolve hostname nowhere\n";
    assert_eq!(text(&output.stderr), line);
}
