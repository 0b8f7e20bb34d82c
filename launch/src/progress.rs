//! Watch over a job's progress: ranks that wait for one another, and for nobody else, for longer
//! than a limit. Sans-IO: looks in, verdicts out, time an argument.

use crate::times::time_in;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Time for which all ranks wait for one another before that is a deadlock, unless it is set.
pub const PROGRESS_LIMIT: Duration = Duration::from_secs(30);
/// Looks in a limit, so that a deadlock is found soon after it.
const CHECKS: u32 = 4;
/// The longest limit.
const LONGEST: Duration = Duration::from_secs(3600);

/// Reaction to a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDeadlock {
    /// A report, once, on standard error: who waits for whom.
    #[default]
    Report,
    /// The end of the job, with that report.
    End,
}

impl fmt::Display for OnDeadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnDeadlock::Report => "report",
            OnDeadlock::End => "end",
        })
    }
}

impl FromStr for OnDeadlock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "report" => Ok(OnDeadlock::Report),
            "end" => Ok(OnDeadlock::End),
            _ => Err(format!("{text:?} is neither report nor end")),
        }
    }
}

/// The limit in a text, in seconds if it has no unit; 0 has nobody look.
///
/// # Errors
/// The texts that there are instead, for a person.
pub fn progress_limit(text: &str) -> Result<Duration, String> {
    time_in(text, Duration::ZERO..=LONGEST)
}

/// The watch of one job.
#[derive(Debug)]
pub(crate) struct ProgressWatch {
    /// None if nobody is to watch.
    limit: Option<Duration>,
    next_check: Duration,
    /// Time of the first look since which each has found a deadlock.
    seen_since: Option<Duration>,
    is_reported: bool,
}

impl ProgressWatch {
    /// A watch with this limit; none watches nothing.
    pub fn new(limit: Option<Duration>) -> Self {
        let limit = limit.filter(|limit| !limit.is_zero());
        let next_check = limit.unwrap_or_default() / CHECKS;
        ProgressWatch { limit, next_check, seen_since: None, is_reported: false }
    }

    /// Time of the next look.
    pub fn next_check(&self) -> Option<Duration> {
        self.limit.map(|_| self.next_check)
    }

    /// True if it is time to look.
    pub fn is_due(&self, now: Duration) -> bool {
        self.next_check().is_some_and(|at| at <= now)
    }

    /// Takes in a look that has found the ranks to be in a deadlock for so long, or in none. True
    /// if that is over the limit, and was not at the look before. All looks of that time have to
    /// agree: a program that looks for something again and again, for which a thread of its own
    /// goes on, may be without one for a moment.
    pub fn checked(&mut self, now: Duration, deadlocked_for: Option<Duration>) -> bool {
        let Some(limit) = self.limit else { return false };
        let pause = limit / CHECKS;
        self.next_check = now + pause;
        self.seen_since = deadlocked_for.map(|_| self.seen_since.unwrap_or(now));
        let was_seen = self.seen_since.is_some_and(|since| now - since >= limit - pause);
        let is_over = was_seen && deadlocked_for >= Some(limit);
        let was_said = std::mem::replace(&mut self.is_reported, is_over);
        is_over && !was_said
    }
}

#[cfg(test)]
mod tests;
