//! Jobs whose ranks are on several hosts, which are network namespaces, over UDP: answers are
//! right, whatever the network does, and ends are clean.
//!
//! The programs are built with the workspace (`make test` does that first).

mod ends;
mod farm;
mod growing;
mod kills;
mod losing;
mod orca;
mod survivors;
mod tickets;
mod why;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::{self, ASP, Running, assert_one_line, parent_of, text};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use weft_netns::{Cluster, Options, available};
use weft_trace::{Event, Trace, What};

/// `None` where there can be no cluster; the reason was said then.
fn cluster(hosts: usize) -> Option<Cluster> {
    available().then(|| Cluster::new(hosts, Options::default()).unwrap())
}

/// Options of hosts that have no AF_XDP, and of ranks that are to share no memory.
const UDP: &str = "--link udp";

fn run(cluster: &Cluster, words: &str, program: &str) -> String {
    common::run(cluster, &format!("{UDP} {words}"), program)
}

fn asp_is_right(cluster: &Cluster, words: &str, ranks: u16) {
    common::asp_is_right(cluster, &format!("{UDP} {words}"), ranks);
}

/// A remote shell, in `folder`, that gives each host a directory of its own where `private` is.
fn shell_that_hides(cluster: &Cluster, private: &Path, folder: &TempDir) -> PathBuf {
    let shell = folder.path().join("shell");
    let (private, remote) = (private.display(), cluster.remote_shell());
    let script = format!(
        "#!/bin/sh\nexec unshare --mount sh -c 'mount -t tmpfs none {private} && exec \"$@\"' sh {} \"$@\"\n",
        remote.display()
    );
    weft_netns::write_script(&shell, &script).unwrap();
    shell
}

#[test]
fn asp_on_two_hosts_and_three() {
    let Some(two) = cluster(2) else { return };
    asp_is_right(&two, "--hosts a:1,b:1", 2);
    asp_is_right(&two, "--hosts a:2,b:2", 4);
    let three = Cluster::new(3, Options::default()).unwrap();
    asp_is_right(&three, "--hosts a:2,b:2,c:2", 6);
}

/// Packets are as long as their way takes: those to a rank with neighbours, too.
#[test]
fn ranks_that_are_alone_get_from_those_with_neighbours_and_the_other_way_round() {
    let Some(two) = cluster(2) else { return };
    for hosts in ["a:1,b:2", "a:2,b:1"] {
        let said = run(&two, &format!("--hosts {hosts}"), "weft-testee get");
        assert_eq!(said.matches("has got all").count(), 3, "{said}");
    }
}

/// Number of packets that have left, and of those that have arrived.
fn packets(trace: &Trace) -> (usize, usize) {
    let events = || trace.ranks.iter().flat_map(|rank| &rank.events);
    let sent = |event: &&Event| matches!(event.what, What::Sent(_));
    let received = |event: &&Event| matches!(event.what, What::Received(_));
    (events().filter(sent).count(), events().filter(received).count())
}

#[test]
fn each_host_writes_its_part_of_a_trace() {
    let Some(two) = cluster(2) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("the.trace");
    let words = format!("{UDP} --hosts a:2,b:1 --trace={}", file.display());
    let output = common::command(&two, &words, ASP).output().unwrap();
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("the.trace.0 to ") && said.contains("the.trace.1: `weft report "),
        "{said}"
    );
    let trace = Trace::open(&file).unwrap();
    assert_eq!(trace.run.hosts, ["host 0", "host 0", "host 1"]);
    assert!(trace.ranks.iter().all(|rank| !rank.events.is_empty() && rank.lost == 0));
    let (sent, received) = packets(&trace);
    assert!(received > 100 && received <= sent, "{sent} packets left, {received} arrived");
}

#[test]
fn programs_on_objects() {
    let Some(two) = cluster(2) else { return };
    for (program, right) in [
        ("asp --sample 200 --to JFK --on objects", "verified against Dijkstra"),
        ("leq --unknowns 100 --verify", "verified bit for bit against one rank"),
        ("tsp --verify", ": 3,323   verified by dynamic programming"),
    ] {
        let text = run(&two, "--hosts a:2,b:2", program);
        assert!(text.contains(right), "{program}: {text}");
    }
}

#[test]
fn databases_of_awari() {
    let Some(two) = cluster(2) else { return };
    for link in ["udp", "xdp"] {
        let folder = tempfile::tempdir().unwrap();
        let words = format!("--link {link} --hosts a:2,b:2");
        let directory = format!("--directory {}", folder.path().display());
        let made = common::run(&two, &words, &format!("awari make --stones 7 {directory}"));
        let row = "\n     7     31,824     14,944      4,483     12,397   700598600\n";
        assert!(made.contains(row), "{link}: {made}");
        let checked = common::run(&two, &words, &format!("awari check {directory}"));
        let right = "all checksums are right, and so are 50,388 of 50,388 values";
        assert!(checked.contains(right), "{link}: {checked}");
    }
}

#[test]
fn awari_on_hosts_that_share_no_directory() {
    let Some(two) = cluster(2) else { return };
    let (folder, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shell = shell_that_hides(&two, private.path(), &folder);
    let program = format!("awari make --stones 4 --directory {}/new", private.path().display());
    let mut command = common::command(&two, &format!("{UDP} --hosts a:2,b:2"), &program);
    let output = command.env("WEFT_RSH", &shell).output().unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let said = "new/awari-0.db.part, which rank 0 has made: all ranks need one directory, shared between their hosts";
    assert!(text.contains("weft: rank 2 of 4") || text.contains("weft: rank 3 of 4"), "{text}");
    assert!(text.contains(said), "{text}");
}

#[test]
fn asp_with_every_preset_that_retransmits() {
    let Some(two) = cluster(2) else { return };
    for preset in ["irx-imc", "irx-hmc", "hrx-hmc", "hrx-imc", "pupa"] {
        asp_is_right(&two, &format!("--hosts a:2,b:2 --preset {preset}"), 4);
    }
    asp_is_right(&two, "--hosts a:2,b:2 --lossless --preset nrx-hmc", 4);
}

#[test]
fn asp_with_multicasts_that_the_network_copies() {
    let Some(four) = cluster(4) else { return };
    let copied = "--multicast ethernet -v";
    for (hosts, ranks) in [("a:1,b:1,c:1,d:1", 4), ("a:2,b:1,c:2", 5)] {
        asp_is_right(&four, &format!("{copied} --hosts {hosts}"), ranks);
    }
    asp_is_right(&four, &format!("{copied} --hosts a:2,b:2,c:2 --preset irx-imc"), 6);
    asp_is_right(&four, &format!("{copied} --hosts a:2,b:2,c:2 --tree binary"), 6);
    four.host(1).lose_datagrams(0.02).unwrap();
    asp_is_right(&four, &format!("{copied} --hosts a:2,b:1,c:2"), 5);
}

#[test]
fn jobs_that_encrypt() {
    let Some(three) = cluster(3) else { return };
    let hosts = "--hosts a:1,b:2,c:1 --encrypt";
    let text = run(&three, &format!("-v {hosts}"), "weft-testee payload");
    let line = "udp between (asked for), bulk over TCP, encrypted, multicasts copied by ranks (what is encrypted is for one rank), pupa";
    assert!(text.contains(line), "{text}");
    // 16 bytes are the cipher's.
    assert_eq!(text.matches("hold 1400 bytes").count(), 4, "{text}");
    three.host(1).lose_datagrams(0.01).unwrap();
    asp_is_right(&three, hosts, 4);
    asp_is_right(&three, "-n 2 --encrypt", 2);
    let words = format!("{UDP} {hosts} --multicast ethernet");
    let output = common::command(&three, &words, ASP).output().unwrap();
    let why = "weft: the network does not copy multicasts: what is encrypted is for one rank; take --multicast auto\n";
    assert_eq!(common::text(&output), why);
}

#[test]
fn ranks_of_hydra_that_encrypt() {
    let Some(two) = cluster(2) else { return };
    let output = hydra(&two, "weft-testee payload").env("WEFT_ENCRYPT", "1").output().unwrap();
    let text = text(&output);
    assert_eq!(text.matches("hold 1400 bytes").count(), 4, "{text}");
}

/// The clock of a host tells the time since it was started, which no other host knows.
#[test]
fn hosts_whose_clocks_have_nothing_in_common() {
    let Some(two) = cluster(2) else { return };
    let days = 11 * 24 * 3600;
    let shell = format!(
        "unshare --time --monotonic {days} --boottime {days} {}",
        two.remote_shell().display()
    );
    for link in ["udp", "xdp"] {
        for (program, right) in [
            (ASP, "verified against Dijkstra"),
            ("water --molecules 40 --steps 3 --verify", "verified against one rank"),
        ] {
            let words = format!("--link {link} --hosts a:2,b:2");
            let mut command = common::command(&two, &words, program);
            let text = text(&command.env("WEFT_RSH", &shell).output().unwrap());
            assert!(text.contains(right), "{link}: {text}");
        }
    }
}

#[test]
fn asp_on_one_host_whose_ranks_share_nothing() {
    let Some(two) = cluster(2) else { return };
    asp_is_right(&two, "-n 4", 4);
}

#[test]
fn ipv6() {
    let Some(two) = cluster(2) else { return };
    let words = format!("-v --hosts a:2,b:2 --interface {}", two.host(0).ipv6());
    let text = run(&two, &words, "weft-example hello");
    assert!(text.contains(&format!("eth0 {}", two.host(1).ipv6())), "{text}");
    asp_is_right(&two, &words, 4);
}

#[test]
fn the_guides_programs() {
    let Some(two) = cluster(2) else { return };
    let text = run(&two, "--hosts a:2,b:2", "weft-example hello");
    for rank in 1..4 {
        let line = format!("rank 0 hears from rank {rank}: good morning\n");
        assert!(text.contains(&line), "{text}");
    }
    let text = run(&two, "--hosts a:1,b:2", "weft-example kv");
    assert!(text.starts_with("3 replicas of 14 pairs are equal; "), "{text}");
    let text = run(&two, "--hosts a:2,b:2", "weft-example bank");
    assert!(text.starts_with("80 transfers, and the ranks have 4000 together"), "{text}");
}

#[test]
fn lost_datagrams_change_nothing() {
    let Some(two) = cluster(2) else { return };
    for host in two.hosts() {
        host.lose_datagrams(0.01).unwrap();
    }
    asp_is_right(&two, "--hosts a:1,b:1", 2);
    asp_is_right(&two, "--hosts a:2,b:2", 4);
    asp_is_right(&two, "--hosts a:2,b:2 --preset hrx-imc", 4);
}

#[test]
fn packets_are_as_long_as_the_narrowest_interface_takes() {
    for (mtu_a, mtu_b, words, bytes) in [
        (1500, 1500, "", 1416),
        (1500, 1280, "", 1192),
        (1280, 9000, "", 1192),
        (9000, 9000, "", 8912),
        (20_000, 20_000, "", 8912),
        (9000, 9000, "--mtu 1000", 912),
        (1500, 1280, "--interface fd77::", 1176),
    ] {
        let Some(two) = cluster(2) else { return };
        two.host(0).set_mtu(mtu_a).unwrap();
        two.host(1).set_mtu(mtu_b).unwrap();
        // With all ranks apart and with some beside one another: frames are near or far.
        for hosts in ["a:1,b:1", "a:1,b:2", "a:2,b:2"] {
            let text = run(&two, &format!("--hosts {hosts} {words}"), "weft-testee payload");
            let said = format!("hold {bytes} bytes");
            assert!(text.lines().all(|line| line.ends_with(&said)), "{mtu_a}, {mtu_b}: {text}");
        }
        asp_is_right(&two, &format!("--hosts a:2,b:2 {words}"), 4);
    }
}

#[test]
fn a_way_that_is_narrower_than_its_ends_is_one_line() {
    let Some(two) = cluster(2) else { return };
    let rules = "table inet narrow { chain input { type filter hook input priority 0; udp length > 1300 drop; }; }";
    let set = two.host(1).command("nft").arg(rules).status().unwrap();
    assert!(set.success());
    let output = common::command(&two, "--link udp --hosts a,b", ASP).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let line = "weft: packets of 1500 bytes do not get from host a to host b, and shorter ones do: give what the \
                way between them takes with --mtu\n";
    assert_eq!(text(&output), line);
    asp_is_right(&two, "--hosts a:2,b:2 --mtu 1300", 4);
    // Longer than the interface takes.
    let output = common::command(&two, "--link udp --hosts a,b --mtu 2000", ASP).output().unwrap();
    assert!(text(&output).starts_with("weft: packets of 2000 bytes do not get"), "{output:?}");
}

/// An interface, which says so itself, and a switch, which does not.
#[test]
fn a_way_that_becomes_narrower_makes_a_job_slower_until_it_is_wide_again() {
    for (words, at_switch) in [
        ("--link udp --hosts a:1,b:1", false),
        ("--link udp --hosts a:1,b:1 --preset irx-imc", true),
        ("--link udp --hosts a:2,b:1,c:1 --interface fd77::", true),
        ("--link xdp --hosts a:1,b:1", true),
    ] {
        let Some(three) = cluster(3) else { return };
        let set = |mtu: u16| match at_switch {
            true => three.set_bridge_mtu(mtu).unwrap(),
            false => three.host(0).set_mtu(mtu.into()).unwrap(),
        };
        let ranks = if words.contains("c:1") { 4 } else { 2 };
        let words = format!("{words} --silence 2");
        let mut job = Running::start_checked(&three, &words, ranks);
        job.chats();
        set(1300);
        let line = job.hears("packets of 1500 bytes do not get from rank ");
        let takes = line.split_once("takes ").unwrap().1.split_once(' ').unwrap().0;
        let takes: u16 = takes.parse().unwrap();
        // Virtual interfaces let pass what has room for a VLAN's tag.
        assert!((1292..=1304).contains(&takes), "{words}: {line}");
        job.chats();
        set(1500);
        job.hears("packets of 1500 bytes get from rank ");
        job.chats();
        let (_, errors) = job.end_checked();
        // Other ranks say it of their ways.
        let of_ways = |line: &str| line.starts_with("weft: packets of 1500 bytes ");
        assert!(errors.lines().all(of_ways), "{words}: {errors}");
    }
}

#[test]
fn a_killed_rank_ends_the_job_on_all_hosts() {
    let Some(two) = cluster(2) else { return };
    for victim in 0..4 {
        let job = Running::start(&two, &format!("{UDP} --hosts a:2,b:2"), 4);
        kill_process(job.ranks[victim].1, Signal::KILL).unwrap();
        let (errors, status) = job.finish();
        let said = format!("weft: rank {victim} of 4 (pid ");
        assert_one_line(&errors, &[&said, "was killed by signal 9 (SIGKILL)"]);
        assert_eq!(status, Some(128 + 9));
    }
}

#[test]
fn a_killed_host_ends_the_job_on_the_others() {
    let Some(two) = cluster(2) else { return };
    let job = Running::start(&two, &format!("{UDP} --hosts a:2,b:2"), 4);
    kill_process(parent_of(job.ranks[3].1), Signal::KILL).unwrap();
    let (errors, _) = job.finish();
    assert_one_line(&errors, &["weft: rank 2 of 4 ", "was lost with its host"]);
}

/// The command that has MPICH's hydra run a program on four ranks of two hosts.
fn hydra(cluster: &Cluster, program: &str) -> Command {
    let mut command = common::hydra(cluster, 2, 4, program);
    command.env("WEFT_LINK", "udp");
    command
}

#[test]
fn ranks_of_hydra_agree_on_how_long_packets_are() {
    let Some(two) = cluster(2) else { return };
    two.host(1).set_mtu(1280).unwrap();
    for (given, said) in [(None, "hold 1192 bytes"), (Some("1000"), "hold 912 bytes")] {
        let mut command = hydra(&two, "weft-testee payload");
        given.map(|mtu| command.env("WEFT_MTU", mtu));
        let text = text(&command.output().unwrap());
        assert_eq!(text.matches(said).count(), 4, "{text}");
    }
    let output = hydra(&two, "weft-testee payload").env("WEFT_MTU", "12").output().unwrap();
    // The ranks say why, but hydra does not always pass on the last words of those that it then
    // kills.
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn hydra_starts_weft_on_two_hosts() {
    let Some(two) = cluster(2) else { return };
    let output = hydra(&two, ASP).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("verified against Dijkstra from 40 sources"), "{text}");
    assert!(text.contains("\n4 ranks, "), "{text}");
}
