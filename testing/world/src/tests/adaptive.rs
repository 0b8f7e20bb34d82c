//! Windows that follow demand, in whole worlds: every interleaving of small ones, many of larger
//! ones.

use super::deadlock::SAFE;
use super::explore::explored;
use super::*;
use crate::{Deadlock, Runs, explore, run, seeded};
use proptest::prelude::*;
use std::sync::Arc;
use weft_model::explore::{Counterexample, Wrong};
use weft_protocol::{Adaptive, Bug, Recovery};

/// Windows of 1 to `most` packets, out of a pool of `pool_packets`.
fn adaptive(ranks: u16, most: u16, pool_packets: u32, preset: Preset, shape: Shape) -> Options {
    let mut options = options(ranks, most, preset, shape);
    options.settings.adaptive = Some(Adaptive { floor_packets: 1, pool_packets });
    options
}

fn binary(ranks: u16, most: u16, pool_packets: u32) -> Options {
    adaptive(ranks, most, pool_packets, Preset::NrxImc, Shape::Binary)
}

/// `from` sends to rank 0, so often.
fn sends_of(from: u16, packets: usize) -> Vec<Step> {
    vec![unicast(from, 0); packets]
}

#[test]
fn windows_of_two_ranks_that_grow_and_shrink() {
    for (most, pool) in [(2, 1), (3, 2), (4, 3)] {
        let sends = [sends_of(1, 4), vec![unicast(0, 1), fetch_add(0, 1, 1)]].concat();
        let states = explored(binary(2, most, pool), &sends, Runs::All).states;
        assert!(states > 1_000, "{most}, {pool}: {states}");
    }
}

/// One or two buffers for two who need them: given, asked for, handed back or not, and given again.
#[test]
fn two_senders_share_a_pool() {
    for (most, pool, packets) in [(2, 1, 4), (3, 2, 4), (3, 1, 5)] {
        let sends = [sends_of(1, packets), sends_of(2, packets)].concat();
        let states = explored(binary(3, most, pool), &sends, Runs::Prompt).states;
        assert!(states > 1_000, "{most}, {pool}: {states}");
    }
}

/// Hosts may release packets late.
#[test]
fn two_senders_share_a_pool_of_a_slow_host() {
    let sends = [sends_of(1, 4), sends_of(2, 4)].concat();
    let states = explored(binary(3, 3, 2), &sends, Runs::All).states;
    assert!(states > 10_000, "{states}");
}

/// Appendix A's argument needs one buffer for each edge of a tree, not how many there are.
#[test]
fn broadcasts_do_not_deadlock() {
    for preset in Preset::CAREFUL {
        let options = adaptive(4, 2, 1, preset, Shape::Binary);
        let sends = [broadcast(0), broadcast(0), broadcast(1), broadcast(1)];
        let states = explored(options, &sends, Runs::Prompt).states;
        assert!(states > 3_000, "{preset}: {states}");
    }
}

/// Chains, which are no safe trees with windows that stay, are none with windows that grow.
#[test]
fn chains_deadlock_all_the_same() {
    let chains = adaptive(3, 2, 1, Preset::NrxImc, Shape::Chain);
    let sends: Vec<Step> = (0..3).map(broadcast).collect();
    let found = explore(World::new(chains), &sends, Runs::Prompt, 300_000).expect_err("a deadlock");
    let cycle = found.deadlock().map(Deadlock::cycle);
    assert_eq!(cycle, Some(ranks(&[0, 1, 2])), "{found}");
}

/// The shortest way to what is wrong if the NI of rank 0 makes a mistake.
fn planted(bug: Bug, options: Options, sends: &[Step]) -> Counterexample<Step, Deadlock> {
    let mut world = World::new(options);
    Arc::make_mut(&mut world.nis[0]).plant(bug, 0);
    explore(world, sends, Runs::Prompt, 1_000_000).expect_err("a mistake")
}

/// A window that shrinks has less to wait for; who forgets that waits for ever.
#[test]
fn credits_that_a_smaller_window_makes_due_are_missed() {
    let sends = [sends_of(1, 7), sends_of(2, 4)].concat();
    let found = planted(Bug::KeepDueCredits, binary(3, 4, 3), &sends);
    assert!(found.to_string().contains("I5 control never blocks"), "{found}");
}

/// Credits that were asked for and taken as they came are more than there were.
#[test]
fn credits_taken_twice_are_missed() {
    let sends = [sends_of(1, 6), sends_of(2, 3)].concat();
    let found = planted(Bug::TakeTwice, binary(3, 4, 3), &sends);
    assert!(matches!(found.wrong, Wrong::Broken(_)), "{found}");
}

proptest! {
    #![proptest_config(config(192))]

    /// Any sends, any order, any pool: all invariants at every step, all of it delivered.
    #[test]
    fn everything_is_delivered_whatever_the_pool(
        (ranks, most) in (2u16..=8, 1u16..=6),
        pool in 0u32..12,
        preset in prop::sample::select(&Preset::CAREFUL[..]),
        shape in prop::sample::select(&SAFE[..]),
        at_once in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut options = adaptive(ranks, most, pool, preset, shape);
        if at_once && preset == Preset::NrxImc {
            options.settings.recovery = Recovery::AtOnce;
        }
        let mut pick = seeded(seed);
        let mut rank = || pick(usize::from(ranks)) as u16;
        let sends: Vec<Step> = (0..120)
            .map(|number| match number % 8 {
                0 => broadcast(rank()),
                1 => fetch_add(rank(), rank(), 1),
                _ => unicast(rank(), rank() / 2),
            })
            .collect();
        prop_assert_eq!(run(&mut World::new(options), &sends, seeded(seed)), Ok(()));
    }
}

/// The way back is taken too: under contention credits are asked for, and some are handed back.
#[test]
fn credits_change_hands() {
    let mut world = World::new(binary(6, 4, 4));
    let phase = |from: u16| sends_of(1 + from % 5, 12);
    let sends: Vec<Step> = (0..30).flat_map(phase).collect();
    run(&mut world, &sends, seeded(7)).expect("no multicasts");
    let counted = world.ni(Rank(0)).counters();
    assert!(counted.credits_granted > counted.credits_taken_back, "some are out");
    assert!(counted.recalls > 0 && counted.credits_taken_back > 0, "{counted:?}");
}
