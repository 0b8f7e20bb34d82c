use super::{Errors, errors};
use crate::qr::collectives::Collectives;
use crate::qr::collectives::tests::Threads;
use crate::qr::columns::{Columns, Reflection};
use crate::qr::factor::{Factors, factorize};
use crate::qr::problem::Problem;
use weft_app_common::{Alone, on_threads};

const PROBLEM: Problem = Problem { rows: 50, columns: 40, of_rank: None, seed: 8 };

/// Errors that are found of a factorization that was spoilt.
fn found(spoil: impl Fn(&mut Columns, &mut Factors)) -> Errors {
    let mut columns = Columns::new(PROBLEM, 0, 1);
    let mut factors = factorize(&mut columns, &mut Alone, |_| ()).expect("alone");
    spoil(&mut columns, &mut factors);
    errors(&columns, &factors, &mut Alone).expect("alone")
}

#[test]
fn factors_of_every_shape_are_right_on_any_number_of_ranks() {
    for (rows, columns, of_rank) in
        [(1, 1, None), (30, 30, None), (50, 20, None), (20, 50, None), (40, 40, Some(6))]
    {
        let problem = Problem { rows, columns, of_rank, seed: 7 };
        for ranks in [1, 3, 8] {
            let all = on_threads(ranks, 2, |exchange| {
                let mut threads = Threads(exchange);
                let mut part = Columns::new(problem, threads.rank(), ranks);
                let factors = factorize(&mut part, &mut threads, |_| ()).expect("all take part");
                errors(&part, &factors, &mut threads).expect("all take part")
            });
            for errors in &all {
                assert!(errors.are_small(rows, columns), "{problem:?} {ranks}: {errors:?}");
                assert_eq!(errors, &all[0], "all ranks find the same");
            }
        }
    }
}

#[test]
fn columns_in_another_order_are_found() {
    let right = found(|_, _| ());
    assert!(right.are_small(50, 40), "{right:?}");
    let swapped = found(|_, factors| factors.order.swap(3, 4));
    assert!(swapped.residual > 1e-3, "{swapped:?}");
}

#[test]
fn a_reflection_that_is_none_is_found() {
    let bent = found(|columns, factors| {
        let vector = columns.column(factors.order[5])[5..].to_vec();
        let head = factors.reflections[5].diagonal + vector[0];
        factors.reflections[5] = Reflection::of(5, head * 1.001, &vector);
    });
    assert!(bent.orthogonality > 1e-6, "{bent:?}");
}

#[test]
fn a_column_that_was_not_the_longest_is_found() {
    let small = found(|_, factors| {
        let last = factors.steps() - 1;
        factors.reflections[0].diagonal = factors.reflections[last].diagonal;
    });
    assert!(small.pivoting > 1.0 && !small.are_small(50, 40), "{small:?}");
}
