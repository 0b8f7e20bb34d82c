//! Watch over a job's progress: ranks that wait for one another, and for nobody else, for longer
//! than a limit. Sans-IO: looks in, verdicts out, time an argument.

use std::time::Duration;

/// Looks in a limit, so that a deadlock is found soon after it.
const LOOKS: u32 = 4;

/// Reaction to a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDeadlock {
    /// A report, once, on standard error: who waits for whom.
    #[default]
    Report,
    /// The end of the job, with that report.
    End,
}

/// The watch of one job.
#[derive(Debug)]
pub(crate) struct ProgressWatch {
    /// None if nobody is to watch.
    limit: Option<Duration>,
    next_look: Duration,
    is_said: bool,
}

impl ProgressWatch {
    /// A watch with this limit; none watches nothing.
    pub fn new(limit: Option<Duration>) -> Self {
        let limit = limit.filter(|limit| !limit.is_zero());
        ProgressWatch { limit, next_look: limit.unwrap_or_default() / LOOKS, is_said: false }
    }

    /// Time of the next look.
    pub fn next_look(&self) -> Option<Duration> {
        self.limit.map(|_| self.next_look)
    }

    /// True if it is time to look.
    pub fn is_due(&self, now: Duration) -> bool {
        self.next_look().is_some_and(|at| at <= now)
    }

    /// Takes in a look that has found the ranks to be in a deadlock for so long, or in none. True
    /// if that is over the limit, and was not at the look before.
    pub fn looked(&mut self, now: Duration, deadlocked_for: Option<Duration>) -> bool {
        let Some(limit) = self.limit else { return false };
        self.next_look = now + limit / LOOKS;
        let was_said = std::mem::replace(&mut self.is_said, deadlocked_for >= Some(limit));
        self.is_said && !was_said
    }
}

#[cfg(test)]
mod tests;
