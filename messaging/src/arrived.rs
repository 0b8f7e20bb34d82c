//! A message as it lies in its box, whether somebody has taken it yet or not. How one is read is in
//! `message`.
//!
//! Boxes are used again. The thread that is done with a message keeps its box, with the handle to
//! the rank's messages in it, for the next one: counting handles up and down costs two atomic
//! operations, which wait until all earlier stores are done, and so for the line of the slot that
//! was just written to cross from the other core. Engines allow it whose owner says when it is done
//! ([`Engine::close`](crate::Engine::close)). All other boxes lie in the state, without a handle.

use crate::format::{self, PacketHeader};
use crate::machine::{MessageBody, Queued};
use crate::messages::Messages;
use std::cell::Cell;
use std::mem;
use std::sync::Arc;
use weft_endpoint::{HeldPacket, Packets, Rank, ShortWords};

/// Bytes of a packet behind its message header that are copied into the box at most: those of a
/// short packet.
pub(crate) const SHORT_BYTES: usize = size_of::<ShortWords>() - format::SIZE;

/// Memory of a message that is copied into its box.
pub(crate) const SHORT_COST: usize = size_of::<Arrived>();

/// Boxes that a rank keeps to be used again, at most.
const SPARE_BOXES: usize = 256;

/// Boxes for messages, to be used again.
#[derive(Default)]
pub(crate) struct Spares(
    #[expect(clippy::vec_box, reason = "boxes move, what is in them does not")] Vec<Box<Arrived>>,
);

/// A message that has arrived, or is arriving. It stays where it is from its first packet on: only
/// the box moves.
#[derive(Default)]
pub(crate) struct Arrived {
    /// The messages that it is one of, from when somebody has taken it.
    messages: Option<Arc<Messages>>,
    pub body: MessageBody,
    pub read: u64,
    /// The packet at hand.
    pub part: Part,
    /// Bytes of headers that nobody has popped yet; they end where the first packet's bytes begin.
    pub headers_left: u8,
    /// A copy of a short packet, without the message header.
    short: Short,
}

/// A message that arrives: bytes that can be read once, in order, while later ones are still on
/// their way. It may be stored and read after its handler has returned; dropping it skips the rest.
///
/// What is not read stays in link memory, or is copied out of it if it gets much, and its sender
/// stalls when the window of this port is full.
pub struct Message {
    // One word, so that a message that moves stays in a register: one that is read back from memory
    // in other pieces than it was written in waits for the stores before it.
    /// There until the message is dropped.
    arrived: Option<Box<Arrived>>,
}

/// Room for a copy of a short packet, without the message header.
struct Short([u8; SHORT_BYTES]);

/// A packet's worth of a message.
#[derive(Default)]
pub(crate) struct Part {
    pub content: Content,
    /// Offset in it of the message's bytes that were not read.
    pub start: usize,
}

/// Storage of a packet's bytes.
#[derive(Default)]
pub(crate) enum Content {
    /// Nowhere: it was given back.
    #[default]
    Nothing,
    /// In the box of the message, which is all of it.
    Short {
        /// True if it counts as copied out, because it has waited for its reader.
        counted: bool,
    },
    /// In link memory.
    Held(HeldPacket),
    /// Copied out under pressure.
    Copied(Box<[u8]>),
}

/// A box that a thread keeps.
type Kept = Cell<Option<Box<Arrived>>>;

thread_local!(static KEPT: Kept = const { Cell::new(None) });

/// Has `look` look at what this thread has kept; `None` for a thread that ends, which keeps
/// nothing.
#[inline(always)]
fn with_kept<R>(look: impl FnOnce(&Kept) -> R) -> Option<R> {
    KEPT.try_with(look).ok()
}

/// Drops the box that this thread has kept.
pub(crate) fn forget() {
    drop(with_kept(Cell::take));
}

impl Default for Short {
    fn default() -> Self {
        Short([0; SHORT_BYTES])
    }
}

impl Content {
    /// Bytes of memory that it takes beyond link memory, and no less than the message that it may
    /// begin.
    #[inline]
    pub fn cost(&self) -> usize {
        match self {
            Content::Nothing | Content::Held(_) | Content::Short { counted: false } => 0,
            Content::Short { counted: true } => SHORT_COST,
            Content::Copied(copy) => copy.len() + size_of::<Arrived>(),
        }
    }

    /// Writes what needs not be dropped over what needs not either.
    #[inline(always)]
    fn set(&mut self, content: Content) {
        debug_assert!(matches!(self, Content::Nothing | Content::Short { .. }));
        mem::forget(mem::replace(self, content));
    }
}

impl Arrived {
    /// A box for one of `messages`, in which there is none yet.
    #[inline(always)]
    pub fn blank(messages: &Arc<Messages>) -> Box<Self> {
        let own = Some(Arc::as_ptr(messages));
        match with_kept(Cell::take).flatten() {
            Some(kept) if kept.messages.as_ref().map(Arc::as_ptr) == own => kept,
            other => Self::spare(messages, other),
        }
    }

    /// A box out of the state; this thread goes on keeping the other one.
    #[cold]
    #[inline(never)]
    fn spare(messages: &Messages, kept: Option<Box<Self>>) -> Box<Self> {
        with_kept(|place| place.set(kept));
        messages.state.enter().spares.0.pop().unwrap_or_default()
    }

    /// The messages that it is one of.
    ///
    /// # Panics
    /// If nobody has taken the message yet.
    #[inline]
    pub fn messages(&self) -> &Arc<Messages> {
        match &self.messages {
            Some(messages) => messages,
            None => unreachable!("who takes a message gives it the handle"),
        }
    }

    /// Nothing was read: its first packet has this content, with the bytes of the message from
    /// `start` on.
    #[inline]
    pub fn begin(&mut self, content: Content, start: usize, header_bytes: u8) {
        self.read = 0;
        self.headers_left = header_bytes;
        self.part = Part { content, start };
    }

    /// Does what [`Self::begin`] does, for a short packet of `from`, of which `rest` follows the
    /// message header. The slot of the port is set by the caller. The code that brings the message
    /// to its port sets it.
    #[inline(always)]
    pub fn begin_short(&mut self, from: Rank, header: &PacketHeader, rest: &[u8]) {
        self.body = MessageBody::new(from, None, header, self.body.slot);
        self.read = 0;
        self.headers_left = header.header_bytes;
        self.part.start = header.header_bytes.into();
        self.part.content.set(Content::Short { counted: false });
        // One word or two are most often all of it, and a call costs more than they do.
        let short = &mut self.short.0;
        match rest.len() {
            8 => short[..8].copy_from_slice(rest),
            16 => short[..16].copy_from_slice(rest),
            _ => short[..rest.len()].copy_from_slice(rest),
        }
    }

    /// The message waits to be taken; returns what it counts from here on. The rank's messages
    /// would never end if they were held by what waits in them, so their owner must say when.
    pub fn wait(&mut self) -> usize {
        if self.messages.as_ref().is_some_and(|messages| !messages.caches_handles()) {
            self.drop_handle();
        }
        let before = self.part.content.cost();
        if let Content::Short { counted } = &mut self.part.content {
            *counted = true;
        }
        self.part.content.cost() - before
    }

    /// Its owner has said so.
    pub fn drop_handle(&mut self) {
        self.messages = None;
    }

    /// The packet at hand: from its message header on, unless it is short.
    #[inline]
    pub fn bytes<'a>(&'a self, packets: &'a Packets) -> &'a [u8] {
        match &self.part.content {
            Content::Nothing => &[],
            Content::Short { .. } => &self.short.0[..self.part.start + self.left()],
            Content::Held(held) => packets.read(held),
            Content::Copied(copy) => copy,
        }
    }

    /// Bytes of headers that nobody has popped, the last pushed first. Only the first packet has
    /// headers, and they are gone with it.
    #[inline]
    pub fn headers<'a>(&'a self, packets: &'a Packets) -> &'a [u8] {
        let end = self.part.start.saturating_sub(self.read as usize);
        let range = end - usize::from(self.headers_left)..end;
        // Asked for first, or there would be a jump through a table.
        if let Content::Short { .. } = self.part.content {
            return self.short.0.get(range).unwrap_or(&[]);
        }
        self.bytes(packets).get(range).unwrap_or(&[])
    }

    /// Bytes of the message that were not read.
    #[inline]
    pub fn left(&self) -> usize {
        (self.body.length - self.read) as usize
    }

    /// The bytes at hand that were not read.
    #[inline(always)]
    pub fn at_hand(&self) -> &[u8] {
        let Content::Short { .. } = self.part.content else { return self.at_hand_elsewhere() };
        let rest = self.short.0.get(self.part.start..).unwrap_or(&[]);
        rest.get(..self.left()).unwrap_or(&[])
    }

    #[inline(never)]
    fn at_hand_elsewhere(&self) -> &[u8] {
        self.bytes(&self.messages().packets).get(self.part.start..).unwrap_or(&[])
    }

    /// The packet at hand is not needed any more.
    #[inline(never)]
    pub fn finish_part(&mut self) {
        self.headers_left = 0;
        let Some(messages) = &self.messages else { return };
        let Content::Short { counted } = self.part.content else {
            return messages.give_back(&self.body, &mut self.part.content);
        };
        self.part.content.set(Content::Nothing);
        messages.consumed(&self.body, if counted { SHORT_COST } else { 0 });
    }

    /// True if nothing of the message is at hand, nor to come.
    #[inline]
    pub fn is_read(&self) -> bool {
        matches!(self.part.content, Content::Nothing) && self.read == self.body.length
    }

    /// Nobody needs the message any more.
    #[inline]
    pub fn retire(self: Box<Self>) {
        let other = match &self.messages {
            Some(messages) if messages.caches_handles() => {
                with_kept(|kept| kept.replace(Some(self))).flatten()
            }
            _ => Some(self),
        };
        if let Some(other) = other {
            other.retire_to_state();
        }
    }

    #[cold]
    #[inline(never)]
    fn retire_to_state(mut self: Box<Self>) {
        if let Some(messages) = self.messages.take() {
            messages.state.enter().spares.put(self);
        }
    }
}

impl Message {
    /// Makes a message of what has waited in the state. An entry there cannot be a message itself:
    /// it would keep the state, and the node, for ever.
    #[inline]
    pub(crate) fn new(messages: &Arc<Messages>, mut arrived: Box<Arrived>) -> Self {
        if arrived.messages.is_none() {
            arrived.messages = Some(Arc::clone(messages));
        }
        Message { arrived: Some(arrived) }
    }

    #[inline]
    pub(crate) fn arrived(&self) -> &Arrived {
        match &self.arrived {
            Some(arrived) => arrived,
            None => unreachable!("only drop takes it"),
        }
    }

    #[inline]
    pub(crate) fn arrived_mut(&mut self) -> &mut Arrived {
        match &mut self.arrived {
            Some(arrived) => arrived,
            None => unreachable!("only drop takes it"),
        }
    }
}

impl Drop for Message {
    #[inline]
    fn drop(&mut self) {
        let Some(mut arrived) = self.arrived.take() else { return };
        if !arrived.is_read() {
            if arrived.left() > arrived.at_hand().len() {
                arrived.messages().abandon(&arrived.body);
            }
            arrived.finish_part();
        }
        arrived.retire();
    }
}

impl Queued for Box<Arrived> {
    #[inline]
    fn body(&self) -> &MessageBody {
        &self.body
    }
}

impl Spares {
    /// Keeps a box without a handle.
    pub fn put(&mut self, arrived: Box<Arrived>) {
        if self.0.len() < SPARE_BOXES {
            self.0.push(arrived);
        }
    }
}
