//! Ways of credits back: on packets that go there anyway, or alone at half a window.

use super::recorder::*;
use crate::tree::Shape;
use crate::{PacketBody, Preset};
use Did::{Free, Transmit};
use weft_wire::{Atomic, Rank};

/// A bench that owes rank 1 `owed` credits, few enough not to have sent them yet.
fn owing(owed: u16, window: u16) -> Bench {
    let mut bench = Bench::new(0, 3, window);
    for buffer in 0..u64::from(owed) {
        bench.receive_unicast(1, buffer, 0);
        assert_eq!(bench.release_first(), [Free(buffer)]);
    }
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, owed));
    bench
}

#[test]
fn credits_go_back_alone_at_exactly_half_a_window() {
    for (window, half) in [(1, 1), (2, 1), (3, 2), (8, 4)] {
        let mut bench = owing(half - 1, window);
        for round in 0..3 {
            bench.receive_unicast(1, 70, 0);
            let expected = [Free(70), sent_credits(0, 1, half)];
            assert_eq!(bench.release_first(), expected, "window {window}, round {round}");
            assert_eq!(bench.ni.observe().incoming(1.into()), (0, 0));
            for _ in 1..half {
                bench.receive_unicast(1, 71, 0);
                assert_eq!(bench.release_first(), [Free(71)], "window {window}");
            }
        }
        assert_eq!(bench.ni.counters().explicit_credits, 3);
    }
}

#[test]
fn a_data_packet_takes_along_what_is_owed_to_its_destination() {
    let mut bench = owing(3, 8);
    assert_eq!(bench.unicast(2, 100), [sent(2, ucast(0, 0), 100), Free(100)], "2 is owed none");
    assert_eq!(bench.unicast(1, 101), [sent(1, ucast(0, 3), 101), Free(101)]);
    assert_eq!(bench.unicast(1, 102), [sent(1, ucast(0, 0), 102), Free(102)], "owed once");
}

#[test]
fn a_forwarded_packet_takes_along_what_is_owed_to_the_child() {
    // In the chain of rank 2 among three, 0 forwards to 1.
    let mut bench = Bench::with(0, 3, 8, Preset::NrxImc, Shape::Chain);
    bench.receive_unicast(1, 200, 0);
    bench.release_first();
    let did = bench.receive(mcast(2, broadcast_tree(2), 0), PacketBody::Buffer(300));
    let forwarded = sent(1, mcast(0, broadcast_tree(2), 1), 300);
    assert_eq!(did, [delivered(300, broadcast_tree(2)), forwarded]);
}

#[test]
fn an_answer_to_a_fetch_and_add_takes_along_what_is_owed() {
    let mut bench = owing(3, 16);
    let did = bench
        .receive(fa_request(1, 0), PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) });
    assert_eq!(did, [Transmit(Rank(1), fa_reply(0, 4), PacketBody::Fetched(0))]);
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, 0));
}

#[test]
fn piggybacked_credits_keep_explicit_ones_from_being_sent() {
    let mut bench = Bench::new(0, 2, 4);
    for round in 0..20 {
        bench.receive_unicast(1, 200, 0);
        bench.release_first();
        let taken_along = ucast(0, 1);
        assert_eq!(bench.unicast(1, 100), [sent(1, taken_along, 100), Free(100)], "{round}");
        bench.receive_credits(1, 1);
    }
    assert_eq!(bench.ni.counters().explicit_credits, 0);
}

#[test]
fn a_blocked_packet_collects_credits_when_it_leaves_not_when_it_blocks() {
    let mut bench = Bench::new(0, 2, 4);
    for buffer in 100..105 {
        bench.unicast(1, buffer);
    }
    bench.receive_unicast(1, 200, 0);
    bench.release_first();
    assert_eq!(bench.receive_credits(1, 1), [sent(1, ucast(0, 1), 104), Free(104)]);
}

/// At half a window too: a request that is answered with one packet, not two.
#[test]
fn an_answer_saves_the_explicit_credit() {
    for window in [1, 2, 3] {
        let mut bench = Bench::new(0, 2, window);
        let did = bench.receive(
            fa_request(1, 0),
            PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) },
        );
        assert_eq!(did, [Transmit(Rank(1), fa_reply(0, 1), PacketBody::Fetched(0))]);
        assert_eq!(bench.ni.counters().explicit_credits, 0);
    }
}

#[test]
fn control_packets_need_no_credit() {
    let mut bench = Bench::new(0, 2, 1);
    bench.unicast(1, 100);
    bench.unicast(1, 101);
    bench.receive_unicast(1, 200, 0);
    assert_eq!(bench.release_first(), [Free(200), sent_credits(0, 1, 1)]);
    let did = bench
        .receive(fa_request(1, 0), PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) });
    assert!(matches!(did[..], [Transmit(Rank(1), _, PacketBody::Fetched(0))]), "{did:?}");
    assert_eq!(bench.ni.observe().outgoing(1.into()), (0, 1), "data still waits");
}
