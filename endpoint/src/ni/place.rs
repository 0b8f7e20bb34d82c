//! Places of ranks where several share each core: as many on each.
//!
//! The kernel leaves alone what has run within the last half of a millisecond when it balances its
//! cores. Ranks that yield while they wait are always ready and have always just run, so that three
//! of them stay on one core while the fourth has the other for itself, and waits there for the
//! three (`docs/internals/waiting.md`). So a rank that waits goes back to its place now and then.
//! It is not bound to it: the kernel may take it elsewhere in between.

use crate::presence::constants::RETURN_EVERY;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use weft_link::clock::Nanoseconds;

/// The core that a rank goes to when it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(usize);

impl Place {
    /// Place of the calling thread's rank, the `index`-th of `ranks` that may use the same cores.
    /// `None` where there is a core for each, where the cores cannot be told, and for the last few
    /// ranks that are not as many as the cores: these go where the kernel sends them.
    pub fn of(index: usize, ranks: usize) -> Option<Place> {
        let allowed = sched_getaffinity(None).ok()?;
        let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
        Place::among(index, ranks, &cores)
    }

    fn among(index: usize, ranks: usize, cores: &[usize]) -> Option<Place> {
        let placed = ranks.checked_div(cores.len())? * cores.len();
        (ranks > cores.len() && index < placed).then(|| Place(cores[index % cores.len()]))
    }
}

/// Returns of a rank to its place.
#[derive(Debug, Default)]
pub(crate) struct Returns {
    /// Time of the next one at the earliest.
    next: Nanoseconds,
}

impl Returns {
    /// Takes the calling thread to `place` if it is somewhere else.
    pub fn go(&mut self, now: Nanoseconds, place: Place) {
        if sched_getcpu() != place.0 && self.is_due(now) {
            // A rank that may no longer run there stays.
            let _ = move_to(place);
        }
    }

    /// True if a rank that is not at its place goes there now.
    fn is_due(&mut self, now: Nanoseconds) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + RETURN_EVERY;
        }
        is_due
    }
}

/// Moves the calling thread there, and leaves it free to be moved away.
fn move_to(place: Place) -> rustix::io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    if !allowed.is_set(place.0) {
        return Ok(());
    }
    let mut only = CpuSet::new();
    only.set(place.0);
    sched_setaffinity(None, &only)?;
    sched_setaffinity(None, &allowed)
}

#[cfg(test)]
mod tests;
