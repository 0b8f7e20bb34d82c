//! What a link is to Weft. A link moves frames between ranks and knows no protocol: not which
//! packets may be sent, nor when, nor what is done about those that are lost.
//!
//! Frames live in *link memory*, so that nobody copies to cross a layer:
//!
//! ```text
//!   out:  alloc ──▶ fill ──▶ transmit (to one, or to several in turn) ──▶ free
//!   in:   receive ──▶ read, transmit onwards ──▶ free
//! ```
//!
//! A [`Buffer`] names a frame of either kind. It is a plain number, because a protocol queues it
//! and several destinations share it; that each buffer has one owner and is freed once (invariant
//! I4) is kept by the protocol's move-only types, and a link may rely on it.
//!
//! | module | what |
//! |---|---|
//! | here | [`Link`], its [`Capabilities`], what can go wrong |
//! | [`bell`] | how a thread sleeps until a frame comes |
//! | [`clock`] | time, and what work costs of it |
//! | [`Gather`] | bytes that are gathered where a packet leaves from |
//! | [`memory`] | memory beside frames, which peers reach without a packet |
//! | [`ni`] | the NI half of the protocols, where it runs apart from the host |
//! | [`wrap`] | faults, capture and counters around any link |

#![forbid(unsafe_code)]

pub mod bell;
pub mod clock;
mod gather;
pub mod memory;
pub mod ni;
pub mod wrap;

pub use gather::{Gather, put_few};

use bell::Bells;
use clock::{Clock, Nanoseconds};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use weft_wire::{Header, Protocol, Rank};

/// A frame in link memory, outgoing or received. Valid until [`Link::free`]. Links leave bit 60 to
/// those that are made of links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Buffer(pub u64);

/// User bytes of a short packet at most ([`Link::transmit_short`]), as words.
pub type ShortWords = [u64; 14];

/// What a link promises, and the sizes that it works with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// User bytes that a frame holds at most.
    pub max_payload: usize,
    /// User bytes up to which one frame can reach several receivers of a multicast at once; as many as
    /// `max_payload` where that makes no difference.
    pub multicast_payload: usize,
    /// Up to this many bytes travel with the header, at no extra cost.
    pub inline_payload: usize,
    /// Every frame transmitted arrives.
    pub lossless: bool,
    /// Frames of one ordered pair arrive in the order in which they were transmitted.
    pub ordered: bool,
    /// One filled frame serves any number of receivers: filling it once is all it costs.
    pub multicast: bool,
    /// Frames that this rank can have in use at once.
    pub frames: usize,
    /// Frames for packets that arrive, all senders together; 0 where packets stay in their senders'
    /// memory, or the NI is apart.
    pub receive_frames: usize,
    /// Buffers at the host for packets that arrive, where the NI is apart; 0 elsewhere.
    pub host_frames: usize,
    /// A rank may have several threads.
    pub threads: bool,
}

/// What follows the header on the way out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// Nothing.
    Empty,
    /// The first `header.size` bytes of a frame.
    Buffer(Buffer),
    /// Two words of a control packet; they travel with the header.
    Words([u64; 2]),
}

/// A packet whose header has nothing out of the ordinary: to one rank, on no recovery channel,
/// without a number. Its bytes lie where they arrived. If they are in no frame they stay there until
/// the link is looked at again, or the packet's credit is given back, whichever is first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plain {
    /// The rank that transmitted it.
    pub source: Rank,
    /// The system that it is for.
    pub protocol: Protocol,
    /// User bytes: as many as [`ShortWords`] hold at most, if they are in no frame.
    pub size: u16,
    /// Credits that came with it.
    pub credits: u16,
    /// The place of the user bytes, aligned to words. [`ShortWords`] can be read there.
    pub place: NonNull<u8>,
}

/// The result of a look at the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Nothing has arrived.
    Nothing,
    /// A plain packet that is in no frame, which was taken.
    Short(Plain),
    /// A plain packet in a frame, which was taken. The frame is to be freed.
    Framed(Plain, Buffer),
    /// Something that [`Link::receive`] takes.
    Other,
}

/// A frame that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Its header; `source` is the rank that transmitted it, as far as the link knows.
    pub header: Header,
    /// Its user bytes, or its words.
    pub payload: Payload,
}

/// A look at the network that any thread may take at any time.
pub trait Glance: Send + Sync + 'static {
    /// True if [`Link::receive`] would have found nothing a moment ago, and the job has lost no rank.
    /// False also where that is not known.
    fn is_idle(&self) -> bool;
}

/// A look that never knows: for links at which a look takes more than a glance.
#[derive(Debug, Default)]
pub struct NoGlance;

impl Glance for NoGlance {
    #[inline(always)]
    fn is_idle(&self) -> bool {
        false
    }
}

/// A link: one rank's attachment to the others.
///
/// No method blocks. Methods take `&mut self`; whoever shares a link between threads locks it.
pub trait Link: Send + 'static {
    /// Whether the NI half of the protocols runs apart from the host, as events of whoever drives
    /// this link ([`ni::NiHalf`]). Elsewhere it runs inline, in the host's own calls.
    const SEPARATE_NI: bool = false;

    /// Whether frames may be lost, so that the NI runs timers, which whoever runs it inline must
    /// serve in time. [`Capabilities::lossless`] says it at run time.
    const LOSSY: bool = false;

    /// True if there are [`Self::transmit_short`], and looks that find [`Look::Short`].
    const SHORT: bool = false;

    /// The clock of this rank's host.
    type Clock: Clock;

    /// The cheapest look at the network.
    type Glance: Glance;

    /// A way for any thread to glance at the network, without the lock around this link.
    fn glance(&self) -> Arc<Self::Glance>;

    /// The clock.
    fn clock(&self) -> Self::Clock;

    /// What this link promises.
    fn capabilities(&self) -> &Capabilities;

    /// A frame to fill, or `None` while all are in use.
    fn alloc(&mut self) -> Option<Buffer>;

    /// Where the bytes of `buffer` are: [`Capabilities::max_payload`] of them, writable, if it was
    /// allocated here; as many as its header said, read-only, if it was received. The place does
    /// not move until the buffer is freed.
    fn bytes(&self, buffer: Buffer) -> NonNull<u8>;

    /// Announces that `readers` will get `size` bytes of `buffer`, some of them from a forwarder.
    /// Must be called before the first [`Self::transmit`] of a frame that others forward. Links whose forwarders
    /// copy do nothing: all who read a frame got it from its owner.
    fn share(&mut self, buffer: Buffer, size: u16, readers: &[Rank]) {
        let _ = (buffer, size, readers);
    }

    /// True if packets for `to` may be transmitted short, where any may.
    #[inline(always)]
    fn takes_short(&self, to: Rank) -> bool {
        let _ = to;
        true
    }

    /// Puts a frame on the wire, at the next [`Self::flush`] at the latest. For [`Payload::Buffer`],
    /// `header.size` says how many bytes.
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload);

    /// As [`Self::transmit`], of `header.size` bytes that are in no frame, as many as [`ShortWords`]
    /// hold at most: they are gathered where they leave from. On links where so few bytes travel with
    /// the header, filling a frame first costs more than sending it.
    fn transmit_short(&mut self, to: Rank, header: &Header, bytes: &impl Gather) {
        let _ = (to, header, bytes);
        unreachable!("only links that say SHORT are asked");
    }

    /// The plain packet that comes next, if one is where the last one was, and is in no frame. The
    /// cheapest look there is; [`Self::take_short`] takes the packet.
    #[inline(always)]
    fn look_short(&self) -> Option<Plain> {
        None
    }

    /// Takes the packet that [`Self::look_short`] has just found.
    fn take_short(&mut self, short: &Plain) {
        let _ = short;
        unreachable!("only links that say SHORT are asked");
    }

    /// The next plain packet, if one is what comes next.
    #[inline]
    fn look(&mut self) -> Look {
        if self.has_arrivals() { Look::Other } else { Look::Nothing }
    }

    /// A buffer with the bytes of the short packet that was taken last, and has to wait.
    fn store_short(&mut self, short: &Plain) -> Buffer {
        let _ = short;
        unreachable!("only links that say SHORT are asked");
    }

    /// What was transmitted since the last flush leaves now. Links that hold nothing back do nothing.
    fn flush(&mut self) {}

    /// The next frame that arrived, if there is one.
    ///
    /// # Errors
    /// [`LinkViolation`] if a peer wrote something that is no frame; it was dropped.
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation>;

    /// Whether [`Self::receive`] would find something without a look at the network: packets that came
    /// together with others. Links that look at no cost say no.
    fn has_more_at_hand(&self) -> bool {
        false
    }

    /// Whether [`Self::receive`] would find something.
    fn has_arrivals(&mut self) -> bool;

    /// Takes a received frame of `size` bytes out of its sender's memory, so that the sender may
    /// use it again, and returns what to call it from here on. It must not be on its way to
    /// others. Links that do not lend their senders' memory return `buffer`.
    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer {
        let _ = size;
        buffer
    }

    /// Copies the first bytes of `buffer`, as many as `into` has and the frame holds.
    fn copy_out(&self, buffer: Buffer, into: &mut [u8]);

    /// Gives a frame up. An allocated one may still be on its way; the link knows.
    fn free(&mut self, buffer: Buffer);

    /// How threads of this rank sleep until a frame arrives, and are told of losses.
    fn bells(&self) -> Arc<dyn Bells>;

    /// Prepares `waiter` to sleep: from here on an arrival rings its bell. Returns the ticket to
    /// wait with, or `None` if something has arrived already. If [`Self::alloc`] found no frame
    /// last, a frame that comes back rings the host's bell too; look for one before sleeping.
    ///
    /// The sleeper pays for the handshake here, so that senders do not have to (DESIGN 6).
    fn arm(&mut self, waiter: bell::Waiter) -> Option<bell::Ticket>;

    /// `waiter` is awake and wants no ringing.
    fn disarm(&mut self, waiter: bell::Waiter);

    /// A rank to which the way has become too narrow for this job's packets, as far as the system can tell.
    /// Asked now and then.
    fn narrow(&mut self) -> Option<Narrow> {
        None
    }

    /// Counters in memory that all ranks reach without a packet, if the link has such memory.
    fn words(&self) -> Option<Arc<dyn SharedWords>> {
        None
    }

    /// Memory that some ranks reach without a packet, if the link has any.
    fn shared_memory(&self) -> Option<Arc<dyn memory::SharedMemory>> {
        None
    }

    /// Memory of the processes of other ranks, if the link finds them.
    fn reach(&self) -> Option<Arc<dyn memory::Reach>> {
        None
    }

    /// How the NI's control program works. Only where the NI is apart, as the four methods below.
    fn control_program(&self) -> ni::ControlProgram {
        ni::ControlProgram::default()
    }

    /// There is a request for the NI in its queue, and the host has done `work` for it which nobody has
    /// charged.
    fn requested(&mut self, _work: Option<clock::Work>) {}

    /// Starts to copy `payload`, `size` user bytes, from the NI to the host and returns what to call
    /// it there; `None` while the host has no buffer for it (thesis 3.6). Copies end in the order in
    /// which they started, each with [`ni::NiEvent::Copied`]. The NI still has to free its own buffer.
    fn copy_to_host(&mut self, payload: Payload, size: u16) -> Option<Payload> {
        let _ = size;
        Some(payload)
    }

    /// Asks for [`ni::NiEvent::Timeout`] at that time, or for none; replaces what was asked before.
    fn wake_at(&mut self, deadline: Option<Nanoseconds>) {
        let _ = deadline;
    }

    /// Interrupts the host, if it computes.
    fn interrupt(&mut self) {}
}

/// A way that is too narrow; lengths are those of packets with their IP header, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrow {
    /// Where it leads.
    pub to: Rank,
    /// What was too long for it.
    pub bytes: u16,
    /// What it takes.
    pub takes: u16,
}

/// A link that can be a part of one made of several: its frames are copied from and to the memory of
/// the others.
pub trait Part: Link {
    /// Whether `buffer` can be transmitted as it is to anybody on this link: it was allocated here, or its
    /// bytes go with the header.
    fn is_own(&self, buffer: Buffer) -> bool;

    /// [`Link::transmit`] of `header.size` bytes that are not in memory of this link. False, and nothing
    /// was transmitted, while no frame is free for them.
    #[must_use]
    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool;

    /// An allocated buffer with these bytes, to be transmitted to several, and then freed. None if copies of
    /// their own cost no more, or no frame is free.
    fn copy_in(&mut self, bytes: &[u8]) -> Option<Buffer> {
        let _ = bytes;
        None
    }

    /// Whether something waits until the system takes more of this link: a sleeper is to wake then, too.
    fn wants_room(&self) -> bool {
        false
    }
}

/// Words in shared memory: fetch-and-add variables that no NI needs to serve, and others.
pub trait SharedWords: Send + Sync {
    /// Adds `amount` to word `index` of `home` and returns what was there before. Sequentially
    /// consistent.
    fn fetch_add(&self, home: Rank, index: u16, amount: u64) -> u64;

    /// What word `index` of `home` holds.
    fn load(&self, home: Rank, index: u16) -> u64;

    /// Further words of `home`, all zero at first, for what ranks that share memory agree to keep there. Any of them may write them at any time.
    fn board(&self, home: Rank) -> &[AtomicU64];

    /// Wakes every rank that sleeps, so that it looks at the words again. Its caller has issued a full barrier since it wrote
    /// them.
    fn wake_sleepers(&self);
}

/// A peer wrote something into this link that is no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{from:?} wrote a bad frame: {what}")]
pub struct LinkViolation {
    /// The peer.
    pub from: Rank,
    /// What is wrong with it.
    pub what: BadFrame,
}

/// What can be wrong with a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadFrame {
    /// Its header.
    #[error("{0}")]
    Header(weft_wire::Malformed),
    /// A place for the user bytes that does not exist.
    #[error("it refers to frame {index} of rank {owner}, which does not exist")]
    Reference {
        /// The rank that is said to own the frame.
        owner: u16,
        /// The number of the frame.
        index: u32,
    },
    /// More bytes than a frame holds.
    #[error("it announces {0} bytes, more than a frame holds")]
    Size(u16),
    /// A kind of place that is not known.
    #[error("its user bytes are in a place of unknown kind {0}")]
    Place(u8),
}
