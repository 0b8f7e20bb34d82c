//! The part of the soak that every test run has: about half a minute on two cores, by work and not
//! by the clock, so that it is the same everywhere.
use std::time::Duration;
use weft_soak::{Case, Goal, run};

const GOAL: Goal = Goal {
    first: 1_000_000,
    cases: 300,
    packets: 5_000_000,
    faults: 500_000,
    packets_a_case: 16_000,
    limit: Duration::from_secs(600),
    threads: 2,
    adaptive: false,
};

/// Nothing goes wrong in these but in time, so that they are soon done.
const ADAPTIVE: Goal =
    Goal { cases: 100, packets: 1, faults: 0, packets_a_case: 4_000, adaptive: true, ..GOAL };

#[test]
fn nothing_is_lost_doubled_reordered_or_changed() {
    let (totals, failure) = run(&GOAL, |_| {});
    println!("{totals}");
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    assert_eq!(totals.violations, 0);
    assert!(totals.reach(&GOAL), "{totals}");
}

#[test]
fn windows_that_follow_demand() {
    let (totals, failure) = run(&ADAPTIVE, |_| {});
    println!("{totals}");
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    assert!(totals.reach(&ADAPTIVE), "{totals}");
}

#[test]
fn a_case_is_the_same_every_time() {
    for number in [3, 5, 8, 16] {
        let hash = || Case::numbered(number, 3_000).run().unwrap().trace_hash;
        assert_eq!(hash(), hash());
    }
}

/// Ranks kept both of their host buffers while they waited for send buffers, and stood still.
#[test]
fn ranks_that_wait_for_send_buffers_go_on_taking_packets() {
    Case::numbered(18_957, 20_000).run().unwrap();
}

/// NIs dropped packets that came too early, and what they acknowledged: `hrx-imc` stood still.
#[test]
fn acknowledgements_in_packets_that_an_ni_drops_are_heard() {
    Case::numbered(19_484, 20_000).run().unwrap();
}

/// An NI returned a credit while the buffer that it stood for waited to be freed: `nrx-hmc` had a
/// packet more than receive buffers.
#[test]
fn credits_leave_after_the_buffers_that_they_stand_for() {
    Case::numbered(19_756, 20_000).run().unwrap();
}
