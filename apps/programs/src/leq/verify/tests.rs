use super::check;
use crate::leq::problem::Problem;
use crate::leq::problem::tests::problem;
use crate::leq::solve::{Alone, solve};

#[test]
fn what_was_solved_is_right_after_any_iteration() {
    for iterations in [1, 2, 10, 500] {
        let problem = Problem { iterations, ..problem(50) };
        let equations = problem.equations(0..50);
        let (x, ended) = solve(&equations, &problem, &mut Alone, |_| ()).unwrap();
        let checked = check(&problem, &x, ended);
        assert!(checked.is_right(), "{iterations}: {checked:?}");
        assert!(checked.residual > 0.0 && checked.error <= checked.residual, "{checked:?}");
    }
}

#[test]
fn a_wrong_value_is_found() {
    let problem = problem(50);
    let equations = problem.equations(0..50);
    let (x, ended) = solve(&equations, &problem, &mut Alone, |_| ()).unwrap();
    for wrong in [x[7] + 1e-8, f64::NAN, f64::INFINITY] {
        let mut x = x.clone();
        x[7] = wrong;
        assert!(!check(&problem, &x, ended).is_right(), "{wrong}");
    }
}
