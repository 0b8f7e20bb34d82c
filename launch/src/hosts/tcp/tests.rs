use super::*;
use std::net::Ipv4Addr;

/// Looks until nothing is waited for.
fn settle(probe: &mut TcpProbe) -> Vec<u16> {
    probe.ask();
    while probe.waits() {
        probe.take_in();
        std::thread::yield_now();
    }
    probe.missed().collect()
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn those_that_listen_are_reached_and_others_are_not() {
    let (own, there) = (listener(), listener());
    let gone = listener().1;
    let hosts = [own.1, there.1, gone];
    assert_eq!(settle(&mut TcpProbe::new(0, &hosts, Some(own.0))), [2]);
    drop(there);
}

#[test]
fn a_host_that_does_not_listen_reaches_nobody() {
    let there = listener();
    let mut probe = TcpProbe::new(0, &[there.1, there.1], None);
    probe.ask();
    assert!(!probe.waits(), "there is nothing to wait for");
    assert_eq!(probe.missed().collect::<Vec<_>>(), [1]);
}
