use super::{Ended, solve};
use crate::sor::grid::Grid;
use crate::sor::grid::tests::problem;
use crate::sor::problem::{Borders, Order, Problem, best_omega};
use proptest::prelude::*;
use weft_app_common::{Alone, Blocks, Exchange, on_threads};

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn sequential(problem: &Problem) -> (Grid, Ended) {
    let mut grid = Grid::new(*problem, 0..problem.rows);
    let blocks = Blocks::new(problem.rows, 1);
    let ended = solve(&mut grid, problem, blocks, &mut Alone, |_| ()).expect("alone");
    (grid, ended)
}

#[test]
fn it_converges_to_the_exact_solution() {
    let problem = Problem {
        omega: best_omega(30, 50),
        tolerance: 1e-12,
        iterations: 1000,
        ..problem(30, 50)
    };
    let (grid, ended) = sequential(&problem);
    assert!(ended.converged(&problem));
    assert!((20..400).contains(&ended.iterations), "{}", ended.iterations);
    assert!(grid.largest_error() < 1e-9, "{}", grid.largest_error());
}

#[test]
fn without_iterations_nothing_happens() {
    let problem = Problem { iterations: 0, ..problem(3, 3) };
    let (grid, ended) = sequential(&problem);
    assert_eq!((ended.iterations, ended.converged(&problem)), (0, false));
    assert_eq!(grid, Grid::new(problem, 0..3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Also with more ranks than rows, and with no room for a message on its way.
    #[test]
    fn every_job_equals_one_rank_in_every_bit(
        rows in 1_usize..20,
        columns in 1_usize..30,
        ranks in 1_usize..25,
        room in 0_usize..3,
        tolerance in prop::sample::select(vec![0.0, 0.1]),
    ) {
        let problem = Problem { tolerance, ..problem(rows, columns) };
        let (whole, expected) = sequential(&problem);
        let blocks = Blocks::new(rows, ranks);
        let parts = on_threads(ranks, room, |mut exchange| {
            let mut grid = Grid::new(problem, blocks.of(exchange.rank()));
            let ended = solve(&mut grid, &problem, blocks, &mut exchange, |_| ());
            (grid, ended.expect("all ranks take part"))
        });
        let mut compared = 0;
        for (grid, ended) in parts {
            prop_assert_eq!(ended, expected);
            let of_whole = whole.part(grid.owned());
            prop_assert_eq!(bits(&grid.values()), bits(&of_whole));
            compared += of_whole.len();
        }
        prop_assert_eq!(compared, whole.values().len());
    }
}

#[test]
fn every_exchange_of_borders_gives_the_same_bits() {
    let usual = problem(11, 9);
    let (whole, expected) = sequential(&usual);
    for order in [Order::Turns, Order::SameWay, Order::Pairs] {
        let problem = Problem { borders: Borders { whole_rows: true, order }, ..usual };
        for ranks in [2, 3, 8] {
            let parts = on_threads(ranks, 4, |mut exchange| {
                let blocks = Blocks::new(problem.rows, ranks);
                let mut grid = Grid::new(problem, blocks.of(exchange.rank()));
                let ended = solve(&mut grid, &problem, blocks, &mut exchange, |_| ());
                assert_eq!(ended.expect("all ranks take part"), expected);
                bits(&grid.values())
            });
            let blocks = Blocks::new(problem.rows, ranks);
            let wanted = (0..ranks).map(|rank| bits(&whole.part(blocks.of(rank))));
            assert_eq!(parts, wanted.collect::<Vec<_>>(), "{ranks} ranks, {order:?}");
        }
    }
}
