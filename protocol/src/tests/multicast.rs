//! MCAST: root, forwarders and leaves; when a shared buffer is released (thesis 4.2).
//!
//! In the binary broadcast tree of rank 0 among seven, 0 sends to 1 and 2, 1 to 3 and 4.

use super::recorder::*;
use crate::PacketBody;
use Did::Free;
use weft_wire::GroupId;

fn tree() -> weft_wire::TreeId {
    broadcast_tree(0)
}

fn receive_from_parent(bench: &mut Bench, buffer: u64) -> Vec<Did> {
    bench.receive(mcast(0, tree(), 0), PacketBody::Buffer(buffer))
}

#[test]
fn the_root_sends_to_its_children_and_frees_the_buffer_after_the_last() {
    let mut bench = Bench::new(0, 7, 1);
    let did = bench.multicast(GroupId::ALL, 100);
    let header = mcast(0, tree(), 0);
    assert_eq!(did, [sent(1, header, 100), sent(2, header, 100), Free(100)]);
    assert_eq!(bench.ni.observe().shared_buffers(), 0);
    assert_eq!(bench.ni.counters().forwards, 0, "nothing was forwarded, all was sent");
}

#[test]
fn a_root_without_credits_keeps_the_buffer_until_the_last_child_has_it() {
    let mut bench = Bench::new(0, 7, 1);
    bench.unicast(1, 90);
    bench.unicast(2, 91);
    assert_eq!(bench.multicast(GroupId::ALL, 100), []);
    assert_eq!(bench.ni.observe().shared_buffers(), 1);
    let header = mcast(0, tree(), 0);
    assert_eq!(bench.receive_credits(2, 1), [sent(2, header, 100)]);
    assert_eq!(bench.receive_credits(1, 1), [sent(1, header, 100), Free(100)]);
    assert!(bench.ni.observe().is_idle());
}

#[test]
fn a_leaf_delivers_and_returns_the_credit_to_its_parent() {
    let mut bench = Bench::new(3, 7, 1);
    let did = bench.receive(mcast(1, tree(), 0), PacketBody::Buffer(200));
    assert_eq!(did, [delivered(200, tree())]);
    let delivery = bench.take();
    assert_eq!(delivery.origin(), 0, "sent by the root, over rank 1");
    assert_eq!(bench.release(delivery), [Free(200), sent_credits(3, 1, 1)]);
}

#[test]
fn a_forwarder_delivers_first_and_then_forwards() {
    let mut bench = Bench::new(1, 7, 2);
    let did = receive_from_parent(&mut bench, 200);
    let header = mcast(1, tree(), 0);
    assert_eq!(did, [delivered(200, tree()), sent(3, header, 200), sent(4, header, 200)]);
    assert_eq!(bench.ni.counters().forwards, 2);
    assert_eq!(bench.release_first(), [Free(200), sent_credits(1, 0, 1)]);
}

#[test]
fn a_buffer_released_before_it_is_forwarded_stays_until_the_last_forward() {
    let mut bench = Bench::new(1, 7, 1);
    bench.unicast(3, 90);
    bench.unicast(4, 91);
    assert_eq!(receive_from_parent(&mut bench, 200), [delivered(200, tree())]);
    assert_eq!(bench.ni.observe().outgoing(3.into()), (0, 1));
    assert_eq!(bench.release_first(), [], "two forwards still need the buffer");
    assert_eq!(bench.ni.observe().incoming(0.into()), (1, 0));
    let header = mcast(1, tree(), 0);
    assert_eq!(bench.receive_credits(4, 1), [sent(4, header, 200)]);
    let last = [sent(3, header, 200), Free(200), sent_credits(1, 0, 1)];
    assert_eq!(bench.receive_credits(3, 1), last);
}

#[test]
fn a_buffer_forwarded_before_it_is_released_stays_until_the_release() {
    let mut bench = Bench::new(1, 7, 1);
    receive_from_parent(&mut bench, 200);
    assert_eq!(bench.ni.observe().shared_buffers(), 1);
    assert_eq!(bench.ni.observe().incoming(0.into()), (1, 0));
    assert_eq!(bench.release_first(), [Free(200), sent_credits(1, 0, 1)]);
    assert_eq!(bench.ni.observe().shared_buffers(), 0);
}

#[test]
fn one_blocked_child_does_not_hold_up_the_other() {
    let mut bench = Bench::new(1, 7, 1);
    bench.unicast(3, 90);
    let did = receive_from_parent(&mut bench, 200);
    assert_eq!(did, [delivered(200, tree()), sent(4, mcast(1, tree(), 0), 200)]);
}

#[test]
fn kept_multicast_packets_may_be_released_in_any_order() {
    let mut bench = Bench::new(1, 7, 4);
    for buffer in 200..203 {
        receive_from_parent(&mut bench, buffer);
    }
    let [first, second, third] = [bench.take(), bench.take(), bench.take()];
    assert_eq!(bench.release(third), [Free(202)]);
    assert_eq!(bench.release(first), [Free(200), sent_credits(1, 0, 2)]);
    assert_eq!(bench.release(second), [Free(201)]);
    assert_eq!(bench.ni.observe().shared_buffers(), 0);
}

#[test]
fn shared_buffers_are_told_apart_when_their_table_entries_are_reused() {
    let mut bench = Bench::new(1, 7, 4);
    receive_from_parent(&mut bench, 200);
    receive_from_parent(&mut bench, 201);
    let (first, second) = (bench.take(), bench.take());
    assert_eq!(bench.release(first), [Free(200)]);
    receive_from_parent(&mut bench, 202);
    let third = bench.take();
    assert_eq!(bench.release(third), [Free(202), sent_credits(1, 0, 2)]);
    assert_eq!(bench.release(second), [Free(201)]);
}

#[test]
fn packets_to_one_destination_keep_their_order_whoever_sent_them() {
    let mut bench = Bench::new(1, 7, 1);
    bench.unicast(3, 90);
    bench.unicast(3, 91);
    receive_from_parent(&mut bench, 200);
    bench.unicast(3, 92);
    assert_eq!(bench.receive_credits(3, 1), [sent(3, ucast(1, 0), 91), Free(91)]);
    assert_eq!(bench.receive_credits(3, 1), [sent(3, mcast(1, tree(), 0), 200)]);
    assert_eq!(bench.receive_credits(3, 1), [sent(3, ucast(1, 0), 92), Free(92)]);
}
