use super::*;

use std::ffi::OsString;
use std::os::fd::OwnedFd;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};
use weft_wire::Rank;

use crate::clock::Clock;
use crate::hosts::HostsSpec;
use crate::messages::Event;
use crate::messages::hosts::{FromAgent, RemoteShell};
use crate::spec::HOST_SILENCE;
use crate::wait::wait_for;

const LIMITS: Limits = Limits { silence: HOST_SILENCE, end: END_LIMIT };

/// Connections to `count` hosts whose remote shell runs this.
fn shells(count: u16, script: &str) -> Branches {
    let mut spec = HostsSpec::new(Vec::new());
    let arguments = ["-c", script].map(OsString::from).to_vec();
    spec.remote_shell = RemoteShell { program: "sh".into(), arguments };
    let below = |host| Below { host, parent: LAUNCHER, name: "elsewhere".into() };
    let hosts: Vec<Below> = (0..count).map(below).collect();
    let mut branches = Branches::new(LAUNCHER, LIMITS);
    branches.start(&hosts, &Means::of_launcher(&spec).unwrap());
    branches
}

/// A connection to host 3, behind which are 4 and 5, and its other end.
fn connection(limits: Limits) -> (Branches, Stream) {
    let ((from, to_above), (from_above, to)) = (pipe(), pipe());
    let mut branches = Branches::new(LAUNCHER, limits);
    branches.add(Branch::new(vec![3, 4, 5], Stream::new(from, to).unwrap(), None));
    (branches, Stream::new(from_above, to_above).unwrap())
}

fn is_ready(file: &OwnedFd, limit: Duration) -> bool {
    !wait_for(&[((), file.as_fd(), PollFlags::IN)], Some(limit)).unwrap().is_empty()
}

/// Next message from below.
fn receive(branches: &mut Branches) -> Arrival {
    let clock = Clock::start();
    loop {
        if let Some(arrivals) = branches.next_arrival() {
            return arrivals;
        }
        let ready =
            wait_for(&branches.sources(true).collect::<Vec<_>>(), Some(CHECK_INTERVAL)).unwrap();
        ready.into_iter().for_each(|source| branches.attend(source, clock.now()));
        branches.tick(clock.now(), true);
    }
}

/// Messages that arrive at the other end of a connection, but for signs of life.
fn arrived(other_end: &mut Stream) -> Vec<ToAgent> {
    other_end.read_some().unwrap();
    let messages = std::iter::from_fn(|| other_end.take());
    let messages = messages.map(|message| ToAgent::parse(&message).unwrap());
    messages.filter(|message| *message != ToAgent::Heartbeat).collect()
}

fn joined(rank: u16) -> Vec<u8> {
    FromAgent::Event(Event::Joined(Rank(rank))).emit()
}

#[test]
fn stuck_hosts_have_one_deadline() {
    let branches = shells(4, "cat >/dev/null; echo let go >&2; exec sleep 1000");
    let copy = |file: &OwnedFd| fcntl_dupfd_cloexec(file, 0).unwrap();
    let shells = || branches.all.iter().filter_map(|branch| branch.shell.as_ref());
    let stderr: Vec<_> = shells().filter_map(Shell::stderr).map(copy).collect();
    let exits: Vec<_> = shells().map(Shell::exit).map(copy).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(branches));
        assert!(stderr.iter().all(|said| is_ready(said, Duration::from_secs(60))));
        assert!(!exits.iter().any(|exit| is_ready(exit, Duration::ZERO)), "not one by one");
    });
    assert!(exits.iter().all(|exit| is_ready(exit, Duration::ZERO)), "all are gone");
}

#[test]
fn a_host_whose_shell_stays_is_explained() {
    let mut branches = shells(1, "echo gone >&2; exec sleep 1000 >&-");
    let lost = Arrival::Lost(vec![0], "the connection to it has ended: gone".into());
    assert_eq!(receive(&mut branches), lost);
    let exit = fcntl_dupfd_cloexec(branches.all[0].shell.as_ref().unwrap().exit(), 0).unwrap();
    assert!(is_ready(&exit, Duration::from_secs(60)), "it does not stay");
    assert!(branches.are_done());
}

#[test]
fn a_host_that_cannot_be_got_to_is_explained() {
    let mut branches = shells(1, "echo no route >&2; exit 255");
    let lost = Arrival::Lost(vec![0], "the remote shell cannot get there: no route".into());
    assert_eq!(receive(&mut branches), lost);
}

#[test]
fn messages_reach_the_host_that_they_are_for() {
    let (mut branches, mut other_end) = connection(LIMITS);
    let go = ToAgent::Go { over_ethernet: false, copied: false, bulk: false };
    branches.send(3, &go);
    branches.send(5, &go);
    branches.send(6, &go);
    branches.send_all(&ToAgent::Finish);
    let expected =
        [go.clone(), ToAgent::For(5, go.emit()), ToAgent::ForAll(ToAgent::Finish.emit())];
    assert_eq!(arrived(&mut other_end), expected);
}

#[test]
fn hosts_speak_for_those_behind_them_and_nobody_else() {
    for (message, arrivals) in [
        (joined(7), Arrival::Message(3, joined(7))),
        (FromAgent::From(5, joined(7)).emit(), Arrival::Message(5, joined(7))),
        (
            FromAgent::Lost(vec![5], "it broke".into()).emit(),
            Arrival::Lost(vec![5], "it broke".into()),
        ),
    ] {
        let (mut branches, mut other_end) = connection(LIMITS);
        other_end.send(&message);
        assert_eq!(receive(&mut branches), arrivals);
    }
    for message in [
        FromAgent::From(3, joined(7)),
        FromAgent::From(6, joined(7)),
        FromAgent::Lost(vec![4, 6], String::new()),
        FromAgent::Lost(vec![], String::new()),
    ] {
        let (mut branches, mut other_end) = connection(LIMITS);
        other_end.send(&message.emit());
        let why = "its agent's message is unusable: its host is out of range";
        assert_eq!(receive(&mut branches), Arrival::Lost(vec![3, 4, 5], why.into()), "{message:?}");
        assert!(branches.are_done());
    }
}

#[test]
fn who_ends_takes_along_those_behind_it_that_have_not_finished() {
    let (mut branches, mut other_end) = connection(LIMITS);
    other_end.send(&FromAgent::Started(vec![17]).emit());
    other_end.send(&FromAgent::From(4, FromAgent::Finished(vec![]).emit()).emit());
    other_end.close();
    receive(&mut branches);
    receive(&mut branches);
    let why = "its agent has ended (and one host behind it)";
    assert_eq!(receive(&mut branches), Arrival::Lost(vec![3, 5], why.into()));
    assert!(branches.are_done());
}

#[test]
fn a_connection_whose_hosts_have_finished_ends_without_a_word() {
    let (mut branches, mut other_end) = connection(LIMITS);
    let last = FromAgent::Finished(vec![]).emit();
    other_end.send(&last);
    other_end.send(&FromAgent::From(4, last.clone()).emit());
    other_end.send(&FromAgent::From(5, last.clone()).emit());
    other_end.close();
    for host in [3, 4, 5] {
        assert_eq!(receive(&mut branches), Arrival::Message(host, last.clone()));
    }
    branches.receive_all(Duration::ZERO);
    assert!(branches.are_done());
}

#[test]
fn silence_counts_once_ranks_run() {
    let limits = Limits { silence: Duration::from_millis(120), ..LIMITS };
    let (mut branches, mut other_end) = connection(limits);
    (1..100).for_each(|n| branches.tick(n * CHECK_INTERVAL, true));
    assert_eq!(branches.next_arrival(), None, "it may take long until then");
    other_end.send(&FromAgent::Started(vec![17]).emit());
    receive(&mut branches);
    let mut now = 100 * CHECK_INTERVAL;
    branches.tick(now, true);
    for _ in 0..10 {
        other_end.send(&FromAgent::Heartbeat.emit());
        branches.receive_all(now);
        now += CHECK_INTERVAL;
        branches.tick(now, true);
    }
    (1..100).for_each(|n| branches.tick(now + n * CHECK_INTERVAL, false));
    assert_eq!(branches.next_arrival(), None, "who is not listened to");
    now += 100 * CHECK_INTERVAL;
    (1..=3).for_each(|n| branches.tick(now + n * CHECK_INTERVAL, true));
    let why = "nothing has been heard of it for 0.12 s (and 2 hosts behind it)";
    assert_eq!(branches.next_arrival(), Some(Arrival::Lost(vec![3, 4, 5], why.into())));
}

#[test]
fn who_takes_nothing_is_given_up_before_memory_is() {
    let (mut branches, _other_end) = connection(LIMITS);
    let input = ToAgent::Input(vec![0; HOST_MESSAGE_BYTES_MAX / 2]);
    let most = 2 * WAITING_MAX * 3;
    (0..most).for_each(|_| branches.send(4, &input));
    let lost = branches.next_arrival();
    assert!(lost.is_none(), "{most} such messages may wait, and a pipe takes some: {lost:?}");
    branches.send(4, &input);
    let why = "it does not take what it is sent".to_owned();
    assert_eq!(branches.next_arrival(), Some(Arrival::Lost(vec![3, 4, 5], why)));
}

/// A pipe that what is started here does not inherit.
fn pipe() -> (OwnedFd, OwnedFd) {
    pipe_with(PipeFlags::CLOEXEC).unwrap()
}
