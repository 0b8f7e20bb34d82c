//! The tests of this folder for jobs that a process manager starts, which is MPICH's hydra here:
//! the ranks themselves take the interfaces.

use super::*;
use crate::common::{ASP, hydra, text};
use std::process::{Command, Output};

/// Report of the bytes that a packet holds over xdp and over UDP, where interfaces take 1500 bytes.
const OVER_XDP: &str = " hold 1440 bytes\n";
const OVER_UDP: &str = " hold 1416 bytes\n";

fn wished(mut command: Command, link: &str) -> Command {
    command.env("WEFT_LINK", link);
    command
}

/// Runs a job that must succeed. Returns its output and what was said beside it.
fn run_it(mut command: Command) -> (String, String) {
    let output = command.output().unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{out}{errors}");
    (out, errors)
}

fn asp_is_right(command: Command, ranks: usize) -> String {
    let (out, errors) = run_it(command);
    assert!(out.contains("verified against Dijkstra from 40 sources"), "{out}");
    assert!(out.contains(&format!("\n{ranks} ranks, ")), "{out}");
    errors
}

#[test]
fn the_ranks_take_the_interfaces() {
    let Some(two) = cluster(Options::default()) else { return };
    for (link, holds) in [("auto", OVER_XDP), ("xdp", OVER_XDP), ("udp", OVER_UDP)] {
        let (out, errors) = run_it(wished(hydra(&two, 2, 4, "weft-testee payload"), link));
        assert_eq!((out.matches(holds).count(), &*errors), (4, ""), "{link}: {out}");
    }
    // Nothing else would get there.
    two.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    // Two ranks on each host; ranks 0 and 2 on one, 1 and 3 on the other; one on each.
    for (per_host, ranks) in [(2, 4), (1, 4), (1, 2)] {
        assert_eq!(asp_is_right(hydra(&two, per_host, ranks, ASP), ranks), "");
    }
    no_program_remains(&two);
}

#[test]
fn hosts_with_different_numbers_of_ranks() {
    let Some(two) = cluster(Options::default()) else { return };
    two.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    asp_is_right(hydra(&two, 2, 3, ASP), 3);
    no_program_remains(&two);
}

#[test]
fn multicasts_are_copied_by_the_network() {
    if !available() {
        return;
    }
    let three = Cluster::new(3, Options::default()).unwrap();
    three.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    asp_is_right(hydra(&three, 2, 6, ASP), 6);
    let job = Running::start_this(hydra(&three, 1, 4, "weft-testee"), 4);
    assert!(three.hosts().iter().all(is_in_group), "an interface accepts what is for it");
    kill_process(job.ranks[3].1, Signal::KILL).unwrap();
    job.finish();
    no_program_remains(&three);
}

/// Kills one of four ranks of two hosts and returns what was said.
fn kill(cluster: &Cluster, victim: usize) -> String {
    let job = Running::start_this(hydra(cluster, 2, 4, "weft-testee"), 4);
    assert!(cluster.hosts().iter().all(has_program));
    kill_process(job.ranks[victim].1, Signal::KILL).unwrap();
    let (errors, status) = job.finish();
    assert_ne!(status, Some(0), "{errors}");
    no_program_remains(cluster);
    errors
}

#[test]
fn nothing_remains_whichever_rank_is_killed() {
    let Some(two) = cluster(Options::default()) else { return };
    // The first of each host, who took its interface, and the others.
    (0..4).for_each(|victim| drop(kill(&two, victim)));
    let (out, _) = run_it(hydra(&two, 2, 4, "weft-testee payload"));
    assert_eq!(out.matches(OVER_XDP).count(), 4, "{out}");
}

#[test]
fn nothing_remains_of_a_process_manager_that_is_killed() {
    let Some(two) = cluster(Options::default()) else { return };
    let mut job = Running::start_this(hydra(&two, 2, 4, "weft-testee"), 4);
    assert!(two.hosts().iter().all(has_program));
    job.launcher.kill().unwrap();
    job.finish();
    no_program_remains(&two);
}

#[test]
fn those_who_took_the_interfaces_may_end_first() {
    let Some(two) = cluster(Options::default()) else { return };
    two.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    let mut job = Running::start_this(hydra(&two, 2, 4, "weft-testee even"), 4);
    for first in [0, 2] {
        let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
        let exit = &job.ranks[first].2;
        assert_eq!(poll(&mut [PollFd::new(exit, PollFlags::IN)], Some(&limit)), Ok(1), "{first}");
    }
    assert!(two.hosts().iter().all(has_program), "the others still have it");
    // More than can have been written before.
    (0..10_000).for_each(|_| job.chats());
    kill_process(job.ranks[1].1, Signal::KILL).unwrap();
    job.finish();
    no_program_remains(&two);
}

/// Runs jobs that cannot have AF_XDP: who insists is told why, the others are too, and have UDP.
fn cannot_have_it(cluster: &Cluster, why: &str) {
    let job = |link| wished(hydra(cluster, 2, 4, "weft-testee payload"), link);
    let insisted: Output = job("xdp").output().unwrap();
    let said = text(&insisted);
    assert!(!insisted.status.success() && !said.contains(" hold "), "{said}");
    // Hydra does not always pass on the last words of ranks that it then kills, but somebody's.
    let line = "cannot join the job: WEFT_LINK is \"xdp\", which cannot be had: host ";
    assert!(said.contains(line) && said.contains(why), "{said}");
    let (out, errors) = run_it(job("auto"));
    assert_eq!((out.matches(" hold ").count(), errors.lines().count()), (4, 1), "{out}{errors}");
    let line = "weft: udp between hosts, not xdp: host ";
    assert!(errors.starts_with(line) && errors.contains(why), "{errors}");
    let (out, errors) = run_it(job("udp"));
    assert_eq!((out.matches(" hold ").count(), &*errors), (4, ""), "{out}");
    no_program_remains(cluster);
}

#[test]
fn what_one_host_lacks_is_said_for_all() {
    let Some(two) = bridged() else { return };
    two.host(1).set_mtu(9000).unwrap();
    let why = "b: the MTU of eth0 is 9000, and XDP takes 3506 at most: `ip link set eth0 mtu 3506` on all hosts, \
               or use WEFT_LINK=udp";
    cannot_have_it(&two, why);
}

#[test]
fn hosts_that_do_not_meet_are_said() {
    let Some(two) = bridged() else { return };
    two.lose_frames(ETHERTYPE, 1.0).unwrap();
    let why = "a (eth0) does not reach host b (eth0) over Ethernet with packets of 1500 bytes: for WEFT_LINK=xdp they \
               must be on one Ethernet, without routers, that lets protocol 0x88B5 through; or use WEFT_LINK=udp";
    cannot_have_it(&two, why);
}

#[test]
fn an_interface_of_another_job_is_left_to_it() {
    let Some(two) = cluster(Options::default()) else { return };
    let first = Running::start_this(hydra(&two, 1, 2, "weft-testee"), 2);
    let (out, errors) = run_it(hydra(&two, 1, 2, "weft-testee payload"));
    assert_eq!(out.matches(OVER_UDP).count(), 2, "{out}");
    assert!(errors.contains("host a: eth0 has an XDP program already, of another job"), "{errors}");
    assert!(two.hosts().iter().all(has_program), "the first job's are still there");
    kill_process(first.ranks[0].1, Signal::KILL).unwrap();
    first.finish();
    no_program_remains(&two);
}

#[test]
fn drivers_without_xdp_are_for_those_who_insist() {
    let Some(two) = bridged() else { return };
    two.keep_xdp_out_of_drivers().unwrap();
    let errors = asp_is_right(hydra(&two, 2, 4, ASP), 4);
    assert!(errors.contains("host a: the driver of eth0 knows no XDP, "), "{errors}");
    assert!(errors.contains("; WEFT_LINK=xdp takes it all the same"), "{errors}");
    two.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    assert_eq!(asp_is_right(wished(hydra(&two, 2, 4, ASP), "xdp"), 4), "");
    no_program_remains(&two);
}
