//! Tests of states.

use super::*;
use crate::analysis::tests::traces::{any_trace, times};
use proptest::prelude::*;
use weft_trace::{Builder, NamedThing, Trace};

fn lives(trace: &Trace) -> (Vec<Life>, Names) {
    let (times, mut names) = (times(trace), Names::default());
    let life = |(rank, of)| Life::new(rank, of, times.of(rank), times.end(), &mut names);
    ((0..).zip(&trace.ranks).map(life).collect(), names)
}

/// Computing, waiting, asleep, in handlers, unknown.
fn in_states(trace: &Trace) -> [u64; 5] {
    lives(trace).0[0].in_states()
}

#[test]
fn a_wait_is_awake_asleep_and_interrupted_by_handlers() {
    let trace = Builder::new("", 1)
        .event(0, 0, What::SpanBegins(1))
        .event(0, 100, What::WaitBegins)
        .event(0, 130, What::SleepBegins)
        .event(0, 180, What::SleepEnds)
        .event(0, 185, What::HandlerBegins(3))
        .event(0, 192, What::HandlerEnds(3))
        .event(0, 200, What::WaitEnds)
        .event(0, 250, What::SpanEnds(1))
        .trace();
    assert_eq!(in_states(&trace), [150, 43, 50, 7, 0]);
    let life = &lives(&trace).0[0];
    let wait = &life.waits[0];
    assert_eq!((wait.begin, wait.end, wait.idle, wait.asleep), (100, 200, 93, 50));
    assert_eq!(life.spans.values().map(|span| span.total).sum::<u64>(), 250);
}

#[test]
fn a_handler_that_waits_is_idle() {
    let trace = Builder::new("", 1)
        .event(0, 0, What::WaitBegins)
        .event(0, 10, What::HandlerBegins(3))
        .event(0, 20, What::WaitBegins)
        .event(0, 50, What::WaitEnds)
        .event(0, 60, What::HandlerEnds(3))
        .event(0, 100, What::WaitEnds)
        .trace();
    assert_eq!(in_states(&trace), [0, 80, 0, 20, 0]);
    let idle: Vec<_> = lives(&trace).0[0].waits.iter().map(|wait| wait.idle).collect();
    assert_eq!(idle, [50, 30]);
}

#[test]
fn a_wait_that_ends_without_waking_ends_its_sleep() {
    let trace = Builder::new("", 1)
        .event(0, 0, What::WaitBegins)
        .event(0, 10, What::SleepBegins)
        .event(0, 30, What::WaitEnds)
        .event(0, 90, What::Interrupted)
        .trace();
    assert_eq!(in_states(&trace), [60, 10, 20, 0, 0]);
    assert_eq!(lives(&trace).0[0].interrupts, 1);
}

#[test]
fn of_a_span_within_a_span_of_its_name_time_counts_once() {
    let trace = Builder::new("", 1)
        .named(0, NamedThing::Span, 1, "solve")
        .event(0, 0, What::SpanBegins(1))
        .event(0, 10, What::SpanBegins(1))
        .event(0, 20, What::SpanEnds(1))
        .event(0, 50, What::SpanEnds(1))
        .trace();
    let (lives, names) = lives(&trace);
    let (name, time) = lives[0].spans.first_key_value().unwrap();
    assert_eq!((names.text(*name), *time), (Some("solve"), SpanTime { count: 2, total: 50 }));
}

#[test]
fn time_of_which_events_were_lost_is_unknown() {
    let trace = Builder::new("", 1)
        .event(0, 0, What::WaitBegins)
        .event(0, 10, What::HandlerBegins(1))
        .loses(0, 5)
        .event(0, 100, What::WaitEnds)
        .event(0, 130, What::WaitBegins)
        .trace();
    assert_eq!(in_states(&trace), [30, 10, 0, 0, 90]);
}

#[test]
fn a_wait_that_nothing_ends_is_open() {
    let trace = Builder::new("", 1)
        .event(0, 0, What::WaitBegins)
        .event(0, 10, What::SleepBegins)
        .event(0, 70, What::Interrupted)
        .trace();
    let wait = &lives(&trace).0[0].waits[0];
    assert_eq!((wait.end, wait.idle, wait.ended), (70, 70, None));
}

#[test]
fn the_last_packet_before_its_end_ends_a_wait() {
    let trace = Builder::new("", 3)
        .event(2, 0, What::WaitBegins)
        .packet((0, 10), (2, 20), 8)
        .packet((1, 10), (2, 30), 8)
        .event(2, 40, What::WaitEnds)
        .trace();
    assert_eq!(lives(&trace).0[2].waits[0].ended_by, Some((2, 1)));
}

proptest! {
    #[test]
    fn parts_add_up(trace in any_trace()) {
        for life in lives(&trace).0 {
            prop_assert_eq!(life.in_states().iter().sum::<u64>(), life.end - life.begin);
            let idle: u64 = life.waits.iter().map(|wait| wait.idle).sum();
            let states = life.in_states();
            prop_assert!(idle <= states[RankState::Waiting as usize] + states[RankState::Asleep as usize]);
            prop_assert!(life.pieces.is_sorted_by(|a, b| a.start < b.start));
            for wait in &life.waits {
                prop_assert!(wait.begin <= wait.end && wait.asleep <= wait.idle);
                prop_assert!(wait.idle <= wait.end - wait.begin);
            }
        }
    }

    #[test]
    fn what_is_within_a_time_is_as_long(trace in any_trace(), from: u32, length: u32) {
        for life in lives(&trace).0 {
            let (from, to) = (u64::from(from), u64::from(from) + u64::from(length));
            let within: u64 = life.within(from, to).map(|(_, time)| time).sum();
            let expected = to.min(life.end).saturating_sub(from.max(life.begin));
            prop_assert_eq!(within, expected);
        }
    }
}

#[test]
fn who_is_heard_of_last_in_a_wait_waits_until_the_end() {
    let trace = Builder::new("", 3)
        .event(0, 0, What::Interrupted)
        .event(0, 1000, What::Interrupted)
        .event(1, 0, What::Interrupted)
        .event(1, 280, What::WaitBegins)
        .event(2, 0, What::Interrupted)
        .event(2, 300, What::Interrupted)
        .trace();
    let lives = lives(&trace).0;
    assert_eq!(lives.iter().map(|life| life.end).collect::<Vec<_>>(), [1000, 1000, 300]);
    assert_eq!(lives[1].in_states(), [280, 720, 0, 0, 0]);
    let wait = &lives[1].waits[0];
    assert_eq!((wait.end, wait.idle, wait.ended), (1000, 720, None));
}
