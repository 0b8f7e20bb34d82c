//! Tests of waits.

use super::*;
use crate::analysis::Analysis;
use weft_trace::{Builder, NamedThing, What};

#[test]
fn a_slow_wait_says_what_the_other_did_meanwhile() {
    let trace = Builder::new("", 3)
        .named(0, NamedThing::Span, 1, "solve")
        .event(0, 0, What::SpanBegins(1))
        .event(0, 700, What::SpanEnds(1))
        .wait(0, 710, 790, Some("a message on port 'go'"))
        .event(1, 0, What::Interrupted)
        .event(1, 100, What::WaitBegins)
        .packet((0, 795), (1, 800), 8)
        .event(1, 810, What::WaitEnds)
        .wait(2, 0, 20, None)
        .trace();
    let findings = Analysis::new(&trace).findings;
    let slow = &findings.slowest_waits[0];
    assert_eq!((slow.rank, slow.idle_ns, slow.ended_by), (1, 710, Some(0)));
    let meanwhile: Vec<_> = slow.meanwhile.iter().map(|it| it.words.as_str()).collect();
    assert_eq!(
        meanwhile,
        [
            "computed in 'solve' for 600 ns",
            "waited for a message on port 'go' for 80 ns",
            "computed, outside Weft, for 15 ns"
        ]
    );
    let rest: Vec<_> = findings.slowest_waits[1..].iter().map(|wait| wait.ended_by).collect();
    assert_eq!(rest, [None, None]);
}

#[test]
fn waits_are_of_a_kind_if_only_numbers_differ() {
    let trace = Builder::new("", 1)
        .wait(0, 0, 10, Some("operation 17 of team 3"))
        .wait(0, 20, 50, Some("operation 8 of team 3"))
        .wait(0, 60, 61, None)
        .trace();
    let kinds = Analysis::new(&trace).findings.wait_kinds;
    let told =
        kinds.iter().map(|kind| (kind.text.as_deref(), kind.count, kind.idle_ns, kind.longest_ns));
    let expected = [(Some("operation # of team #"), 2, 40, 30), (None, 1, 1, 1)];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn a_text_names_a_rank_if_it_names_no_other() {
    assert_eq!(named_rank("rank 12 to receive"), Some(12));
    assert_eq!(named_rank("a message of rank 3 on 'a', or of rank 3 on 'b'"), Some(3));
    assert_eq!(named_rank("rank 3 and rank 4"), None);
    assert_eq!(named_rank("barrier 17 of team all"), None);
    assert_eq!(named_rank("the rank that is next"), None);
}
