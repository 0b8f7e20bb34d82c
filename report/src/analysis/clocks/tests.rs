//! Tests of clocks.

use crate::analysis::Analysis;
use crate::analysis::tests::traces::any_trace;
use proptest::prelude::*;
use weft_trace::{Builder, Trace, What};

/// Two hosts that exchange packets, of which the second has a clock that is ahead and drifts.
fn exchange(ahead: f64, drift: f64, packets: u64, flights: &[u64]) -> Trace {
    let far = |time: u64| (ahead + time as f64 * (1.0 + drift)).round() as u64;
    let mut of = Builder::new("", 2).on_host(1, "far");
    let flight = |number: u64| flights[number as usize % flights.len()];
    for number in 0..packets {
        let now = 1_000_000 * (1 + number);
        of = of.packet((0, now), (1, far(now + flight(2 * number))), 8);
        let back = now + 500_000;
        of = of.packet((1, far(back)), (0, back + flight(2 * number + 1)), 8);
    }
    of.trace()
}

fn flights(analysis: &Analysis) -> Vec<u64> {
    analysis.arrows.iter().map(|arrow| arrow.flight()).collect()
}

#[test]
fn ranks_of_a_host_share_a_clock() {
    let trace = Builder::new("", 2).packet((0, 10), (1, 30), 8).trace();
    let analysis = Analysis::new(&trace);
    assert_eq!(flights(&analysis), [20]);
    assert_eq!(analysis.findings.clocks.len(), 1);
    assert_eq!(analysis.findings.clocks[0].clock.uncertainty_ns, Some(0.0));
}

#[test]
fn simulated_hosts_share_a_clock() {
    let mut trace = Builder::new("", 2).on_host(1, "far").packet((0, 10), (1, 30), 8).trace();
    trace.run.is_simulated = true;
    assert_eq!(flights(&Analysis::new(&trace)), [20]);
}

#[test]
fn a_clock_that_is_days_ahead_and_drifts_is_corrected() {
    let trace = exchange(9.5e14, 40e-6, 2_000, &[20_000, 35_000, 90_000, 21_000, 20_000]);
    let analysis = Analysis::new(&trace);
    let clock = analysis.findings.clocks[1].clock;
    assert!((clock.drift - 40e-6).abs() < 1e-7, "{clock:?}");
    let uncertain = clock.uncertainty_ns.unwrap();
    assert!((19_000.0..22_000.0).contains(&uncertain), "{clock:?}");
    // Each flight is right within what the report says, and no packet comes before it left.
    for (arrow, flight) in analysis.arrows.iter().zip(flights(&analysis)) {
        assert!((19_000..92_000).contains(&flight), "{arrow:?}");
    }
    assert_eq!(analysis.findings.matching.early, 0);
}

#[test]
fn packets_that_were_written_down_late_move_no_clock() {
    let mut trace = exchange(9.5e14, 0.0, 1_000, &[20_000, 35_000, 21_000]);
    let mut late = 0;
    for of in &mut trace.ranks {
        let sent = of.events.iter_mut().filter(|event| matches!(event.what, What::Sent(_)));
        for event in sent.skip(300).step_by(400) {
            // Until shortly before the next event.
            event.time += 400_000;
            late += 1;
        }
    }
    let analysis = Analysis::new(&trace);
    let clock = analysis.findings.clocks[1].clock;
    assert!(clock.uncertainty_ns.unwrap() < 25_000.0 && clock.drift.abs() < 1e-6, "{clock:?}");
    assert_eq!(analysis.findings.matching.early, late);
}

#[test]
fn packets_in_one_direction_say_when_at_most() {
    let mut of = Builder::new("", 2).on_host(1, "far");
    for number in 0..10 {
        let now = 1_000_000 * number;
        of = of.packet((0, now), (1, 777_000_000 + now + 5_000 + 100 * number), 8);
    }
    let analysis = Analysis::new(&of.trace());
    assert_eq!(analysis.findings.clocks[1].clock.uncertainty_ns, None);
    assert_eq!(flights(&analysis).iter().min(), Some(&0));
    assert_eq!(analysis.findings.matching.early, 0);
}

#[test]
fn three_hosts_agree() {
    let ahead = [0, 5_000_000_000, 90_000_000];
    let mut of = Builder::new("", 3).on_host(1, "b").on_host(2, "c");
    for number in 0..50 {
        let now = 100_000_000 + 1_000_000 * number;
        for (from, to) in [(0u16, 1u16), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)] {
            // The way back from c to a is the long one.
            let flight = if (from, to) == (2, 0) { 80_000 } else { 10_000 + 500 * (number % 7) };
            let (left, came) = (now + 10_000 * u64::from(3 * from + to), now + flight);
            let came = came + 10_000 * u64::from(3 * from + to);
            of = of.packet(
                (from, left + ahead[usize::from(from)]),
                (to, came + ahead[usize::from(to)]),
                8,
            );
        }
    }
    let analysis = Analysis::new(&of.trace());
    assert_eq!(analysis.findings.matching.matched, 300);
    assert_eq!(analysis.findings.matching.early, 0);
}

proptest! {
    #[test]
    fn none_comes_before_it_left(
        ahead in 0.0..1e15f64,
        drift in -400e-6..400e-6f64,
        packets in 1..200u64,
        flights in prop::collection::vec(1_000..500_000u64, 1..9),
    ) {
        let trace = exchange(ahead, drift, packets, &flights);
        let analysis = Analysis::new(&trace);
        prop_assert_eq!(analysis.findings.matching.matched, 2 * packets);
        // Times are whole nanoseconds, of either clock.
        let close = analysis.arrows.iter().all(|arrow| arrow.flight() < 1_100_000);
        prop_assert!(close);
        prop_assert_eq!(analysis.findings.matching.early, 0);
    }

    #[test]
    fn any_clocks_are_numbers(trace in any_trace()) {
        for of in Analysis::new(&trace).findings.clocks {
            prop_assert!(of.clock.offset_ns.is_finite() && of.clock.drift.is_finite());
        }
    }
}
