//! What a program reads when it is told, or asks: its completion queues and counters.

use super::{Completion, State, next_id};
use crate::descriptor::Descriptor;
use crate::refusal::{Refusal, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A completion queue of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QueueId(u16);
/// A counter of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CounterId(u16);

/// What programs wait for and poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watched {
    Queue(QueueId),
    Counter(CounterId),
    /// An event queue, which never has anything.
    Events,
}

/// The queues and counters that an endpoint or a region is bound to. They cannot be closed before it.
#[derive(Default)]
pub(crate) struct Bound(Mutex<Vec<Watched>>);

/// Completions that a queue has room for at least, before new operations are put off.
const LEAST_ROOM: usize = 1024;

pub(super) struct Completions {
    entries: VecDeque<Completion>,
    room: usize,
    descriptor: Option<Arc<Descriptor>>,
}

pub(super) struct Counter {
    counts: Counts,
    descriptor: Option<Arc<Descriptor>>,
    /// Whether it was changed since it was read, or polled.
    is_news: bool,
}

/// What a counter has counted.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub successes: u64,
    pub errors: u64,
}

impl State {
    /// Puts a completion into a queue.
    #[inline]
    pub(super) fn complete(&mut self, QueueId(place): QueueId, completion: Completion) {
        let Completions { entries, descriptor, .. } = &mut self.queues[usize::from(place)];
        entries.push_back(completion);
        if let Some(descriptor) = descriptor {
            descriptor.ring();
        }
    }

    /// A new completion queue, and what rings for its program.
    pub fn open_queue(
        &mut self,
        size: usize,
        descriptor: Option<Arc<Descriptor>>,
    ) -> Result<QueueId> {
        let (id, room) = (QueueId(next_id(&self.queues)?), size.max(LEAST_ROOM));
        self.queues.push(Completions { entries: VecDeque::new(), room, descriptor });
        Ok(id)
    }

    /// Forgets what is in a queue, unless the queue is held.
    pub fn close_queue(&mut self, queue: QueueId) -> Result {
        self.is_free(Watched::Queue(queue))?;
        let QueueId(place) = queue;
        let Completions { entries, descriptor, .. } = &mut self.queues[usize::from(place)];
        (*entries, *descriptor) = (VecDeque::new(), None);
        self.answer_owed();
        Ok(())
    }

    /// What waits in a queue.
    #[inline]
    pub fn completions(&mut self, QueueId(place): QueueId) -> &mut VecDeque<Completion> {
        &mut self.queues[usize::from(place)].entries
    }

    /// Whether anything waits in a queue.
    pub fn has_completions(&self) -> bool {
        self.queues.iter().any(|queue| !queue.entries.is_empty())
    }

    /// Whether a queue has room for what a new operation may tell.
    #[inline]
    pub fn has_room(&self, queue: Option<QueueId>) -> bool {
        queue.is_none_or(|QueueId(place)| {
            let Completions { entries, room, .. } = &self.queues[usize::from(place)];
            entries.len() < *room
        })
    }

    /// A new counter, and what rings for its program.
    pub fn open_counter(&mut self, descriptor: Option<Arc<Descriptor>>) -> Result<CounterId> {
        let (id, counts) = (CounterId(next_id(&self.counters)?), Counts::default());
        self.counters.push(Counter { counts, descriptor, is_news: false });
        Ok(id)
    }

    /// What a counter has counted, for its program.
    pub fn counts(&mut self, CounterId(place): CounterId) -> Counts {
        self.counters[usize::from(place)].is_news = false;
        self.counters[usize::from(place)].counts
    }

    /// Changes what a counter has counted.
    #[inline]
    pub fn change_counts(&mut self, CounterId(place): CounterId, change: impl FnOnce(&mut Counts)) {
        let Counter { counts, descriptor, is_news } = &mut self.counters[usize::from(place)];
        change(counts);
        *is_news = true;
        if let Some(descriptor) = descriptor {
            descriptor.ring();
        }
    }

    /// The counter is closed, unless it is held: nobody waits for it.
    pub fn close_counter(&mut self, counter: CounterId) -> Result {
        self.is_free(Watched::Counter(counter))?;
        let CounterId(place) = counter;
        self.counters[usize::from(place)].descriptor = None;
        Ok(())
    }

    /// Whether there is something that the program has not read.
    pub fn has_news(&self, what: Watched) -> bool {
        match what {
            Watched::Queue(QueueId(place)) => !self.queues[usize::from(place)].entries.is_empty(),
            Watched::Counter(CounterId(place)) => self.counters[usize::from(place)].is_news,
            Watched::Events => false,
        }
    }

    /// Whether a poll tells of this: of a counter, that it does not stand where it did when it `told` of it last.
    pub fn tell_poll(&mut self, what: Watched, told: &mut Counts) -> bool {
        if let Watched::Counter(counter) = what {
            let counts = self.counts(counter);
            return std::mem::replace(told, counts) != counts;
        }
        self.has_news(what)
    }

    /// One more poll set has it, or binding.
    pub fn hold(&mut self, what: Watched) {
        self.held.push(what);
    }

    /// One less has it.
    pub fn release(&mut self, what: Watched) {
        if let Some(place) = self.held.iter().position(|held| *held == what) {
            self.held.swap_remove(place);
        }
    }

    /// Nothing that is held may be closed.
    fn is_free(&self, what: Watched) -> Result {
        if self.held.contains(&what) { Err(Refusal::BUSY) } else { Ok(()) }
    }
}

impl Bound {
    /// One more.
    pub fn add(&self, state: &mut State, what: Watched) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        state.hold(what);
    }

    /// Nothing any more.
    pub fn release(&self, state: &mut State) {
        for what in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            state.release(what);
        }
    }
}
