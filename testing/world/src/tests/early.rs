//! Groups that ranks create at any time: what comes before waits, and all else goes on.

use super::explore::explored;
use super::*;
use crate::{Runs, run, seeded};

const NEXT: GroupId = GroupId(1);

fn late(options: Options, groups: Vec<Vec<Rank>>) -> Options {
    Options { groups, late_groups: true, ..options }
}

fn create(at: u16) -> Step {
    Step::Create { at: Rank(at) }
}

/// Ranks 0 and 2 send to the group as soon as they have it; the trees of both have a forwarder.
#[test]
fn every_way_to_create_a_group_late() {
    for preset in Preset::CAREFUL {
        for (shape, window) in [(Shape::Binary, 1), (Shape::Binary, 2), (Shape::Flat, 1)] {
            let options = late(options(4, window, preset, shape), vec![ranks(&[0, 1, 2, 3])]);
            let sends = [
                create(0),
                multicast(0, NEXT),
                unicast(0, 1),
                fetch_add(1, 0, 1),
                create(1),
                create(2),
                multicast(2, NEXT),
                create(3),
            ];
            let explored = explored(options, &sends, Runs::Prompt);
            let states = explored.states;
            assert!(states > 7_000, "{preset}, {shape}, window {window}: {states}");
        }
    }
}

/// Buffers are kept by hosts as long as they like.
#[test]
fn every_way_to_keep_what_came_early() {
    for preset in Preset::CAREFUL {
        let options = late(options(3, 1, preset, Shape::Chain), vec![ranks(&[0, 1, 2])]);
        let sends = [
            create(0),
            multicast(0, NEXT),
            multicast(0, NEXT),
            unicast(0, 1),
            create(1),
            create(2),
            unicast(2, 1),
        ];
        let explored = explored(options, &sends, Runs::All);
        assert!(explored.states > 300, "{preset}: {explored:?}");
    }
}

/// Two groups, the second of which some have before others have the first.
#[test]
fn every_way_to_be_two_groups_late() {
    let groups = vec![ranks(&[0, 1]), ranks(&[1, 0])];
    for preset in Preset::CAREFUL {
        let options = late(options(2, 2, preset, Shape::Binary), groups.clone());
        let sends = [
            create(0),
            multicast(0, NEXT),
            create(0),
            multicast(0, GroupId(2)),
            multicast(0, NEXT),
            create(1),
            unicast(1, 0),
            create(1),
        ];
        let explored = explored(options, &sends, Runs::All);
        assert!(explored.states > 300, "{preset}: {explored:?}");
    }
}

/// Recovery channels have their own buffers, in which packets come early too.
#[test]
fn recovery_goes_on_once_the_group_is_there() {
    let mut recoveries = 0;
    for seed in 0..200 {
        let mut options = options(5, 1, Preset::NrxImc, Shape::Chain);
        options.settings.recovery = weft_protocol::Recovery::AtOnce;
        let world = late(options, vec![ranks(&[0, 1, 2, 3, 4]), ranks(&[4, 2, 0])]);
        let mut sends = Vec::new();
        for rank in 0..5 {
            sends.extend([unicast(rank, (rank + 1) % 5), create(rank)]);
            sends.extend([multicast(rank, NEXT); 3]);
            sends.push(create(rank));
            sends.extend((rank % 2 == 0).then(|| multicast(rank, GroupId(2))));
        }
        let mut world = World::new(world);
        assert_eq!(run(&mut world, &sends, seeded(seed)), Ok(()), "seed {seed}");
        let early: u64 = world.ranks().map(|rank| world.ni(rank).counters().early_packets).sum();
        assert!(early > 0 || seed > 0, "seed {seed}: {early}");
        recoveries += world.ranks().map(|r| world.ni(r).counters().recoveries).sum::<u64>();
    }
    assert!(recoveries > 200, "{recoveries}");
}
