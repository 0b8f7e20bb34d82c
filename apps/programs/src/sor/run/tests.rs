use super::{Part, compare};
use crate::sor::grid::Grid;
use crate::sor::grid::tests::problem;
use crate::sor::solve::Ended;
use weft_app_common::Blocks;

const ENDED: Ended = Ended { iterations: 3, change: 0.5 };

/// Result of the comparison when two ranks bring these values and this ending.
fn compared(ended: Ended, spoil: impl Fn(&mut Vec<Vec<f64>>)) -> Result<(), String> {
    let whole = Grid::new(problem(5, 7), 0..5);
    let blocks = Blocks::new(5, 2);
    let mut values: Vec<Vec<f64>> = (0..2).map(|rank| whole.part(blocks.of(rank))).collect();
    spoil(&mut values);
    let grid = Grid::new(problem(5, 7), blocks.of(0));
    let solved = Part { grid, ended };
    compare(&(whole, ENDED), &solved, &values, blocks).map_err(|error| error.to_string())
}

#[test]
fn one_bit_is_enough() {
    assert_eq!(compared(ENDED, |_| ()), Ok(()));
    let error = compared(ENDED, |values| {
        values[1][4] = f64::from_bits(values[1][4].to_bits() ^ 1);
    });
    let error = error.expect_err("a bit differs");
    assert!(
        error.starts_with("the result differs from that of one rank: value 4 of rank 1"),
        "{error}"
    );
    let zero = |values: &mut Vec<Vec<f64>>| values[0][0] = -values[0][0];
    assert!(compared(ENDED, zero).is_err(), "signs count");
}

#[test]
fn another_ending_is_another_result() {
    let error = compared(Ended { iterations: 4, ..ENDED }, |_| ()).expect_err("it differs");
    assert!(error.contains("4 iterations to a change of 5e-1 instead of 3 to 5e-1"), "{error}");
}
