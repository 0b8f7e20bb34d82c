//! Completion queues and counters: where a program reads that its operations have ended.

use crate::abi::flag;
use crate::descriptor::Descriptor;
use crate::pointer::Context;
use crate::refusal::{Refusal, Result, completion};
use crate::slots::{CounterId, QueueId, Slots, VectorId};
use crate::transfer::{Notice, ReceiveOp};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};
use weft_tagged::{Address, MessageEnvelope};

/// All of the job's, by their numbers.
#[derive(Default)]
pub(crate) struct Reports {
    queues: Slots<Completions>,
    counters: Slots<Counter>,
    /// Members of poll sets, and what endpoints and regions are bound to, once for each.
    held: Vec<Watched>,
}

/// An object that programs wait for and poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Watched {
    Queue(QueueId),
    Counter(CounterId),
    /// An event queue, which never has anything.
    Events,
}

/// The queues and counters that an endpoint or a region is bound to. They cannot be closed before
/// it.
#[derive(Default)]
pub(crate) struct Bound(Mutex<Vec<Watched>>);

/// Completions that a queue has room for at least, before new operations are put off.
const LEAST_ROOM: usize = 1024;

#[derive(Default)]
struct Completions {
    entries: VecDeque<Completion>,
    room: usize,
    descriptor: Option<Arc<Descriptor>>,
}

#[derive(Default)]
struct Counter {
    counts: Counts,
    descriptor: Option<Arc<Descriptor>>,
    /// True if it was changed since it was read, or polled.
    is_news: bool,
}

/// An operation that has ended, as its program is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub context: Context,
    pub flags: u64,
    pub length: usize,
    pub buffer: Context,
    pub data: u64,
    pub tag: u64,
    /// The sender of the message, and the vector in which the program keeps addresses.
    pub source: Option<(VectorId, Address)>,
    /// Number of the error, and the bytes that were lost.
    pub error: Option<(c_int, usize)>,
}

/// Counts of a counter.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub successes: u64,
    pub errors: u64,
}

impl Reports {
    /// Puts a completion into a queue, unless it is closed.
    #[inline]
    pub fn complete(&mut self, QueueId(queue): QueueId, completion: Completion) {
        let Some(Completions { entries, descriptor, .. }) = self.queues.get_mut(queue) else {
            return;
        };
        entries.push_back(completion);
        if let Some(descriptor) = descriptor {
            descriptor.ring();
        }
    }

    /// A send or an access of `length` bytes has ended, maybe with an error.
    #[inline]
    pub fn sent(&mut self, notice: &Notice, length: usize, error: Option<c_int>) {
        let Notice { queue, tells, counter, context, flags } = *notice;
        self.count(counter, error.is_none());
        let Some(queue) = queue.filter(|_| tells || error.is_some()) else { return };
        let error = error.map(|error| (error, 0));
        self.complete(queue, Completion { length, error, ..Completion::of(context, flags.into()) });
    }

    #[inline]
    pub fn count(&mut self, counter: Option<CounterId>, success: bool) {
        if let Some(counter) = counter {
            self.change_counts(counter, |counts| {
                *(if success { &mut counts.successes } else { &mut counts.errors }) += 1;
            });
        }
    }

    /// A receive has its message.
    #[inline(never)]
    pub fn received(&mut self, op: &ReceiveOp, envelope: &MessageEnvelope) {
        let notice = &op.notice;
        let room = op.memory.length();
        let length = usize::try_from(envelope.length).unwrap_or(usize::MAX);
        let error = (length > room).then(|| (completion::TRUNCATED, length - room));
        let released = op.end_part();
        self.count(notice.counter, error.is_none());
        let tells = notice.tells || error.is_some() || released != 0;
        let Some(queue) = notice.queue.filter(|_| tells) else { return };
        let flags = u64::from(notice.flags) | released;
        let completion = Completion {
            length: length.min(room),
            buffer: op.memory.start(),
            error,
            ..Completion::of(notice.context, flags).with(envelope, op.vector)
        };
        self.complete(queue, completion);
    }

    /// A look at a message, or at none, is over.
    pub fn peeked(&mut self, op: &ReceiveOp, found: Option<&MessageEnvelope>) {
        let notice = &op.notice;
        let bare = Completion::of(notice.context, notice.flags.into());
        let completion = match found {
            None => Completion { error: Some((completion::NO_MESSAGE, 0)), ..bare },
            Some(envelope) => bare.with(envelope, op.vector),
        };
        if let Some(queue) = notice.queue.filter(|_| notice.tells || found.is_none()) {
            self.complete(queue, completion);
        }
    }

    /// A receive was taken back.
    pub fn canceled(&mut self, op: &ReceiveOp) {
        let bare = Completion::of(op.notice.context, op.notice.flags.into());
        self.count(op.notice.counter, false);
        if let Some(queue) = op.notice.queue {
            self.complete(queue, Completion { error: Some((completion::CANCELED, 0)), ..bare });
        }
    }

    /// A new completion queue, and what rings for its program.
    pub fn open_queue(
        &mut self,
        size: usize,
        descriptor: Option<Arc<Descriptor>>,
    ) -> Result<QueueId> {
        let room = size.max(LEAST_ROOM);
        self.queues.insert(Completions { entries: VecDeque::new(), room, descriptor }).map(QueueId)
    }

    /// Closes a queue, with all that is in it, unless it is held.
    pub fn close_queue(&mut self, queue: QueueId) -> Result {
        self.is_free(Watched::Queue(queue))?;
        self.queues.remove(queue.0);
        Ok(())
    }

    /// Completions that wait in a queue; `None` if it is closed.
    #[inline]
    pub fn completions(&mut self, QueueId(queue): QueueId) -> Option<&mut VecDeque<Completion>> {
        self.queues.get_mut(queue).map(|queue| &mut queue.entries)
    }

    /// True if anything waits in a queue.
    pub fn has_completions(&self) -> bool {
        self.queues.iter().any(|queue| !queue.entries.is_empty())
    }

    /// True if a queue has room for the completion of a new operation.
    #[inline]
    pub fn has_room(&self, queue: Option<QueueId>) -> bool {
        let queue = queue.and_then(|QueueId(queue)| self.queues.get(queue));
        queue.is_none_or(|Completions { entries, room, .. }| entries.len() < *room)
    }

    /// A new counter, and what rings for its program.
    pub fn open_counter(&mut self, descriptor: Option<Arc<Descriptor>>) -> Result<CounterId> {
        let counts = Counts::default();
        self.counters.insert(Counter { counts, descriptor, is_news: false }).map(CounterId)
    }

    /// Counts of a counter, for its program.
    pub fn counts(&mut self, CounterId(counter): CounterId) -> Counts {
        let counter = self.counters.get_mut(counter);
        counter.map_or_else(Counts::default, |counter| {
            counter.is_news = false;
            counter.counts
        })
    }

    /// Changes what a counter has counted, unless it is closed.
    #[inline]
    pub fn change_counts(
        &mut self,
        CounterId(counter): CounterId,
        change: impl FnOnce(&mut Counts),
    ) {
        let Some(Counter { counts, descriptor, is_news }) = self.counters.get_mut(counter) else {
            return;
        };
        change(counts);
        *is_news = true;
        if let Some(descriptor) = descriptor {
            descriptor.ring();
        }
    }

    /// The counter is closed, unless it is held: nobody waits for it.
    pub fn close_counter(&mut self, counter: CounterId) -> Result {
        self.is_free(Watched::Counter(counter))?;
        self.counters.remove(counter.0);
        Ok(())
    }

    /// True if there is something that the program has not read.
    pub fn has_news(&self, what: Watched) -> bool {
        match what {
            Watched::Queue(QueueId(queue)) => {
                self.queues.get(queue).is_some_and(|queue| !queue.entries.is_empty())
            }
            Watched::Counter(CounterId(counter)) => {
                self.counters.get(counter).is_some_and(|counter| counter.is_news)
            }
            Watched::Events => false,
        }
    }

    /// True if a poll reports this: a counter, if its counts are not the `last` that were reported.
    pub fn tell_poll(&mut self, what: Watched, last: &mut Counts) -> bool {
        if let Watched::Counter(counter) = what {
            let counts = self.counts(counter);
            return std::mem::replace(last, counts) != counts;
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

impl Completion {
    pub fn of(context: Context, flags: u64) -> Self {
        Completion {
            context,
            flags,
            length: 0,
            buffer: Context::NONE,
            data: 0,
            tag: 0,
            source: None,
            error: None,
        }
    }

    /// Of this message.
    #[inline]
    fn with(mut self, envelope: &MessageEnvelope, vector: Option<VectorId>) -> Self {
        self.length = usize::try_from(envelope.length).unwrap_or(usize::MAX);
        self.tag = envelope.tag;
        if let Some(data) = envelope.data {
            self.data = data;
            self.flags |= flag::REMOTE_CQ_DATA;
        }
        self.source = vector.map(|vector| (vector, envelope.source));
        self
    }
}

impl Bound {
    /// One more.
    pub fn add(&self, reports: &mut Reports, what: Watched) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        reports.hold(what);
    }

    /// Nothing any more.
    pub fn release(&self, reports: &mut Reports) {
        for what in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            reports.release(what);
        }
    }
}
