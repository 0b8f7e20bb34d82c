//! Endpoints that close, and ranks that leave, while much is under way.

use super::*;

/// Messages of every way: eager, registered, in several packets, and those that ask.
const WAYS: [(usize, bool); 5] =
    [(10, false), (10, true), (50_000, false), (200_000, false), (200_000, true)];

/// Sends of every way to rank 1, which go on or have ended; how many there are.
fn send_all(world: &mut World) -> usize {
    for (number, (length, wants_done)) in WAYS.into_iter().enumerate() {
        let message = SendParameters { wants_done, ..to(1, 5) };
        while !world.send(0, &message, number, &pattern_of(length)) {
            world.settle();
        }
    }
    WAYS.len()
}

fn sorted(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers
}

#[test]
fn what_an_endpoint_has_not_received_ends_with_it() {
    for arrives_before in [false, true] {
        let mut world = World::pair();
        let count = send_all(&mut world);
        if arrives_before {
            world.settle();
            assert!(world.ranks[0].is_busy(0), "some wait for their receives");
        }
        assert!(world.ranks[1].close(0).is_empty());
        world.settle();
        assert_eq!(sorted(world.sent), (0..count).collect::<Vec<_>>());
        assert!(world.received.is_empty());
        assert!(world.ranks.iter().all(|rank| rank.is_idle() && !rank.is_busy(0)));
        assert_eq!(world.ranks[1].unexpected_count(), 0);
    }
}

#[test]
fn what_was_claimed_ends_with_its_endpoint() {
    let mut world = World::pair();
    assert!(world.send(0, &to(1, 5), 0, &pattern_of(200_000)));
    world.settle();
    assert!(world.ranks[1].claim(0, Tagging::Tagged, &from(0, 5), 7).is_some());
    world.ranks[1].close(0);
    world.settle();
    assert_eq!(world.sent, [0]);
    assert!(!world.ranks[1].has_claimed(0, 7));
}

#[test]
fn a_message_that_is_being_received_goes_on() {
    let mut world = World::pair();
    let bytes = pattern_of(200_000);
    world.receive(1, from(0, 5), 1, bytes.len());
    assert!(world.send(0, &to(1, 5), 0, &bytes));
    assert!(world.arrive(0, 1));
    world.ranks[1].close(0);
    assert!(world.ranks[1].is_busy(0));
    world.settle();
    assert_eq!((&world.sent[..], world.received.len()), (&[0][..], 1));
    assert!(!world.ranks[1].is_busy(0));
}

#[test]
fn an_endpoint_that_is_opened_again_receives() {
    let mut world = World::pair();
    world.ranks[1].close(0);
    world.ranks[1].open(0);
    assert!(world.send(0, &to(1, 5), 0, b"late"));
    world.settle();
    world.receive(1, from(0, 5), 1, 4);
    assert_eq!(world.received[0].1.bytes, b"late");
}

#[test]
fn sends_to_a_rank_that_has_left_end() {
    let mut world = World::pair();
    let count = send_all(&mut world);
    // It leaves without having seen any of them.
    world.ranks[1].leave([Rank(0), Rank(1)]);
    while world.transmit(1) {}
    while world.arrive(1, 0) {}
    assert!(world.ranks[0].has_left(Rank(1)) && !world.ranks[0].is_busy(0));
    assert!(world.ranks[0].is_idle());
    // Others end at once, and nothing is said to it.
    assert!(world.send(0, &to(1, 5), count, &pattern_of(200_000)));
    world.ranks[0].leave([Rank(1)]);
    assert!(world.ranks[0].is_idle());
    assert_eq!(sorted(world.sent), (0..=count).collect::<Vec<_>>());
}
