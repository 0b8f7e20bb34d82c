//! Overrelaxation by bare threads: border rows lie where neighbours read them, and two barriers are
//! all that an iteration waits for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use weft_app_common::{Alone, Blocks, Crewmate, crew, locked};

use crate::sor::grid::{Colour, Grid};
use crate::sor::options::Options;
use crate::sor::problem::Problem;
use crate::sor::run::{Error, Part, compare};
use crate::sor::solve::{Ended, solve as relax};

/// Solves by so many threads, and compares all bits with one alone. Returns the time of the
/// iteration.
///
/// # Errors
/// A wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let problem = options.problem();
    let blocks = Blocks::new(problem.rows, threads);
    let borders = Borders::new(threads);
    let parts = crew(threads, |mate| {
        let mut grid = Grid::new(problem, blocks.of(mate.rank()));
        let (ended, time) = mate.timed(|| iterate(&mut grid, &problem, mate, &borders));
        (Part { grid, ended }, time)
    });
    let mut whole = Grid::new(problem, 0..problem.rows);
    let ended = relax(&mut whole, &problem, Blocks::new(problem.rows, 1), &mut Alone, |_| ())?;
    let values: Vec<_> = parts.iter().map(|(part, _)| part.grid.values()).collect();
    compare(&(whole, ended), &parts[0].0, &values, blocks)?;
    Ok(parts[0].1)
}

/// A row that another thread reads.
type Row = Mutex<Vec<f64>>;

/// Rows at the borders of all threads, by colour, and their changes. A colour's are written again
/// only after all threads have passed the other colour's barrier, and so have read them.
struct Borders {
    /// The first and the last row of each thread.
    rows: Vec<[[Row; 2]; 2]>,
    changes: Vec<AtomicU64>,
}

impl Borders {
    fn new(threads: usize) -> Self {
        let rows = (0..threads).map(|_| Default::default()).collect();
        Borders { rows, changes: (0..threads).map(|_| AtomicU64::new(0)).collect() }
    }

    fn write(&self, thread: usize, colour: Colour, grid: &Grid) {
        let [first, last] = &self.rows[thread][colour as usize];
        for (border, row) in [(first, grid.first(colour)), (last, grid.last(colour))] {
            let mut border = locked(border);
            border.clear();
            border.extend_from_slice(row);
        }
    }

    fn read(&self, (thread, end): (usize, usize), colour: Colour, into: &mut [f64]) {
        let border = &self.rows[thread][colour as usize][end];
        into.copy_from_slice(&locked(border));
    }
}

fn iterate(grid: &mut Grid, problem: &Problem, mate: &Crewmate<'_>, borders: &Borders) -> Ended {
    let (rank, owned) = (mate.rank(), grid.owned());
    let mut ended = Ended { iterations: 0, change: f64::INFINITY };
    while ended.iterations < problem.iterations && !ended.converged(problem) {
        let mut change: f64 = 0.0;
        for colour in Colour::BOTH {
            change = change.max(grid.relax(colour));
            borders.changes[rank].store(change.to_bits(), Ordering::Relaxed);
            if !owned.is_empty() {
                borders.write(rank, colour, grid);
            }
            mate.barrier();
            if !owned.is_empty() && owned.start > 0 {
                borders.read((rank - 1, 1), colour, grid.above_mut(colour));
            }
            if owned.end < problem.rows {
                borders.read((rank + 1, 0), colour, grid.below_mut(colour));
            }
        }
        let changes = borders.changes.iter();
        let changes = changes.map(|change| f64::from_bits(change.load(Ordering::Relaxed)));
        ended.change = changes.fold(0.0, f64::max);
        ended.iterations += 1;
    }
    ended
}
