//! RECOV, event by event (thesis 4.3, fig. 4.13 to 4.15).

use super::recorder::*;
use crate::tree::Shape;
use crate::{PacketBody, Recovery, Settings, Timer, Violation};
use Did::{Free, Transmit};
use weft_wire::{Atomic, Channel, GroupId, Header, Rank, Tag};

/// A chain of four with one credit for each pair.
fn bench(local: u16, recovery: Recovery) -> Bench {
    let settings = Settings { shape: Shape::Chain, recovery, ..Settings::new(4, 1) };
    Bench::set_up(local, settings)
}

fn on(channel: u16, header: Header) -> Header {
    Header { channel: Channel(Some(Rank(channel))), ..header }
}

fn clear(from: u16, channel: u16) -> Header {
    on(channel, Header::new(Tag::ChannelClear, Rank(from), unicast_tree(from), 0))
}

fn sent_clear(from: u16, to: u16, channel: u16) -> Did {
    Transmit(Rank(to), clear(from, channel), PacketBody::Empty)
}

#[test]
fn the_first_packet_without_a_credit_starts_a_recovery_and_the_second_waits() {
    let mut bench = bench(1, Recovery::AtOnce);
    bench.unicast(2, 90);
    assert_eq!(bench.unicast(2, 91), [sent(2, on(1, ucast(1, 0)), 91), Free(91)]);
    assert_eq!(bench.unicast(2, 92), []);
    assert_eq!(bench.unicast(3, 93), [sent(3, ucast(1, 0), 93), Free(93)]);
    assert_eq!(bench.unicast(3, 94), [], "one recovery at a time");
    let counters = bench.ni.counters();
    assert_eq!((counters.recoveries, counters.recovery_packets), (1, 1));
}

#[test]
fn when_the_channel_is_clear_the_next_queue_in_turn_is_served() {
    let mut bench = bench(1, Recovery::AtOnce);
    for (to, buffer) in [(2, 90), (2, 91), (2, 92), (3, 93), (3, 94)] {
        bench.unicast(to, buffer);
    }
    assert_eq!(
        bench.receive(clear(2, 1), PacketBody::Empty),
        [sent(3, on(1, ucast(1, 0)), 94), Free(94)]
    );
    assert_eq!(
        bench.receive(clear(3, 1), PacketBody::Empty),
        [sent(2, on(1, ucast(1, 0)), 92), Free(92)]
    );
    assert_eq!(bench.receive(clear(2, 1), PacketBody::Empty), []);
    assert_eq!(bench.ni.observe().channels().count(), 0);
}

#[test]
fn a_packet_on_a_channel_needs_no_credit_and_its_release_clears_the_channel() {
    let mut bench = bench(2, Recovery::AtOnce);
    bench.receive_unicast(1, 200, 0);
    let did = bench.receive(on(1, ucast(1, 0)), PacketBody::Buffer(201));
    assert_eq!(did, [delivered(201, unicast_tree(1))]);
    assert_eq!(bench.ni.observe().channels().collect::<Vec<_>>(), [Rank(1)]);
    // Whichever is released first clears the channel; the other gives the credit back.
    assert_eq!(bench.release_first(), [Free(200), sent_clear(2, 1, 1)]);
    assert_eq!(bench.release_first(), [Free(201), sent_credits(2, 1, 1)]);
}

#[test]
fn a_recovery_is_extended_where_credits_are_out_and_not_where_there_are_some() {
    let tree = broadcast_tree(0);
    let mut bench = bench(1, Recovery::AtOnce);
    let arrived = on(3, mcast(0, tree, 0));
    let did = bench.receive(arrived, PacketBody::Buffer(200));
    assert_eq!(did, [delivered(200, tree), sent(2, mcast(1, tree, 0), 200)]);
    let first = bench.take();
    assert_eq!(bench.release(first), [Free(200), sent_clear(1, 0, 3)]);

    let did = bench.receive(arrived, PacketBody::Buffer(201));
    assert_eq!(did, [delivered(201, tree), sent(2, on(3, mcast(1, tree, 0)), 201)]);
    assert_eq!(bench.release_first(), [Free(201)], "the child's part is not clear");
    assert_eq!(bench.receive(clear(2, 3), PacketBody::Empty), [sent_clear(1, 0, 3)]);
}

#[test]
fn a_recovery_is_extended_by_the_oldest_packet_of_its_tree() {
    let tree = broadcast_tree(0);
    let mut bench = bench(1, Recovery::AtOnce);
    bench.unicast(2, 90);
    bench.unicast(3, 91);
    bench.unicast(3, 92);
    // Its own recovery goes on, so what cannot leave waits.
    assert_eq!(bench.receive(mcast(0, tree, 0), PacketBody::Buffer(200)), [delivered(200, tree)]);
    let did = bench.receive(on(0, mcast(0, tree, 0)), PacketBody::Buffer(201));
    assert_eq!(did, [delivered(201, tree), sent(2, on(0, mcast(1, tree, 0)), 200)]);
    assert_eq!(bench.receive_credits(2, 1), [sent(2, mcast(1, tree, 0), 201)]);
}

#[test]
fn a_fetch_and_add_is_recovered_too() {
    let mut asker = bench(1, Recovery::AtOnce);
    asker.unicast(2, 90);
    let did = asker.fetch_and_add(2, 5, 7);
    let body = PacketBody::Atomic { variable: 5, operation: Atomic::Add(7) };
    assert_eq!(did, [Transmit(Rank(2), on(1, fa_request(1, 0)), body)]);
    let mut home = bench(2, Recovery::AtOnce);
    home.receive_unicast(1, 200, 0);
    let did = home.receive(on(1, fa_request(1, 0)), body);
    let reply = Transmit(Rank(1), fa_reply(2, 0), PacketBody::Fetched(0));
    assert_eq!(did, [sent_clear(2, 1, 1), reply]);
    assert_eq!(asker.receive(clear(2, 1), PacketBody::Empty), []);
    assert_eq!(asker.receive(fa_reply(2, 0), PacketBody::Fetched(0)), [Did::Fetched(0)]);
}

#[test]
fn with_patience_a_recovery_starts_when_nothing_has_left_for_that_long() {
    let mut bench = bench(1, Recovery::After(100));
    assert_eq!(bench.advance(1000), []);
    bench.unicast(2, 90);
    assert_eq!(bench.ni.next_deadline(), None);
    bench.unicast(2, 91);
    bench.unicast(2, 92);
    assert_eq!(bench.ni.next_deadline(), Some((1100, Timer::Suspect)));
    assert_eq!(bench.advance(1060), []);
    assert_eq!(bench.receive_credits(2, 1), [sent(2, ucast(1, 0), 91), Free(91)]);
    assert_eq!(bench.ni.next_deadline(), Some((1160, Timer::Suspect)));
    assert_eq!(bench.advance(1159), []);
    assert_eq!(bench.advance(1160), [sent(2, on(1, ucast(1, 0)), 92), Free(92)]);
    assert_eq!(bench.ni.next_deadline(), None);
}

#[test]
fn channels_that_nobody_opened_are_refused() {
    let tree = broadcast_tree(0);
    let violation = |from, owner| Err(Violation::Channel(Rank(from), Channel(Some(Rank(owner)))));
    let mut bench = bench(1, Recovery::AtOnce);
    assert_eq!(bench.try_receive(on(1, mcast(0, tree, 0)), PacketBody::Buffer(1)), violation(0, 1));
    assert_eq!(bench.try_receive(on(9, mcast(0, tree, 0)), PacketBody::Buffer(1)), violation(0, 9));
    assert_eq!(bench.try_receive(clear(2, 3), PacketBody::Empty), violation(2, 3));
    assert_eq!(bench.try_receive(on(3, credit(0, 0)), PacketBody::Empty), violation(0, 3));
    bench.receive(on(3, mcast(0, tree, 0)), PacketBody::Buffer(200));
    assert_eq!(bench.try_receive(on(3, mcast(0, tree, 0)), PacketBody::Buffer(1)), violation(0, 3));
    assert_eq!(bench.try_receive(clear(2, 3), PacketBody::Empty), violation(2, 3));
}

#[test]
fn a_multicast_waits_for_every_child_s_part() {
    let settings =
        Settings { shape: Shape::Binary, recovery: Recovery::AtOnce, ..Settings::new(7, 1) };
    let mut root = Bench::set_up(0, settings);
    let tree = broadcast_tree(0);
    root.multicast(GroupId::ALL, 90);
    let first = sent(1, on(0, mcast(0, tree, 0)), 91);
    assert_eq!(root.multicast(GroupId::ALL, 91), [first]);
    assert_eq!(root.receive_credits(2, 1), [sent(2, mcast(0, tree, 0), 91), Free(91)]);
    assert_eq!(root.receive(clear(1, 0), PacketBody::Empty), []);
    assert!(root.ni.observe().is_idle());
}
