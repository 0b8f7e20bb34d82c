use super::Report;
use crate::qr::columns::Columns;
use crate::qr::factor::factorize;
use crate::qr::problem::Problem;
use crate::qr::verify::errors;
use std::time::Duration;
use weft_app_common::{Alone, Times, Traffic};

#[test]
fn the_report_says_what_was_factorized_and_how_exactly() {
    let problem = Problem { rows: 1200, columns: 3, of_rank: Some(2), seed: 1 };
    let mut columns = Columns::new(problem, 0, 1);
    let factors = factorize(&mut columns, &mut Alone, |_| ()).expect("alone");
    let errors = errors(&columns, &factors, &mut Alone).expect("alone");
    let times = Times { parallel: Duration::from_millis(80), sequential: None };
    let report = Report {
        problem: &problem,
        factors: &factors,
        errors,
        times,
        traffic: &[Traffic::default(); 2],
    };
    let text = report.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("1,200 x 3 matrix of rank 2   3 reflections   verified"),
        "{text}"
    );
    assert!(lines[0].ends_with("(at most 2.7e-12)"), "{text}");
    assert!(lines[1].starts_with("R's diagonal from "), "{text}");
    assert_eq!(lines[2], "2 ranks, 0.080 s   packets 0   blocked sends 0   interrupts 0");
    assert_eq!(lines.len(), 7);
}
