//! Preconditions of an attachment, the errors when one is missing, and that nothing of an
//! attachment remains.

use crate::common::*;
use rustix::thread::{CapabilitySet, Pid, capabilities, gettid, set_capabilities};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::mpsc;
use weft_net::{XdpHost, missing};
use weft_netns::{Cluster, Host, INTERFACE, Options, available};
use weft_wire::Rank;
use weft_xdp::{Interface, XdpError};

/// Gives up all capabilities of this thread but these.
fn keep(wanted: CapabilitySet) {
    let mut sets = capabilities(None).unwrap();
    sets.effective &= wanted;
    sets.permitted &= wanted;
    sets.inheritable &= wanted;
    set_capabilities(None, sets).unwrap();
}

const NEEDED: CapabilitySet =
    CapabilitySet::NET_RAW.union(CapabilitySet::BPF).union(CapabilitySet::NET_ADMIN);

#[test]
fn three_capabilities_are_enough_and_ranks_need_none() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    for rank in 0..2 {
        let open = || {
            keep(NEEDED);
            let interface = Interface::find(INTERFACE).unwrap();
            let mut host = XdpHost::attach(interface, in_driver()).unwrap();
            let ports = host.open(JOB, &[Rank(rank as u16)], SIZES).unwrap();
            (host, ports)
        };
        let (host, opened) = cluster.host(rank).enter(open).unwrap();
        hosts.push(host);
        ports.extend(opened);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            keep(CapabilitySet::empty());
            let mut links = links(ports, 4);
            send_control(&mut links, 0, 1, 5);
            assert_eq!(receive(&mut links[1]).header, control(0, 5));
        });
    });
}

#[test]
fn a_missing_capability_is_named() {
    if !available() {
        return;
    }
    let text = |without: CapabilitySet| {
        let ask = move || {
            keep(NEEDED.difference(without));
            missing().unwrap().unwrap()
        };
        std::thread::spawn(ask).join().unwrap()
    };
    assert_eq!(text(CapabilitySet::BPF), "CAP_BPF");
    let two = CapabilitySet::NET_RAW.union(CapabilitySet::NET_ADMIN);
    assert_eq!(text(two), "CAP_NET_RAW and CAP_NET_ADMIN");
}

#[test]
fn wrong_interfaces_are_told_apart() {
    if !available() {
        return;
    }
    let jumbo = Cluster::new(2, Options { mtu: 9000, ..Options::default() }).unwrap();
    let find = |name: &str| jumbo.host(0).enter(|| Interface::find(name).map(|_| ())).unwrap();
    let said = |name: &str| find(name).unwrap_err().to_string();
    assert_eq!(said("eth7"), "there is no interface eth7: see `ip link`");
    assert!(matches!(find("a-name-longer-than-any"), Err(XdpError::NoInterface(_))));
    assert!(matches!(find("lo"), Err(XdpError::NotEthernet(_))));
    assert_eq!(
        said(INTERFACE),
        "the MTU of eth0 is 9000, and XDP takes 3506 at most: `ip link set eth0 mtu 3506` on all \
         hosts, or use --link udp"
    );
}

#[test]
fn an_interface_has_one_program_and_a_queue_one_owner() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let host = cluster.host(0);
    let mut first = attach(host, in_driver()).unwrap();
    let second = attach(host, in_driver()).err();
    assert!(matches!(second, Some(XdpError::Taken(name)) if name == INTERFACE));
    let ports = open(host, &mut first, JOB, &[Rank(0)]);
    let again = host.enter(|| first.open(JOB, &[Rank(1)], SIZES)).unwrap().err();
    assert!(matches!(again, Some(XdpError::Busy { queue: 0, .. })), "{again:?}");
    drop((ports, first));
    // At once, though the kernel takes its time to give the queue up.
    for _ in 0..10 {
        let mut next = attach(host, in_driver()).unwrap();
        open(host, &mut next, JOB, &[Rank(0)]);
    }
    assert!(!ip_link(host).contains("xdp"), "{}", ip_link(host));
}

/// True if a thread of this process sleeps for a while.
fn is_asleep(thread: Pid) -> bool {
    let file = format!("/proc/self/task/{}/syscall", thread.as_raw_nonzero());
    // None of a thread that has ended.
    let call = std::fs::read_to_string(file).unwrap_or_default();
    let number = call.split(' ').next().and_then(|number| number.parse().ok());
    [libc::SYS_clock_nanosleep, libc::SYS_nanosleep].map(Some).contains(&number)
}

/// Attaches to an interface that `keeper` holds, which goes once the attachment is seen to wait.
fn attach_when_free(host: &Host, keeper: OwnedFd) -> Result<XdpHost, XdpError> {
    let (says, said) = mpsc::channel();
    std::thread::scope(|scope| {
        let attached = scope.spawn(move || {
            let attach = || {
                says.send(gettid()).unwrap();
                XdpHost::attach(Interface::find(INTERFACE)?, in_driver())
            };
            host.enter(attach).unwrap()
        });
        let thread = said.recv().unwrap();
        while !is_asleep(thread) && !attached.is_finished() {
            std::thread::yield_now();
        }
        drop(keeper);
        attached.join().unwrap()
    })
}

#[test]
fn who_attaches_waits_for_a_program_that_is_about_to_go() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let host = cluster.host(0);
    let try_once = || {
        let first = attach(host, in_driver()).unwrap();
        let keeper = first.link().try_clone().unwrap();
        drop(first);
        match attach_when_free(host, keeper) {
            Ok(attached) => Some(attached),
            // This machine may stand still for longer than the attachment waits.
            Err(XdpError::Taken(_)) => None,
            Err(error) => panic!("{error}"),
        }
    };
    let mut next = (0..10).find_map(|_| try_once()).expect("it waits");
    open(host, &mut next, JOB, &[Rank(0)]);
}

/// Set in the process that the next test starts, on a host of its own, and kills.
const HOLDER: &str = "WEFT_XDP_TEST_HOLDER";

fn hold_the_interface() {
    let interface = Interface::find(INTERFACE).unwrap();
    let mut host = XdpHost::attach(interface, in_driver()).unwrap();
    let ports = host.open(JOB, &[Rank(0)], SIZES).unwrap();
    println!("\nattached");
    // Until killed.
    std::io::stdin().read_line(&mut String::new()).unwrap();
    drop((ports, host));
}

#[test]
fn nothing_remains_after_kill_9() {
    if std::env::var_os(HOLDER).is_some() {
        return hold_the_interface();
    }
    if !available() {
        return;
    }
    let cluster = cluster();
    let host = cluster.host(0);
    let mut command = host.command(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", "setup::nothing_remains_after_kill_9"])
        .env(HOLDER, "1");
    let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line == "attached"), "it did not attach");
    assert!(ip_link(host).contains("xdp"), "{}", ip_link(host));
    holder.kill().unwrap();
    assert_eq!(holder.wait().unwrap().signal(), Some(9));
    // The kernel puts some of it off.
    let gone = (0..1000).any(|_| !ip_link(host).contains("xdp"));
    assert!(gone, "{}", ip_link(host));
    let mut next = attach(host, in_driver()).unwrap();
    open(host, &mut next, JOB, &[Rank(0)]);
}
