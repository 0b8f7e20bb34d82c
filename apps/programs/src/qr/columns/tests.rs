use super::{Columns, Reflection};
use crate::qr::collectives::Candidate;
use crate::qr::kernel::norm;
use crate::qr::problem::Problem;

const PROBLEM: Problem = Problem { rows: 9, columns: 7, of_rank: None, seed: 3 };

#[test]
fn columns_are_dealt_out_one_to_each_rank_in_turn() {
    let mut seen = vec![];
    for rank in 0..3 {
        let columns = Columns::new(PROBLEM, rank, 3);
        for (number, column) in columns.each() {
            assert_eq!(column, PROBLEM.column(number));
            assert_eq!(column, columns.column(number));
            seen.push(number);
        }
    }
    assert_eq!(seen, [0, 3, 6, 1, 4, 2, 5]);
    assert_eq!(Columns::new(PROBLEM, 7, 8).longest(0), Candidate::NONE, "more ranks than columns");
}

#[test]
fn a_reflection_leaves_of_its_own_column_only_the_head() {
    for head in [0.25, -0.25, 0.0] {
        let column = [head, 1.0, -2.0, 0.5];
        let mut vector = column;
        vector[0] += if head < 0.0 { -norm(&column) } else { norm(&column) };
        let reflection = Reflection::of(5, head, &vector);
        assert!((reflection.diagonal.abs() - norm(&column)).abs() < 1e-15);
        let mut reflected = column;
        reflection.apply(&mut reflected, &vector);
        assert!((reflected[0] - reflection.diagonal).abs() < 1e-15, "{reflected:?}");
        assert!(norm(&reflected[1..]) < 1e-15, "{reflected:?}");
    }
}

#[test]
fn a_column_of_zeros_reflects_nothing() {
    let reflection = Reflection::of(0, 0.0, &[0.0, 0.0]);
    let mut column = [1.0, 2.0];
    reflection.apply(&mut column, &[0.0, 0.0]);
    assert_eq!((column, reflection.diagonal), ([1.0, 2.0], 0.0));
}

/// Of a matrix of rank 1 nothing is left after one reflection but rounding errors, which lengths
/// that were only updated would not show.
#[test]
fn lengths_that_cancel_are_computed_anew() {
    let problem = Problem { rows: 40, columns: 12, of_rank: Some(1), seed: 5 };
    let mut columns = Columns::new(problem, 0, 1);
    let chosen = columns.longest(0);
    let vector = columns.take(chosen.column as usize, 0).to_vec();
    columns.reflect(&Reflection::of(0, chosen.head, &vector), &vector);
    for left in &columns.left {
        let exact = norm(&columns.values[left.place * 40 + 1..][..39]);
        assert_eq!((left.norm, left.computed), (exact, exact));
        assert!(exact < 1e-14, "{exact}");
    }
}

#[test]
fn lengths_that_do_not_cancel_are_nearly_exact_after_all_steps() {
    let problem = Problem { rows: 60, columns: 50, of_rank: None, seed: 2 };
    let mut columns = Columns::new(problem, 0, 1);
    for step in 0..40 {
        let chosen = columns.longest(step);
        let vector = columns.take(chosen.column as usize, step).to_vec();
        columns.reflect(&Reflection::of(step, chosen.head, &vector), &vector);
    }
    assert_eq!(columns.left.len(), 10);
    for left in &columns.left {
        let exact = norm(&columns.values[left.place * 60 + 40..][..20]);
        assert!((left.norm / exact - 1.0).abs() < 1e-10, "{left:?} {exact}");
    }
}
