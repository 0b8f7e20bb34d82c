//! Tests of recordings by samples.

use super::*;
use crate::analysis::tests::traces::any_trace;
use crate::{Analysis, page, text::text};
use proptest::prelude::*;
use weft_trace::Builder;
use weft_wire::Rank;

/// Rank 1 waits for rank 0 three quarters of the time, and gets 100 packets.
fn recording() -> Trace {
    let looked = |times| What::Looked { times, longest_ns: 3_000_000 };
    let counted = |counter, more| What::Counted { counter, more };
    let mut trace = Builder::new("solver", 2)
        .event(0, 0, looked(1))
        .event(1, 0, looked(1))
        .event(1, 20_000_000, What::WaitBegins)
        .event(1, 20_000_000, What::SleepBegins)
        .event(1, 20_000_000, What::WaitsFor(Rank(0)))
        .event(1, 80_000_000, What::WaitEnds)
        .event(0, 80_000_000, counted(0, 100))
        .event(0, 80_000_000, counted(2, 6_400))
        .event(1, 80_000_000, counted(1, 100))
        .event(0, 80_000_000, looked(78))
        .event(1, 80_000_000, looked(78))
        .trace();
    trace.run.looks_per_second = Some(1000);
    trace
}

#[test]
fn time_counters_and_whom_a_rank_waits_for_are_found() {
    let found = Analysis::new(&recording()).findings;
    let [computes, waits] = &found.time[..] else { panic!("two ranks") };
    assert_eq!((computes.computing_ns, waits.computing_ns), (80_000_000, 20_000_000));
    assert_eq!((waits.asleep_ns, waits.waits_for[0].rank), (60_000_000, Some(0)));
    assert_eq!(found.verdict[0], "Rank 1 waits for rank 0 in 75 % of its time.");
    let sampled = found.sampled.unwrap();
    assert_eq!((sampled.looks, sampled.longest_gap_ns), (79, 3_000_000));
    assert_eq!((sampled.sum("packets_sent"), sampled.sum("packets_received")), (100, 100));
    let bytes = &sampled.over_time.bytes_sent[0];
    assert!(bytes.iter().all(|bytes| (bytes - 160.0).abs() < 1e-6), "{bytes:?}");
    assert_eq!(found.critical_path.total_ns, 0);
}

#[test]
fn text_says_what_samples_cannot_show() {
    let said = text(&Analysis::new(&recording()).findings);
    let told = "sampled, not traced: 1,000 looks a second asked for, 79 at each rank made, at most 3.00 ms apart";
    assert!(said.contains(told), "{said}");
    assert!(said.contains("no single messages, arrows, spans"), "{said}");
    assert!(said.contains("Counters  100 data packets, 6.25 KiB"), "{said}");
    assert!(!said.contains("Critical path") && !said.contains("Communication"), "{said}");
}

#[test]
fn a_wait_that_nobody_ends_is_for_whom_it_was_said_to_be() {
    let mut trace = recording();
    trace.ranks[1].events.retain(|event| event.what != What::WaitEnds);
    let found = Analysis::new(&trace).findings;
    assert_eq!(found.time[1].waits_for[0].rank, Some(0));
    // That a rank waits longer than somebody looks is no sign that it hangs.
    let [first, .., last] = &found.verdict[..] else { panic!("{:?}", found.verdict) };
    assert_eq!(first, "Rank 1 waits for rank 0 in 75 % of its time.");
    assert_eq!(last, "Rank 1 waits all through this recording.");
}

#[test]
fn if_all_ranks_wait_all_the_time_that_is_said_first() {
    let mut trace = recording();
    trace.ranks[1].events.retain(|event| event.what != What::WaitEnds);
    trace.ranks[0].events = trace.ranks[1].events.clone();
    let found = Analysis::new(&trace).findings;
    assert_eq!(found.verdict[0], "Ranks 0 and 1 wait all through this recording.");
}

#[test]
fn who_is_not_seen_to_wait_may_wait_for_short_times() {
    let mut trace = recording();
    trace.ranks[1]
        .events
        .retain(|event| !matches!(event.what, What::WaitBegins | What::SleepBegins));
    let found = Analysis::new(&trace).findings;
    let told = "Ranks are seen to wait in 0 % of their time; waits of less than some milliseconds do not show.";
    assert_eq!(found.verdict[0], told);
}

proptest! {
    #[test]
    fn counters_add_up_whatever_is_recorded(mut trace in any_trace()) {
        trace.run.looks_per_second = Some(1000);
        let analysis = Analysis::new(&trace);
        let mut sums = [0_u64; COUNTERS.len()];
        for event in trace.ranks.iter().flat_map(|of| &of.events) {
            if let What::Counted { counter, more } = event.what {
                // So large that only whether there is one can be told.
                let sum = &mut sums[usize::from(counter)];
                *sum = sum.saturating_add(more);
            }
        }
        let sampled = analysis.findings.sampled.as_ref().unwrap();
        for (name, sum) in COUNTERS.iter().zip(sums) {
            let rows = sampled.counters.iter().map(|row| row.counters[name]);
            prop_assert_eq!(rows.fold(0, u64::saturating_add), sum);
        }
        let mut written = Vec::new();
        page::write(&analysis, &mut written).unwrap();
        prop_assert!(!text(&analysis.findings).is_empty());
    }
}
