use super::Report;
use crate::leq::problem::tests::problem;
use crate::leq::solve::Ended;
use crate::leq::verify::Checked;
use std::time::Duration;
use weft_app_common::{Times, Traffic};

#[test]
fn the_report_says_what_was_checked() {
    let report = Report {
        problem: &problem(1024),
        ended: Ended { iterations: 42, change: 0.0032 },
        checked: Checked { residual: 0.5, most: 0.75, error: 0.25 },
        is_compared: true,
        times: Times { parallel: Duration::from_millis(80), sequential: None },
        traffic: &[Traffic::default(); 2],
    };
    let text = report.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "1,024 unknowns   42 iterations   residual 5.0e-1 (at most 7.5e-1)   \
         verified bit for bit against one rank"
    );
    assert_eq!(
        lines[1],
        "largest change 3.2e-3 (tolerance 1e-10 not reached), from the exact solution 2.5e-1"
    );
    assert_eq!(lines[2], "2 ranks, 0.080 s   packets 0   blocked sends 0   interrupts 0");
    assert_eq!(lines.len(), 7);
}
