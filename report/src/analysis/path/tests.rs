//! Tests of the critical path.

use super::*;
use crate::analysis::Analysis;
use crate::analysis::tests::traces::any_trace;
use proptest::prelude::*;
use weft_trace::{Builder, NamedThing, Trace, What};

fn path(trace: &Trace) -> Path {
    Analysis::new(trace).findings.critical_path
}

/// Kind, rank, begin and end of each step.
fn steps(path: &Path) -> Vec<(On, u32, u64, u64)> {
    path.steps.iter().map(|step| (step.on, step.rank, step.begin_ns, step.end_ns)).collect()
}

/// Rank 0 computes for long in a span and sends; rank 1 waits for it, and ends the run.
fn late_sender() -> Builder {
    Builder::new("", 2)
        .named(0, NamedThing::Span, 1, "solve")
        .event(0, 0, What::SpanBegins(1))
        .event(1, 0, What::SpanBegins(2))
        .event(1, 100, What::WaitBegins)
        .packet((0, 800), (1, 820), 8)
        .event(1, 830, What::WaitEnds)
        .event(1, 900, What::SpanEnds(2))
}

#[test]
fn it_goes_over_the_packet_that_ended_a_wait() {
    let path = path(&late_sender().trace());
    assert_eq!(
        steps(&path),
        [
            (On::Rank, 0, 0, 800),
            (On::Flight, 0, 800, 820),
            (On::Waking, 1, 820, 830),
            (On::Rank, 1, 830, 900)
        ]
    );
    assert_eq!((path.total_ns, path.flight_ns, path.waking_ns), (900, 20, 10));
    let most = &path.ranks[0];
    assert_eq!((most.rank, most.ns), (Some(0), 800));
    assert_eq!(path.spans[0].span.as_deref(), Some("solve"));
    assert!(path.advice.starts_with("Rank 0 computes during 89 % of"), "{}", path.advice);
}

#[test]
fn a_packet_that_lay_there_is_not_what_took_long() {
    let trace = Builder::new("", 2)
        .packet((0, 5), (1, 15), 8)
        .event(1, 20, What::Interrupted)
        .event(1, 900, What::WaitBegins)
        .packet((0, 20), (1, 901), 8)
        .event(1, 902, What::WaitEnds)
        .trace();
    assert_eq!(steps(&path(&trace)), [(On::Rank, 1, 10, 897)]);
}

#[test]
fn a_wait_that_no_packet_ends_is_on_it() {
    let trace = Builder::new("", 1)
        .wait(0, 100, 900, Some("a barrier"))
        .event(0, 1000, What::Interrupted)
        .trace();
    let path = path(&trace);
    assert_eq!((path.total_ns, path.waiting_ns), (900, 800));
    assert!(path.advice.contains("no packet of this trace"), "{}", path.advice);
}

#[test]
fn what_a_rank_answers_in_a_wait_is_what_it_was_asked() {
    let trace = Builder::new("", 2)
        .event(0, 0, What::WaitBegins)
        .event(1, 0, What::Interrupted)
        .packet((1, 480), (0, 500), 8)
        .event(1, 482, What::WaitBegins)
        .packet((0, 510), (1, 530), 8)
        .event(1, 531, What::WaitEnds)
        .event(1, 900, What::Interrupted)
        .packet((1, 910), (0, 930), 8)
        .event(0, 931, What::WaitEnds)
        .trace();
    let path = path(&trace);
    let expected = [
        (On::Rank, 1, 0, 480),
        (On::Flight, 1, 480, 500),
        (On::Rank, 0, 500, 510),
        (On::Flight, 0, 510, 530),
        (On::Waking, 1, 530, 531),
        (On::Rank, 1, 531, 910),
        (On::Flight, 1, 910, 930),
        (On::Waking, 0, 930, 931),
    ];
    assert_eq!(steps(&path), expected);
    assert_eq!(path.waiting_ns, 10);
}

proptest! {
    #[test]
    fn it_has_no_holes_and_goes_forward(trace in any_trace()) {
        let analysis = Analysis::new(&trace);
        let path = &analysis.findings.critical_path;
        for two in path.steps.windows(2) {
            prop_assert_eq!(two[0].end_ns, two[1].begin_ns);
        }
        prop_assert!(path.steps.iter().all(|step| step.begin_ns < step.end_ns));
        let length: u64 = path.steps.iter().map(|step| step.end_ns - step.begin_ns).sum();
        prop_assert_eq!(length, path.total_ns);
        // What is before a rank's first event or behind its last is of no state.
        let parts = path.computing_ns + path.handler_ns + path.waiting_ns + path.lost_ns;
        prop_assert!(parts + path.flight_ns + path.waking_ns <= path.total_ns);
    }
}
