//! Connections that break, stand still, or never come about.

use crate::common::*;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use weft_link::Link;
use weft_seal::Protection;

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
    let header = weft_wire::Header {
        sequence: number - 1,
        ..weft_wire::Header::new(
            weft_wire::Tag::Ucast,
            weft_wire::Rank(0),
            weft_wire::TreeId::unicast(weft_wire::Rank(0)),
            0,
        )
    };
    from.transmit(weft_wire::Rank(1), &header, weft_link::Payload::Empty);
    let after = from.counters();
    assert_eq!((after.spared, after.packets), (1, before.packets));
}
