//! Atomic operations at home, away, and blocked (thesis 3.8).

use super::recorder::*;
use crate::PacketBody;
use Did::{Fetched, Free, Transmit};
use weft_wire::{Atomic, Header, Rank, Tag};

fn asks(variable: u16, operation: Atomic) -> PacketBody<u64> {
    PacketBody::Atomic { variable, operation }
}

fn adds(variable: u16, amount: u64) -> PacketBody<u64> {
    asks(variable, Atomic::Add(amount))
}

#[test]
fn a_variable_of_ones_own_is_added_to_at_once() {
    let mut bench = Bench::new(0, 2, 1);
    assert_eq!(bench.fetch_and_add(0, 3, 5), [Fetched(0)]);
    assert_eq!(bench.fetch_and_add(0, 3, 2), [Fetched(5)]);
    assert_eq!(bench.fetch_and_add(0, 4, 1), [Fetched(0)], "variables are separate");
    assert!(!bench.ni.observe().is_fetching());
}

#[test]
fn a_remote_variable_is_asked_for_and_answered() {
    let mut bench = Bench::new(0, 2, 1);
    let asked = [Transmit(Rank(1), fa_request(0, 0), adds(7, 9))];
    assert_eq!(bench.fetch_and_add(1, 7, 9), asked);
    assert!(bench.ni.observe().is_fetching());
    assert_eq!(bench.ni.observe().outgoing(1.into()), (0, 0), "a request is a data packet");
    let credit_came_along = fa_reply(1, 1);
    assert_eq!(bench.receive(credit_came_along, PacketBody::Fetched(41)), [Fetched(41)]);
    assert!(!bench.ni.observe().is_fetching());
    assert_eq!(bench.ni.observe().outgoing(1.into()), (1, 0));
}

#[test]
fn a_request_is_served_without_the_host_and_frees_its_buffer_at_once() {
    let mut bench = Bench::new(0, 3, 4);
    for (before, from) in [(0, 1), (5, 2), (10, 1)] {
        let did = bench.receive(fa_request(from, 0), adds(u16::MAX, 5));
        let answer = Transmit(Rank(from), fa_reply(0, 1), PacketBody::Fetched(before));
        assert_eq!(did, [answer]);
    }
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, 0));
    assert_eq!(bench.ni.counters().atomics_served, 3);
    assert_eq!(bench.fetch_and_add(0, u16::MAX, 0), [Fetched(15)]);
}

/// The operations, one after the other, and the values that they find if the first finds 0.
fn each_operation() -> [(Atomic, u64); 10] {
    [
        (Atomic::Add(12), 0),
        (Atomic::Swap(40), 12),
        (Atomic::CompareSwap { expected: 12, new: 1 }, 40),
        (Atomic::CompareSwap { expected: 40, new: 50 }, 40),
        (Atomic::Min(60), 50),
        (Atomic::Max(60), 50),
        (Atomic::Min(0b1110), 60),
        (Atomic::And(0b0111), 0b1110),
        (Atomic::Or(0b1001), 0b0110),
        (Atomic::Xor(0b0101), 0b1111),
    ]
}

#[test]
fn every_operation_finds_what_the_one_before_left_at_home_and_away() {
    let (mut home, mut away) = (Bench::new(0, 2, 1), Bench::new(0, 2, 1));
    for (operation, found) in each_operation() {
        assert_eq!(home.atomic(0, 9, operation), [Fetched(found)], "{operation:?}");
        let request = Header { size: operation.size(), ..fa_request(1, 0) };
        let answer = [Transmit(Rank(1), fa_reply(0, 1), PacketBody::Fetched(found))];
        assert_eq!(away.receive(request, asks(9, operation)), answer, "{operation:?}");
    }
    assert_eq!(home.fetch_and_add(0, 9, 0), [Fetched(0b1010)]);
}

#[test]
fn a_compare_and_swap_takes_a_packet_of_three_words() {
    let mut bench = Bench::new(0, 2, 1);
    let operation = Atomic::CompareSwap { expected: 1, new: 2 };
    let request = Header { size: 24, ..fa_request(0, 0) };
    let asked = [Transmit(Rank(1), request, asks(7, operation))];
    assert_eq!(bench.atomic(1, 7, operation), asked);
    assert_eq!(request.tag, Tag::FaRequest);
}

#[test]
fn additions_wrap() {
    let mut bench = Bench::new(0, 1, 1);
    bench.fetch_and_add(0, 0, u64::MAX);
    assert_eq!(bench.fetch_and_add(0, 0, 2), [Fetched(u64::MAX)]);
    assert_eq!(bench.fetch_and_add(0, 0, 0), [Fetched(1)]);
}

#[test]
fn without_a_credit_a_request_waits_in_order_with_the_data() {
    let mut bench = Bench::new(0, 2, 1);
    bench.unicast(1, 100);
    bench.unicast(1, 101);
    assert_eq!(bench.fetch_and_add(1, 0, 1), []);
    assert_eq!(bench.unicast(1, 102), []);
    assert!(bench.ni.observe().is_fetching());
    assert_eq!(bench.receive_credits(1, 1), [sent(1, ucast(0, 0), 101), Free(101)]);
    let asked = [Transmit(Rank(1), fa_request(0, 0), adds(0, 1))];
    assert_eq!(bench.receive_credits(1, 1), asked);
    assert_eq!(bench.receive_credits(1, 1), [sent(1, ucast(0, 0), 102), Free(102)]);
}

#[test]
#[should_panic(expected = "one atomic operation outstanding at a time")]
fn a_second_request_before_the_answer_is_a_programmers_error() {
    let mut bench = Bench::new(0, 2, 4);
    bench.fetch_and_add(1, 0, 1);
    bench.fetch_and_add(1, 1, 1);
}
