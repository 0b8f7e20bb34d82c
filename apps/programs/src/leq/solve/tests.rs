use super::{Alone, Ended, Parts, solve};
use crate::leq::problem::Problem;
use crate::leq::problem::tests::problem;
use std::sync::{Arc, Barrier, Mutex};
use weft_app_common::Blocks;
use weft_object::Result;

fn alone(problem: &Problem) -> (Vec<f64>, Ended) {
    solve(&problem.equations(0..problem.unknowns), problem, &mut Alone, |_| ()).expect("alone")
}

#[test]
fn it_converges_to_the_solution() {
    let problem = problem(60);
    let (x, ended) = alone(&problem);
    assert!(ended.converged(&problem) && (20..300).contains(&ended.iterations), "{ended:?}");
    for (unknown, value) in x.iter().enumerate() {
        assert!((value - problem.exact(unknown)).abs() < 1e-8, "{unknown}: {value}");
    }
}

#[test]
fn it_stops_after_the_last_iteration() {
    let problem = Problem { iterations: 3, ..problem(10) };
    let (_, ended) = alone(&problem);
    assert_eq!((ended.iterations, ended.converged(&problem)), (3, false));
}

/// Ranks that are threads and meet twice.
struct Threads {
    ranks: usize,
    exchange: Arc<Exchange>,
}

/// Values of all ranks, and the changes of each iteration.
struct Exchange {
    barrier: Barrier,
    values: Mutex<(Vec<f64>, Vec<f64>)>,
}

impl Parts for Threads {
    fn exchange(
        &mut self,
        first: usize,
        part: &[f64],
        change: f64,
        x: &mut Vec<f64>,
    ) -> Result<f64> {
        let Exchange { barrier, values } = &*self.exchange;
        let put = |(all, changes): &mut (Vec<f64>, Vec<f64>)| {
            all[first..first + part.len()].copy_from_slice(part);
            changes.push(change);
        };
        put(&mut values.lock().unwrap());
        barrier.wait();
        let (values, changes) = values.lock().unwrap().clone();
        x.copy_from_slice(&values);
        let all = changes.len() - changes.len() % self.ranks.max(1);
        let change = changes[all - self.ranks..all].iter().copied().fold(0.0, f64::max);
        barrier.wait();
        Ok(change)
    }
}

#[test]
fn any_division_gives_the_bits_of_one_rank() {
    for (unknowns, ranks) in [(1, 1), (17, 2), (17, 5), (4, 9)] {
        let problem = problem(unknowns);
        let (expected, ended) = alone(&problem);
        let values = Mutex::new((vec![0.0; unknowns], vec![]));
        let exchange = Arc::new(Exchange { barrier: Barrier::new(ranks), values });
        let blocks = Blocks::new(unknowns, ranks);
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                let (exchange, expected) = (Arc::clone(&exchange), &expected);
                scope.spawn(move || {
                    let mut parts = Threads { ranks, exchange };
                    let equations = problem.equations(blocks.of(rank));
                    let (x, done) = solve(&equations, &problem, &mut parts, |_| ()).unwrap();
                    assert_eq!(done, ended);
                    let bits = |x: &[f64]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&x), bits(expected));
                });
            }
        });
    }
}
