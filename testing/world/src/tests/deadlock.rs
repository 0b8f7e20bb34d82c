//! Worlds that deadlock, those that do not, and the packets that are to blame (thesis 4.2.6,
//! Appendix A).

use super::*;
use crate::{Deadlock, run, seeded};
use proptest::prelude::*;

/// Asserts that `world` is in the deadlock that `cycle` names, whatever else is sent.
fn assert_deadlock(world: &World, cycle: &[u16]) -> Deadlock {
    let deadlock = world.deadlock().expect("a deadlock");
    assert_eq!(deadlock.cycle(), ranks(cycle), "{deadlock}");
    deadlock
}

/// Four nodes, chains, one credit: every node's packet waits for the next node's.
#[test]
fn the_deadlock_of_fig_4_8() {
    let mut world = world(4, 1, Shape::Chain);
    take_all(&mut world, &[broadcast(0), broadcast(1), broadcast(2), broadcast(3)]);
    assert_eq!(world.deadlock(), None, "packets are on their way");
    take_all(&mut world, &[arrive(0, 1), arrive(1, 2), arrive(2, 3), arrive(3, 0)]);
    assert_deadlock(&world, &[0, 1, 2, 3]);
    settle(&mut world);

    let deadlock = assert_deadlock(&world, &[0, 1, 2, 3]);
    let printed = "\
deadlock 0->1->2->3->0
  0->1: 1 blocked at 0, 1 of 1 receive buffers for it full at 1
  1->2: 1 blocked at 1, 1 of 1 receive buffers for it full at 2
  2->3: 1 blocked at 2, 1 of 1 receive buffers for it full at 3
  3->0: 1 blocked at 3, 1 of 1 receive buffers for it full at 0";
    assert_eq!(deadlock.to_string(), printed);

    // "Each NI has free receive buffers", and they are of no use.
    assert_eq!(world.ni(Rank(0)).observe().incoming(Rank(1)), (0, 0));
    // Another packet joins the cycle; nothing leaves it.
    world.take(broadcast(0));
    settle(&mut world);
    assert_eq!(assert_deadlock(&world, &[0, 1, 2, 3]).waits[0].blocked, 2);
}

/// A host that re-injects takes the packet out of the way: credits go back before it is forwarded
/// (ACK-receive, thesis 8.3.2), and a deadlock needs hosts that are out of buffers too (8.3.3).
#[test]
fn host_level_forwarding_does_not_deadlock_while_hosts_have_buffers() {
    let mut world = World::new(options(4, 1, Preset::NrxHmc, Shape::Chain));
    take_all(&mut world, &[broadcast(0), broadcast(1), broadcast(2), broadcast(3)]);
    settle(&mut world);
    world.assert_quiescent();
}

/// More credits only need more packets.
#[test]
fn chains_deadlock_with_any_window() {
    for window in 1..=4 {
        let mut world = world(3, window, Shape::Chain);
        for _ in 0..window {
            take_all(&mut world, &[broadcast(0), broadcast(1), broadcast(2)]);
        }
        settle(&mut world);
        let deadlock = assert_deadlock(&world, &[0, 1, 2]);
        assert!(deadlock.waits.iter().all(|wait| wait.buffered == window), "{deadlock}");
    }
}

#[test]
fn chains_and_relays_violate_the_distance_condition_and_the_other_shapes_satisfy_it() {
    for ranks in 2..=16 {
        for shape in Shape::ALL {
            let world = world(ranks, 1, shape);
            let group = world.ni(Rank(0)).group(GroupId::ALL).expect("the broadcast group");
            let expected = SAFE.contains(&shape) || ranks < 3;
            assert_eq!(group.satisfies_distance_condition(), expected, "{ranks} in a {shape:?}");
        }
    }
}

/// Of the chains of 0 and 1 among four, none passes through 0, so that no cycle can close there.
#[test]
fn chains_need_a_full_cycle_to_deadlock() {
    for seed in 0..32 {
        let mut world = world(4, 1, Shape::Chain);
        let mut seed = seeded(seed);
        let sends = [broadcast(0), broadcast(1)].repeat(10);
        assert_eq!(run(&mut world, &sends, &mut seed), Ok(()));
    }
}

/// Runs broadcasts of all ranks at once, in an order that follows from `seed`.
fn everybody_broadcasts(options: Options, packets: usize, seed: u64) -> Result<(), Deadlock> {
    let mut world = World::new(options);
    let everybody: Vec<Step> = world.ranks().map(|rank| broadcast(rank.0)).collect();
    let mut seed = seeded(seed);
    run(&mut world, &everybody.repeat(packets), &mut seed)
}

#[test]
fn chains_deadlock_in_most_orders() {
    let deadlocks = (0..64)
        .filter_map(|seed| {
            let chains = options(5, 1, Preset::NrxImc, Shape::Chain);
            everybody_broadcasts(chains, 3, seed).err()
        })
        .filter(|deadlock| deadlock.cycle() == ranks(&[0, 1, 2, 3, 4]))
        .count();
    assert!(deadlocks > 32, "only {deadlocks} of 64");
}

pub(super) const SAFE: [Shape; 3] = [Shape::Binary, Shape::Binomial, Shape::Flat];

/// Every number of ranks once with every shape and preset, whatever proptest makes of the rest.
#[test]
fn trees_that_satisfy_the_condition_do_not_deadlock() {
    for shape in SAFE {
        for preset in Preset::CAREFUL {
            for ranks in 2..=16 {
                let options = options(ranks, 1, preset, shape);
                let ended = everybody_broadcasts(options, 2, u64::from(ranks));
                assert_eq!(ended, Ok(()), "{ranks} ranks, {preset}, {shape}");
            }
        }
    }
}

proptest! {
    #![proptest_config(config(192))]

    #[test]
    fn trees_that_satisfy_the_condition_do_not_deadlock_in_any_order(
        ranks in 2u16..=16,
        shape in prop::sample::select(&SAFE[..]),
        preset in prop::sample::select(&Preset::CAREFUL[..]),
        seed in any::<u64>(),
    ) {
        let options = options(ranks, 1, preset, shape);
        prop_assert_eq!(everybody_broadcasts(options, 3, seed), Ok(()));
    }
}

/// The groups of Appendix A.2 over nine nodes, as groups 1, 2 and 3.
pub(super) fn groups_of_a_2() -> Vec<Vec<Rank>> {
    vec![ranks(&[0, 3, 4, 5, 6]), ranks(&[0, 3, 6, 7, 8]), ranks(&[0, 1, 2, 3, 6])]
}

fn world_of_a_2(preset: Preset) -> World {
    World::new(Options { groups: groups_of_a_2(), ..options(9, 1, preset, Shape::Binary) })
}

#[test]
fn the_trees_of_fig_a_2() {
    let world = world_of_a_2(Preset::NrxImc);
    let children = |group: u16, root: u16, member: u16| -> Vec<Rank> {
        let group = world.ni(Rank(0)).group(GroupId(group)).expect("a group of A.2");
        group.children(Rank(root), Rank(member)).collect()
    };
    assert_eq!(children(1, 0, 0), ranks(&[3, 4]));
    assert_eq!(children(1, 0, 3), ranks(&[5, 6]), "0 -> 3 -> 6 in G1");
    assert_eq!(children(2, 3, 3), ranks(&[6, 7]));
    assert_eq!(children(2, 3, 6), ranks(&[8, 0]), "3 -> 6 -> 0 in G2");
    assert_eq!(children(3, 6, 6), ranks(&[0, 1]));
    assert_eq!(children(3, 6, 0), ranks(&[2, 3]), "6 -> 0 -> 3 in G3");
    for group in 1..=3 {
        let group = world.ni(Rank(0)).group(GroupId(group)).expect("a group of A.2");
        assert!(group.satisfies_distance_condition(), "alone, {:?} is safe", group.members());
    }
}

/// By concatenating the paths of fig. A.2 "we can create a deadlock cycle".
#[test]
fn overlapping_groups_deadlock_though_each_satisfies_the_condition() {
    let mut world = world_of_a_2(Preset::NrxImc);
    let sends =
        [(0, GroupId(1)), (3, GroupId(2)), (6, GroupId(3))].map(|(from, g)| multicast(from, g));
    take_all(&mut world, &sends);
    take_all(&mut world, &[arrive(0, 3), arrive(3, 6), arrive(6, 0)]);
    settle(&mut world);
    assert_deadlock(&world, &[0, 3, 6]);
}

/// "We cannot use broadcast and multicast at the same time" (thesis 4.2.6): the members' ring is
/// another than the job's, so that distances that grow along one shrink along the other. Here 1
/// and 0 broadcast along 1 -> 3 -> 0 and 0 -> 1 -> 3, and 3 multicasts along 3 -> 0 -> 1.
#[test]
fn a_group_that_overlaps_with_the_broadcast_group_deadlocks() {
    let groups = vec![ranks(&[0, 2, 1, 3])];
    let options = options(6, 1, Preset::NrxImc, Shape::Binary);
    let mut world = World::new(Options { groups, ..options });
    take_all(&mut world, &[broadcast(0), broadcast(1), multicast(3, GroupId(1))]);
    take_all(&mut world, &[arrive(0, 1), arrive(1, 3), arrive(3, 0)]);
    settle(&mut world);
    assert_deadlock(&world, &[0, 1, 3]);
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn each_group_of_a_2_alone_does_not_deadlock(
        group in 1u16..=3,
        preset in prop::sample::select(&Preset::CAREFUL[..]),
        seed in any::<u64>(),
    ) {
        let mut world = world_of_a_2(preset);
        let members = &groups_of_a_2()[usize::from(group) - 1];
        let sends: Vec<Step> =
            members.iter().map(|member| multicast(member.0, GroupId(group))).collect();
        let mut seed = seeded(seed);
        let ended = run(&mut world, &sends.repeat(4), &mut seed);
        prop_assert_eq!(ended, Ok(()));
    }
}
