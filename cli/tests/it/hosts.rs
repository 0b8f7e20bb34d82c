//! `weft run --hosts` as its users meet it, on hosts made of network namespaces.

use std::process::{Output, Stdio};

use crate::common::Running;
use weft_netns::{Cluster, Options, available};

fn run(cluster: &Cluster, words: &str) -> Output {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
    command.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
    command.args(["run", "--silence", "10"]).args(words.split_whitespace()).output().unwrap()
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
    let output = run(&cluster, "-v --hosts a,b:2 -n 3 --link udp -- true");
    let err = text(&output.stderr);
    let cores = match std::thread::available_parallelism().unwrap().get() {
        1 => "1 core".to_owned(),
        cores => format!("{cores} cores"),
    };
    let first = format!(
        "weft: 3 ranks on 2 hosts (a: 1 on {cores}, eth0 10.77.0.1; b: 2 on {cores}, eth0 10.77.0.2), \
         shm within hosts, udp between (asked for), bulk over TCP, pupa"
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
    let output = run(&cluster, "--hosts a,nowhere -- true");
    assert_eq!(output.status.code(), Some(1));
    let line = "weft: host nowhere: the remote shell cannot get there: Could not resolve hostname nowhere\n";
    assert_eq!(text(&output.stderr), line);
}

#[test]
fn ranks_of_two_hosts_run_a_program_each() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let words = "--hosts a:1,b:2 --link udp --label -n 1 -- echo one : -n 2 -- printf two\\n";
    let output = run(&cluster, words);
    let mut lines: Vec<_> = text(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["[0] one", "[1] two", "[2] two"]);
    let output =
        run(&cluster, "--hosts a:1,b:1 --link udp -n 1 -- true : -n 1 -- /no/such/program");
    let line =
        "weft: host b: cannot find the program \"/no/such/program\": there is no such file\n";
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), line.into()));
}

#[test]
fn who_copies_multicasts_is_found_out_and_said() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(3, Options::default()).unwrap();
    let first_line = |words: &str| {
        let words = format!("-v --hosts a:1,b:2,c:1 {words} -- true");
        let err = text(&run(&cluster, &words).stderr);
        err.lines().next().unwrap_or_default().to_owned()
    };
    let ends_with = |words: &str, end: &str| {
        let line = first_line(words);
        assert!(line.ends_with(end), "{line}");
    };
    let v6 = format!("--interface {}", cluster.host(0).ipv6());
    let udp = "udp between (asked for), bulk over TCP";
    let xdp = "xdp between (generic, copying, MTU 1500), bulk over TCP";
    for (link, between) in [("--link udp", udp), ("--link xdp", xdp), ("", xdp)] {
        let copied = format!("{between}, multicasts copied by Ethernet, pupa");
        ends_with(link, &copied);
        ends_with(&format!("{link} --multicast ethernet"), &copied);
        ends_with(&format!("{link} {v6}"), &copied);
        ends_with(&format!("{link} --multicast tree"), &format!("{between}, pupa"));
    }
    cluster.lose_multicasts().unwrap();
    let why = "host a hears nothing that host b sends to all";
    for link in ["--link udp", "--link xdp"] {
        ends_with(link, &format!("multicasts copied by ranks ({why}), pupa"));
        let refused =
            format!("weft: the network does not copy multicasts: {why}; take --multicast auto");
        assert_eq!(first_line(&format!("{link} --multicast ethernet")), refused);
    }
    let two = "--hosts a,b --link udp --multicast ethernet -- true";
    let err = text(&run(&cluster, two).stderr);
    assert!(err.contains("that takes three hosts or more"), "{err}");
}

#[test]
fn a_job_is_ended_on_its_launchers_host_which_others_name() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let weft = |host: usize, words: &str| {
        let mut command = cluster.host(host).command(env!("CARGO_BIN_EXE_weft"));
        let output = command.args(words.split_whitespace()).output().unwrap();
        (output.status.code(), text(&[output.stdout, output.stderr].concat()))
    };
    let none = "weft: no job of yours runs on this host";
    for words in ["kill", "kill --all", "why", "top"] {
        assert_eq!(weft(1, words), (Some(1), format!("{none}\n")), "{words}");
    }
    let job = Running::start(&cluster, "--hosts a:1,b:1 --link udp", 2);
    let number = job.launcher.id();
    for (words, which) in [
        ("kill".to_owned(), none.to_owned()),
        (
            format!("kill {number}"),
            format!("weft: {number} is no job of yours on this host: `weft ps` lists them"),
        ),
    ] {
        let (code, said) = weft(1, &words);
        let there = said.strip_prefix(&format!("{which}; job {number} of host "));
        assert!(
            code == Some(1) && there.is_some_and(|it| it.ends_with(" has ranks here: ask there\n")),
            "{said}"
        );
    }
    let (code, said) = weft(0, "kill --all");
    assert_eq!((code, said.lines().count()), (Some(0), 1), "{said}");
    assert!(said.starts_with(&format!("{number}\twas ended by SIGTERM: 2 ranks of ")), "{said}");
    assert_eq!(job.finish().1, Some(128 + 15));
    assert_eq!(weft(1, "kill"), (Some(1), format!("{none}\n")));
}
