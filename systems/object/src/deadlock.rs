//! Programs in which all processes wait for guards that nobody will make true.
//!
//! Rank 0 asks, now and then, by a message of the order, and every rank answers by another: which
//! of its processes wait for which invocations, and which invocations are blocked at its copies. If
//! twice in a row each process waits for the same invocation, and that is blocked, nothing will
//! change any more: `docs/internals/objects.md` says why.

use crate::Error;
use crate::format::{PROBING, emit_answer};
use crate::objects::Inner;
use crate::processes::Process;
use crate::shared::{Shared, lock};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use weft_endpoint::{Rank, Word};
use weft_messaging::Completion;

/// Time before the first question, and the longest between two: each takes twice as long as the one
/// before it.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// A process that waits for a guard: part of [`Error::Deadlock`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Name of the process's type.
    pub process: String,
    /// The rank on which it runs.
    pub rank: Rank,
    /// Name of the object.
    pub object: String,
    /// The operation on it.
    pub operation: String,
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waiting { process, rank, object, operation } = self;
        write!(formatter, "'{process}' on rank {rank} in {operation} on '{object}'")
    }
}

/// The processes of a deadlock, as text.
pub(crate) fn listed(all: &[Waiting]) -> String {
    all.iter().map(Waiting::to_string).collect::<Vec<_>>().join("; ")
}

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
struct Invoked {
    number: u32,
    object: u64,
    operation: u16,
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
}

impl Inner {
    /// Asks now and then, until `over` completes.
    pub(crate) fn watch(self: &Arc<Self>, mut over: Completion<()>) {
        let (inner, engine) = (Arc::downgrade(self), Arc::clone(&self.shared.engine));
        self.shared.engine.spawn(async move {
            let mut after = FIRST;
            while engine.within(after, &mut over).await.is_err() {
                let Some(inner) = inner.upgrade() else { return };
                let probe = lock(&inner.shared.watch.probe);
                let (is_under_way, is_quiet) = (probe.is_under_way, probe.quiet.is_some());
                drop(probe);
                // All have answered to one question before the next is asked.
                if !is_under_way {
                    after = if is_quiet { FIRST } else { (2 * after).min(LONGEST) };
                    inner.broadcast_soon(PROBING.to_vec());
                }
            }
        });
    }
}

impl Shared {
    /// A question: message of the order.
    pub(crate) fn probed(&self, number: u64) {
        let mut probe = lock(&self.watch.probe);
        (probe.number, probe.is_under_way) = (number, true);
        probe.answers.clear();
        drop(probe);
        let answer = self.answer();
        // It has nothing that cannot be written.
        let answer = postcard::to_stdvec(&answer).unwrap_or_default();
        if let Some(inner) = self.inner.get().and_then(Weak::upgrade) {
            inner.broadcast_soon(emit_answer(number, &answer));
        }
    }

    fn answer(&self) -> Answer {
        let is_busy = self.watch.others.load(Ordering::SeqCst) > 0 || self.calls.has_others();
        let waiting = lock(&self.watch.waiting).clone();
        let waiting = waiting.into_iter().collect();
        let objects: Vec<_> = self.books().objects.values().cloned().collect();
        let mut blocked = Vec::new();
        for copy in objects.iter().filter_map(|entry| entry.copy.as_ref()) {
            copy.blocked(self.own, &mut blocked);
        }
        Answer { is_busy, waiting, blocked }
    }

    /// An answer: message of the order. All ranks come to the same.
    pub(crate) fn answered(&self, source: Rank, number: u64, bytes: &[u8]) {
        let Ok(answer) = postcard::from_bytes::<Answer>(bytes) else {
            return self.violated(source, "its answer about waiting processes cannot be read");
        };
        let mut probe = lock(&self.watch.probe);
        if probe.number != number {
            return;
        }
        probe.answers.insert(source, answer);
        if probe.answers.len() < self.engine.packets().size() {
            return;
        }
        probe.is_under_way = false;
        let live = self.live();
        let before = probe.quiet.take();
        let Some(waiting) = probe.all_blocked(&live) else { return };
        let quiet: Vec<_> = waiting.iter().map(|(id, invoked)| (*id, invoked.number)).collect();
        let is_deadlock = before.is_some_and(|before| before == quiet);
        probe.quiet = Some(quiet);
        drop(probe);
        if is_deadlock {
            let all = live.iter().zip(waiting);
            self.fail(Error::Deadlock(all.map(|(one, (_, on))| self.described(one, on)).collect()));
        }
    }

    fn described(&self, process: &Process, on: Invoked) -> Waiting {
        let entry = self.books().objects.get(&on.object).cloned();
        let named = entry.map(|entry| (entry.name.clone(), entry.kind.operation(on.operation)));
        let (object, operation) = named.unwrap_or_default();
        Waiting { process: process.name.clone(), rank: process.rank, object, operation }
    }
}

impl Probe {
    /// The invocation of each of these processes; `None` unless all of them are blocked.
    fn all_blocked(&self, live: &[Process]) -> Option<Vec<(u64, Invoked)>> {
        if live.is_empty() || self.answers.values().any(|answer| answer.is_busy) {
            return None;
        }
        let blocked = self.answers.values().flat_map(|answer| answer.blocked.iter().copied());
        let blocked: BTreeSet<(u16, u32)> = blocked.collect();
        let invoked = live.iter().map(|process| {
            let waiting = &self.answers.get(&process.rank)?.waiting;
            let (_, invoked) = *waiting.iter().find(|(id, _)| *id == process.id)?;
            let is_blocked = blocked.contains(&(process.rank.0, invoked.number));
            is_blocked.then_some((process.id, invoked))
        });
        invoked.collect()
    }
}
