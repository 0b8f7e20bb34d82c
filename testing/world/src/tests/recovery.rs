//! RECOV (thesis 4.3): where MCAST deadlocks, recovery gets out again, in every interleaving.

use super::deadlock::groups_of_a_2;
use super::explore::{MULTICASTS_OF_A_2, explored};
use super::*;
use crate::{Runs, Seeded, run};
use weft_protocol::Recovery;

/// `options` with recovery as soon as a packet has to wait.
fn recovering(options: Options) -> Options {
    let settings = Settings { recovery: Recovery::AtOnce, ..options.settings };
    Options { settings, ..options }
}

fn broadcasts(ranks: u16, packets: usize) -> Vec<Step> {
    (0..ranks).map(broadcast).collect::<Vec<_>>().repeat(packets)
}

#[test]
fn broadcasts_of_three_on_every_shape() {
    for shape in Shape::ALL {
        for preset in Preset::CAREFUL {
            let options = recovering(options(3, 1, preset, shape));
            let states = explored(options, &broadcasts(3, 1), Runs::All).states;
            eprintln!("3 {shape} {preset} {states}");
            assert!(states > 1_000, "{shape}, {preset}: {states}");
        }
    }
}

/// The chains of fig. 4.8, which deadlock without recovery.
#[test]
fn broadcasts_of_four_on_every_shape() {
    for shape in Shape::ALL {
        let options = recovering(options(4, 1, Preset::NrxImc, shape));
        let states = explored(options, &broadcasts(4, 1), Runs::Prompt).states;
        eprintln!("4 {shape} {states}");
        assert!(states > 1_000, "{shape}: {states}");
    }
}

#[test]
fn windows_of_two_on_chains() {
    let options = recovering(options(3, 2, Preset::NrxImc, Shape::Chain));
    let states = explored(options, &broadcasts(3, 2), Runs::Prompt).states;
    eprintln!("{states}");
    assert!(states > 1_000, "{states}");
}

/// Unicast packets travel in trees too, and are recovered with them.
#[test]
fn unicasts_between_broadcasts_on_chains() {
    let sends = [broadcast(0), unicast(0, 1), broadcast(1), unicast(1, 2), broadcast(2)];
    let options = recovering(options(3, 1, Preset::NrxImc, Shape::Chain));
    let states = explored(options, &sends, Runs::Prompt).states;
    eprintln!("{states}");
    assert!(states > 1_000, "{states}");
}

#[test]
fn the_overlapping_groups_of_a_2() {
    let options = options(9, 1, Preset::NrxImc, Shape::Binary);
    let options = recovering(Options { groups: groups_of_a_2(), ..options });
    let states = explored(options, &MULTICASTS_OF_A_2, Runs::Prompt).states;
    eprintln!("{states}");
    assert!(states > 100_000, "{states}");
}

/// "We cannot use broadcast and multicast at the same time" (thesis 4.2.6): now we can.
#[test]
fn a_group_that_overlaps_with_the_broadcast_group() {
    let options = options(6, 1, Preset::NrxImc, Shape::Binary);
    let options = recovering(Options { groups: vec![ranks(&[0, 2, 1, 3])], ..options });
    let sends = [broadcast(0), broadcast(1), multicast(3, GroupId(1))].repeat(4);
    for seed in 0..64 {
        let mut world = World::new(options.clone());
        let mut seed = Seeded::new(seed);
        assert_eq!(run(&mut world, &sends, |possible| seed.below(possible)), Ok(()));
    }
}

/// Too large to explore: many packets in many orders, in larger worlds.
#[test]
fn every_shape_in_larger_worlds() {
    for shape in Shape::ALL {
        for preset in Preset::CAREFUL {
            for (ranks, window) in [(4, 1), (5, 2), (9, 1), (16, 3)] {
                let mut world = World::new(recovering(options(ranks, window, preset, shape)));
                let mut seed = Seeded::new(u64::from(ranks));
                let ended = run(&mut world, &broadcasts(ranks, 6), |n| seed.below(n));
                assert_eq!(ended, Ok(()), "{ranks} ranks, window {window}, {preset}, {shape}");
            }
        }
    }
}
