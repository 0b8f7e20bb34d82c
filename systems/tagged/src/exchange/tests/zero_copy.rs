//! Messages that the network carries without a copy, as one piece.

use super::super::posted::Posted;
use super::*;
use crate::network::wires::{BY_PARTS, Carried};

impl World {
    /// Has the message that has travelled longest arrive; false if none travels.
    fn land(&mut self) -> bool {
        if self.net.carried.is_empty() {
            return false;
        }
        let carried = self.net.carried.remove(0);
        self.place_carried(&carried);
        true
    }

    fn place_carried(&mut self, (source, target, head, bytes): &Carried) {
        let mut receives = self.ranks[target.index()].arrivals.receives.all.values_mut();
        let receive = receives.find(|receive| {
            receive.envelope.source.rank == *source && receive.posted == Posted::ZeroCopy(*head)
        });
        let receive = receive.expect("what travels is awaited");
        assert_eq!(bytes.len() as u64, receive.expected, "as much comes as is awaited");
        receive.into.place(0, bytes);
        let there = self.net.posted.get_mut(&(*target, *source, *head)).unwrap();
        *there = bytes.len() as u64;
    }
}

fn carrying() -> World {
    let mut world = World::pair();
    world.net.carries = true;
    world
}

fn is_idle(world: &World) -> bool {
    world.ranks.iter().all(Rankly::is_idle)
        && world.net.posted.is_empty()
        && world
            .ranks
            .iter()
            .all(|rank| rank.arrivals.receives.all.is_empty() && !rank.awaits_zero_copy())
}

#[test]
fn a_long_message_travels_as_one_piece_and_no_packet_has_bytes_of_it() {
    for (expected, fits) in [(true, 300_001), (false, 300_001), (true, 200_000)] {
        let mut world = carrying();
        let bytes = pattern_of(300_001);
        if expected {
            world.receive(1, from(0, 5), 1, fits);
        }
        assert!(world.send(0, &to(1, 5), 0, &bytes));
        world.settle();
        if !expected {
            world.receive(1, from(0, 5), 1, fits);
            world.settle();
        }
        assert!(world.received.is_empty() && world.sent.is_empty(), "it travels");
        assert!(world.ranks[1].awaits_zero_copy() && world.ranks[0].is_busy(0));
        assert!(world.land());
        world.settle();
        assert_eq!((&world.received[0].1.bytes[..], &world.sent[..]), (&bytes[..fits], &[0][..]));
        assert!(is_idle(&world));
    }
}

#[test]
fn short_messages_and_those_that_their_sender_has_in_pieces_go_by_packets() {
    for (number, length) in [(0, EAGER_BYTES as usize), (BY_PARTS, 300_001)] {
        let mut world = carrying();
        world.receive(1, from(0, 5), 1, length);
        assert!(world.send(0, &to(1, 5), number, &pattern_of(length)));
        world.settle();
        assert_eq!(world.received[0].1.bytes, pattern_of(length));
        assert!(world.sent == [number] && is_idle(&world), "{number}");
    }
}

#[test]
fn of_several_each_ends_when_it_has_come() {
    let mut world = carrying();
    for number in 0..3 {
        world.receive(1, from(0, 5), number, 200_000 + number);
        assert!(world.send(0, &to(1, 5), number, &pattern_of(200_000 + number)));
    }
    world.settle();
    world.net.carried.swap(0, 2);
    for (count, number) in [(1, 2), (2, 1), (3, 0)] {
        assert!(world.land());
        world.settle();
        assert_eq!(world.received.len(), count);
        assert_eq!(world.received.last().unwrap().1.number, number);
    }
    assert!(!world.land() && is_idle(&world));
}

#[test]
fn who_wants_to_know_hears_when_all_is_there() {
    let mut world = carrying();
    world.receive(1, from(0, 5), 1, 200_000);
    let message = SendParameters { wants_done: true, ..to(1, 5) };
    assert!(world.send(0, &message, 0, &pattern_of(200_000)));
    world.settle();
    assert!(world.land());
    // The network has no more use for its bytes, and nobody has said that they are there.
    while world.transmit(0) {}
    assert!(world.sent.is_empty());
    world.settle();
    assert!(world.sent == [0] && is_idle(&world));
}
