//! Every interleaving of small worlds: the deadlocks of MCAST and the shortest ways into them, and
//! that there are none where Appendix A says so.

use super::deadlock::{SAFE, groups_of_a_2};
use super::*;
use crate::{Deadlock, Fault, Runs, explore};
use weft_model::explore::{Counterexample, Explored, Wrong};

/// Every rank broadcasts `packets` times.
fn everybody_broadcasts(ranks: u16, packets: usize) -> Vec<Step> {
    (0..ranks).map(broadcast).collect::<Vec<_>>().repeat(packets)
}

/// Explores a world in which nothing goes wrong.
pub(super) fn explored(options: Options, sends: &[Step], runs: Runs) -> Explored {
    let case = format!("{options:?}, {runs:?}");
    let explored = explore(World::new(options), sends, runs, 2_000_000);
    explored.unwrap_or_else(|found| panic!("{case}\n{found}"))
}

/// The states of a world in which nothing goes wrong, and that can only end in one way.
fn states(options: Options, sends: &[Step], runs: Runs) -> usize {
    let explored = explored(options, sends, runs);
    assert_eq!(explored.quiescent_ends, 1);
    explored.states
}

fn counterexample(options: Options, sends: &[Step], runs: Runs) -> Counterexample<Step, Deadlock> {
    explore(World::new(options), sends, runs, 300_000).expect_err("a counterexample")
}

/// Thesis fig. 4.8: each node has sent, and each packet has gone one hop; nothing shorter will do.
#[test]
fn the_shortest_way_into_the_deadlock_of_fig_4_8() {
    let chains = options(4, 1, Preset::NrxImc, Shape::Chain);
    let found = counterexample(chains, &everybody_broadcasts(4, 1), Runs::All);
    assert_eq!(found.steps.len(), 8);
    let printed = "  1. 0 sends to group 0
  2. 1 sends to group 0
  3. a packet of 0 arrives at 1
  4. 2 sends to group 0
  5. a packet of 1 arrives at 2
  6. 3 sends to group 0
  7. a packet of 2 arrives at 3
  8. a packet of 3 arrives at 0
deadlock 0->1->2->3->0
  0->1: 1 blocked at 0, 1 of 1 receive buffers for it full at 1
  1->2: 1 blocked at 1, 1 of 1 receive buffers for it full at 2
  2->3: 1 blocked at 2, 1 of 1 receive buffers for it full at 3
  3->0: 1 blocked at 3, 1 of 1 receive buffers for it full at 0";
    assert_eq!(found.to_string(), printed);
}

/// A host that re-injects has taken the packet out of the way before (ACK-receive, thesis 8.3.2).
#[test]
fn host_level_forwarding_on_chains_does_not_deadlock() {
    for (nodes, runs, floor) in [(3, Runs::All, 2_500), (4, Runs::CreditsAtOnce, 2_500)] {
        let chains = options(nodes, 1, Preset::NrxHmc, Shape::Chain);
        let states = states(chains, &everybody_broadcasts(nodes, 1), runs);
        assert!(states > floor, "{nodes}, {runs:?}: {states}");
    }
}

/// One send and one hop for each credit of the cycle. From three on, the cycle may close though a
/// buffer is free: its credit waits for a second one, to make up half a window.
#[test]
fn larger_windows_only_need_more_steps_to_deadlock() {
    for window in 1..=3 {
        let chains = options(3, window, Preset::NrxImc, Shape::Chain);
        let sends = everybody_broadcasts(3, window.into());
        let found = counterexample(chains, &sends, Runs::Prompt);
        let deadlock = found.deadlock().expect("a deadlock");
        assert_eq!(deadlock.cycle(), ranks(&[0, 1, 2]), "{found}");
        assert_eq!(found.steps.len(), 6 * usize::from(window), "{found}");
        let owed = deadlock.waits.iter().any(|wait| wait.owed > 0);
        assert_eq!(owed, window == 3, "{found}");
    }
}

/// Three of four chains close no cycle.
#[test]
fn chains_need_all_senders_to_deadlock() {
    let chains = options(4, 1, Preset::NrxImc, Shape::Chain);
    let states = states(chains, &everybody_broadcasts(3, 1), Runs::All);
    assert!(states > 4_000, "{states}");
}

/// Explores worlds of all safe shapes and careful presets with windows of one and two packets.
fn explore_safe_shapes(ranks: u16, packets: usize, runs: Runs, floor: usize) {
    for shape in SAFE {
        for (preset, window) in [(Preset::NrxImc, 1), (Preset::NrxHmc, 1), (Preset::NrxImc, 2)] {
            let options = options(ranks, window, preset, shape);
            let world = World::new(options.clone());
            let group = world.ni(Rank(0)).group(GroupId::ALL).expect("the broadcast group");
            assert!(group.satisfies_distance_condition(), "{ranks} in a {shape}");
            let states = states(options, &everybody_broadcasts(ranks, packets), runs);
            assert!(states > floor, "{ranks}, {shape}, {preset}, window {window}: {states}");
        }
    }
}

#[test]
fn broadcasts_of_three_do_not_deadlock() {
    explore_safe_shapes(3, 1, Runs::All, 6_000);
}

#[test]
fn more_broadcasts_of_three_do_not_deadlock() {
    explore_safe_shapes(3, 2, Runs::CreditsAtOnce, 2_500);
}

#[test]
fn broadcasts_of_four_do_not_deadlock() {
    explore_safe_shapes(4, 1, Runs::CreditsAtOnce, 3_000);
}

/// Without any reduction: three of four nodes, and all four if their hosts are prompt.
#[test]
fn all_interleavings_of_broadcasts_of_four() {
    let binary = options(4, 1, Preset::NrxImc, Shape::Binary);
    let every = states(binary, &everybody_broadcasts(3, 1), Runs::All);
    assert!(every > 90_000, "{every}");
    let binomial = options(4, 1, Preset::NrxImc, Shape::Binomial);
    let prompt = states(binomial, &everybody_broadcasts(4, 1), Runs::Prompt);
    assert!(prompt > 60_000, "{prompt}");
}

/// Credits at once lead to the same deadlocks as any credits.
#[test]
fn credits_at_once_find_the_same_deadlocks() {
    for (nodes, window) in [(3, 1), (3, 2), (4, 1)] {
        let chains = options(nodes, window, Preset::NrxImc, Shape::Chain);
        let sends = everybody_broadcasts(nodes, window.into());
        let [every, at_once] = [Runs::Prompt, Runs::CreditsAtOnce]
            .map(|runs| counterexample(chains.clone(), &sends, runs));
        let cycles = [&every, &at_once].map(|found| found.deadlock().map(Deadlock::cycle));
        assert_eq!(cycles[0], cycles[1], "{every}\n{at_once}");
    }
}

#[test]
#[should_panic(expected = "credits are given back together")]
fn credits_at_once_need_small_windows() {
    states(options(2, 3, Preset::NrxImc, Shape::Binary), &[unicast(0, 1)], Runs::CreditsAtOnce);
}

/// No shape that is safe deadlocks where ranks share hosts and trees cross to each once, not even
/// if all pairs are careful; and no shape does on two hosts, where packets are forwarded only to
/// those beside.
#[test]
fn broadcasts_between_hosts_do_not_deadlock() {
    for (hosts, shapes) in [
        (&[0, 0, 1, 1][..], &[Shape::Chain][..]),
        (&[0, 1, 2, 2], &SAFE),
        (&[0, 1, 1], &Shape::ALL),
    ] {
        for (&shape, preset) in shapes.iter().flat_map(|one| Preset::CAREFUL.map(|two| (one, two)))
        {
            let ranks = hosts.len() as u16;
            let options = options(ranks, 1, preset, shape);
            let options = Options { hosts: Some(hosts.to_vec()), ..options };
            let states = states(options, &everybody_broadcasts(ranks, 1), Runs::CreditsAtOnce);
            assert!(states > 100, "{hosts:?}, {shape}, {preset}: {states}");
        }
    }
}

/// The interleavings of two hosts with two ranks whose programs are prompt, without another
/// reduction.
#[test]
fn all_interleavings_of_broadcasts_between_two_hosts() {
    let flat = options(4, 1, Preset::NrxImc, Shape::Flat);
    let flat = Options { hosts: Some(vec![0, 0, 1, 1]), ..flat };
    let prompt = states(flat, &everybody_broadcasts(3, 1), Runs::Prompt);
    assert!(prompt > 2_000, "{prompt}");
}

/// A chain between three hosts is one of three ranks (thesis fig. 4.8): who is beside one of them
/// changes nothing.
#[test]
fn a_chain_of_hosts_deadlocks_like_one_of_ranks() {
    let chain = options(4, 1, Preset::NrxImc, Shape::Chain);
    let chain = Options { hosts: Some(vec![0, 1, 2, 2]), ..chain };
    let sends: Vec<Step> = (0..3).map(broadcast).collect();
    let found = counterexample(chain, &sends, Runs::All);
    let cycle = found.deadlock().expect("a deadlock").cycle();
    assert_eq!((found.steps.len(), cycle), (6, ranks(&[0, 1, 2])), "{found}");
}

/// A multicast in each of the overlapping groups of fig. A.2.
pub(super) const MULTICASTS_OF_A_2: [Step; 3] = [
    Step::Multicast { from: Rank(0), group: GroupId(1) },
    Step::Multicast { from: Rank(3), group: GroupId(2) },
    Step::Multicast { from: Rank(6), group: GroupId(3) },
];

/// Breadth first, the deadlock is found long before all states are.
#[test]
fn the_shortest_way_into_the_deadlock_of_a_2() {
    let options = options(9, 1, Preset::NrxImc, Shape::Binary);
    let overlapping = Options { groups: groups_of_a_2(), ..options };
    let found = counterexample(overlapping, &MULTICASTS_OF_A_2, Runs::All);
    let cycle = found.deadlock().expect("a deadlock").cycle();
    assert_eq!((found.steps.len(), cycle), (6, ranks(&[0, 3, 6])), "{found}");
}

/// All that data, credits, fetch-and-adds and their answers can do to each other.
#[test]
fn unicasts_and_fetch_and_adds_of_two_ranks() {
    for (window, floor) in [(1, 1_000), (2, 6_000), (3, 10_000), (4, 10_000)] {
        let sends = [
            unicast(0, 1),
            unicast(0, 1),
            fetch_add(0, 1, 1),
            unicast(0, 1),
            unicast(1, 0),
            fetch_add(1, 1, 2),
            unicast(1, 0),
            fetch_add(1, 0, 3),
        ];
        let options = options(2, window, Preset::NrxImc, Shape::Binary);
        let states = explored(options, &sends, Runs::All).states;
        assert!(states > floor, "window {window}: {states}");
    }
}

/// Whatever is broken, the shortest way to see it is printed.
#[test]
fn a_fault_is_found_in_the_fewest_steps() {
    let cases = [
        (Fault::TransmitTwice, 0, 1, "I2 careful: 2 packets for 1 credits"),
        (Fault::SwallowDelivery, 1, 2, "I2 careful: 1 accepted packets were dropped"),
        (Fault::SwallowControl, 1, 3, "I5 control never blocks"),
        (Fault::FreeEarly, 2, 3, "I4 one owner: rank 2 released a buffer its host needs"),
    ];
    for (fault, at, steps, says) in cases {
        let mut world = world(4, 1, Shape::Chain);
        world.plan(Rank(at), fault);
        let found = explore(world, &[broadcast(0)], Runs::All, 10_000).expect_err("a fault");
        assert!(matches!(found.wrong, Wrong::Broken(_)), "{found}");
        assert!(found.to_string().contains(says), "{fault:?}: {found}");
        assert_eq!(found.steps.len(), steps, "{fault:?}: {found}");
    }
}
