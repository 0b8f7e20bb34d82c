use super::{MOVE, Plan};
use crate::fft::complex::Complex;
use std::f64::consts::TAU;

/// A transform by its definition.
fn slowly(row: &[Complex]) -> Vec<[f64; 2]> {
    let term = |place: usize, value: &Complex, index: usize| {
        let angle = -TAU * (place * index % row.len()) as f64 / row.len() as f64;
        let (re, im) = (f64::from(value[0]), f64::from(value[1]));
        [re * angle.cos() - im * angle.sin(), re * angle.sin() + im * angle.cos()]
    };
    let output = |place: usize| {
        let terms = row.iter().enumerate().map(|(index, value)| term(place, value, index));
        terms.fold([0.0, 0.0], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
    };
    (0..row.len()).map(output).collect()
}

#[test]
fn rows_are_transformed() {
    for side in [2, 4, 64] {
        let plan = Plan::new(side, 3);
        let mut row: Vec<Complex> = (0..side).map(|column| plan.input(1, column)).collect();
        let wanted = slowly(&row);
        plan.transform(&mut row, None);
        for (value, wanted) in row.iter().zip(wanted) {
            let error = (f64::from(value[0]) - wanted[0]).hypot(f64::from(value[1]) - wanted[1]);
            assert!(error < 1e-5, "{side}: {value:?} instead of {wanted:?}");
        }
    }
}

/// The constants give the times of the thesis.
#[test]
fn the_paper_s_problem_takes_one_rank_as_long_as_in_table_8_6() {
    let plan = Plan::new(1024, 1);
    let rows = plan.side * (plan.operations(true) + plan.operations(false));
    let seconds = (rows + 3 * MOVE * plan.points()) as f64 * 20e-9;
    assert!((seconds / 4.46 - 1.0).abs() < 0.02, "{seconds}");
}
