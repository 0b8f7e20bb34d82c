//! The jobs of a rank: a stack, so that what was made last, which is deepest, is searched first and
//! few wait (depth-first order).
//!
//! How many there are at most has a bound that does not hang on luck. From [`Stack::is_high`] on
//! its rank searches whole what it takes up, and makes no jobs. Jobs that others have under way to
//! it may still come, and their number is bounded by their credits, of which it gives none back
//! until then.

use crate::job::Job;

/// Moves of a position at most, as moves are bytes.
const MOST_MOVES: usize = 256;

/// Stack of jobs with a bound.
pub(crate) struct Stack {
    jobs: Vec<Job>,
    high: usize,
    most: usize,
}

impl Stack {
    /// An empty stack that is high from `high` jobs on, of a rank to which others may have
    /// `under_way` jobs on their way, and which has so many in a message.
    pub fn new(high: usize, under_way: usize, jobs_per_message: usize) -> Self {
        let most = high + under_way + MOST_MOVES + jobs_per_message;
        Stack { jobs: Vec::new(), high, most }
    }

    /// Puts a job on top.
    #[inline]
    pub fn push(&mut self, job: Job) {
        self.jobs.push(job);
        i9_stack_bounded(self.jobs.len(), self.most);
    }

    /// The job on top.
    #[inline]
    pub fn pop(&mut self) -> Option<Job> {
        self.jobs.pop()
    }

    /// True if its rank should make no more jobs.
    #[inline]
    pub fn is_high(&self) -> bool {
        self.jobs.len() >= self.high
    }

    /// Drops all jobs.
    pub fn clear(&mut self) {
        self.jobs.clear();
    }
}

/// I9: a rank has no more jobs than its setting and the credits of others allow.
#[inline]
fn i9_stack_bounded(jobs: usize, most: usize) {
    assert!(jobs <= most, "I9: {jobs} jobs on a stack, {most} at most");
}

#[cfg(test)]
mod tests;
