//! A test of the tests: mistakes that implementers make, planted one at a time, are found.
use weft_protocol::{Bug, Preset, Recovery};
use weft_soak::{Case, Failure};
use weft_wire::Rank;

/// Cases in which a mistake is planted.
const TRIALS: usize = 30;
const PACKETS: u64 = 3_000;

/// Plants `bug` at some rank of the cases in which it can be made.
fn plant(bug: Bug, possible: impl Fn(&Case) -> bool) -> Vec<Failure> {
    let cases = (1..).map(|number| Case::numbered(number, PACKETS));
    let cases = cases.filter(|case| case.faults.crashes.is_empty() && possible(case)).take(TRIALS);
    let run = |case: Case| {
        let rank = Rank((case.number % u64::from(case.storm.ranks)) as u16);
        // A window shrinks seldom at one rank, and seldom is one told to stop that has more to
        // send.
        let often = if matches!(bug, Bug::TakeTwice | Bug::IgnoreStop) { 2 } else { 20 };
        let opportunity = (case.number % often) as u32;
        case.run_with(0, |simulation| simulation.plant(rank, bug, opportunity)).err()
    };
    cases.filter_map(run).map(|failure| *failure).collect()
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
}

#[test]
fn a_lost_credit_is_found() {
    let small = |case: &Case| is_careful(case) && case.window_packets <= 2;
    assert_found(Bug::LoseCredit, TRIALS / 2, &["I1", "waits", "I2"], small);
}

#[test]
fn credits_taken_twice_are_found() {
    let contended = |case: &Case| {
        let pool = case.adaptive.map_or(0, |adaptive| adaptive.pool_packets);
        pool > 0 && pool < 2 * u32::from(case.window_packets) && case.storm.ranks < 9
    };
    assert_found(Bug::TakeTwice, 1, &["I1", "waits", "I2", "panicked"], contended);
}

#[test]
fn an_acknowledgement_of_what_never_came_is_found() {
    let words = ["I8", "8.3.2", "expects packet", "never shown", "waits"];
    assert_found(Bug::AcknowledgeEarly, TRIALS / 2, &words, retransmits);
}

#[test]
fn an_acknowledgement_before_the_forward_is_found() {
    assert_found(Bug::AcknowledgeUnforwarded, 1, &["8.3.2", "panicked"], forwards_at_the_ni);
}

#[test]
fn a_sequence_number_off_by_one_is_found() {
    let words = ["I8", "window", "waits", "beyond"];
    assert_found(Bug::NumberOffByOne, TRIALS / 2, &words, retransmits);
}

#[test]
fn a_sender_that_goes_on_without_room_is_found() {
    let crowded = |case: &Case| {
        let few = case.receive_buffers.is_some_and(|buffers| buffers < 8);
        case.preset == Preset::Pupa && few && case.pupa.primary_buffers == 1
    };
    assert_found(Bug::IgnoreStop, 3, &["Pupa 2.2.2"], crowded);
}

#[test]
fn a_double_release_is_found() {
    assert_found(Bug::ReleaseTwice, TRIALS / 2, &["panicked"], |_| true);
}

#[test]
fn a_recovery_channel_cleared_early_is_found() {
    let recovers = |case: &Case| case.recovery == Recovery::AtOnce && case.window_packets <= 4;
    assert_found(Bug::ClearEarly, 3, &["I7", "recovery channel", "Channel"], recovers);
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
