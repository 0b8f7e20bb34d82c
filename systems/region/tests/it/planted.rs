//! A test of the tests: mistakes in the rules, planted one at a time, are found.

use crate::world::{Options, Step, Stuck};
use weft_model::explore::{Counterexample, explore};
use weft_region::coherence::table::{
    self, DirectoryEvent as D, DirectoryState as H, DirectoryStep as B, ReplicaEvent as E,
    ReplicaState as S, ReplicaStep as A, Rule,
};
use weft_region::coherence::{Call, Hint, Planted, Policy};

type Found = Counterexample<Step, Stuck>;

/// Small worlds, of which one shows any mistake. The smallest come first.
fn worlds() -> Vec<Options> {
    let all = vec![
        Call::StartRead,
        Call::StartWrite,
        Call::Prefetch,
        Call::PrefetchWrite,
        Call::Flush,
        Call::Delete,
    ];
    let flush = vec![Call::StartRead, Call::StartWrite, Call::Flush];
    let hinted = |hint| Policy { hint, three_party: true };
    let home = Policy { hint: Hint::Invalidate, three_party: false };
    let [update, migratory] = [Hint::Update, Hint::Migratory].map(hinted);
    vec![
        Options { calls: all.clone(), nesting: 2, ..Options::new(2, 2) },
        Options { policy: home, ..Options::new(3, 1) },
        Options::new(3, 1),
        Options { policy: home, mortal: vec![0], ..Options::new(3, 1) },
        Options { policy: home, mortal: vec![1], ..Options::new(3, 1) },
        Options { policy: home, calls: all.clone(), mortal: vec![0], ..Options::new(2, 2) },
        Options { policy: update, ..Options::new(2, 2) },
        Options { policy: migratory, calls: all.clone(), ..Options::new(2, 2) },
        Options { calls: flush.clone(), idle_home: true, ..Options::new(3, 2) },
        Options { calls: all.clone(), nesting: 2, ..Options::new(2, 3) },
        Options { policy: migratory, calls: flush.clone(), idle_home: true, ..Options::new(3, 2) },
        Options { policy: update, calls: flush.clone(), ..Options::new(2, 3) },
        Options {
            policy: Policy { hint: Hint::Update, ..home },
            mortal: vec![1],
            idle_home: true,
            ..Options::new(3, 2)
        },
        Options { calls: all.clone(), idle_home: true, ..Options::new(3, 2) },
        Options { calls: flush, idle_home: true, ..Options::new(3, 3) },
        Options { policy: update, calls: all.clone(), idle_home: true, ..Options::new(3, 2) },
        Options {
            policy: home,
            mortal: vec![1],
            forgetful: true,
            idle_home: true,
            ..Options::new(3, 3)
        },
        Options { calls: all, idle_home: true, forgetful: true, ..Options::new(3, 3) },
    ]
}

/// Finding in the first of the small worlds that shows the mistake.
fn found(planted: Planted) -> Option<Found> {
    let explored =
        |options: Options| explore(&Options { planted: Some(planted), ..options }, 3_000_000).err();
    worlds().into_iter().find_map(explored)
}

fn assert_found(planted: Planted, word: &str) {
    let found = found(planted).unwrap_or_else(|| panic!("{planted:?} is not found"));
    println!("{planted:?}\n{found}");
    assert!(found.to_string().contains(word), "{planted:?} was taken for something else:\n{found}");
}

const fn does<State, Step>(next: State, steps: &'static [Step]) -> Option<Rule<State, Step>> {
    Some(Rule { next, steps })
}

#[test]
fn a_copy_that_outlives_its_invalidation_is_found() {
    let keeps = does(S::Shared, &[A::Acknowledge]);
    assert_found(Planted::Replica(S::Shared, E::Invalidate, keeps), "R");
    assert_found(Planted::Replica(S::Shared, E::Invalidate, does(S::Shared, &[])), "stuck");
}

#[test]
fn an_acknowledgement_counted_early_is_found() {
    let early = does(H::Owned, &[B::Transfer, B::SendExclusive, B::Finish]);
    assert_found(Planted::Directory(H::Invalidating, D::Acknowledged, early), "R");
}

#[test]
fn an_owner_that_forgets_to_send_is_found() {
    let forgets = does(S::Shared, &[]);
    assert_found(Planted::Replica(S::Exclusive, E::FetchShared, forgets), "stuck");
}

#[test]
fn a_downgrade_that_keeps_the_right_to_write_is_found() {
    let keeps = does(S::Exclusive, &[A::PassShared]);
    assert_found(Planted::Replica(S::Exclusive, E::FetchShared, keeps), "R");
}

#[test]
fn stale_data_of_the_home_is_found() {
    let stale = does(H::Owned, &[B::Admit, B::SendShared]);
    assert_found(Planted::Directory(H::Owned, D::Read, stale), "R");
}

#[test]
fn data_sent_in_the_middle_of_a_write_is_found() {
    let hasty = does(S::Writing, &[A::PassShared]);
    assert_found(Planted::Replica(S::Writing, E::FetchShared, hasty), "R");
}

/// The rule without the step with this number.
fn without<State, Step: Copy>(rule: Rule<State, Step>, number: usize) -> Option<Rule<State, Step>> {
    let mut steps = rule.steps.to_vec();
    steps.remove(number);
    Some(Rule { next: rule.next, steps: steps.leak() })
}

/// All rules, each once without every one of its steps and once left out, that no small world
/// misses, of those that are needed: what is not takes longest, since all worlds are explored to
/// their ends. A thread tries those of a state.
fn idle<State, Event, Step>(
    (states, events): (&[State], &[Event]),
    rule: impl Fn(State, Event) -> Option<Rule<State, Step>> + Sync,
    planted: impl Fn(State, Event, Option<Rule<State, Step>>) -> Planted + Sync,
    is_needed: impl Fn(Event, Option<Step>) -> bool + Sync,
) -> Vec<(State, Event, Option<&'static [Step]>)>
where
    State: Copy + Send + Sync,
    Event: Copy + Send + Sync,
    Step: Copy + PartialEq + Send + Sync + 'static,
{
    let of_state = |state| {
        let mut idle = Vec::new();
        for &event in events {
            let Some(rule) = rule(state, event) else { continue };
            let steps = rule.steps.iter().enumerate();
            let shorter = steps.map(|(number, step)| (Some(*step), without(rule, number)));
            for (step, other) in shorter.chain([(None, None)]) {
                if is_needed(event, step) && found(planted(state, event, other)).is_none() {
                    idle.push((state, event, other.map(|rule| rule.steps)));
                }
            }
        }
        idle
    };
    std::thread::scope(|scope| {
        let of_state = &of_state;
        let tried = states.iter().map(|&state| scope.spawn(move || of_state(state)));
        let tried: Vec<_> = tried.collect();
        tried.into_iter().flat_map(|idle| idle.join().unwrap()).collect()
    })
}

#[test]
fn no_rule_of_replicas_and_no_step_can_be_left_out() {
    let all = |_, _| true;
    assert_eq!(idle((S::ALL, E::ALL), table::replica, Planted::Replica, all), []);
}

/// But those that are only there to save time: what was written goes to those who read before,
/// without being asked for (`tests/it/coherence.rs` sees it).
#[test]
fn no_rule_of_directories_and_no_step_can_be_left_out() {
    let is_needed = |event, step| event != D::Recall && step != Some(B::Update);
    assert_eq!(idle((H::ALL, D::ALL), table::directory, Planted::Directory, is_needed), []);
}
