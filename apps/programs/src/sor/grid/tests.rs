use super::{Colour, Grid};
use crate::sor::problem::{Borders, Problem};
use proptest::prelude::*;

pub fn problem(rows: usize, columns: usize) -> Problem {
    let borders = Borders::default();
    Problem { rows, columns, omega: 1.5, tolerance: 0.0, iterations: 10, borders }
}

/// The grid as a matrix with its border, relaxed point by point.
fn plain(problem: &Problem, iterations: usize) -> (Vec<Vec<f64>>, f64) {
    let all =
        |row: usize| (0..problem.columns + 2).map(|column| problem.start(row, column)).collect();
    let mut matrix: Vec<Vec<f64>> = (0..problem.rows + 2).map(all).collect();
    let mut largest: f64 = 0.0;
    for _ in 0..iterations {
        largest = 0.0;
        for colour in 0..2 {
            for i in 1..=problem.rows {
                for j in (1..=problem.columns).filter(|j| (i + j) % 2 == colour) {
                    let vertical = matrix[i - 1][j] + matrix[i + 1][j];
                    let mean = 0.25 * (vertical + (matrix[i][j - 1] + matrix[i][j + 1]));
                    let change = problem.omega * (mean - matrix[i][j]);
                    matrix[i][j] += change;
                    largest = largest.max(change.abs());
                }
            }
        }
    }
    (matrix, largest)
}

#[test]
fn the_exact_solution_does_not_change() {
    let mut grid = Grid::new(problem(9, 12), 0..9);
    for index in 0..grid.half * 11 {
        for colour in 0..2 {
            let row = index / grid.half;
            let column = 2 * (index % grid.half) + (row + colour) % 2;
            grid.colours[colour][index] = grid.problem.exact(row, column);
        }
    }
    assert!(grid.relax(Colour::Red).max(grid.relax(Colour::Black)) < 1e-15);
    assert!(grid.largest_error() < 1e-14);
}

#[test]
fn noise_is_between_minus_one_and_one_and_borders_are_exact() {
    let problem = problem(40, 40);
    let noise: Vec<f64> =
        (1..=40).flat_map(|i| (1..=40).map(move |j| problem.start(i, j))).collect();
    assert!(noise.iter().all(|value| (-1.0..1.0).contains(value)));
    assert!(noise.iter().sum::<f64>().abs() / 1600.0 < 0.05);
    assert_eq!((problem.start(0, 41), problem.start(41, 0)), (1.0, -1.0));
}

proptest! {
    #[test]
    fn half_rows_equal_the_plain_matrix_in_every_bit(rows in 1_usize..12, columns in 1_usize..40) {
        let problem = problem(rows, columns);
        let mut grid = Grid::new(problem, 0..rows);
        let mut change: f64 = 0.0;
        for _ in 0..5 {
            change = grid.relax(Colour::Red);
            change = change.max(grid.relax(Colour::Black));
        }
        let (matrix, expected_change) = plain(&problem, 5);
        prop_assert_eq!(change.to_bits(), expected_change.to_bits());
        let mut seen = 0;
        for (index, value) in grid.values().into_iter().enumerate() {
            let (row, column) = grid.place(index);
            if column <= columns + 1 {
                seen += 1;
                prop_assert_eq!(value.to_bits(), matrix[row][column].to_bits(), "{} {}", row, column);
            }
        }
        prop_assert_eq!(seen, rows * (columns + 2));
    }
}
