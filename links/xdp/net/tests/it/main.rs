//! The program `weft-net` on hosts that are network namespaces: whom it serves, what it hands over,
//! and what is left of it.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::SendFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use weft_datagram::channel::{ReceivedDatagram, send};
use weft_netns::{Cluster, Host, INTERFACE, Options, available};
use weft_xdp::request::{FromNet, ToNet, receive};
use weft_xdp::{Bound, Greeter, MOST_MTU, SocketRequest, XdpSizes};

const PROGRAM: &str = env!("CARGO_BIN_EXE_weft-net");
/// Number of the loopback interface, in every namespace.
const LOOPBACK: u32 = 1;

fn pair(kind: SocketType) -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap()
}

/// `weft-net` on a host, and this end of its socket.
struct Net {
    process: Child,
    socket: OwnedFd,
}

impl Net {
    fn start(host: &Host) -> Self {
        let (socket, theirs) = pair(SocketType::SEQPACKET);
        let spawn = || Command::new(PROGRAM).stdin(theirs).spawn().unwrap();
        Net { process: host.enter(spawn).unwrap(), socket }
    }

    /// The answer to these bytes, and the descriptors that come with it.
    fn ask(&self, bytes: &[u8]) -> io::Result<(FromNet, Vec<OwnedFd>)> {
        send(&self.socket, bytes, &[], SendFlags::empty())?;
        let ReceivedDatagram { bytes: answer, descriptors } = receive(&self.socket)?;
        Ok((FromNet::parse(&answer).unwrap(), descriptors))
    }
}

fn request(interface: u32) -> SocketRequest {
    SocketRequest {
        interface,
        job: 7,
        ranks: vec![0, 1],
        sizes: XdpSizes { frames: 16, receive_frames: 8 },
        greeter: Some(Greeter { job: !7, host: 3 }),
        copied: false,
    }
}

fn interface_of(host: &Host) -> u32 {
    let text = text_on(host, &["ip", "-oneline", "link", "show", INTERFACE]);
    text.split(':').next().unwrap().parse().unwrap()
}

fn text_on(host: &Host, words: &[&str]) -> String {
    let output = host.command(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn has_program(host: &Host) -> bool {
    text_on(host, &["ip", "link", "show", INTERFACE]).contains("xdp")
}

/// True if the interface accepts frames to groups of Weft's.
fn is_in_group(host: &Host) -> bool {
    text_on(host, &["cat", "/proc/net/dev_mcast"])
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .any(|group| group.starts_with("03"))
}

/// Waits for what the kernel puts off.
fn wait_until(what: impl Fn() -> bool) {
    while !what() {
        thread::yield_now();
    }
}

/// A line of `/proc/PID/status`.
fn status(process: &Child, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    line.split_whitespace().last().unwrap().to_owned()
}

#[test]
fn it_hands_an_interface_over_and_ends() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let host = two.host(0);
    let mut net = Net::start(host);
    let (answer, mut first) = net.ask(&ToNet::Take(request(interface_of(host))).emit()).unwrap();
    let FromNet::Taken { plan, copied: false } = answer else { panic!("{answer:?}") };
    assert_eq!(first.len(), 2);
    let sockets = receive(&net.socket).unwrap().descriptors;
    assert!(net.process.wait().unwrap().success());
    assert!(receive(&net.socket).is_err(), "nothing more comes");
    let memory = first.pop().unwrap();
    let ports = Bound { plan, sockets, memory }.into_ports().unwrap();
    assert_eq!(ports.len(), 3, "two ranks and the greeter");
    assert!(has_program(host));
    drop(first);
    wait_until(|| !has_program(host));
}

#[test]
fn groups_are_held_without_a_capability_until_nobody_has_the_socket() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let host = two.host(0);
    // What the caller has open otherwise, closed or not at `exec`, is not kept.
    let (from, to) = pipe_with(PipeFlags::empty()).unwrap();
    fcntl_setfd(&to, FdFlags::empty()).unwrap();
    let mut net = Net::start(host);
    drop(to);
    let wish = SocketRequest { copied: true, ..request(interface_of(host)) };
    let (answer, first) = net.ask(&ToNet::Take(wish).emit()).unwrap();
    assert!(matches!(answer, FromNet::Taken { copied: true, .. }), "{answer:?}");
    let sockets = receive(&net.socket).unwrap().descriptors;
    drop((first, sockets));
    wait_until(|| !has_program(host));
    fs::File::from(from).read_to_end(&mut Vec::new()).unwrap();
    assert!(is_in_group(host));
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(status(&net.process, set), "0000000000000000", "{set}");
    }
    assert_eq!(status(&net.process, "NoNewPrivs"), "1");
    let other = net.socket.try_clone().unwrap();
    drop(net.socket);
    assert!(net.process.try_wait().unwrap().is_none() && is_in_group(host), "somebody has it");
    drop(other);
    assert!(net.process.wait().unwrap().success());
    wait_until(|| !is_in_group(host));
}

#[test]
fn what_cannot_be_had_is_said_and_nothing_is_handed_over() {
    if !available() {
        return;
    }
    let jumbo = Cluster::new(2, Options { mtu: 9000, ..Options::default() }).unwrap();
    let host = jumbo.host(0);
    let take = |change: fn(&mut SocketRequest)| {
        let mut wish = request(interface_of(host));
        change(&mut wish);
        ToNet::Take(wish).emit()
    };
    let good = take(|_| {});
    let mut other_release = good.clone();
    other_release[3] += 1;
    for (bytes, why) in [
        (take(|wish| wish.interface = LOOPBACK), "lo is no Ethernet interface".to_owned()),
        (take(|wish| wish.interface = 99), "there is no interface with the number 99".into()),
        (take(|wish| wish.interface = 0), "interface".into()),
        (take(|wish| wish.ranks.clear()), "number of ranks".into()),
        (take(|wish| wish.ranks = (0..257).collect()), "number of ranks".into()),
        (take(|wish| wish.ranks = vec![1, 0]), "order of ranks".into()),
        (take(|wish| wish.sizes.frames = 0), "number of frames".into()),
        (take(|wish| wish.sizes.receive_frames = u32::MAX), "number of frames".into()),
        (take(|wish| wish.ranks = (0..256).collect()), format!("XDP takes {MOST_MTU} at most")),
        (good.clone(), format!("XDP takes {MOST_MTU} at most")),
        (good[..good.len() - 1].to_vec(), "no such message".into()),
        ([&good[..], b"/bin/sh"].concat(), "no such message".into()),
        (other_release, "no such message in this release".into()),
        (b"eth0".to_vec(), "no such message".into()),
        (vec![0xff; 2048], "no such message".into()),
    ] {
        let mut net = Net::start(host);
        let (answer, descriptors) = net.ask(&bytes).unwrap();
        let FromNet::Refused(said) = answer else { panic!("{why}: {answer:?}") };
        assert!(said.contains(&why) && descriptors.is_empty(), "{said}, not {why}");
        net.process.wait().unwrap();
        assert!(!has_program(host));
    }
    // Longer than any, and nothing at all.
    let mut net = Net::start(host);
    assert!(net.ask(&[0; 4096]).is_err() && !net.process.wait().unwrap().success());
    let mut net = Net::start(host);
    drop(net.socket);
    assert!(!net.process.wait().unwrap().success());
}

/// Asserts that it does nothing, with this on standard error.
fn is_refused(mut command: Command, why: &str) {
    let output = command.stderr(Stdio::piped()).stdout(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}, not {why}");
}

#[test]
fn strangers_are_refused() {
    let for_weft = "this program is for weft";
    let asks = |kind| {
        let (socket, theirs) = pair(kind);
        send(&socket, &ToNet::Look.emit(), &[], SendFlags::empty()).unwrap();
        (socket, theirs)
    };
    let mut by_hand = Command::new(PROGRAM);
    by_hand.stdin(Stdio::null());
    is_refused(by_hand, for_weft);
    let (_socket, theirs) = asks(SocketType::STREAM);
    let mut another_kind = Command::new(PROGRAM);
    another_kind.stdin(theirs);
    is_refused(another_kind, for_weft);
    let (_socket, theirs) = asks(SocketType::SEQPACKET);
    let mut with_arguments = Command::new(PROGRAM);
    with_arguments.arg("eth0").stdin(theirs);
    is_refused(with_arguments, for_weft);
    // Made by this process, which is not the parent.
    let (_socket, theirs) = asks(SocketType::SEQPACKET);
    let mut grandchild = Command::new("sh");
    grandchild.args(["-c", "\"$0\"; exit $?", PROGRAM]).stdin(theirs);
    is_refused(grandchild, "did not start this process");
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (_socket, theirs) = asks(SocketType::SEQPACKET);
    let mut of_root = Command::new(PROGRAM);
    of_root.stdin(theirs).uid(64_123).gid(64_123);
    is_refused(of_root, "another user");
}

/// Inside a namespace of processes the system says 0 of those outside: of the parent, and of
/// whoever made the socket.
#[test]
fn a_parent_that_is_out_of_sight_is_a_stranger() {
    if !available() {
        return;
    }
    let (socket, theirs) = pair(SocketType::SEQPACKET);
    send(&socket, &ToNet::Look.emit(), &[], SendFlags::empty()).unwrap();
    let mut inside = Command::new("unshare");
    inside.args(["--pid", "--fork", PROGRAM]).stdin(theirs);
    is_refused(inside, "did not start this process");
}

#[test]
fn it_says_that_it_can() {
    if !available() {
        return;
    }
    let two = Cluster::new(2, Options::default()).unwrap();
    let mut net = Net::start(two.host(0));
    let (answer, _) = net.ask(&ToNet::Look.emit()).unwrap();
    assert_eq!(answer, FromNet::Able);
    assert!(net.process.wait().unwrap().success());
}
