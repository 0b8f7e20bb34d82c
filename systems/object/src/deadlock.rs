//! Programs in which all processes wait for guards that nobody will make true.
//!
//! Rank 0 asks, now and then, by a message of the order, and every rank answers by another: which
//! of its processes wait for which invocations, and which invocations are blocked at its copies. If
//! twice in a row each process waits for the same invocation, and that is blocked, nothing will
//! change any more: `docs/internals/objects.md` says why.

use crate::lock::lock;
use crate::programs::Process;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use weft_endpoint::{Rank, Word};

/// Time before the first question, and the longest between two: each takes twice as long as the one
/// before it.
pub(crate) const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Invocations by processes of this rank, and what is known of others.
#[derive(Default)]
pub(crate) struct Watch {
    /// Number of the last invocation by a process.
    last: AtomicU32,
    /// Calls of other ranks that are under way and no process's that waits for nothing else; those
    /// that this rank answers itself are among its [`crate::calls::Calls`]. One of which nobody
    /// knows the end is counted for ever.
    others: AtomicU64,
    /// By process, the invocation that it waits for.
    waiting: Mutex<BTreeMap<u64, Invoked>>,
    probe: Mutex<Probe>,
}

/// An invocation that a process waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Invoked {
    number: u32,
    pub object: u64,
    pub operation: u16,
}

/// Answers of ranks to a question.
#[derive(Default)]
struct Probe {
    /// Number of the question in the order.
    number: u64,
    answers: BTreeMap<Rank, Answer>,
    /// True if some have not answered yet.
    is_under_way: bool,
    /// By process the number of its invocation, if all were blocked.
    quiet: Option<Vec<(u64, u32)>>,
}

/// Answer of a rank.
#[derive(Serialize, Deserialize)]
struct Answer {
    /// True if others than processes that wait are operating here.
    is_busy: bool,
    waiting: Vec<(u64, Invoked)>,
    /// Invocations that are blocked here, by their ranks and numbers.
    blocked: Vec<(u16, u32)>,
}

/// While it lives, this thread, or coroutine, executes a process.
pub(crate) struct Executes(u64);

impl Executes {
    pub fn process(id: u64) -> Self {
        Executes(Word::PROCESS.replace(id + 1))
    }
}

impl Drop for Executes {
    fn drop(&mut self) {
        Word::PROCESS.replace(self.0);
    }
}

/// An invocation that is under way, and no process's that waits for nothing else.
pub(crate) struct Other<'a>(&'a Watch);

impl Drop for Other<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.others.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Watch {
    /// The process that this thread executes.
    #[inline]
    pub fn process(&self) -> Option<u64> {
        Word::PROCESS.get().checked_sub(1)
    }

    /// Number of an invocation by a process that will wait for it; never 0.
    pub fn number(&self) -> u32 {
        let mut number = 0;
        while number == 0 {
            number = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        }
        number
    }

    /// An invocation that is no process's, or that its process does not wait for: it is under way
    /// as long as this lives.
    #[inline]
    pub fn other(&self) -> Other<'_> {
        self.others.fetch_add(1, Ordering::SeqCst);
        Other(self)
    }

    /// Such an invocation that is counted already.
    #[inline]
    pub fn counted(&self) -> Other<'_> {
        Other(self)
    }

    /// A process waits for an invocation.
    pub fn waits(&self, process: u64, (number, object, operation): (u32, u64, u16)) {
        lock(&self.waiting).insert(process, Invoked { number, object, operation });
    }

    /// A process waits no more.
    pub fn goes_on(&self, process: u64) {
        lock(&self.waiting).remove(&process);
    }

    /// Time until the next question, if it was `after` until the last; `None` if that has not been
    /// answered by all.
    pub fn pause(&self, after: Duration) -> Option<Duration> {
        let probe = lock(&self.probe);
        let is_quiet = probe.quiet.is_some();
        (!probe.is_under_way).then(|| if is_quiet { FIRST } else { (2 * after).min(LONGEST) })
    }

    /// A question is asked, with this number in the order.
    pub fn ask(&self, number: u64) {
        let mut probe = lock(&self.probe);
        (probe.number, probe.is_under_way) = (number, true);
        probe.answers.clear();
    }

    /// A rank is lost, and will not answer: another question is asked.
    pub fn forget(&self) {
        *lock(&self.probe) = Probe { number: u64::MAX, ..Probe::default() };
    }

    /// Answer of this rank, where these invocations are blocked; `is_busy` if there are invocations
    /// here that no process waits for.
    pub fn answer(&self, is_busy: bool, blocked: Vec<(u16, u32)>) -> Vec<u8> {
        let is_busy = is_busy || self.others.load(Ordering::SeqCst) > 0;
        let waiting = lock(&self.waiting).clone().into_iter().collect();
        // It has nothing that cannot be written.
        postcard::to_stdvec(&Answer { is_busy, waiting, blocked }).unwrap_or_default()
    }

    /// A rank has answered. All ranks come to the same: the invocations of these processes, which
    /// are all that live, if they wait for ever.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn answered(
        &self,
        source: Rank,
        number: u64,
        bytes: &[u8],
        ranks: usize,
        live: impl FnOnce() -> Vec<Process>,
    ) -> Result<Option<Vec<(Process, Invoked)>>, Unreadable> {
        let answer = postcard::from_bytes::<Answer>(bytes).map_err(|_| Unreadable)?;
        let mut probe = lock(&self.probe);
        if probe.number != number {
            return Ok(None);
        }
        probe.answers.insert(source, answer);
        if probe.answers.len() < ranks {
            return Ok(None);
        }
        probe.is_under_way = false;
        let live = live();
        let before = probe.quiet.take();
        let Some(waiting) = probe.all_blocked(&live) else { return Ok(None) };
        let quiet: Vec<_> =
            live.iter().zip(&waiting).map(|(one, on)| (one.id, on.number)).collect();
        let is_deadlock = before.is_some_and(|before| before == quiet);
        probe.quiet = Some(quiet);
        Ok(is_deadlock.then(|| live.into_iter().zip(waiting).collect()))
    }
}

/// An answer that cannot be read.
pub(crate) struct Unreadable;

impl Probe {
    /// The invocation of each of these processes; `None` unless all of them are blocked.
    fn all_blocked(&self, live: &[Process]) -> Option<Vec<Invoked>> {
        if live.is_empty() || self.answers.values().any(|answer| answer.is_busy) {
            return None;
        }
        let blocked = self.answers.values().flat_map(|answer| answer.blocked.iter().copied());
        let blocked: BTreeSet<(u16, u32)> = blocked.collect();
        let invoked = live.iter().map(|process| {
            let waiting = &self.answers.get(&process.rank)?.waiting;
            let (_, invoked) = *waiting.iter().find(|(id, _)| *id == process.id)?;
            let is_blocked = blocked.contains(&(process.rank.0, invoked.number));
            is_blocked.then_some(invoked)
        });
        invoked.collect()
    }
}
