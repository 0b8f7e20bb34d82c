//! Tests of findings for a terminal.

use super::*;
use crate::Analysis;
use crate::analysis::beside::tests::busy_run;
use weft_trace::{Builder, NamedThing, What};

#[test]
fn the_verdict_comes_first_and_tables_follow() {
    let trace = Builder::new("solver --fast", 2)
        .named(0, NamedThing::Span, 1, "solve")
        .event(0, 0, What::SpanBegins(1))
        .event(1, 0, What::WaitBegins)
        .packet((0, 80_000), (1, 90_000), 100)
        .event(1, 100_000, What::WaitEnds)
        .event(0, 100_000, What::SpanEnds(1))
        .trace();
    let said = text(&Analysis::new(&trace).findings);
    let expected = "\
Rank 1 waits for rank 0 in 100 % of its time.
Rank 0 computes 2.0 x as long as the mean: divide its work, or move some of it to others.

solver --fast: 2 ranks, 100 us, 6 events

Time per rank  (# computing, h handlers, - waiting, . asleep, ? lost)
      0 ########################  100 % computing,    0 % waiting
      1 ------------------------    0 % computing,  100 % waiting, most for rank 0 (100 %)
  computing, max / mean: 2.00 (rank 0)
  waited for in the end: rank 0 (100 %)

Spans
  solve                            1 x    100 us computing      0 ns waiting, most at rank 0

Slowest waits
     100 us  rank 1 at 0 ns,
             until rank 0, which computed in 'solve' for 100 us

Critical path  100 us: 80 % computing, 0 % handlers, 10 % packets under way, 10 % waking, 0 % waiting
";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.contains("\n      0        -        1\n"), "{said}");
}

#[test]
fn lost_events_are_said_before_the_tables() {
    let trace = Builder::new("x", 1).event(0, 0, What::Interrupted).loses(0, 1200).trace();
    let said = text(&Analysis::new(&trace).findings);
    assert!(said.contains("1 event\n1,200 events lost: what follows has holes\n\nTime"), "{said}");
}

#[test]
fn handlers_orders_and_copies_are_said() {
    let said = text(&Analysis::new(&busy_run()).findings);
    let handlers = "
Handlers
  files                            2 x   1.25 us in threads of their own
  rows                             1 x    100 ns
";
    assert!(said.contains(handlers), "{said}");
    let beside = "
  order 'moves': 2 broadcasts, handed over 4 times; 650 ns to all ranks, at most 1.00 us (number 1, rank 0)
  rank 0 in memory of rank 1, without packets: 2 puts, 5.00 KiB; 1 get, 100 B
";
    assert!(said.contains(beside), "{said}");
}

#[test]
fn slow_waits_name_both_ends() {
    let trace = Builder::new("x", 3)
        .named(0, NamedThing::Span, 1, "solve")
        .named(1, NamedThing::Span, 2, "exchange")
        .named(1, NamedThing::Port, 3, "rows")
        .named(0, NamedThing::Port, 4, "asks")
        .event(0, 0, What::SpanBegins(1))
        .event(0, 600_000, What::SpanEnds(1))
        .event(0, 650_000, What::HandlerBegins(4))
        .wait(0, 700_000, 800_000, Some("a message on port 'go'"))
        .event(0, 810_000, What::HandlerEnds(4))
        .event(1, 0, What::SpanBegins(2))
        .event(1, 100, What::HandlerBegins(3))
        .wait(1, 200, 900_000, Some("a call of 'step' by rank 0"))
        .packet((0, 880_000), (1, 890_000), 8)
        .event(1, 900_100, What::HandlerEnds(3))
        .event(1, 900_200, What::SpanEnds(2))
        .event(2, 0, What::Interrupted)
        .event(2, 10, What::WaitBegins)
        .event(2, 400_000, What::Interrupted);
    let mut trace = trace.trace();
    // In the order of time, as a rank writes them.
    trace.ranks[1].waits = [(2, "a call of 'step' by rank 0".into())].into();
    trace.ranks[1].events.sort_by_key(|event| event.time);
    trace.ranks[2].waits = [(1, "rank 0 to receive".into())].into();
    let said = text(&Analysis::new(&trace).findings);
    let expected = "
Slowest waits
     900 us  rank 2 at 10 ns for rank 0 to receive,
             which nothing ended; rank 0, which computed in 'solve' for 600 us, computed, outside Weft, \
for 120 us, and waited for a message on port 'go' in the handler of 'asks' for 100 us
     900 us  rank 1 in the handler of 'rows' in 'exchange' at 200 ns for a call of 'step' by rank 0,
             until rank 0, which computed in 'solve' for 600 us, computed, outside Weft, for 120 us, \
and waited for a message on port 'go' in the handler of 'asks' for 100 us
     100 us  rank 0 in the handler of 'asks' at 700 us for a message on port 'go',
             ended by no packet
";
    assert!(said.contains(expected), "{said}");
}
