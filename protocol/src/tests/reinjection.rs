//! Host-level forwarding: nothing moves on before the host says so (thesis 8.1.3).

use super::recorder::*;
use crate::tree::Shape;
use crate::{PacketBody, Preset};
use Did::Free;
use weft_wire::GroupId;

fn bench(local: u16, window: u16) -> Bench {
    Bench::with(local, 7, window, Preset::NrxHmc, Shape::Binary)
}

fn tree() -> weft_wire::TreeId {
    broadcast_tree(0)
}

fn receive_from_parent(bench: &mut Bench, buffer: u64) -> Vec<Did> {
    bench.receive(mcast(0, tree(), 0), PacketBody::Buffer(buffer))
}

#[test]
fn a_forwarder_only_delivers_until_its_host_reinjects() {
    let mut bench = bench(1, 1);
    assert_eq!(receive_from_parent(&mut bench, 200), [delivered_to_reinject(200, tree())]);
    assert_eq!(bench.ni.observe().shared_buffers(), 0);
    let mut delivery = bench.take();
    assert!(delivery.wants_reinjection());
    let header = mcast(1, tree(), 0);
    let did = [sent(3, header, 200), sent(4, header, 200), sent_credits(1, 0, 1)];
    assert_eq!(bench.reinject(&mut delivery), did);
    assert!(!delivery.wants_reinjection());
    assert_eq!(bench.release(delivery), [Free(200)]);
}

#[test]
fn reinjecting_twice_forwards_once() {
    let mut bench = bench(1, 4);
    receive_from_parent(&mut bench, 200);
    let mut delivery = bench.take();
    assert_eq!(bench.reinject(&mut delivery).len(), 2);
    assert_eq!(bench.reinject(&mut delivery), []);
}

#[test]
fn a_released_packet_stays_until_its_blocked_reinjections_have_left_and_its_credit_does_not() {
    let mut bench = bench(1, 1);
    bench.unicast(3, 90);
    receive_from_parent(&mut bench, 200);
    let mut delivery = bench.take();
    let header = mcast(1, tree(), 0);
    // ACK-receive (thesis 8.3.2).
    assert_eq!(bench.reinject(&mut delivery), [sent(4, header, 200), sent_credits(1, 0, 1)]);
    assert_eq!(bench.release(delivery), []);
    assert_eq!(bench.receive_credits(3, 1), [sent(3, header, 200), Free(200)]);
}

#[test]
fn leaves_and_unicasts_have_nothing_to_reinject() {
    let mut leaf = bench(3, 1);
    let did = leaf.receive(mcast(1, tree(), 0), PacketBody::Buffer(200));
    assert_eq!(did, [delivered(200, tree())]);
    assert_eq!(leaf.receive_unicast(2, 201, 0), [delivered(201, unicast_tree(2))]);
}

#[test]
fn the_root_sends_as_ever() {
    let mut root = bench(0, 1);
    let header = mcast(0, tree(), 0);
    let did = root.multicast(GroupId::ALL, 100);
    assert_eq!(did, [sent(1, header, 100), sent(2, header, 100), Free(100)]);
}

#[test]
#[should_panic(expected = "released before it was re-injected")]
fn releasing_before_reinjecting_is_a_programmers_error() {
    let mut bench = bench(1, 1);
    receive_from_parent(&mut bench, 200);
    bench.release_first();
}
