use super::{Factors, factorize};
use crate::qr::collectives::Collectives;
use crate::qr::collectives::tests::Threads;
use crate::qr::columns::Columns;
use crate::qr::problem::Problem;
use proptest::prelude::*;
use weft_app_common::{Alone, on_threads};

fn sequential(problem: Problem) -> (Columns, Factors) {
    let mut columns = Columns::new(problem, 0, 1);
    let factors = factorize(&mut columns, &mut Alone, |_| ()).expect("alone");
    (columns, factors)
}

/// Two by two, by hand: the second column is the longer one.
#[test]
fn the_longest_column_comes_first() {
    let problem = Problem { rows: 2, columns: 2, of_rank: None, seed: 1 };
    let (_, factors) = sequential(problem);
    let [first, second] = [0, 1].map(|column| problem.column(column));
    let squares = [&first, &second].map(|column| column[0].powi(2) + column[1].powi(2));
    let longest = usize::from(squares[1] > squares[0]);
    assert_eq!(factors.order, [longest, 1 - longest]);
    let diagonal = factors.reflections.iter().map(|reflection| reflection.diagonal);
    let [r00, r11] = diagonal.collect::<Vec<_>>()[..] else { panic!("two steps") };
    assert!((r00.abs() - squares[longest].sqrt()).abs() < 1e-15);
    let determinant = first[0] * second[1] - first[1] * second[0];
    assert!(((r00 * r11).abs() - determinant.abs()).abs() < 1e-15);
}

#[test]
fn the_diagonal_shows_the_rank_of_the_matrix() {
    for (rows, columns, of_rank, rank) in
        [(30, 40, None, 30), (40, 30, Some(7), 7), (20, 20, Some(99), 20), (1, 5, None, 1)]
    {
        let problem = Problem { rows, columns, of_rank, seed: 4 };
        let (_, factors) = sequential(problem);
        assert_eq!(factors.numerical_rank(rows, columns), rank, "{problem:?}");
    }
}

#[test]
fn operations_are_those_that_the_ranks_declare() {
    struct Counting(usize);
    impl Collectives for Counting {
        fn rank(&self) -> usize {
            0
        }
        fn size(&self) -> usize {
            1
        }
        fn longest(
            &mut self,
            mine: crate::qr::collectives::Candidate,
        ) -> Result<crate::qr::collectives::Candidate, weft_app_common::Error> {
            Ok(mine)
        }
        fn broadcast(&mut self, _: usize, _: &mut [f64]) -> Result<(), weft_app_common::Error> {
            Ok(())
        }
        fn sum(&mut self, _: &mut [f64]) -> Result<(), weft_app_common::Error> {
            Ok(())
        }
        fn largest(&mut self, value: f64) -> Result<f64, weft_app_common::Error> {
            Ok(value)
        }
        fn work(&mut self, steps: usize) {
            self.0 += steps;
        }
    }
    let problem = Problem { rows: 13, columns: 9, of_rank: None, seed: 4 };
    let mut counting = Counting(0);
    let factors = factorize(&mut Columns::new(problem, 0, 1), &mut counting, |_| ()).expect("one");
    assert_eq!(counting.0, problem.operations(factors.steps()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Also with more ranks than columns, and with no room for a message on its way.
    #[test]
    fn every_job_equals_one_rank_in_every_bit(
        rows in 1_usize..30,
        columns in 1_usize..30,
        ranks in 1_usize..9,
        room in 0_usize..3,
        of_rank in prop::sample::select(vec![None, Some(1), Some(5)]),
        seed in 0_u64..1000,
    ) {
        let problem = Problem { rows, columns, of_rank, seed };
        let (whole, expected) = sequential(problem);
        let parts = on_threads(ranks, room, |exchange| {
            let mut threads = Threads(exchange);
            let mut columns = Columns::new(problem, threads.rank(), ranks);
            let factors = factorize(&mut columns, &mut threads, |_| ());
            (columns, factors.expect("all ranks take part"))
        });
        let mut compared = 0;
        for (part, factors) in parts {
            prop_assert_eq!(&factors, &expected);
            for (number, column) in part.each() {
                prop_assert_eq!(column, whole.column(number));
                compared += 1;
            }
        }
        prop_assert_eq!(compared, columns);
    }
}
