//! The iteration: compute a part of the next vector, give it to all, take all of it, and stop when
//! nothing changes any more (thesis 8.5.6).

use weft_object::{Handle, Result};

use crate::leq::candidate::{Candidate, CandidateOperations};
use crate::leq::problem::{Equations, Problem};
use crate::leq::sweep::sweep;

/// End of the iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Iterations done.
    pub iterations: usize,
    /// The largest change of a value in the last of them.
    pub change: f64,
}

impl Ended {
    /// True if the changes had become as small as the problem asks.
    pub fn converged(&self, problem: &Problem) -> bool {
        self.change <= problem.tolerance
    }
}

/// Ranks that exchange their parts of a vector.
pub trait Parts {
    /// Gives a part, which begins with the value `first`, with its largest change; waits for all
    /// others' parts, puts all of them into `x`, and returns the largest change of all.
    ///
    /// # Errors
    /// A lost rank.
    fn exchange(
        &mut self,
        first: usize,
        part: &[f64],
        change: f64,
        x: &mut Vec<f64>,
    ) -> Result<f64>;
}

/// One rank, which has all of it.
pub struct Alone;

impl Parts for Alone {
    fn exchange(
        &mut self,
        _first: usize,
        part: &[f64],
        change: f64,
        x: &mut Vec<f64>,
    ) -> Result<f64> {
        x.copy_from_slice(part);
        Ok(change)
    }
}

/// Exchange by one replicated object: a part is one ordered broadcast, all the rest is read on
/// the copy here.
pub struct OneObject {
    candidate: Handle<Candidate>,
    /// The next iteration, counted from when the object was created.
    iteration: u64,
}

impl OneObject {
    /// Exchange by this object, which all ranks use from its first iteration on.
    pub fn new(candidate: Handle<Candidate>) -> Self {
        OneObject { candidate, iteration: 0 }
    }
}

impl Parts for OneObject {
    fn exchange(
        &mut self,
        first: usize,
        part: &[f64],
        change: f64,
        x: &mut Vec<f64>,
    ) -> Result<f64> {
        let iteration = self.iteration;
        self.iteration += 1;
        self.candidate.put(iteration, first, change, part)?;
        let change = self.candidate.change(iteration)?;
        // It stays until all have given the next one, this rank too.
        *x = self.candidate.values(iteration)?;
        Ok(change)
    }
}

/// Iterates from zeros until the problem's tolerance or its last iteration is reached; the vector,
/// of all unknowns. Collective. `progress` hears how many iterations are done, once each has been
/// computed here.
///
/// # Errors
/// A lost rank.
pub fn solve(
    equations: &Equations,
    problem: &Problem,
    parts: &mut impl Parts,
    mut progress: impl FnMut(usize),
) -> Result<(Vec<f64>, Ended)> {
    let Equations { owned, rows, right } = equations;
    let mut x = vec![0.0; problem.unknowns];
    let mut part = vec![0.0; owned.len()];
    let mut ended = Ended { iterations: 0, change: f64::INFINITY };
    while ended.iterations < problem.iterations && !ended.converged(problem) {
        let change = sweep(rows, right, owned.start, &x, &mut part);
        ended.iterations += 1;
        progress(ended.iterations);
        ended.change = parts.exchange(owned.start, &part, change, &mut x)?;
    }
    Ok((x, ended))
}

#[cfg(test)]
mod tests;
