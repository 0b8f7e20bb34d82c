//! Connections that break, stand still, or never come about.

use crate::common::*;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use weft_datagram::seal::Protection;
use weft_link::{Link, Paths, Payload};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Sends packets up to `count` as a protocol would: again from the first that is missing, until all
/// have come; `break_at` is called once after so many.
fn all_come(
    links: &mut [weft_bulk::Bulk<weft_udp::Udp>],
    count: u32,
    mut each: impl FnMut(usize),
) -> VecDeque<u32> {
    let (mut expected, mut now) = (0, 0);
    let [from, to] = links else { unreachable!("a pair") };
    let mut accepted = VecDeque::new();
    while expected < count {
        for number in expected..count.min(expected + 8) {
            transmit(from, number, 50_000);
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
        acknowledge(to, expected);
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
fn a_packet_that_waits_is_not_queued_twice() {
    let [mut from, _to] = pair();
    // Nobody reads: at some point the kernel takes no more, and packets wait.
    let mut number = 0;
    while transmit(&mut from, number, 60_000) {
        number += 1;
    }
    let before = from.counters();
    assert_eq!(before.spared, 0);
    // The frames that all packets wait in are taken; one that waits is found before that.
    let mut repeat = |number: u32| {
        let tree = TreeId::unicast(Rank(0));
        let header = Header { sequence: number, ..Header::new(Tag::Ucast, Rank(0), tree, 0) };
        from.transmit(Rank(1), &header, Payload::Empty);
        let counters = from.counters();
        (counters.spared, counters.packets - before.packets)
    };
    assert_eq!(repeat(number - 1), (1, 0), "it waits in its frame");
    // Of 64 frames all wait, so the kernel has those before.
    assert_eq!(repeat(number - 66), (2, 0), "it waits in the kernel");
    // The other end's kernel acknowledges what it has, at once or a little later.
    let mut passed = repeat(0);
    while passed.1 == 0 {
        std::thread::yield_now();
        passed = repeat(0);
    }
    assert_eq!(passed.1, 1, "this end cannot know whether the other one dropped it");
}
