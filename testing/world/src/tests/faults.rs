//! Each invariant, broken on purpose in a running world, is named by the check that finds it.

use super::*;
use crate::Fault;
use weft_protocol::invariants::UpcallConditions;

#[test]
#[should_panic(expected = "I1 credit conservation")]
fn i1_an_explicit_credit_is_lost() {
    let mut world = world(2, 1, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1), process(1), release(1)]);
    assert_eq!(world.wire(Rank(1), Rank(0)).count(), 1, "the credit on its way back");
    world.lose_head(Rank(1), Rank(0));
}

#[test]
#[should_panic(expected = "I1 credit conservation")]
fn i1_a_piggybacked_credit_is_lost() {
    let mut world = world(2, 4, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1), process(1), release(1), unicast(1, 0)]);
    world.lose_head(Rank(1), Rank(0));
}

#[test]
#[should_panic(expected = "I2 careful: 3 packets for 2 credits")]
fn i2_a_packet_too_many_on_the_wire() {
    let mut world = world(2, 2, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), unicast(0, 1)]);
    world.duplicate_head(Rank(0), Rank(1));
}

#[test]
#[should_panic(expected = "I2 careful: 2 packets for 1 credits")]
fn i2_a_packet_is_transmitted_twice_for_one_credit() {
    let mut world = world(2, 1, Shape::Binary);
    world.plan(Rank(0), Fault::TransmitTwice);
    world.take(unicast(0, 1));
}

#[test]
#[should_panic(expected = "I2 careful: 1 accepted packets were dropped")]
fn i2_an_accepted_packet_is_not_delivered() {
    let mut world = world(2, 2, Shape::Binary);
    world.plan(Rank(1), Fault::SwallowDelivery);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1)]);
}

#[test]
#[should_panic(expected = "I3 order: 1 arrived after None")]
fn i3_a_wire_reorders() {
    let mut world = world(2, 2, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), unicast(0, 1)]);
    world.swap_heads(Rank(0), Rank(1));
    take_all(&mut world, &[arrive(0, 1), process(1)]);
}

/// A forwarder further down the tree is judged by the same order.
#[test]
#[should_panic(expected = "I3 order: 1 arrived after None")]
fn i3_a_wire_reorders_forwarded_packets() {
    let mut world = world(7, 2, Shape::Binary);
    take_all(&mut world, &[broadcast(0), broadcast(0), arrive(0, 1), arrive(0, 1)]);
    world.swap_heads(Rank(1), Rank(3));
    settle(&mut world);
}

#[test]
#[should_panic(expected = "was released twice")]
fn i4_a_receive_buffer_is_released_twice() {
    let mut world = world(2, 2, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1), process(1)]);
    world.plan(Rank(1), Fault::FreeTwice);
    world.take(release(1));
}

#[test]
#[should_panic(expected = "I4 one owner: buffer 0 was released twice")]
fn i4_a_send_buffer_is_released_twice() {
    let mut world = world(2, 2, Shape::Binary);
    world.plan(Rank(0), Fault::FreeTwice);
    world.take(unicast(0, 1));
}

#[test]
#[should_panic(expected = "I4 one owner: rank 1 released a buffer still due at [rank 3]")]
fn i4_a_multicast_buffer_is_released_before_the_last_forward() {
    let mut world = world(7, 1, Shape::Binary);
    take_all(&mut world, &[unicast(1, 3), broadcast(0), arrive(0, 1), process(1)]);
    world.plan(Rank(1), Fault::FreeEarly);
    world.take(release(1));
}

#[test]
#[should_panic(expected = "I4 one owner: rank 1 released a buffer its host needs")]
fn i4_a_multicast_buffer_is_released_while_the_host_reads_it() {
    let mut world = world(7, 1, Shape::Binary);
    take_all(&mut world, &[broadcast(0)]);
    world.plan(Rank(1), Fault::FreeEarly);
    world.take(arrive(0, 1));
}

#[test]
#[should_panic(expected = "I5 control never blocks: a Credit packet waits")]
fn i5_an_explicit_credit_is_queued() {
    let mut world = world(2, 2, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1), process(1)]);
    world.plan(Rank(1), Fault::SwallowControl);
    world.take(release(1));
}

#[test]
#[should_panic(expected = "I5 control never blocks: a FaReply packet waits")]
fn i5_an_answer_is_queued() {
    let mut world = world(2, 4, Shape::Binary);
    world.plan(Rank(1), Fault::SwallowControl);
    take_all(&mut world, &[fetch_add(0, 1, 1), arrive(0, 1)]);
}

const NEVER: UpcallConditions =
    UpcallConditions { interrupts_enabled: false, polling: false, upcalls_allowed: false };

#[test]
#[should_panic(expected = "I6 upcalls only when allowed: none of the three conditions")]
fn i6_an_upcall_while_interrupts_are_disabled() {
    let mut world = world(2, 1, Shape::Binary);
    world.set_upcall_conditions(Rank(1), NEVER);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1)]);
    assert_eq!(world.possible(), [], "draining is separate from upcalls");
    world.take(process(1));
}

#[test]
#[should_panic(expected = "I6 upcalls only when allowed: an upcall ran inside another")]
fn i6_an_upcall_inside_another() {
    let mut world = world(2, 1, Shape::Binary);
    take_all(&mut world, &[unicast(0, 1), arrive(0, 1)]);
    world.begin_endless_upcall(Rank(1));
    assert_eq!(world.possible(), []);
    world.take(process(1));
}

#[test]
fn i6_any_of_the_three_conditions_will_do() {
    let any = [
        UpcallConditions { interrupts_enabled: true, ..NEVER },
        UpcallConditions { polling: true, ..NEVER },
        UpcallConditions { upcalls_allowed: true, ..NEVER },
    ];
    for conditions in any {
        let mut world = world(2, 1, Shape::Binary);
        world.set_upcall_conditions(Rank(1), conditions);
        take_all(&mut world, &[unicast(0, 1), arrive(0, 1), process(1)]);
    }
}

#[test]
#[should_panic(expected = "I7 recovery: two packets on")]
fn i7_a_recovery_channel_has_one_buffer_at_a_rank() {
    let mut world = world(3, 2, Shape::Binary);
    take_all(&mut world, &[broadcast(0), broadcast(1)]);
    world.divert_head(Rank(0), Rank(2), Rank(0));
    world.divert_head(Rank(1), Rank(2), Rank(0));
}

#[test]
#[should_panic(expected = "serves two trees")]
fn i7_a_recovery_channel_is_part_of_one_tree() {
    let mut world = world(3, 1, Shape::Binary);
    take_all(&mut world, &[broadcast(0), unicast(1, 0)]);
    world.divert_head(Rank(0), Rank(1), Rank(2));
    world.divert_head(Rank(1), Rank(0), Rank(2));
}

#[test]
#[should_panic(expected = "the channel of rank 1 leads back to it")]
fn i7_a_recovery_channel_does_not_lead_back() {
    let mut world = world(2, 1, Shape::Binary);
    world.take(unicast(0, 1));
    world.divert_head(Rank(0), Rank(1), Rank(1));
}

#[test]
#[should_panic(expected = "I9 bounded: a wire has")]
fn i9_a_wire_is_flooded() {
    let mut world = world(2, 1, Shape::Binary);
    let bound = world.wire_bound();
    world.flood(Rank(0), Rank(1), bound);
    world.flood(Rank(0), Rank(1), 1);
}

#[test]
#[should_panic(expected = "I9 bounded: a blocked-sends queue has 6 entries, its bound is 5")]
fn i9_a_host_sends_from_buffers_that_it_does_not_have() {
    let mut world = world(2, 1, Shape::Binary);
    world.invent_send_buffers(Rank(0), 100);
    for _ in 0..7 {
        world.take(unicast(0, 1));
    }
}

#[test]
#[should_panic(expected = "I9 bounded: a host has 5 entries, its bound is 4")]
fn i9_a_host_keeps_more_than_it_has_buffers_for() {
    let mut world = world(1, 1, Shape::Binary);
    world.invent_send_buffers(Rank(0), 100);
    for _ in 0..5 {
        world.take(unicast(0, 0));
    }
}
