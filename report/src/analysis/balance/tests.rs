//! Tests of times and balance.

use super::*;
use crate::analysis::Analysis;
use crate::analysis::tests::traces::any_trace;
use proptest::prelude::*;
use weft_trace::{Builder, NamedThing, What};

#[test]
fn the_most_loaded_rank_is_named() {
    let trace = Builder::new("", 2)
        .event(0, 0, What::Interrupted)
        .event(0, 300, What::Interrupted)
        .event(1, 0, What::WaitBegins)
        .event(1, 200, What::WaitEnds)
        .event(1, 300, What::Interrupted)
        .trace();
    let findings = Analysis::new(&trace).findings;
    let Balance { max_over_mean, most_loaded, mean_ns, max_ns } = findings.balance;
    assert_eq!((max_over_mean, most_loaded, mean_ns, max_ns), (1.5, 0, 200, 300));
    assert_eq!(findings.time[1].waits_for, [WaitsFor { rank: None, ns: 200 }]);
}

#[test]
fn spans_say_who_spends_most_in_them() {
    let mut of = Builder::new("", 2);
    for rank in 0..2 {
        of = of
            .named(rank, NamedThing::Span, 5, "solve")
            .event(rank, 0, What::SpanBegins(5))
            .event(rank, 100 + 50 * u64::from(rank), What::SpanEnds(5))
            .event(rank, 200, What::Interrupted);
    }
    let spans = Analysis::new(&of.trace()).findings.spans;
    let solve = spans.iter().find(|row| row.name.as_deref() == Some("solve")).unwrap();
    assert_eq!((solve.count, solve.total_ns, solve.most_ns, solve.most_rank), (2, 250, 150, 1));
    let outside = spans.iter().find(|row| row.name.is_none()).unwrap();
    assert_eq!(outside.computing_ns, 150);
}

proptest! {
    #[test]
    fn every_ranks_parts_add_to_its_time(trace in any_trace()) {
        let findings = Analysis::new(&trace).findings;
        for of in &findings.time {
            let parts = of.computing_ns + of.idle() + of.handler_ns + of.lost_ns;
            prop_assert_eq!(parts, of.total());
            let waited: u64 = of.waits_for.iter().map(|waits| waits.ns).sum();
            prop_assert!(waited <= of.idle());
        }
        let spans: u64 = findings.spans.iter().map(|row| row.computing_ns).sum();
        prop_assert_eq!(spans, findings.time.iter().map(|of| of.computing_ns).sum::<u64>());
        let of = &findings.utilization;
        let ranks: f64 = [&of.computing, &of.waiting, &of.asleep, &of.handler, &of.lost]
            .iter()
            .flat_map(|bins| bins.iter())
            .sum();
        let time = findings.time.iter().map(RankTime::total).sum::<u64>() as f64;
        prop_assert!((ranks * of.bin_ns - time).abs() <= 1.0 + time * 1e-6);
    }

    #[test]
    fn the_matrix_is_what_was_sent(trace in any_trace()) {
        let findings = Analysis::new(&trace).findings;
        let packets = |is_it: fn(&What) -> bool| {
            trace.ranks.iter().flat_map(|of| &of.events).filter(|event| is_it(&event.what)).count() as u64
        };
        let traffic = &findings.traffic;
        let sent = packets(|what| matches!(what, What::Sent(_)));
        prop_assert_eq!(traffic.data().0 + traffic.control_packets(), sent);
        prop_assert_eq!(traffic.sizes.iter().map(|size| size.packets).sum::<u64>(), traffic.data().0);
        prop_assert_eq!(traffic.sizes.iter().map(|size| size.bytes).sum::<u64>(), traffic.data().1);
        let systems = traffic.systems.iter().map(|of| of.data_bytes).sum::<u64>();
        prop_assert_eq!(systems, traffic.data().1);
        let received = packets(|what| matches!(what, What::Received(_)));
        prop_assert_eq!(findings.matching.matched + findings.matching.received_only, received);
        prop_assert_eq!(findings.matching.matched + findings.matching.sent_only, sent);
    }
}
