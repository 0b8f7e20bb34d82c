//! Objects that an endpoint is bound to: where its transfers are reported.

use crate::abi::flag;
use crate::memory::Memory;
use crate::pointer::Context;
use crate::refusal::{Refusal, Result};
use crate::slots::{CounterId, QueueId, VectorId};
use crate::state::AccessObservers;
use crate::transfer::{Many, Notice, ReceiveOp, RemoteCounters};

/// Objects that an endpoint is bound to.
#[derive(Clone, Copy, Default)]
pub(super) struct Bindings {
    pub vector: Option<VectorId>,
    /// `vector`, if nobody counts sends.
    pub uncounted: Option<VectorId>,
    pub send: Way,
    pub receive: Way,
    /// Counters of this endpoint's own accesses.
    pub reads: Option<CounterId>,
    pub writes: Option<CounterId>,
    /// Counters of accesses by others.
    pub remote: RemoteCounters,
}

/// Destination of the completions of one direction.
#[derive(Clone, Copy, Default)]
pub(super) struct Way {
    pub queue: Option<QueueId>,
    /// `queue`, if it is told in the longest entries, and nothing else is: as most are bound.
    plain: Option<QueueId>,
    /// Only those that ask for it.
    selective: bool,
    counter: Option<CounterId>,
}

impl Way {
    /// True if an operation with these flags is told of success.
    #[inline]
    pub fn tells(&self, flags: u64) -> bool {
        !self.selective || flags & flag::COMPLETION != 0
    }

    /// The report of an operation with these flags, which is of that kind.
    #[inline]
    pub fn notice(&self, context: Context, flags: u64, kind: u64) -> Notice {
        let tells = self.tells(flags);
        Notice { queue: self.queue, tells, counter: self.counter, context, flags: kind as u32 }
    }

    fn has_end(&self) -> bool {
        self.queue.is_some() || self.counter.is_some()
    }
}

impl Bindings {
    /// Binds a queue for what `flags` say. It is `direct` if its programs are given the longest
    /// entries.
    pub fn bind_queue(&mut self, queue: QueueId, direct: bool, flags: u64) {
        for way in self.ways(flags) {
            way.queue = Some(queue);
            way.selective = flags & flag::SELECTIVE_COMPLETION != 0;
            way.plain = (direct && way.counter.is_none()).then_some(queue);
        }
    }

    /// Binds a counter for what `flags` say.
    pub fn bind_counter(&mut self, counter: CounterId, flags: u64) {
        for way in self.ways(flags) {
            (way.counter, way.plain) = (Some(counter), None);
        }
        if flags & flag::READ != 0 {
            self.reads = Some(counter);
        }
        if flags & flag::WRITE != 0 {
            self.writes = Some(counter);
        }
        self.remote.bind(counter, flags);
    }

    /// The directions that a binding is for.
    fn ways(&mut self, flags: u64) -> impl Iterator<Item = &mut Way> {
        let sends = (flags & flag::SEND != 0).then_some(&mut self.send);
        let receives = (flags & flag::RECV != 0).then_some(&mut self.receive);
        sends.into_iter().chain(receives)
    }

    /// Those of an endpoint that is enabled, and who is told of accesses by others.
    pub fn enabled(mut self) -> Result<(Self, AccessObservers)> {
        self.uncounted = self.vector.filter(|_| self.send.counter.is_none());
        let Bindings { vector, send, receive, reads, writes, remote, .. } = self;
        if vector.is_none() {
            return Err(Refusal::NO_VECTOR);
        }
        let is_counted = reads.or(writes).or(remote.reads).or(remote.writes).is_some();
        if !send.has_end() && !receive.has_end() && !is_counted {
            return Err(Refusal::NO_QUEUE);
        }
        Ok((self, AccessObservers { queue: receive.queue, vector, counters: remote }))
    }

    /// A receive into this memory, which is reported as its flags and its kind say.
    #[inline(always)]
    pub fn receive_op(
        &self,
        memory: Memory,
        (context, flags, kind): (Context, u64, u64),
        many: Option<Box<Many>>,
    ) -> ReceiveOp {
        let notice = self.receive.notice(context, flags, flag::RECV | kind);
        let plain = self.receive.plain.filter(|_| notice.tells && many.is_none());
        ReceiveOp { memory, notice, plain, many, vector: self.vector }
    }
}
