//! One send, receive or remote access, from its call to its completion; and memory that others may
//! access.

use crate::abi::flag;
use crate::memory::Memory;
use crate::pointer::Context;
use crate::slots::{CounterId, QueueId, VectorId};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft_collective::schedule::Area;
use weft_endpoint::{Borrowed, Posted, PostedHead};
use weft_tagged::{SendSource, Sink};

/// Destinations of the report that an operation has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    /// The queue, for errors at least.
    pub queue: Option<QueueId>,
    /// True if success is reported there, too.
    pub tells: bool,
    /// The counter.
    pub counter: Option<CounterId>,
    /// Context that the completion gives back.
    pub context: Context,
    /// Kind of the operation, by flags that are all among the lower ones.
    pub flags: u32,
}

/// A send, or an access to memory of another rank: what is written there, or where to put what
/// stood there.
#[derive(Debug)]
pub(crate) struct SendOp {
    pub memory: Memory,
    /// True if the bytes are the program's again when its call returns.
    pub inject: bool,
    pub notice: Notice,
}

impl SendSource for SendOp {
    #[inline]
    fn length(&self) -> u64 {
        self.memory.length() as u64
    }

    #[inline]
    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        self.memory.read(offset, length, take);
    }

    fn lies_at(&self) -> Option<u64> {
        self.memory.lies_at()
    }

    fn borrowed(&self, offset: u64, length: usize) -> Option<Borrowed> {
        self.memory.borrowed(offset, length)
    }

    fn keep(mut self) -> Self {
        if self.inject {
            self.memory = self.memory.own();
        }
        self
    }
}

impl Sink for SendOp {
    fn capacity(&self) -> u64 {
        self.length()
    }

    #[inline]
    fn place(&mut self, offset: u64, bytes: &[u8]) {
        self.memory.write(offset, bytes);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        self.memory.piece(offset, length)
    }
}

/// Memory that others may access.
#[derive(Debug)]
pub(crate) struct Exposed {
    pub memory: Memory,
    pub counters: RemoteCounters,
}

/// Counters of accesses by others.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RemoteCounters {
    pub reads: Option<CounterId>,
    pub writes: Option<CounterId>,
}

impl RemoteCounters {
    /// The one for such accesses.
    pub fn of(&self, writes: bool) -> Option<CounterId> {
        if writes { self.writes } else { self.reads }
    }

    /// Binds a counter for what `flags` says.
    pub fn bind(&mut self, counter: CounterId, flags: u64) {
        if flags & flag::REMOTE_READ != 0 {
            self.reads = Some(counter);
        }
        if flags & flag::REMOTE_WRITE != 0 {
            self.writes = Some(counter);
        }
    }
}

impl SendSource for Exposed {
    fn length(&self) -> u64 {
        self.memory.length() as u64
    }

    #[inline]
    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        self.memory.read(offset, length, take);
    }

    fn lies_at(&self) -> Option<u64> {
        self.memory.lies_at()
    }
}

impl Sink for Exposed {
    fn capacity(&self) -> u64 {
        self.length()
    }

    #[inline]
    fn place(&mut self, offset: u64, bytes: &[u8]) {
        self.memory.write(offset, bytes);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        self.memory.piece(offset, length)
    }
}

/// Memory of one operation of a team, which may be the same bytes.
#[derive(Debug)]
pub(crate) struct Buffers {
    pub mine: Memory,
    pub into: Memory,
    /// Parts of Mine for each member, if they have lengths of their own, and rooms for those of
    /// each.
    pub parts: Ranges,
    pub rooms: Ranges,
}

/// None, for an operation that only waits.
impl Default for Buffers {
    fn default() -> Self {
        Buffers::new(Memory::NONE, Memory::NONE)
    }
}

/// `weft_coll_ended`.
pub(crate) type Ended = extern "C" fn(Context);

/// Call that tells the end of a started operation of a team, outside of the lock.
pub(crate) struct EndNotice {
    pub ended: Ended,
    pub context: Context,
}

/// Places of bytes for each member, or from each.
pub(crate) type Ranges = Vec<Range<usize>>;

impl Buffers {
    /// Bytes of which every member has as many.
    pub fn new(mine: Memory, into: Memory) -> Self {
        Buffers { mine, into, parts: Vec::new(), rooms: Vec::new() }
    }
}

impl weft_collective::OperationMemory for Buffers {
    #[inline]
    fn read(&self, area: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        let memory = if area == Area::Mine { &self.mine } else { &self.into };
        memory.read(at as u64, length, take);
    }

    #[inline]
    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.into.write(at as u64, bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        self.into.copy(at as u64, &self.mine.cut(from, length));
    }

    fn part(&self, member: usize) -> Range<usize> {
        self.parts.get(member).cloned().unwrap_or_default()
    }

    fn room(&self, member: usize) -> Option<Range<usize>> {
        self.rooms.get(member).cloned()
    }
}

/// A receive.
#[derive(Debug)]
pub(crate) struct ReceiveOp {
    pub memory: Memory,
    pub notice: Notice,
    /// The queue that is told of success, in its longest entries, if that is all there is to do
    /// then.
    pub plain: Option<QueueId>,
    /// Of a buffer for several messages.
    pub many: Option<Box<Many>>,
    /// The vector that its endpoint has addresses in.
    pub vector: Option<VectorId>,
}

/// A buffer for several messages, or the part of it that one message takes.
#[derive(Debug)]
pub(crate) enum Many {
    /// The rest of it.
    Rest(Rest),
    /// A part.
    Part(Arc<Parts>),
}

/// The rest of a buffer for several messages.
#[derive(Debug)]
pub(crate) struct Rest {
    used: usize,
    least: usize,
    parts: Arc<Parts>,
}

/// The parts of a buffer whose messages are not all there, and one more while there is room in it.
#[derive(Debug)]
pub(crate) struct Parts(AtomicUsize);

impl Many {
    /// A buffer that is given back when fewer than `least` bytes are left of it.
    pub fn new(least: usize) -> Box<Self> {
        let parts = Arc::new(Parts(AtomicUsize::new(1)));
        Box::new(Many::Rest(Rest { used: 0, least, parts }))
    }
}

impl Parts {
    /// Notes that one is there. True if the buffer is the program's again.
    pub fn end_one(&self) -> bool {
        // All of this happens inside of one lock.
        self.0.fetch_sub(1, Ordering::Relaxed) == 1
    }
}

impl Sink for ReceiveOp {
    #[inline]
    fn capacity(&self) -> u64 {
        self.memory.length() as u64
    }

    #[inline]
    fn place(&mut self, offset: u64, bytes: &[u8]) {
        self.memory.write(offset, bytes);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        self.memory.piece(offset, length)
    }

    fn posted(&mut self, head: PostedHead, length: usize, there: usize) -> Option<Posted> {
        self.memory.posted(head, length, there)
    }

    fn split(&mut self, length: u64) -> Option<(Self, bool)> {
        let Some(Many::Rest(rest)) = self.many.as_deref_mut() else { return None };
        let Rest { used, least, parts } = rest;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let memory = self.memory.cut(*used, length);
        *used += memory.length();
        let last = self.memory.length() - *used < (*least).max(1);
        if !last {
            parts.0.fetch_add(1, Ordering::Relaxed);
        }
        let many = Some(Box::new(Many::Part(Arc::clone(parts))));
        let (notice, vector) = (self.notice, self.vector);
        Some((ReceiveOp { memory, notice, plain: None, many, vector }, last))
    }
}

impl ReceiveOp {
    /// Flag of its completion, besides its kind: a buffer for several messages is the program's
    /// again.
    pub fn end_part(&self) -> u64 {
        match self.many.as_deref() {
            Some(Many::Part(parts)) if parts.end_one() => flag::MULTI_RECV,
            _ => 0,
        }
    }
}
