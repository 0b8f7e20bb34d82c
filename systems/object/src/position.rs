//! Position of a rank in the order: the messages that it has executed, and what waits for more.

use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Position of a rank in the order; a `W` is something that waits until the rank has executed what
/// another one has.
pub(crate) struct Position<W> {
    /// Messages that this rank has begun to execute: what its copies and its program may have seen.
    begun: AtomicU64,
    /// Messages that this rank has executed.
    done: AtomicU64,
    /// Entries of `behind`, or one that is about to come.
    count_behind: AtomicUsize,
    /// By the number of messages that have to be executed first. Each is of a thread that waits,
    /// here or elsewhere, which bounds them.
    behind: Mutex<BTreeMap<u64, Vec<W>>>,
}

impl<W> Default for Position<W> {
    fn default() -> Self {
        let [begun, done] = [0, 0].map(AtomicU64::new);
        Position { begun, done, count_behind: AtomicUsize::new(0), behind: Mutex::default() }
    }
}

impl<W> Position<W> {
    /// Messages that copies here may reflect.
    pub fn seen(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// True if `messages` of the order are executed.
    pub fn has_done(&self, messages: u64) -> bool {
        self.done.load(Ordering::SeqCst) >= messages
    }

    /// Keeps something until so many messages are executed; returns it if they are.
    pub fn wait(&self, messages: u64, waiting: W) -> Option<W> {
        let mut behind = lock(&self.behind);
        // Either this sees that they are executed, or the executing thread sees this waiter.
        self.count_behind.fetch_add(1, Ordering::SeqCst);
        if self.has_done(messages) {
            self.count_behind.fetch_sub(1, Ordering::SeqCst);
            return Some(waiting);
        }
        behind.entry(messages).or_default().push(waiting);
        None
    }

    /// The message with this number is being executed.
    #[inline]
    pub fn begin(&self, number: u64) {
        // Who has seen what this does to a copy has entered the copy's lock after it.
        self.begun.store(number + 1, Ordering::Release);
    }

    /// The message with this number is executed; calls `go_on` with all that waited for it.
    #[inline]
    pub fn end(&self, number: u64, mut go_on: impl FnMut(W)) {
        // Before the look for waiters: a later waiter sees the count.
        self.done.store(number + 1, Ordering::SeqCst);
        while self.count_behind.load(Ordering::SeqCst) > 0 {
            let Some(behind) = self.next_behind(number + 1) else { return };
            self.count_behind.fetch_sub(behind.len(), Ordering::SeqCst);
            behind.into_iter().for_each(&mut go_on);
        }
    }

    /// Takes all of these out of what waits.
    pub fn take_if(&self, is_it: impl Fn(&W) -> bool) -> Vec<W> {
        let mut taken = Vec::new();
        let mut behind = lock(&self.behind);
        for waiting in behind.values_mut() {
            taken.extend(waiting.extract_if(.., |waiting| is_it(waiting)));
        }
        behind.retain(|_, waiting| !waiting.is_empty());
        drop(behind);
        self.count_behind.fetch_sub(taken.len(), Ordering::SeqCst);
        taken
    }

    /// The first of those that waited for so many messages, or fewer.
    fn next_behind(&self, done: u64) -> Option<Vec<W>> {
        let mut behind = lock(&self.behind);
        let first = behind.first_entry().filter(|first| *first.key() <= done);
        first.map(|first| first.remove())
    }
}
