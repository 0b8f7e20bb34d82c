//! Jacobi's method by bare threads: a vector that all write their parts of, and a
//! barrier.

use std::sync::Mutex;
use std::time::Duration;

use weft_app_common::{Blocks, Crewmate, crew, locked};
use weft_object::Result as Shares;

use crate::leq::options::Options;
use crate::leq::run::Error;
use crate::leq::solve::{Parts, solve as iterate};
use crate::leq::verify::check;

/// Solves by so many threads, and checks the result as ranks do. Returns the time of the iteration.
///
/// # Errors
/// A wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let problem = options.problem();
    let blocks = Blocks::new(problem.unknowns, threads);
    let pieces = || (0..threads).map(|_| Mutex::default()).collect::<Vec<_>>();
    let memory = [pieces(), pieces()];
    let parts = crew(threads, |mate| {
        let equations = problem.equations(blocks.of(mate.rank()));
        let mut vectors = Vectors { mate, memory: &memory, iteration: 0 };
        let (solved, time) = mate.timed(|| iterate(&equations, &problem, &mut vectors, |_| ()));
        solved.map(|(x, ended)| (x, ended, time))
    });
    let parts = parts.into_iter().collect::<Shares<Vec<_>>>()?;
    let (x, ended, time) = &parts[0];
    if let Some(thread) = parts.iter().position(|(other, end, _)| other != x || end != ended) {
        return Err(Error::Wrong(format!("thread {thread} has another one than thread 0")));
    }
    let checked = check(&problem, x, *ended);
    if !checked.is_right() {
        return Err(Error::Wrong(format!("its residual is {:e}", checked.residual)));
    }
    Ok(*time)
}

/// A thread's part of a vector, with its largest change.
type Piece = Mutex<(Vec<f64>, f64)>;

/// The vectors of two iterations: the first one's is written again when all have passed the second
/// one's barrier, and so have read it.
struct Vectors<'a> {
    mate: &'a Crewmate<'a>,
    memory: &'a [Vec<Piece>; 2],
    iteration: usize,
}

impl Parts for Vectors<'_> {
    fn exchange(
        &mut self,
        _first: usize,
        part: &[f64],
        change: f64,
        x: &mut Vec<f64>,
    ) -> Shares<f64> {
        let pieces = &self.memory[self.iteration % 2];
        self.iteration += 1;
        {
            let mut mine = locked(&pieces[self.mate.rank()]);
            mine.0.clear();
            mine.0.extend_from_slice(part);
            mine.1 = change;
        }
        self.mate.barrier();
        x.clear();
        let mut largest: f64 = 0.0;
        for piece in pieces {
            let piece = locked(piece);
            x.extend_from_slice(&piece.0);
            largest = largest.max(piece.1);
        }
        Ok(largest)
    }
}
