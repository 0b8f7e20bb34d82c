//! Tests of blame.

use crate::analysis::Analysis;
use crate::analysis::tests::traces::any_trace;
use proptest::prelude::*;
use weft_trace::{Builder, Trace, What};

#[test]
fn whom_a_chain_of_ranks_waits_for_is_found_at_its_end() {
    // Rank 0 computes; each other rank waits for the one before it all the time.
    let mut of = Builder::new("", 8).event(0, 0, What::Interrupted);
    for rank in 1..8 {
        of = of.event(rank, 0, What::WaitBegins);
    }
    for rank in 1..8 {
        let now = 1_000_000 + 10 * u64::from(rank);
        of = of.packet((rank - 1, now), (rank, now + 5), 8).event(rank, now + 6, What::WaitEnds);
    }
    let blame = Analysis::new(&of.trace()).findings.blame;
    assert_eq!(blame[0].rank, Some(0));
    let waited: u64 = blame.iter().map(|of| of.direct_ns).sum();
    assert!(
        blame[0].direct_ns * 6 < waited && blame[0].in_the_end_ns * 100 > waited * 99,
        "{blame:?}"
    );
}

/// Each rank computes for as long as the others, but the first for longer, and passes something on
/// to the next one, which is by one round behind.
#[test]
fn who_keeps_up_a_pipeline_is_found_at_its_end() {
    let (ranks, rounds) = (6u64, 40u64);
    let mut of = Builder::new("", ranks as u16).event(0, 0, What::Interrupted);
    for rank in 1..ranks {
        of = of.event(rank as u16, 0, What::Interrupted);
    }
    for round in 1..=rounds {
        for rank in 1..ranks {
            let (from, to) = (rank as u16 - 1, rank as u16);
            // Rank 0 takes 1,000 for a round, the others 400; they wait for the rest of it.
            let left = 1_000 * round + 400 * (rank - 1);
            of = of.event(to, left - 590, What::WaitBegins).packet((from, left), (to, left + 5), 8);
            of = of.event(to, left + 10, What::WaitEnds);
        }
    }
    let blame = Analysis::new(&sorted(of.trace())).findings.blame;
    let waited: u64 = blame.iter().map(|of| of.direct_ns).sum();
    assert_eq!(blame[0].rank, Some(0));
    assert!(blame[0].in_the_end_ns * 10 > waited * 9, "{blame:?}");
}

/// Events of each rank in the order of time.
fn sorted(mut trace: Trace) -> Trace {
    for of in &mut trace.ranks {
        of.events.sort_by_key(|event| event.time);
    }
    trace
}

#[test]
fn ranks_that_wait_for_each_other_keep_the_blame() {
    let trace = Builder::new("", 2)
        .event(0, 0, What::WaitBegins)
        .event(1, 0, What::WaitBegins)
        .packet((0, 100), (1, 110), 8)
        .packet((1, 100), (0, 110), 8)
        .event(0, 120, What::WaitEnds)
        .event(1, 120, What::WaitEnds)
        .trace();
    let blame = Analysis::new(&trace).findings.blame;
    assert_eq!(blame.iter().map(|of| of.in_the_end_ns).collect::<Vec<_>>(), [120, 120]);
}

proptest! {
    #[test]
    fn none_is_lost(trace in any_trace()) {
        let blame = Analysis::new(&trace).findings.blame;
        let direct: u64 = blame.iter().map(|of| of.direct_ns).sum();
        let in_the_end: u64 = blame.iter().map(|of| of.in_the_end_ns).sum();
        prop_assert!(direct.abs_diff(in_the_end) <= 8 + direct / 1_000_000);
    }
}
