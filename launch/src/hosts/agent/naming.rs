//! Stacks that an agent has taken, and that get their names: each by a thread of its own, because
//! that may take longer than an agent may be silent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use weft_wire::Rank;

use crate::roll::TakenStacks;
use crate::wait::is_ready;

/// The most that are under way at once.
const AT_ONCE: usize = 2;
/// Longest wait, at the end of the ranks, for all that are under way.
const LAST_LIMIT: Duration = Duration::from_millis(300);

/// Stacks of ranks, in words.
pub(super) type Stacks = Vec<(Rank, String)>;

/// All that are under way.
#[derive(Debug, Default)]
pub(super) struct Namings(Vec<Naming>);

#[derive(Debug)]
struct Naming {
    /// Number of the roll call.
    number: u32,
    /// Becomes readable when the thread is done: the other end is closed then.
    done: OwnedFd,
    thread: JoinHandle<Stacks>,
}

impl Namings {
    /// True if one more may begin.
    pub fn has_room(&self) -> bool {
        self.0.len() < AT_ONCE
    }

    /// Begins to find the names in stacks that were taken for a roll call.
    ///
    /// # Errors
    /// Errors of the system: there is no thread to be had, or no pipe.
    pub fn begin(&mut self, number: u32, taken: TakenStacks) -> io::Result<()> {
        let (done, working) = pipe_with(PipeFlags::CLOEXEC)?;
        let work = move || {
            let stacks = taken.name();
            drop(working);
            stacks
        };
        let thread = thread::Builder::new().name("weft-names".into()).spawn(work)?;
        self.0.push(Naming { number, done, thread });
        Ok(())
    }

    /// Descriptors that are readable when one is done, with its place.
    pub fn waits_for(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        self.0.iter().map(|naming| naming.done.as_fd()).enumerate()
    }

    /// The stacks of the one at this place, which is done, and the number of the roll call.
    pub fn take(&mut self, place: usize) -> (u32, Stacks) {
        let Naming { number, thread, .. } = self.0.remove(place);
        (number, thread.join().unwrap_or_default())
    }

    /// All that are done in a moment. Blocks until then.
    pub fn take_all(&mut self) -> Vec<(u32, Stacks)> {
        let until = Instant::now() + LAST_LIMIT;
        let is_done = |naming: &Naming| {
            let left = until.saturating_duration_since(Instant::now());
            is_ready(&naming.done, PollFlags::IN, left).unwrap_or(false)
        };
        let done = self.0.drain(..).filter(is_done);
        done.map(|naming| (naming.number, naming.thread.join().unwrap_or_default())).collect()
    }
}
