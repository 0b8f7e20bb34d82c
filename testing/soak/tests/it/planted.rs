//! A test of the tests: mistakes that implementers make, planted one at a time, are found.
use weft_protocol::{Bug, Preset, Recovery};
use weft_simulator::Simulation;
use weft_soak::{Case, Failure};
use weft_wire::Rank;

/// Cases in which a mistake is planted.
const TRIALS: usize = 30;
const PACKETS: u64 = 3_000;
/// Opportunities of a case at which it is made, one after the other, until it is found: some harm
/// nobody, such as a credit too many for a sender that has nothing to send.
const OPPORTUNITIES: [u32; 8] = [0, 1, 3, 7, 15, 31, 63, 127];

/// Plants `bug` in some of the cases in which it can be made, and returns what was found.
fn plant(bug: Bug, possible: impl Fn(&Case) -> bool) -> Vec<Failure> {
    let cases = (1..).map(|number| Case::numbered(number, PACKETS));
    let cases = cases.filter(|case| case.systems.is_none() && case.faults.crashes.is_empty());
    let cases = cases.filter(possible).take(TRIALS);
    let find = |case: Case| OPPORTUNITIES.iter().find_map(|&at| plant_at(bug, at, &case));
    cases.filter_map(find).collect()
}

/// Every rank of `case` makes the mistake once, at the same of its opportunities.
fn plant_at(bug: Bug, opportunity: u32, case: &Case) -> Option<Failure> {
    let plant = |simulation: &Simulation| {
        (0..case.storm.ranks).for_each(|rank| simulation.plant(Rank(rank), bug, opportunity));
    };
    case.run_with(0, plant).err().map(|failure| *failure)
}

/// Finds the mistake in at least `least` of the cases, and by one of these words.
fn assert_found(bug: Bug, least: usize, words: &[&str], possible: impl Fn(&Case) -> bool) {
    let found = plant(bug, possible);
    println!("{bug:?}: found in {} of {TRIALS} cases", found.len());
    for failure in &found {
        let known = words.iter().any(|word| failure.what.contains(word));
        assert!(known, "{bug:?} was taken for something else: {failure}");
    }
    assert!(found.len() >= least, "{bug:?} was found in {} of {TRIALS} cases", found.len());
}

fn is_careful(case: &Case) -> bool {
    !case.preset.retransmits()
}

fn retransmits(case: &Case) -> bool {
    case.preset.retransmits()
}

fn forwards_at_the_ni(case: &Case) -> bool {
    matches!(case.preset, Preset::IrxImc | Preset::HrxImc | Preset::HrxHmc | Preset::Pupa)
        && case.storm.groups.is_empty()
        && case.storm.mix.multicasts > 0
        && case.storm.ranks > 4
        && case.window_packets <= 2
}

#[test]
fn a_lost_credit_is_found() {
    // Of two credits one may be kept back, where windows follow demand.
    let small = |case: &Case| {
        let most = if case.adaptive.is_some() { 1 } else { 2 };
        is_careful(case) && case.window_packets <= most
    };
    assert_found(Bug::LoseCredit, TRIALS, &["I1", "waits", "I2"], small);
}

/// The rank that has lost it says so, whatever else is seen.
#[test]
fn a_lost_credit_ends_the_job_with_the_invariant() {
    let checked = |case: &Case| is_careful(case) && case.checks_all() && case.storm.ranks < 9;
    let found = plant(Bug::LoseCredit, checked);
    let says = |failure: &&Failure| failure.what.contains("invariant I1 is broken: ");
    let named = found.iter().filter(says).count();
    println!("named in {named} of {} cases that failed, of {TRIALS}", found.len());
    assert!(named > TRIALS / 2, "{:?}", found.iter().map(|it| &it.what).collect::<Vec<_>>());
}

#[test]
fn credits_taken_twice_are_found() {
    let contended = |case: &Case| {
        let pool = case.adaptive.map_or(0, |adaptive| adaptive.pool_packets);
        pool > 0 && pool < 4 && case.window_packets == 2 && case.storm.ranks < 9
    };
    assert_found(Bug::TakeTwice, 5, &["I1", "waits", "I2", "panicked"], contended);
}

#[test]
fn an_acknowledgement_of_what_never_came_is_found() {
    let words = ["I8", "8.3.2", "expects packet", "never shown", "waits"];
    assert_found(Bug::AcknowledgeEarly, TRIALS, &words, retransmits);
}

#[test]
fn an_acknowledgement_before_the_forward_is_found() {
    let words = ["8.3.2", "panicked"];
    assert_found(Bug::AcknowledgeUnforwarded, TRIALS / 2, &words, forwards_at_the_ni);
}

#[test]
fn a_sequence_number_off_by_one_is_found() {
    let words = ["I8", "window", "waits", "beyond"];
    assert_found(Bug::NumberOffByOne, TRIALS, &words, retransmits);
}

#[test]
fn a_sender_that_goes_on_without_room_is_found() {
    let crowded = |case: &Case| {
        let few = case.receive_buffers.is_some_and(|buffers| buffers < 8);
        case.preset == Preset::Pupa && few && case.pupa.primary_buffers == 1
    };
    assert_found(Bug::IgnoreStop, TRIALS / 2, &["Pupa 2.2.2"], crowded);
}

#[test]
fn a_double_release_is_found() {
    assert_found(Bug::ReleaseTwice, TRIALS, &["panicked"], |_| true);
}

#[test]
fn a_recovery_channel_cleared_early_is_found() {
    let recovers = |case: &Case| {
        case.recovery == Recovery::AtOnce && case.window_packets <= 2 && case.storm.ranks > 7
    };
    assert_found(Bug::ClearEarly, TRIALS / 2, &["I7", "recovery channel", "Channel"], recovers);
}

/// Without a mistake the same cases pass.
#[test]
fn the_cases_themselves_pass() {
    for number in 1..=60 {
        if let Err(failure) = Case::numbered(number, PACKETS).run() {
            panic!("{failure}");
        }
    }
}
