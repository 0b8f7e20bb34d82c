//! Looks at a rank, and the events that they become.

use super::*;
use weft_link::status::{Awaited, Whom};

fn wait(begun: u64, polls: bool) -> Wait {
    Wait { begun, polls, awaited: Awaited::new("a message of rank 0", Whom::One(Rank(0))) }
}

/// Events since the last time, without texts.
fn events(trace: &mut RankTrace) -> Vec<(u64, What)> {
    let events = trace.take();
    let events = events.iter().map(|words| Event::of_words(words).unwrap());
    let told = events.filter(|event| !matches!(event.what, What::Text { .. }));
    told.map(|event| (event.time, event.what)).collect()
}

#[test]
fn a_wait_lasts_from_the_look_that_sees_it_to_the_first_that_does_not() {
    let mut trace = RankTrace::default();
    trace.begin(1000);
    trace.sample(1000, None, None);
    trace.sample(2000, Some(&wait(1500, false)), Some(Rank(0)));
    trace.sample(3000, Some(&wait(1500, false)), Some(Rank(0)));
    trace.sample(4000, None, None);
    let (begins, ends) = ((2000, What::WaitBegins), (4000, What::WaitEnds));
    let within = [(2000, What::SleepBegins), (2000, What::WaitsFor(Rank(0)))];
    assert_eq!(events(&mut trace), [begins, within[0], within[1], ends]);
}

#[test]
fn two_waits_for_the_same_are_two() {
    let mut trace = RankTrace::default();
    trace.sample(1000, Some(&wait(900, true)), None);
    trace.sample(2000, Some(&wait(1900, true)), None);
    let all = [(1000, What::WaitBegins), (2000, What::WaitEnds), (2000, What::WaitBegins)];
    assert_eq!(events(&mut trace), all);
}

#[test]
fn who_comes_last_is_waited_for() {
    let mut trace = RankTrace::default();
    trace.sample(1000, Some(&wait(900, true)), None);
    trace.sample(2000, Some(&wait(900, true)), Some(Rank(3)));
    trace.sample(3000, Some(&wait(900, true)), None);
    trace.sample(4000, Some(&wait(900, true)), Some(Rank(2)));
    let all = events(&mut trace);
    let whom: Vec<_> = all.iter().filter(|(_, what)| matches!(what, What::WaitsFor(_))).collect();
    assert_eq!(whom, [&(2000, What::WaitsFor(Rank(3))), &(4000, What::WaitsFor(Rank(2)))]);
}

#[test]
fn counters_add_up_to_the_difference_of_the_last_and_the_first() {
    let mut trace = RankTrace::default();
    let counts = |step: u64| Counts::of_words(std::array::from_fn(|word| 7 + step * word as u64));
    for step in [0, 3, 3, 10] {
        trace.counts(step, counts(step));
    }
    let mut sums = [0; COUNTERS.len()];
    for (_, what) in events(&mut trace) {
        let What::Counted { counter, more } = what else { panic!("{what:?}") };
        sums[usize::from(counter)] += more;
    }
    assert_eq!(sums, std::array::from_fn(|word| 10 * word as u64));
    // What counters are called is where they are.
    let named = serde_json::to_value(counts(10)).unwrap();
    for (at, name) in COUNTERS.iter().enumerate() {
        assert_eq!(named[name], 7 + 10 * at);
    }
}

#[test]
fn looks_are_counted_and_so_is_the_longest_time_without() {
    let mut trace = RankTrace::default();
    trace.begin(0);
    for now in [0, 1000, 5000, 6000] {
        trace.sample(now, None, None);
    }
    trace.note_samples(6000);
    trace.note_samples(7000);
    let looked = |times, longest_ns| What::Looked { times, longest_ns };
    assert_eq!(events(&mut trace), [(6000, looked(4, 4000)), (7000, looked(0, 0))]);
}

#[test]
fn what_a_rank_waits_for_all_the_time_does_not_end() {
    let has_ended = |first: u64| {
        let mut trace = RankTrace::default();
        trace.begin(first);
        trace.sample(1000, Some(&wait(500, false)), None);
        trace.close(2000);
        events(&mut trace).contains(&(2000, What::WaitEnds))
    };
    assert_eq!([has_ended(1000), has_ended(900)], [false, true]);
}

#[test]
fn a_rank_that_has_ended_is_seen_no_more() {
    let mut trace = RankTrace::default();
    trace.sample(1000, Some(&wait(500, true)), None);
    trace.end(2000);
    let ended = [(1000, What::WaitBegins), (2000, What::WaitEnds)];
    assert_eq!(events(&mut trace)[..2], ended);
    trace.sample(3000, Some(&wait(500, true)), None);
    trace.end(3000);
    trace.note_samples(3000);
    assert_eq!(events(&mut trace), []);
}
