//! All states of small worlds: every program of so many calls, every order of arrival.

use crate::world::{Multicast, Options};
use weft_model::explore::explore;
use weft_region::coherence::{Call, Hint, Policy};

/// Number of states that `options` have, none of which is wrong.
fn states(options: &Options) -> usize {
    let explored = explore(options, 3_000_000);
    let explored = explored.unwrap_or_else(|found| panic!("{options:?}\n{found}"));
    println!("{explored:?} {options:?}");
    explored.states
}

fn policies() -> impl Iterator<Item = Policy> {
    [Hint::Invalidate, Hint::Update, Hint::Migratory]
        .into_iter()
        .flat_map(|hint| [false, true].map(|three_party| Policy { hint, three_party }))
}

fn all_calls() -> Vec<Call> {
    let asking = [Call::StartRead, Call::StartWrite, Call::Prefetch, Call::PrefetchWrite];
    asking.into_iter().chain([Call::Flush, Call::Delete]).collect()
}

/// One more call for each node: minutes, not seconds.
const MORE: u32 = if cfg!(feature = "soak") { 1 } else { 0 };

#[test]
fn two_nodes_do_whatever_they_may() {
    for policy in policies() {
        let times = 3 + MORE;
        let options = Options { policy, calls: all_calls(), nesting: 2, ..Options::new(2, times) };
        assert!(states(&options) > 10_000);
    }
}

#[test]
fn three_nodes_read_and_write() {
    for policy in policies() {
        assert!(states(&Options { policy, ..Options::new(3, 2) }) > 35_000);
    }
}

/// The home does nothing by itself, so that the other two may do more.
#[test]
fn two_nodes_share_the_region_of_a_third() {
    let calls = vec![Call::StartRead, Call::StartWrite, Call::Flush];
    for policy in policies() {
        let options =
            Options { policy, calls: calls.clone(), idle_home: true, ..Options::new(3, 3 + MORE) };
        assert!(states(&options) > 10_000);
    }
}

#[test]
fn three_nodes_share_two_regions() {
    for policy in policies() {
        let options = Options { policy, homes: vec![0, 1], ..Options::new(3, 1 + MORE) };
        assert!(states(&options) > 4_000);
    }
}

/// Copies are asked for ahead, to read and to write, while others want them.
#[test]
fn three_nodes_ask_ahead() {
    let calls = vec![Call::StartRead, Call::StartWrite, Call::PrefetchWrite, Call::Flush];
    for policy in policies() {
        let options = Options { policy, calls: calls.clone(), ..Options::new(3, 1 + MORE) };
        assert!(states(&options) > 1_000);
        let options =
            Options { policy, calls: calls.clone(), idle_home: true, ..Options::new(3, 2 + MORE) };
        assert!(states(&options) > 1_000);
    }
}

/// Invalidations and updates may travel with everything else, or only some of them, or in no order.
#[test]
fn invalidations_and_updates_may_travel_anyhow() {
    for policy in policies() {
        for multicast in [Multicast::Never, Multicast::Sometimes, Multicast::Freely] {
            let calls = vec![Call::StartRead, Call::StartWrite, Call::Flush];
            let options = Options { policy, calls, multicast, ..Options::new(3, 1 + MORE) };
            assert!(states(&options) > 800);
        }
        let multicast = Multicast::Freely;
        let options = Options { policy, multicast, idle_home: true, ..Options::new(3, 3 + MORE) };
        assert!(states(&options) > 2_000);
    }
}

/// Nodes that drop what they know of a region and map it again, while messages about the old copy
/// are under way.
#[test]
fn nodes_may_forget_a_region() {
    for policy in policies() {
        let calls = vec![Call::StartRead, Call::StartWrite, Call::Flush, Call::Delete];
        let options = Options {
            policy,
            calls,
            forgetful: true,
            idle_home: true,
            ..Options::new(3, 2 + MORE)
        };
        assert!(states(&options) > 2_000);
    }
}

/// Jobs that go on after losses: any node may be lost at any time, the home too.
#[test]
fn a_node_is_lost() {
    let calls = vec![Call::StartRead, Call::StartWrite, Call::PrefetchWrite, Call::Flush];
    for policy in policies().filter(|policy| !policy.three_party) {
        for mortal in [vec![0], vec![1]] {
            for calls in [all_calls(), calls.clone()] {
                let options =
                    Options { policy, calls, mortal: mortal.clone(), ..Options::new(3, 1 + MORE) };
                assert!(states(&options) > 1_000);
            }
            let options = Options { policy, mortal, idle_home: true, ..Options::new(3, 2 + MORE) };
            assert!(states(&options) > 1_000);
        }
        let mortal = vec![1, 2];
        let calls = vec![Call::StartRead, Call::StartWrite, Call::Flush];
        let options =
            Options { policy, calls, mortal, forgetful: true, ..Options::new(3, 1 + MORE) };
        assert!(states(&options) > 1_000);
    }
}
