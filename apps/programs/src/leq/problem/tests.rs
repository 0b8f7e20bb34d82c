use super::Problem;

pub fn problem(unknowns: usize) -> Problem {
    Problem { unknowns, dominance: 1.25, tolerance: 1e-10, iterations: 500, seed: 3 }
}

#[test]
fn the_diagonal_outweighs_the_rest_of_each_row() {
    let problem = problem(40);
    for own in 0..40 {
        let row = problem.row(own);
        let rest: f64 = row.iter().enumerate().filter(|(i, _)| *i != own).map(|(_, c)| c).sum();
        assert!((row[own] / rest - 1.25).abs() < 1e-3, "{own}: {} over {rest}", row[own]);
        assert!(row.iter().enumerate().all(|(i, c)| i == own || (0.0..1.0).contains(c)));
    }
}

#[test]
fn rows_are_the_same_wherever_they_are_made() {
    let problem = problem(9);
    let whole = problem.equations(0..9);
    let part = problem.equations(4..7);
    assert_eq!(part.rows, whole.rows[4 * 9..7 * 9]);
    assert_eq!(part.right, whole.right[4..7]);
    assert_ne!(problem.row(0), Problem { seed: 4, ..problem }.row(0));
}

#[test]
fn one_equation_is_one_too() {
    let problem = problem(1);
    let equations = problem.equations(0..1);
    assert_eq!(equations.right[0], equations.rows[0] * problem.exact(0));
    assert!(equations.rows[0] > 0.0);
}
