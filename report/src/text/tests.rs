//! Tests of findings for a terminal.

use super::*;
use crate::Analysis;
use crate::analysis::beside::tests::busy_run;
use weft_trace::{Builder, Named, What};

#[test]
fn the_verdict_comes_first_and_tables_follow() {
    let trace = Builder::new("solver --fast", 2)
        .named(0, Named::Span, 1, "solve")
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
     100 us  rank 1 at 0 ns, until rank 0, which computed in 'solve' for 100 us

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
