//! Small stories, each with an end that can be named beforehand.

use super::*;
use crate::{run, seeded};

/// NI-level forwarding needs no host (thesis 4.2.1): a broadcast arrives everywhere while all
/// hosts sleep. With host-level forwarding it gets as far as the root's children.
#[test]
fn hosts_asleep() {
    for (preset, reached) in [(Preset::NrxImc, 15), (Preset::NrxHmc, 2)] {
        let mut world = World::new(options(16, 1, preset, Shape::Binary));
        world.take(broadcast(0));
        while let Some(&step) = world.possible().iter().find(|s| matches!(s, Step::Arrive { .. })) {
            world.take(step);
        }
        let delivered: usize = world.ranks().map(|rank| world.host(rank).delivered()).sum();
        assert_eq!(delivered, reached, "{preset}");
        settle(&mut world);
        world.assert_quiescent();
        assert_eq!(world.reference().packets_shown(), 15);
    }
}

/// A program that keeps its packets stops its senders after a window each, and no others.
#[test]
fn a_hoarder_stops_its_own_senders_only() {
    let mut world = world(3, 2, Shape::Binary);
    for _ in 0..4 {
        take_all(&mut world, &[unicast(0, 1)]);
    }
    take_all(&mut world, &[arrive(0, 1), arrive(0, 1), process(1), process(1)]);
    assert_eq!(world.host(Rank(1)).kept(), 2);
    assert_eq!(world.ni(Rank(0)).observe().outgoing(Rank(1)), (0, 2));
    assert_eq!(world.possible().len(), 2, "but for the two releases");
    take_all(&mut world, &[unicast(2, 1), arrive(2, 1), process(1)]);
    assert_eq!(world.reference().packets_shown(), 3);
    settle(&mut world);
    world.assert_quiescent();
}

/// A host without send buffers cannot send; a freed one lets it.
#[test]
fn send_buffers_run_out_and_come_back() {
    let mut world =
        World::new(Options { send_buffers: 1, ..options(2, 1, Preset::NrxImc, Shape::Binary) });
    take_all(&mut world, &[unicast(0, 1), unicast(0, 1)]);
    assert!(!world.is_possible(&unicast(0, 1)), "the second waits in the only buffer");
    settle(&mut world);
    world.take(unicast(0, 1));
    settle(&mut world);
    world.assert_quiescent();
}

/// Sixteen ranks count with one variable: every number from 0 is given once.
#[test]
fn a_shared_counter() {
    let mut world = world(16, 1, Shape::Binary);
    let sends: Vec<Step> = (0..16).map(|rank| fetch_add(rank, 3, 1)).collect();
    let mut seed = seeded(3);
    run(&mut world, &sends.repeat(8), &mut seed).expect("no multicasts");
    assert_eq!(world.ni(Rank(3)).counters().atomics_served, 15 * 8);
    assert_eq!(world.ni(Rank(3)).counters().explicit_credits, 0, "answers take credits along");
}

/// Two ranks that send to each other as much as they get need no explicit credits.
#[test]
fn return_traffic_carries_the_credits() {
    let mut world = world(2, 4, Shape::Binary);
    for _ in 0..20 {
        take_all(&mut world, &[unicast(0, 1), arrive(0, 1), process(1), release(1)]);
        take_all(&mut world, &[unicast(1, 0), arrive(1, 0), process(0), release(0)]);
    }
    settle(&mut world);
    world.assert_quiescent();
    for rank in world.ranks() {
        assert_eq!(world.ni(rank).counters().explicit_credits, 0);
    }
}

/// The bounds of I9 are reached, so they could not be lower; that they are not exceeded is
/// checked after every step of every test here.
#[test]
fn the_bound_of_the_blocked_queue_is_tight() {
    // The chain 0 -> 1 -> 2: all that 0 broadcasts, 1 forwards to 2.
    let mut world = world(3, 2, Shape::Chain);
    take_all(&mut world, &[unicast(1, 2), unicast(1, 2)]);
    take_all(&mut world, &[broadcast(0), broadcast(0), arrive(0, 1), arrive(0, 1)]);
    for _ in 0..4 {
        world.take(unicast(1, 2));
    }
    world.take(fetch_add(1, 2, 1));
    assert_eq!(world.ni(Rank(1)).observe().outgoing(Rank(2)).1, world.blocked_bound());
    settle(&mut world);
    world.assert_quiescent();
}

#[test]
fn the_bound_of_a_wire_is_tight() {
    for window in 1..=4 {
        let mut world = world(2, window, Shape::Binary);
        // An explicit credit, if one is left for the request whose answer follows it.
        for _ in 0..window.div_ceil(2) * u16::from(window > 1) {
            take_all(&mut world, &[unicast(1, 0), arrive(1, 0), process(0), release(0)]);
        }
        take_all(&mut world, &[fetch_add(1, 0, 1), arrive(1, 0)]);
        for _ in 0..window {
            world.take(unicast(0, 1));
        }
        assert_eq!(world.wire(Rank(0), Rank(1)).count(), world.wire_bound(), "window {window}");
        settle(&mut world);
        world.assert_quiescent();
    }
}

#[test]
#[should_panic(expected = "'a packet of 0 arrives at 1' is not possible")]
fn an_impossible_step_is_refused() {
    world(2, 1, Shape::Binary).take(arrive(0, 1));
}

#[test]
#[should_panic(expected = "'0 sends to 1' is not possible")]
fn a_send_without_a_buffer_is_refused() {
    let mut world = world(2, 1, Shape::Binary);
    for _ in 0..6 {
        world.take(unicast(0, 1));
    }
}
