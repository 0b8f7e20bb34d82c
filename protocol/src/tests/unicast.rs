//! UCAST: sending with and without a credit, receiving, releasing (thesis 4.1).

use super::recorder::*;
use crate::Preset;
use crate::tree::Shape;
use Did::Free;
use weft_wire::{Header, Protocol, Rank, Tag};

#[test]
fn with_a_credit_a_packet_leaves_at_once_and_its_buffer_is_free() {
    let mut bench = Bench::new(0, 3, 2);
    assert_eq!(bench.unicast(1, 100), [sent(1, ucast(0, 0), 100), Free(100)]);
    assert_eq!(bench.ni.observe().outgoing(1.into()), (1, 0));
    assert_eq!(bench.ni.observe().outgoing(2.into()), (2, 0), "credits are per destination");
}

#[test]
fn without_a_credit_a_packet_waits_and_keeps_its_buffer() {
    let mut bench = Bench::new(0, 3, 1);
    bench.unicast(1, 100);
    assert_eq!(bench.unicast(1, 101), []);
    assert_eq!(bench.unicast(1, 102), []);
    assert_eq!(bench.ni.observe().outgoing(1.into()), (0, 2));
    assert_eq!(bench.unicast(2, 103), [sent(2, ucast(0, 0), 103), Free(103)], "2 is not blocked");
    assert_eq!(bench.ni.counters().blocked_sends, 2);
}

#[test]
fn returned_credits_send_what_has_waited_longest() {
    let mut bench = Bench::new(0, 2, 2);
    for buffer in 100..105 {
        bench.unicast(1, buffer);
    }
    let oldest_two = [sent(1, ucast(0, 0), 102), Free(102), sent(1, ucast(0, 0), 103), Free(103)];
    assert_eq!(bench.receive_credits(1, 2), oldest_two);
    assert_eq!(bench.receive_credits(1, 1), [sent(1, ucast(0, 0), 104), Free(104)]);
    assert_eq!(bench.receive_credits(1, 1), []);
    assert_eq!(bench.ni.observe().outgoing(1.into()), (1, 0));
}

#[test]
fn credits_on_a_data_packet_deliver_first_and_then_send() {
    let mut bench = Bench::new(0, 2, 1);
    bench.unicast(1, 100);
    bench.unicast(1, 101);
    let expected = [delivered(200, unicast_tree(1)), sent(1, ucast(0, 0), 101), Free(101)];
    assert_eq!(bench.receive_unicast(1, 200, 1), expected);
}

#[test]
fn a_packet_received_goes_to_the_host_and_fills_a_buffer_of_its_sender() {
    let mut bench = Bench::new(0, 3, 2);
    assert_eq!(bench.receive_unicast(1, 200, 0), [delivered(200, unicast_tree(1))]);
    assert_eq!(bench.ni.observe().incoming(1.into()), (1, 0));
    assert_eq!(bench.ni.observe().incoming(2.into()), (0, 0));
    let delivery = bench.take();
    assert_eq!((delivery.origin(), delivery.wants_reinjection()), (1.into(), false));
    bench.release(delivery);
    assert!(bench.ni.observe().is_idle());
}

#[test]
fn kept_packets_may_be_released_in_any_order() {
    let mut bench = Bench::new(0, 2, 8);
    for buffer in 200..203 {
        bench.receive_unicast(1, buffer, 0);
    }
    let [first, second, third] = [bench.take(), bench.take(), bench.take()];
    assert_eq!(bench.release(second), [Free(201)]);
    assert_eq!(bench.release(third), [Free(202)]);
    assert_eq!(bench.ni.observe().incoming(1.into()), (1, 2));
    assert_eq!(bench.release(first), [Free(200)]);
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, 3));
}

#[test]
fn a_packet_to_oneself_is_delivered_without_credit_or_wire() {
    let mut bench = Bench::new(1, 3, 1);
    for buffer in 100..104 {
        assert_eq!(bench.unicast(1, buffer), [delivered(buffer, unicast_tree(1))]);
    }
    assert_eq!(bench.take().origin(), 1);
    assert_eq!(bench.release_first(), [Free(101)]);
    assert_eq!(bench.ni.observe().outgoing(1.into()), (1, 0));
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, 0));
}

#[test]
fn the_counters_tell_what_happened() {
    let mut bench = Bench::new(0, 2, 1);
    bench.unicast(1, 100);
    bench.unicast(1, 101);
    bench.receive_unicast(1, 200, 1);
    bench.release_first();
    let counters = bench.ni.counters();
    assert_eq!((counters.packets_sent, counters.bytes_sent), (2, 2 * u64::from(SIZE)));
    assert_eq!((counters.packets_received, counters.bytes_received), (1, u64::from(SIZE)));
    assert_eq!((counters.packets_delivered, counters.blocked_sends), (1, 1));
    assert_eq!((counters.explicit_credits, counters.forwards), (1, 0));
}

#[test]
fn what_is_in_no_buffer_leaves_with_a_credit_or_not_at_all() {
    let mut bench = Bench::new(0, 3, 4);
    bench.receive_unicast(1, 200, 0);
    bench.release_first();
    let expected = Header { credits: 1, ..Header::new(Tag::Ucast, Rank(0), unicast_tree(0), 40) };
    assert_eq!(bench.ni.unicast_at_once(Rank(1), Protocol::PACKETS, 40), Some(expected));
    assert_eq!(bench.ni.observe().incoming(1.into()), (0, 0), "the credit is returned");
    let (packets, bytes) = (bench.ni.counters().packets_sent, bench.ni.counters().bytes_sent);
    assert_eq!((packets, bytes), (1, 40));
    (100..103).for_each(|buffer| drop(bench.unicast(1, buffer)));
    assert_eq!(
        bench.ni.unicast_at_once(Rank(1), Protocol::PACKETS, 40),
        None,
        "there is no credit"
    );
    assert_eq!(bench.unicast(1, 103), []);
    assert_eq!(
        bench.ni.unicast_at_once(Rank(1), Protocol::PACKETS, 40),
        None,
        "another packet waits"
    );
    assert_eq!(bench.receive_credits(1, 2), [sent(1, ucast(0, 0), 103), Free(103)]);
    assert!(bench.ni.unicast_at_once(Rank(1), Protocol::PACKETS, 40).is_some());
    assert_eq!(bench.ni.unicast_at_once(Rank(0), Protocol::PACKETS, 40), None, "it is this rank");
    assert_eq!(
        bench.ni.unicast_at_once(Rank(3), Protocol::PACKETS, 40),
        None,
        "there is no such rank"
    );
}

#[test]
fn what_may_be_lost_needs_a_buffer() {
    let mut bench = Bench::with(0, 2, 4, Preset::RETRANSMITTING[0], Shape::Binary);
    assert_eq!(bench.ni.unicast_at_once(Rank(1), Protocol::PACKETS, 40), None);
    bench.ni.set_lossless(Rank(1));
    assert!(bench.ni.unicast_at_once(Rank(1), Protocol::PACKETS, 40).is_some());
}

#[test]
fn a_credit_is_awaited_only_where_one_comes_unasked_for() {
    let mut bench = Bench::new(0, 3, 2);
    assert!(!bench.ni.awaits_credit(Rank(1)), "there are some");
    (100..102).for_each(|buffer| drop(bench.unicast(1, buffer)));
    assert!(bench.ni.awaits_credit(Rank(1)));
    assert!(!bench.ni.awaits_credit(Rank(2)), "it is another window");
    assert!(!bench.ni.awaits_credit(Rank(0)), "it is this rank");
    assert!(!bench.ni.awaits_credit(Rank(3)), "there is no such rank");
    bench.receive_credits(1, 1);
    assert!(!bench.ni.awaits_credit(Rank(1)));
}

#[test]
fn what_may_be_lost_is_not_what_awaits_a_credit() {
    let mut bench = Bench::with(0, 2, 1, Preset::RETRANSMITTING[0], Shape::Binary);
    bench.unicast(1, 100);
    assert!(!bench.ni.awaits_credit(Rank(1)));
}
