//! RECOV (thesis 4.3): where MCAST deadlocks, recovery gets out again, in every interleaving.

use super::deadlock::groups_of_a_2;
use super::explore::{MULTICASTS_OF_A_2, explored};
use super::*;
use crate::{Runs, explore, run, seeded};
use weft_protocol::Recovery;

/// `options` with recovery as soon as a packet has to wait.
fn recovering(options: Options) -> Options {
    let settings = Settings { recovery: Recovery::AtOnce, ..options.settings };
    Options { settings, ..options }
}

fn broadcasts(ranks: u16, packets: usize) -> Vec<Step> {
    (0..ranks).map(broadcast).collect::<Vec<_>>().repeat(packets)
}

/// Asserts that no interleaving of a recovering world goes wrong, and that there are many.
fn assert_recovers(options: Options, sends: &[Step], runs: Runs, floor: usize) {
    let case = format!("{options:?}, {runs:?}");
    let states = explored(recovering(options), sends, runs).states;
    assert!(states > floor, "{case}: {states}");
}

#[test]
fn broadcasts_of_three_on_every_shape() {
    for shape in Shape::ALL {
        for preset in Preset::CAREFUL {
            let options = options(3, 1, preset, shape);
            assert_recovers(options, &broadcasts(3, 1), Runs::All, 6_000);
        }
    }
}

/// On shapes that deadlock without recovery, and in the soak on all.
#[test]
fn broadcasts_of_three_of_four() {
    let shapes: &[_] =
        if cfg!(feature = "soak") { &Shape::ALL } else { &[Shape::Chain, Shape::Relay] };
    for &shape in shapes {
        let options = options(4, 1, Preset::NrxImc, shape);
        assert_recovers(options, &broadcasts(3, 1), Runs::Prompt, 10_000);
    }
}

#[test]
fn windows_of_two_on_chains() {
    let chains = options(3, 2, Preset::NrxImc, Shape::Chain);
    assert_recovers(chains, &[broadcasts(3, 1), broadcasts(2, 1)].concat(), Runs::Prompt, 10_000);
}

/// Unicast packets travel in trees too, and are recovered with them.
#[test]
fn unicasts_between_broadcasts_on_chains() {
    let sends = [broadcast(0), unicast(0, 1), broadcast(1), unicast(1, 2), broadcast(2)];
    let chains = options(3, 1, Preset::NrxImc, Shape::Chain);
    assert_recovers(chains, &sends, Runs::Prompt, 10_000);
}

/// So are the requests of fetch-and-adds, which fill no buffer.
#[test]
fn fetch_and_adds_between_broadcasts_on_chains() {
    let sends = [broadcast(0), fetch_add(0, 1, 1), broadcast(1), fetch_add(1, 2, 1), broadcast(2)];
    let chains = options(3, 1, Preset::NrxImc, Shape::Chain);
    assert_recovers(chains, &sends, Runs::Prompt, 10_000);
}

/// Explores all that comes after `steps`, in the course of which somebody has begun to recover.
fn assert_recovers_after(options: Options, steps: &[Step], floor: usize) {
    let mut world = World::new(recovering(options));
    take_all(&mut world, steps);
    let recoveries: u64 = world.ranks().map(|rank| world.ni(rank).counters().recoveries).sum();
    assert!(recoveries > 0, "nothing waits");
    let explored = explore(world, &[], Runs::Prompt, 1_000_000);
    let states = explored.unwrap_or_else(|found| panic!("{found}")).states;
    assert!(states > floor, "{states}");
}

#[test]
fn every_way_out_of_the_deadlock_of_fig_4_8() {
    let chains = options(4, 1, Preset::NrxImc, Shape::Chain);
    let mut steps = broadcasts(4, 1);
    steps.extend([arrive(0, 1), arrive(1, 2), arrive(2, 3), arrive(3, 0)]);
    assert_recovers_after(chains, &steps, 30_000);
}

fn world_of_a_2() -> Options {
    Options { groups: groups_of_a_2(), ..options(9, 1, Preset::NrxImc, Shape::Binary) }
}

#[test]
fn every_way_out_of_the_deadlock_of_a_2() {
    let mut steps = MULTICASTS_OF_A_2.to_vec();
    steps.extend([arrive(0, 3), arrive(3, 6), arrive(6, 0)]);
    // The roots' other children, on whom nothing depends, are done.
    for (root, child) in [(0, 4), (3, 7), (6, 1)] {
        steps.extend([arrive(root, child), process(child), release(child), arrive(child, root)]);
    }
    assert_recovers_after(world_of_a_2(), &steps, 9_000);
}

#[test]
#[cfg(feature = "soak")] // two million states a world
fn broadcasts_of_four_on_every_shape() {
    for shape in Shape::ALL {
        let options = options(4, 1, Preset::NrxImc, shape);
        assert_recovers(options, &broadcasts(4, 1), Runs::Prompt, 200_000);
    }
}

#[test]
#[cfg(feature = "soak")] // half a million states
fn the_overlapping_groups_of_a_2() {
    assert_recovers(world_of_a_2(), &MULTICASTS_OF_A_2, Runs::Prompt, 500_000);
}

/// "We cannot use broadcast and multicast at the same time" (thesis 4.2.6): now we can.
#[test]
fn a_group_that_overlaps_with_the_broadcast_group() {
    let options = options(6, 1, Preset::NrxImc, Shape::Binary);
    let options = recovering(Options { groups: vec![ranks(&[0, 2, 1, 3])], ..options });
    let sends = [broadcast(0), broadcast(1), multicast(3, GroupId(1))].repeat(4);
    for seed in 0..64 {
        let mut world = World::new(options.clone());
        let mut seed = seeded(seed);
        assert_eq!(run(&mut world, &sends, &mut seed), Ok(()));
    }
}

/// Too large to explore: many packets in many orders, in larger worlds.
#[test]
fn every_shape_in_larger_worlds() {
    for shape in Shape::ALL {
        for preset in Preset::CAREFUL {
            for (ranks, window) in [(4, 1), (5, 2), (9, 1), (16, 3)] {
                let mut world = World::new(recovering(options(ranks, window, preset, shape)));
                let mut seed = seeded(u64::from(ranks));
                let ended = run(&mut world, &broadcasts(ranks, 6), &mut seed);
                assert_eq!(ended, Ok(()), "{ranks} ranks, window {window}, {preset}, {shape}");
            }
        }
    }
}
