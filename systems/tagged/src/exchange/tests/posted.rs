//! Messages whose parts the network reads where they belong.

use super::super::posted::Posted;
use super::*;
use crate::format::parse;
use slotmap::Key;

/// Bytes that the network leaves in packets in place of those that it has placed.
const LEFT: u8 = 0xee;

impl World {
    /// Has the network place parts that are on their way, as far as it does: not behind one that it
    /// did not.
    pub(super) fn place_posted(&mut self, from: usize, at: usize) {
        let World { ranks, net, .. } = self;
        let (source, target) = (Rank(from as u16), Rank(at as u16));
        let mut posted = std::mem::take(&mut net.posted);
        let carries = net.carries;
        for packet in net.on_their_way(from, at) {
            let parsed = parse(source, packet);
            let Some(
                TaggedPacket::Part { offset, bytes, .. } | TaggedPacket::More { offset, bytes, .. },
            ) = parsed
            else {
                continue;
            };
            let head = *packet.first_chunk().unwrap();
            let there = posted.get_mut(&(target, source, head));
            let Some(there) = there.filter(|there| **there == offset) else { continue };
            let mut receives = ranks[at].arrivals.receives.all.values_mut();
            let receive = receives.find(|receive| {
                receive.envelope.source.rank == source && receive.posted == Posted::Now(head)
            });
            let Some(receive) = receive else {
                assert!(carries, "what is posted is being received");
                continue;
            };
            // Not all, and not always the same ones.
            if (offset + bytes.len() as u64) % 11 < 2 {
                continue;
            }
            receive.into.place(offset, bytes);
            *there += bytes.len() as u64;
            let length = bytes.len();
            let end = packet.len() - length;
            packet[end..].fill(LEFT);
        }
        net.posted = posted;
    }
}

fn posting() -> World {
    let mut world = World::pair();
    world.net.posts = true;
    world
}

/// Ranks that send in a way that suits that.
fn posting_in_place() -> World {
    let mut world = posting();
    world.net.lends = true;
    world.ranks.iter_mut().for_each(|rank| rank.set_in_place(|_| true));
    world
}

#[test]
fn what_the_network_has_placed_is_not_taken_from_packets() {
    for length in [EAGER_BYTES as usize + 1, 200_000, 300_001] {
        for (posted, fits) in [(true, length), (false, length), (true, length - 70_000)] {
            let mut world = posting();
            let bytes = pattern_of(length);
            if posted {
                world.receive(1, from(0, 5), 1, fits);
            }
            assert!(world.send(0, &to(1, 5), 0, &bytes));
            world.settle();
            if !posted {
                world.receive(1, from(0, 5), 1, fits);
                world.settle();
            }
            assert_eq!(world.received[0].1.bytes, bytes[..fits]);
            assert!(world.net.posted.is_empty(), "the program has its memory back");
            assert!(world.ranks.iter().all(Rankly::is_idle));
            assert_eq!(world.sent, [0]);
        }
    }
}

#[test]
fn what_leaves_from_where_it_lies_need_not_ask() {
    for length in [100_000, EAGER_BYTES as usize + 1, 300_001, IN_PLACE_BYTES as usize] {
        for late in [false, true] {
            let mut world = posting_in_place();
            let bytes = pattern_of(length);
            if !late {
                world.receive(1, from(0, 5), 1, length);
            }
            assert!(world.send(0, &to(1, 5), 0, &bytes));
            assert_eq!(world.sent.is_empty(), length > EAGER_BYTES as usize, "{length}");
            while world.transmit(0) {}
            // The first packet, which posts the message, and then the others.
            assert!(world.arrive(0, 1));
            assert_eq!(world.net.posted.len(), usize::from(!late));
            while world.arrive(0, 1) || world.transmit(0) {}
            assert!(world.received.is_empty() == late && world.sent == [0]);
            world.receive(1, from(0, 5), 1, length);
            assert_eq!(world.received[0].1.bytes, bytes);
            world.settle();
            assert!(world.net.posted.is_empty() && world.net.is_empty(0));
        }
    }
    let mut world = posting_in_place();
    assert!(world.send(0, &to(1, 5), 0, &pattern_of(IN_PLACE_BYTES as usize + 1)));
    world.settle();
    assert_eq!(world.ranks[1].unexpected_bytes(), 0, "what is longer asks");
}

#[test]
fn what_is_received_while_it_comes_is_posted_from_there_on() {
    let mut world = posting_in_place();
    let bytes = pattern_of(IN_PLACE_BYTES as usize);
    assert!(world.send(0, &to(1, 5), 0, &bytes));
    while world.transmit(0) {}
    // The first packet and two more.
    assert!((0..3).all(|_| world.arrive(0, 1)));
    let stored = world.ranks[1].unexpected_bytes() as u64;
    world.receive(1, from(0, 5), 1, bytes.len());
    assert!(world.ranks[1].has_to_transmit() && world.net.posted.is_empty());
    world.transmit(1);
    assert!(world.net.posted.values().eq(&[stored]), "those that have come are there");
    world.place_posted(0, 1);
    assert!(world.net.posted.values().all(|there| *there > stored));
    world.settle();
    assert_eq!((&world.received[0].1.bytes, &world.sent[..]), (&bytes, &[0][..]));
    assert!(world.net.posted.is_empty() && world.ranks.iter().all(Rankly::is_idle));
}

#[test]
fn of_what_went_unasked_no_more_is_stored_than_the_window() {
    let mut world = posting_in_place();
    let mut number = 0;
    while world.ranks[0].sends.all.iter().all(|(_, send)| send.waits != sends::Until::Granted) {
        assert!(world.send(0, &to(1, 5), number, &pattern_of(IN_PLACE_BYTES as usize)));
        world.settle();
        number += 1;
    }
    let stored = (number - 1) * IN_PLACE_BYTES as usize;
    assert_eq!(world.ranks[1].unexpected_bytes(), stored);
    assert!(
        stored as u64 <= window()
            && (stored + IN_PLACE_BYTES as usize) as u64 > window() - 64 * number as u64
    );
    for number in 0..number {
        world.receive(1, from(0, 5), number, IN_PLACE_BYTES as usize);
        world.settle();
    }
    assert_eq!((world.received.len(), world.sent.len()), (number, number));
}

#[test]
fn what_was_placed_counts_also_when_the_network_has_stopped() {
    let mut world = posting();
    let bytes = pattern_of(200_000);
    world.receive(1, from(0, 5), 1, bytes.len());
    assert!(world.send(0, &to(1, 5), 0, &bytes));
    assert!(world.arrive(0, 1) && world.transmit(1) && world.arrive(1, 0));
    while world.transmit(0) {}
    world.place_posted(0, 1);
    let there: Vec<u64> = world.net.posted.values().copied().collect();
    assert!(there[0] > 2000, "{there:?}: some are placed that were not taken");
    world.ranks[1].call_off(&mut world.net.of(1));
    assert!(world.net.posted.is_empty());
    world.settle();
    assert_eq!(world.received[0].1.bytes, bytes);
}

#[test]
fn short_messages_and_those_of_a_rank_to_itself_are_not_posted() {
    for (target, length) in [(1, 60_000), (0, 300_000)] {
        let mut world = posting();
        world.receive(target, from(0, 5), 1, length);
        assert!(world.send(0, &to(target, 5), 0, &pattern_of(length)));
        world.arrive(0, target);
        world.transmit(target);
        assert!(world.net.posted.is_empty());
        world.settle();
        assert_eq!(world.received[0].1.bytes, pattern_of(length));
    }
}

#[test]
fn a_part_that_is_not_the_next_one_is_refused() {
    let mut world = posting();
    world.receive(1, from(0, 5), 1, 200_000);
    assert!(world.send(0, &to(1, 5), 0, &pattern_of(200_000)));
    assert!(world.arrive(0, 1) && world.transmit(1));
    let (own, _) = world.ranks[1].arrivals.receives.all.iter().next().unwrap();
    for offset in [1, 16, 200_000, u64::MAX] {
        let head = TaggedPacket::Part { own: own.data().as_ffi(), offset, bytes: &[] }.head();
        let part = [head.bytes(), &[1; 10]].concat();
        assert!(world.give(1, Rank(0), &part).is_err(), "{offset}");
    }
    world.settle();
    assert_eq!(world.received[0].1.bytes, pattern_of(200_000));
}
