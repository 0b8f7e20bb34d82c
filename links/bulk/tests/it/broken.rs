//! Connections that break, stand still, or never come about.

use crate::common::*;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use weft_datagram::seal::Protection;
use weft_link::{Link, Paths};
use weft_wire::{Follows, Rank};

/// Sends packets up to `count` as a protocol would: again from the first that is missing, until all
/// have come; `each` is called after each turn, with the number that have come.
fn all_come(
    links: &mut [weft_bulk::Bulk<weft_udp::Udp>],
    count: u32,
    mut each: impl FnMut(usize),
) -> VecDeque<u32> {
    let (mut expected, mut now) = (0, 0);
    let [from, to] = links else { unreachable!("a pair") };
    let (mut accepted, mut next) = (VecDeque::new(), 0);
    while expected < count {
        for number in expected..count.min(expected + 8) {
            let follows = match (number < next, number == expected) {
                (true, _) => Follows::Lost,
                (false, true) => Follows::Taken,
                (false, false) => Follows::Earlier,
            };
            transmit_after(from, follows, number, 50_000);
            next = next.max(number + 1);
        }
        from.flush();
        for _ in 0..200 {
            let mut got = VecDeque::new();
            receive_all(to, &mut got);
            for number in got {
                if number == expected {
                    accepted.push_back(number);
                    expected += 1;
                }
            }
            from.flush();
            std::thread::yield_now();
        }
        receive_all(from, &mut VecDeque::new());
        each(accepted.len());
        // Time passes as the links are told.
        now += 20_000_000;
        from.tend(now);
        to.tend(now);
    }
    accepted
}

#[test]
fn a_connection_that_breaks_within_a_record_loses_nothing() {
    for bytes in [20, 40, 72, 100, 49_000, 130_000] {
        let mut ways = Ways::new(2);
        ways.peers[1] = cutting_proxy(ways.peers[1], bytes);
        let mut links = ways.attach(Protection::Tagged);
        let got = all_come(&mut links, 40, |_| {});
        assert!(got.into_iter().eq(0..40), "broken after {bytes} bytes");
        let counters = links[0].counters();
        assert!(counters.broken >= 1, "{counters:?}");
        assert!(counters.begun >= 2, "it was begun again: {counters:?}");
    }
}

#[test]
fn without_a_connection_long_packets_go_in_pieces() {
    let mut ways = Ways::new(2);
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    ways.peers[1] = gone.local_addr().unwrap();
    drop(gone);
    let mut links = ways.attach(Protection::Tagged);
    let got = all_come(&mut links, 20, |_| {});
    assert!(got.into_iter().eq(0..20));
    let counters = links[0].counters();
    assert!(counters.pieces > 0 && counters.broken > 0, "{counters:?}");
}

#[test]
fn a_connection_that_stands_still_is_given_up() {
    let mut ways = Ways::new(2);
    // It is accepted by the system, and nobody reads.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    ways.peers[1] = silent.local_addr().unwrap();
    let mut links = ways.attach(Protection::Tagged);
    let got = all_come(&mut links, 20, |_| {});
    assert!(got.into_iter().eq(0..20));
    let counters = links[0].counters();
    assert!(counters.pieces > 0 && counters.broken > 0, "{counters:?}");
}

#[test]
fn a_connection_that_brings_nothing_is_given_up() {
    let mut ways = Ways::new(2);
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    ways.peers[1] = silent.local_addr().unwrap();
    let [mut from, mut to] = ways.attach(Protection::Tagged).try_into().ok().unwrap();
    // The system has it, and nobody takes it from there.
    assert!(transmit_after(&mut from, Follows::Taken, 0, 50_000));
    let mut now = 0;
    let mut got = VecDeque::new();
    while got.is_empty() {
        assert!(now < 2_000_000_000, "it is sent in vain: {:?}", from.counters());
        now += 20_000_000;
        from.tend(now);
        if !from.is_under_way(Rank(1)) {
            assert!(transmit_after(&mut from, Follows::Lost, 0, 50_000));
        }
        from.flush();
        (0..200).for_each(|_| receive_all(&mut to, &mut got));
    }
    assert_eq!(got[0], 0);
    assert!(from.counters().broken > 0 && from.counters().pieces > 0);
}

#[test]
fn what_the_other_end_does_not_have_is_under_way() {
    let [mut from, mut to] = pair();
    assert!(!from.is_under_way(Rank(1)), "nothing was sent");
    // Nobody reads: at some point the kernel takes no more, and packets wait.
    let mut number = 0;
    while transmit(&mut from, number, 60_000) {
        number += 1;
    }
    assert!(from.is_under_way(Rank(1)));
    let mut got = VecDeque::new();
    while got.len() < number as usize {
        from.flush();
        receive_all(&mut from, &mut VecDeque::new());
        receive_all(&mut to, &mut got);
    }
    // The other end's kernel acknowledges what it has, at once or a little later.
    while from.is_under_way(Rank(1)) {
        std::thread::yield_now();
    }
}
