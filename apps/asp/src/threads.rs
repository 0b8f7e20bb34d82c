//! Shortest paths by bare threads, by the same algorithm: a row that is final is published where
//! all read it.

use std::sync::OnceLock;
use std::time::Duration;

use weft_app_common::{Blocks, Crewmate, Error as ExchangeError, Exchange, crew};

use crate::options::Options;
use crate::rows::Rows;
use crate::run::{Error, Plan};
use crate::solve::solve as relax;
use crate::verify::{Verdict, check, sources};

/// Solves by so many threads, and checks the result as ranks do. Returns the time of the
/// computation.
///
/// # Errors
/// Tables that cannot be used, or a wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let plan = Plan::new(options)?;
    let (nodes, graph) = (plan.nodes(), &plan.network.graph);
    let blocks = Blocks::new(nodes, threads);
    let checked = sources(nodes, plan.from, options.check.get());
    let rows_of: Vec<OnceLock<Box<[u8]>>> = (0..nodes).map(|_| OnceLock::new()).collect();
    let parts = crew(threads, |mate| {
        let mut rows = Rows::new(graph, blocks.of(mate.rank()));
        let next = (0..threads).map(|rank| blocks.of(rank).start).collect();
        let mut published = Published { mate, rows: &rows_of, next };
        let (solved, time) =
            mate.timed(|| relax(&mut rows, blocks, plan.pace, &mut published, |_| ()));
        solved.map(|()| (check(&rows, graph, &checked), time))
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>, ExchangeError>>()?;
    plan.accept(&Verdict::join(parts.iter().map(|(verdict, _)| *verdict)), options.check.get())?;
    Ok(parts[0].1)
}

/// Rows that are final, each written once.
struct Published<'a> {
    mate: &'a Crewmate<'a>,
    rows: &'a [OnceLock<Box<[u8]>>],
    /// The next row of each thread.
    next: Vec<usize>,
}

impl Published<'_> {
    fn next_of(&mut self, thread: usize) -> &OnceLock<Box<[u8]>> {
        self.next[thread] += 1;
        &self.rows[self.next[thread] - 1]
    }
}

impl Exchange for Published<'_> {
    fn rank(&self) -> usize {
        self.mate.rank()
    }

    fn size(&self) -> usize {
        self.mate.size()
    }

    fn send(&mut self, to: usize, _bytes: &[u8]) -> Result<(), ExchangeError> {
        Err(ExchangeError::Left(to))
    }

    fn broadcast(&mut self, bytes: &[u8]) -> Result<(), ExchangeError> {
        let row = self.next_of(self.mate.rank());
        assert!(row.set(bytes.into()).is_ok(), "a row is final once");
        Ok(())
    }

    fn receive(&mut self, from: usize, bytes: &mut [u8]) -> Result<(), ExchangeError> {
        bytes.copy_from_slice(self.next_of(from).wait());
        Ok(())
    }
}
