use super::Report;
use crate::sor::grid::tests::problem;
use crate::sor::problem::Problem;
use crate::sor::solve::Ended;
use std::time::Duration;
use weft_app_common::{Times, Traffic};

fn text(change: f64) -> String {
    let report = Report {
        problem: &Problem { tolerance: 1e-6, ..problem(1536, 20) },
        ended: Ended { iterations: 42, change },
        error: 0.25,
        times: Times { parallel: Duration::from_millis(80), sequential: None },
        traffic: &[Traffic::default(); 2],
    };
    report.text()
}

#[test]
fn the_report_says_whether_it_converged() {
    let lines: Vec<String> = text(0.0032).lines().map(str::to_owned).collect();
    assert_eq!(
        lines[0],
        "1,536 x 20 points   42 iterations   verified bit for bit against one rank"
    );
    assert_eq!(
        lines[1],
        "largest change 3.2e-3 (tolerance 1e-6 not reached), from the exact solution 2.5e-1"
    );
    assert_eq!(lines[2], "2 ranks, 0.080 s   packets 0   blocked sends 0   interrupts 0");
    assert_eq!(lines.len(), 7);
    assert!(text(1e-6).contains("(tolerance 1e-6 reached)"));
}
