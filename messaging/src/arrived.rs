//! A message as it lies in its box, whether somebody has taken it yet or not.
//!
//! Boxes are used again. The thread that is done with a message keeps its box, with the handle to the engine in it, for the
//! next one: counting handles up and down costs two atomic operations, which wait until all earlier stores are done, and so
//! for the line of the slot that was just written to cross from the other core. Engines allow it whose owner says when it is
//! done ([`Engine::close`]). All other boxes lie in the engine, without a handle.

use crate::engine::Engine;
use crate::format::PacketHeader;
use crate::window::Flow;
use std::cell::Cell;
use std::sync::Arc;
use weft_packet::{HeldPacket, Packets, Rank};

/// Bytes of a packet behind its message header that are copied into the box at most.
pub(crate) const SHORT_BYTES: usize = 96;

/// Memory of a message that is copied into its box.
pub(crate) const SHORT_COST: usize = size_of::<Arrived>();

/// Bytes that are copied at once.
const WORD: usize = 8;

/// Boxes that an engine keeps to be used again, at most.
const SPARE_BOXES: usize = 256;

/// Boxes for messages, to be used again.
#[derive(Default)]
pub(crate) struct Spares(
    #[expect(clippy::vec_box, reason = "boxes move, what is in them does not")] Vec<Box<Arrived>>,
);

/// What a message is. It stays where it is from its first packet on: only the box moves.
#[derive(Default)]
pub(crate) struct Arrived {
    /// The engine, from when somebody has taken the message.
    engine: Option<Arc<Engine>>,
    pub body: Body,
    pub read: u64,
    /// The packet at hand.
    pub part: Part,
    /// Bytes of headers that nobody has popped yet; they end where the first packet's bytes begin.
    pub headers_left: u8,
    /// A copy of a short packet, without the message header.
    short: [[u8; WORD]; SHORT_BYTES / WORD],
}

/// What is known of a message from its first packet.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub from: Rank,
    pub number: u32,
    pub length: u64,
    pub port: u32,
    /// Where this rank knows the port.
    pub slot: usize,
    pub flow: Flow,
}

/// A packet's worth of a message.
#[derive(Default)]
pub(crate) struct Part {
    pub content: Content,
    /// Where the bytes of the message that were not read begin in it.
    pub start: usize,
}

/// Where the bytes of a packet are.
#[derive(Default)]
pub(crate) enum Content {
    /// Nowhere: it was given back.
    #[default]
    Nothing,
    /// So many bytes in the box of the message.
    Short(usize),
    /// In link memory.
    Held(HeldPacket),
    /// Copied out under pressure.
    Copied(Box<[u8]>),
}

/// A box that a thread keeps.
type Kept = Cell<Option<Box<Arrived>>>;

// One for ranks with even numbers, and one for those with odd ones: where a thread plays both ends, neither is in the
// way of the other.
thread_local!(static KEPT: [Kept; 2] = const { [const { Cell::new(None) }; 2] });

/// Has `look` look at what this thread has kept for ranks like that of `engine`; `None` for a thread that ends, which keeps
/// nothing.
#[inline(always)]
fn with_kept<R>(engine: &Engine, look: impl FnOnce(&Kept) -> R) -> Option<R> {
    KEPT.try_with(|kept| look(&kept[engine.is_odd()])).ok()
}

/// Drops the boxes that this thread has kept.
pub(crate) fn forget() {
    let _ = KEPT.try_with(|kept| kept.iter().for_each(|kept| drop(kept.take())));
}

impl Body {
    /// What a packet with this header says of its message.
    #[inline]
    pub fn new(from: Rank, flow: Flow, header: &PacketHeader, slot: usize) -> Self {
        let PacketHeader { message: number, bytes: length, port, .. } = *header;
        Body { from, number, length, port, slot, flow }
    }
}

impl Default for Body {
    fn default() -> Self {
        Body { from: Rank(0), number: 0, length: 0, port: 0, slot: 0, flow: None }
    }
}

impl Content {
    /// Bytes of memory that it takes beyond link memory, and no less than the message that it may begin.
    #[inline]
    pub fn cost(&self) -> usize {
        match self {
            Content::Nothing | Content::Held(_) => 0,
            Content::Short(_) => SHORT_COST,
            Content::Copied(copy) => copy.len() + size_of::<Arrived>(),
        }
    }
}

impl Arrived {
    /// The engine.
    ///
    /// # Panics
    /// If nobody has taken the message yet.
    #[inline]
    pub fn engine(&self) -> &Arc<Engine> {
        match &self.engine {
            Some(engine) => engine,
            None => unreachable!("who takes a message gives it the engine"),
        }
    }

    /// Nothing was read: its first packet has this content, with the bytes of the message from `start` on.
    #[inline]
    pub fn begin(&mut self, content: Content, start: usize, header_bytes: u8) {
        self.read = 0;
        self.headers_left = header_bytes;
        self.part = Part { content, start };
    }

    /// As [`Self::begin`], for a short packet, of which this follows the message header.
    #[inline]
    pub fn begin_short(&mut self, rest: &[u8], header_bytes: u8) {
        // One word or two are most often all of it, and a call costs more than they do.
        match rest.as_chunks::<WORD>() {
            ([first], []) => self.short[0] = *first,
            ([first, second], []) => self.short[..2].copy_from_slice(&[*first, *second]),
            _ => self.short.as_flattened_mut()[..rest.len()].copy_from_slice(rest),
        }
        self.begin(Content::Short(rest.len()), header_bytes.into(), header_bytes);
    }

    /// Somebody takes the message.
    #[inline]
    pub fn give(&mut self, engine: &Arc<Engine>) {
        if self.engine.is_none() {
            self.engine = Some(Arc::clone(engine));
        }
    }

    /// The message waits to be taken. The engine would never end if it was held by what waits in it, so it must be one
    /// whose owner says when.
    pub fn wait(&mut self) {
        if self.engine.as_ref().is_some_and(|engine| !engine.lends()) {
            self.forget_engine();
        }
    }

    /// Its owner has said so.
    pub fn forget_engine(&mut self) {
        self.engine = None;
    }

    /// The packet at hand: from its message header on, unless it is short.
    #[inline]
    pub fn bytes<'a>(&'a self, packets: &'a Packets) -> &'a [u8] {
        match &self.part.content {
            Content::Nothing => &[],
            Content::Short(length) => &self.short.as_flattened()[..*length],
            Content::Held(held) => packets.read(held),
            Content::Copied(copy) => copy,
        }
    }

    /// Bytes of headers that nobody has popped, the last pushed first. Only the first packet has headers, and they are gone
    /// with it.
    #[inline]
    pub fn headers<'a>(&'a self, packets: &'a Packets) -> &'a [u8] {
        let end = self.part.start.saturating_sub(self.read as usize);
        let range = end - usize::from(self.headers_left)..end;
        // Asked for first, or there would be a jump through a table.
        if let Content::Short(_) = self.part.content {
            return self.short.as_flattened().get(range).unwrap_or(&[]);
        }
        self.bytes(packets).get(range).unwrap_or(&[])
    }

    /// The bytes at hand that were not read.
    #[inline]
    pub fn at_hand(&self) -> &[u8] {
        if let Content::Short(length) = self.part.content {
            return self.short.as_flattened().get(self.part.start..length).unwrap_or(&[]);
        }
        self.bytes(self.engine().packets()).get(self.part.start..).unwrap_or(&[])
    }

    /// The packet at hand is not needed any more.
    #[inline]
    pub fn finish_part(&mut self) {
        self.headers_left = 0;
        let Some(engine) = &self.engine else { return };
        if matches!(self.part.content, Content::Short(_)) && engine.give_back_quietly(&self.body) {
            self.part.content = Content::Nothing;
        } else {
            engine.give_back(&self.body, &mut self.part.content);
        }
    }

    /// True if nothing of the message is at hand, nor to come.
    #[inline]
    pub fn is_read(&self) -> bool {
        matches!(self.part.content, Content::Nothing) && self.read == self.body.length
    }

    /// Nobody needs the message any more.
    #[inline]
    pub fn retire(self: Box<Self>) {
        let other = match &self.engine {
            Some(engine) if engine.lends() => {
                let lane = engine.is_odd();
                // A thread that ends keeps nothing.
                KEPT.try_with(|kept| kept[lane].replace(Some(self))).ok().flatten()
            }
            _ => Some(self),
        };
        if let Some(other) = other {
            other.retire_to_engine();
        }
    }

    #[cold]
    #[inline(never)]
    fn retire_to_engine(mut self: Box<Self>) {
        if let Some(engine) = self.engine.take() {
            engine.state.enter().spares.put(self);
        }
    }
}

impl Spares {
    /// A box for a message to `engine`, whose spares these are.
    #[inline]
    pub fn take(&mut self, engine: &Arc<Engine>) -> Box<Arrived> {
        let kept = with_kept(engine, Cell::take).flatten();
        let is_own = |owner: &Arc<Engine>| Arc::ptr_eq(owner, engine);
        match kept {
            Some(kept) if kept.engine.as_ref().is_some_and(is_own) => kept,
            other => {
                with_kept(engine, |place| place.set(other));
                self.take_spare()
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn take_spare(&mut self) -> Box<Arrived> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps a box without a handle.
    pub fn put(&mut self, arrived: Box<Arrived>) {
        if self.0.len() < SPARE_BOXES {
            self.0.push(arrived);
        }
    }
}
