//! Interface of a link, which moves frames between ranks. A link knows no protocol: not which
//! packets may be sent, nor when, nor what to do about lost ones.
//!
//! Frames are in *link memory*, so that no layer copies them to hand them on:
//!
//! ```text
//!   out:  alloc ──▶ fill ──▶ transmit (to one, or to several in turn) ──▶ free
//!   in:   receive ──▶ read, transmit onwards ──▶ free
//! ```
//!
//! A [`Buffer`] names a frame of either kind. It is a plain number, because a protocol queues it
//! and several destinations share it. Each buffer has one owner and is freed once (invariant I4).
//! The move-only types of the protocol keep that, and a link may rely on it.
//!
//! | module | what |
//! |---|---|
//! | here | [`Link`], its [`Capabilities`], [`LinkViolation`] |
//! | [`bell`] | bells, by which a thread sleeps until a frame arrives |
//! | [`clock`] | time, and the cost of work |
//! | [`Gather`] | gather lists: bytes in pieces, put together where a packet leaves from |
//! | [`gauge`] | counts that others may see while a rank runs |
//! | [`memory`] | memory beside frames, which peers access without a packet |
//! | [`ni`] | NI half of the protocols, where it runs apart from the host |
//! | [`sync`] | atomics and fences of threads that share memory, which loom can check |
//! | [`threads`] | threads of a rank, and words that each has to itself |
//! | [`wrap`] | faults, capture, counters and traces around any link |

#![forbid(unsafe_code)]

pub mod bell;
pub mod clock;
mod gather;
pub mod gauge;
pub mod memory;
pub mod ni;
pub mod status;
pub mod sync;
pub mod threads;
pub mod timer;
pub mod wrap;

pub use gather::{Gather, copy_short};

use bell::Bells;
use clock::{Clock, Nanoseconds};
use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use sync::AtomicU64;
use threads::{SystemThreads, Threads};
use weft_trace::Recorder;
use weft_wire::{Header, Protocol, Rank};

/// Number of a frame in link memory, outgoing or received. It is valid until [`Link::free`]. No
/// link uses bit 59, which is for whoever uses links, nor 60 and 61, which are for links made of
/// links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Buffer(pub u64);

/// Turn of a sender. Between two packets of a sender that always has some, a link hands over fewer
/// than two turns of any other, and in the long run as many of all that always have some (I15).
pub const TURN: u32 = 16;

/// Words of the longest short packet ([`Link::transmit_short`]): 112 user bytes.
pub type ShortWords = [u64; 14];

/// Guarantees and sizes of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Largest number of user bytes of a frame.
    pub max_payload: usize,
    /// Largest number of user bytes with which one frame can reach several receivers of a
    /// multicast. It is `max_payload` where that makes no difference.
    pub multicast_payload: usize,
    /// Largest number of user bytes that travel with the header, at no extra cost.
    pub inline_payload: usize,
    /// True if every frame that is transmitted arrives.
    pub lossless: bool,
    /// True if frames of one ordered pair arrive in the order in which they were transmitted.
    pub ordered: bool,
    /// True if one frame, filled once, serves any number of receivers at no extra cost.
    pub multicast: bool,
    /// Number of frames that this rank can have in use at once.
    pub frames: usize,
    /// Number of frames for packets that arrive, all senders together. It is 0 where packets stay
    /// in their senders' memory, or the NI is separate from the host.
    pub receive_frames: usize,
    /// Number of buffers at the host for packets that arrive, where the NI is separate; 0
    /// elsewhere.
    pub host_frames: usize,
    /// True if threads of a rank may run at the same time: they are threads of the system.
    pub threads: bool,
}

/// Payload of a packet: what follows its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// No bytes.
    Empty,
    /// The first `header.size` bytes of a frame.
    Buffer(Buffer),
    /// Two words of a control packet; they travel with the header.
    Words([u64; 2]),
}

/// Plain packet: one whose header is the most common one. It goes to one rank, on no recovery
/// channel, without a sequence number. Its user bytes are where they arrived. If they are in no
/// frame they stay there until the next poll of the link, or until the credit of the packet is
/// returned, whichever is first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plain {
    /// Rank that transmitted it.
    pub source: Rank,
    /// System that it is for.
    pub protocol: Protocol,
    /// Number of user bytes. If they are in no frame, [`ShortWords`] hold them.
    pub size: u16,
    /// Number of credits that came with it.
    pub credits: u16,
    /// Address of the user bytes, aligned to words. All of [`ShortWords`] can be read there.
    pub bytes: NonNull<u8>,
}

/// Result of [`Link::receive_plain`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceivedPlain {
    /// Nothing has arrived.
    Nothing,
    /// A plain packet that is in no frame. It was taken from the link.
    Short(Plain),
    /// A plain packet in a frame. It was taken from the link, and the frame is to be freed.
    Framed(Plain, Buffer),
    /// Another packet, which [`Link::receive`] takes.
    Other,
}

/// Frame that has been received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Its header. `source` is the rank that transmitted it, as far as the link knows.
    pub header: Header,
    /// Its user bytes or words.
    pub payload: Payload,
}

/// Glance at the network: a check that any thread may make at any time, without a lock.
pub trait Glance: Send + Sync + 'static {
    /// True if [`Link::receive`] would have found nothing a moment ago, and the job has lost no
    /// rank. False where that is not known.
    fn is_idle(&self) -> bool;
}

/// Glance that knows nothing, for links where a check takes a poll.
#[derive(Debug, Default)]
pub struct NoGlance;

impl Glance for NoGlance {
    #[inline(always)]
    fn is_idle(&self) -> bool {
        false
    }
}

/// Link of one rank to the others.
///
/// No method blocks. Threads that share a link lock it.
pub trait Link: Send + 'static {
    /// True if the NI half of the protocols runs apart from the host, as events of whoever drives
    /// this link ([`ni::NiHalf`]). Otherwise it runs inline, in calls of the host.
    const SEPARATE_NI: bool = false;

    /// True if frames may be lost, or are held back until a flush, so that the NI has timers and
    /// flushes. Whoever runs it inline must serve them in time. [`Capabilities::lossless`] says
    /// whether any are lost.
    const LOSSY: bool = false;

    /// True if the link has [`Self::transmit_short`], and [`Self::receive_plain`] finds
    /// [`ReceivedPlain::Short`].
    const SHORT: bool = false;

    /// True if [`Self::alloc_to`] and [`Self::payload_to`] depend on the rank.
    const BY_WAY: bool = false;

    /// Clock of the host of this rank.
    type Clock: Clock;

    /// Glance at this link's network.
    type Glance: Glance;

    /// Returns the glance, which needs no lock around this link.
    fn glance(&self) -> Arc<Self::Glance>;

    /// Returns the clock.
    fn clock(&self) -> Self::Clock;

    /// Returns guarantees and sizes of this link.
    fn capabilities(&self) -> &Capabilities;

    /// Allocates a frame to be filled. `None` while all are in use.
    fn alloc(&mut self) -> Option<Buffer>;

    /// Allocates a frame for a packet to `to` alone, which has [`Self::payload_to`] bytes. It is
    /// one of [`Self::alloc`] unless a link has other frames for some of its ranks.
    #[inline]
    fn alloc_to(&mut self, to: Rank) -> Option<Buffer> {
        let _ = to;
        self.alloc()
    }

    /// User bytes of a packet to `to` alone, at most; no less than of one to anybody.
    fn payload_to(&self, to: Rank) -> usize {
        let _ = to;
        self.capabilities().max_payload
    }

    /// Address of the user bytes of `buffer`. An allocated buffer has [`Capabilities::max_payload`]
    /// bytes, or those for its receiver, which are writable. A received one has as many as its
    /// header says, read-only. The address does not change until the buffer is freed.
    fn bytes(&self, buffer: Buffer) -> NonNull<u8>;

    /// Registers `readers`, who will get `size` bytes of `buffer`, some of them from a forwarder.
    /// Must be called before the first [`Self::transmit`] of a frame that others forward. Links
    /// whose forwarders copy do nothing: whoever reads a frame there has it from its owner.
    fn share(&mut self, buffer: Buffer, size: u16, readers: &[Rank]) {
        let _ = (buffer, size, readers);
    }

    /// True if packets to `to` may be short, on a link that has short packets.
    #[inline(always)]
    fn takes_short(&self, to: Rank) -> bool {
        let _ = to;
        true
    }

    /// Lends memory of the program to a frame that was allocated and is not transmitted yet: the
    /// user bytes from `head` on are these, and nothing is written behind `head`. It stays lent
    /// until the frame is freed and has left, or until [`Self::take_back`]. False, and nothing has
    /// happened, if this link sends from its frames only.
    fn lend(&mut self, buffer: Buffer, head: usize, lent: memory::Lent) -> bool {
        let _ = (buffer, head, lent);
        false
    }

    /// True if a frame has bytes of this memory still.
    fn has_lent(&self, lent: memory::Lent) -> bool {
        let _ = lent;
        false
    }

    /// Has frames read this memory no more: those that have some of it still get a copy.
    fn take_back(&mut self, lent: memory::Lent) {
        let _ = lent;
    }

    /// Posts memory of the program: the link may read the bytes of packets of `from` that belong
    /// there straight into it, in order, from the first on. What packets are for it, and what they
    /// say otherwise, is as ever; but of one whose bytes are [there](Self::posted), those behind
    /// [`memory::POSTED_HEAD_BYTES`] mean nothing. False, and nothing has happened, if this link
    /// reads into its own places only, or has enough of such memory.
    fn post(&mut self, from: Rank, posted: memory::Posted) -> bool {
        let _ = (from, posted);
        false
    }

    /// Number of bytes of posted memory that are there, and stay as they are.
    fn posted(&self, from: Rank, head: &memory::PostedHead) -> usize {
        let _ = (from, head);
        0
    }

    /// Has the link write no more into posted memory; returns the number of bytes that are there,
    /// also of packets that are still to be taken.
    fn unpost(&mut self, from: Rank, head: &memory::PostedHead) -> usize {
        let _ = (from, head);
        0
    }

    /// True if memory of the program travels to `to` in one piece ([`Self::send_zero_copy`]).
    fn sends_zero_copy(&self, to: Rank) -> bool {
        let _ = to;
        false
    }

    /// Posts memory of the program for all of its bytes at once, which `from` sends as one piece
    /// under its head ([`Self::send_zero_copy`]) once it hears of that. [`Self::posted`] says all
    /// or nothing. False, and nothing has happened, if this link sends packets only, or can take no
    /// more of it now.
    fn post_zero_copy(&mut self, from: Rank, posted: memory::Posted) -> bool {
        let _ = (from, posted);
        false
    }

    /// Sends memory of the program as one piece to who has [posted](Self::post_zero_copy) as much
    /// under this head: a rendezvous, in whatever way costs the network least. It stays lent until
    /// it has left ([`Self::has_lent`]). False, and nothing has happened, if this link sends
    /// packets only.
    fn send_zero_copy(&mut self, to: Rank, head: &memory::PostedHead, lent: memory::Lent) -> bool {
        let _ = (to, head, lent);
        false
    }

    /// True if memory is on its way in one piece, as far as its length tells: who waits for that
    /// looks, because that is what moves it, and does not sleep yet.
    fn carries(&self) -> bool {
        false
    }

    /// Transmits a packet, at the next [`Self::flush`] at the latest. Of a [`Payload::Buffer`] it
    /// transmits `header.size` bytes.
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload);

    /// Transmits `header.size` bytes that are in no frame, at most as many as [`ShortWords`] hold.
    /// They are gathered where the packet leaves from. On links where so few bytes travel with the
    /// header, to fill a frame first costs more than to send it.
    fn transmit_short(&mut self, to: Rank, header: &Header, bytes: &impl Gather) {
        let _ = (to, header, bytes);
        unreachable!("only links that say SHORT are asked");
    }

    /// Returns the next packet if it is plain, in no frame, and from the sender of the last one.
    /// This is the cheapest poll. [`Self::take_short`] takes the packet.
    #[inline(always)]
    fn peek_short(&self) -> Option<Plain> {
        None
    }

    /// Takes the packet that [`Self::peek_short`] has just returned.
    fn take_short(&mut self, short: &Plain) {
        let _ = short;
        unreachable!("only links that say SHORT are asked");
    }

    /// Receives the next packet, if it is plain.
    #[inline]
    fn receive_plain(&mut self) -> ReceivedPlain {
        if self.has_arrivals() { ReceivedPlain::Other } else { ReceivedPlain::Nothing }
    }

    /// Copies the bytes of the short packet that was taken last, and has to wait, into a buffer.
    fn store_short(&mut self, short: &Plain) -> Buffer {
        let _ = short;
        unreachable!("only links that say SHORT are asked");
    }

    /// Sends what was transmitted since the last flush. Links that hold nothing back do nothing.
    fn flush(&mut self) {}

    /// True if [`Self::flush`] may have something to send.
    fn has_unflushed(&self) -> bool {
        true
    }

    /// Receives the next frame, if one has arrived.
    ///
    /// # Errors
    /// [`LinkViolation`] if a peer wrote something that is no frame. It was dropped.
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation>;

    /// True if [`Self::receive`] would find something without a poll of the network: packets that
    /// were received together with others. Links whose poll is free return false.
    fn has_buffered(&self) -> bool {
        false
    }

    /// True if [`Self::receive`] would find something.
    fn has_arrivals(&mut self) -> bool;

    /// Moves a received frame of `size` bytes out of the memory of its sender, so that the sender
    /// may use it again, and returns its new buffer. The frame must not be on its way to others.
    /// Links whose receivers do not read the memory of senders return `buffer`.
    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer {
        let _ = size;
        buffer
    }

    /// Copies the first bytes of `buffer`, as many as `into` has. The frame must have as many.
    fn copy_out(&self, buffer: Buffer, into: &mut [u8]);

    /// Frees a frame. An allocated one may still be on its way: the link knows.
    fn free(&mut self, buffer: Buffer);

    /// Returns the bells with which threads of this rank sleep, and which announce losses.
    fn bells(&self) -> Arc<dyn Bells>;

    /// Arms the bell of `waiter`: from here on an arrival rings it. Returns the ticket to wait
    /// with, or `None` if something has arrived already. If the last [`Self::alloc`] found no
    /// frame, a frame that is released rings the bell of the host too. Check for one before
    /// sleeping.
    ///
    /// The sleeper pays for the handshake here, so that senders do not have to (DESIGN 6).
    fn arm(&mut self, waiter: bell::Waiter) -> Option<bell::Ticket>;

    /// Disarms the bell of `waiter`, which is awake.
    fn disarm(&mut self, waiter: bell::Waiter);

    /// Rings the bell of the upcall thread once within this range of times from now on, the earlier
    /// the better, or not at all if this is called again before. It does not wake the thread by
    /// itself, so that who is at work can put off what the thread was to look at. Returns the time
    /// after which it rings, or `None` if this link cannot.
    fn ring_upcall_within(&mut self, after: RangeInclusive<Duration>) -> Option<Duration> {
        let _ = after;
        None
    }

    /// Looks after the paths to other ranks: probes how long packets may be, where that may change.
    /// Called now and then with the time. Returns what is to be told to the user.
    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        let _ = now;
        None
    }

    /// Returns words in memory that all ranks access without a packet, if the link has such memory.
    fn words(&self) -> Option<Arc<dyn SharedWords>> {
        None
    }

    /// Returns memory that some ranks access without a packet, if the link has any.
    fn shared_memory(&self) -> Option<Arc<dyn memory::SharedMemory>> {
        None
    }

    /// Returns the notice of what this rank waits for, if somebody can read it.
    fn notice(&self) -> Option<Arc<dyn status::Notice>> {
        None
    }

    /// Returns the place where this rank shows its counts, if somebody can see it.
    fn gauge(&self) -> Option<Arc<dyn gauge::Gauge>> {
        None
    }

    /// Returns what writes down what happens at this rank, if the run is traced.
    fn recorder(&self) -> Option<Arc<dyn Recorder>> {
        None
    }

    /// Returns access to the memory of other ranks' processes, if the link has it.
    fn cross_memory(&self) -> Option<Arc<dyn memory::CrossMemory>> {
        None
    }

    /// Returns the threads of this rank.
    fn threads(&self) -> Arc<dyn Threads> {
        Arc::new(SystemThreads)
    }

    /// Returns the settings of the NI's control program. This method and the four below are only
    /// for a separate NI.
    fn control_program(&self) -> ni::ControlProgram {
        ni::ControlProgram::default()
    }

    /// Notifies the NI of a request in its queue. The host has done `work` for it which nobody has
    /// charged.
    fn notify_ni(&mut self, _work: Option<clock::Work>) {}

    /// Starts to copy `payload`, `size` user bytes, from the NI to the host, and returns its
    /// payload there. `None` while the host has no buffer for it (thesis 3.6). Copies end in the
    /// order in which they started, each with [`ni::NiEvent::Copied`]. The NI still has to free its
    /// own buffer.
    fn copy_to_host(&mut self, payload: Payload, size: u16) -> Option<Payload> {
        let _ = size;
        Some(payload)
    }

    /// Sets the time of the next [`ni::NiEvent::Timeout`], or none. Replaces the time that was set
    /// before.
    fn wake_at(&mut self, deadline: Option<Nanoseconds>) {
        let _ = deadline;
    }

    /// Interrupts the host, if it computes.
    fn interrupt(&mut self) {}
}

/// News of the path to a rank: how long packets may be there now. Lengths are in bytes, with the IP
/// header where there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathMtu {
    /// Rank at the end of the path.
    pub to: Rank,
    /// Path MTU now.
    pub mtu: usize,
    /// MTU of the job.
    pub job: usize,
}

/// Link that can be a part of a link made of several. Frames are copied between its memory and that
/// of the other parts.
pub trait Part: Link {
    /// True if `buffer` can be transmitted as it is to anybody on this link: it was allocated here,
    /// or its bytes go with the header.
    fn is_own(&self, buffer: Buffer) -> bool;

    /// Transmits `header.size` bytes that are not in memory of this link. False, and nothing was
    /// transmitted, while no frame is free for them.
    #[must_use]
    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool;

    /// User bytes of a packet at most that leaves with one call of the system: more than
    /// [`Capabilities::max_payload`] where that cuts up what it is handed.
    fn most_payload_at_once(&self) -> usize {
        self.capabilities().max_payload
    }

    /// Allocates a buffer and fills it with `bytes`, to be transmitted to several, and then freed.
    /// `None` if a copy for each costs no more, or no frame is free.
    fn copy_in(&mut self, bytes: &[u8]) -> Option<Buffer> {
        let _ = bytes;
        None
    }

    /// True if packets wait until the system takes more of this link. Whoever sleeps must wake up
    /// then, too.
    fn wants_room(&self) -> bool {
        false
    }

    /// A descriptor that is readable while something waits beside what is found by a look at the
    /// link's arrivals, if there is such a thing: connections, of which each has its own.
    fn more_arrivals(&self) -> Option<std::io::Result<std::os::fd::OwnedFd>> {
        None
    }

    /// True if nothing has arrived, and what arrives from here on makes the descriptor readable for
    /// which whoever sleeps waits.
    fn may_sleep(&mut self) -> bool {
        !self.has_arrivals()
    }
}

/// Words in shared memory: fetch-and-add variables, which no NI has to serve, and shared arenas.
pub trait SharedWords: Send + Sync {
    /// Adds `amount` to word `index` of `home` and returns its old value. Sequentially consistent.
    fn fetch_add(&self, home: Rank, index: u16, amount: u64) -> u64;

    /// Value of word `index` of `home`.
    fn load(&self, home: Rank, index: u16) -> u64;

    /// Shared arena of `home`: words, all zero at first, whose use the ranks that share memory
    /// agree on. Any of them may write any word at any time.
    fn arena(&self, home: Rank) -> &[AtomicU64];

    /// Wakes every rank that sleeps, so that it checks the words again. Its caller has issued a
    /// full barrier since it wrote them.
    fn wake_sleepers(&self);
}

/// Violation by a peer, which wrote something into this link that is no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{from:?} wrote a bad frame: {what}")]
pub struct LinkViolation {
    /// Peer that wrote it.
    pub from: Rank,
    /// Reason why it is no frame.
    pub what: BadFrame,
}

/// Reason why something that a peer wrote is no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadFrame {
    /// Its header.
    #[error("{0}")]
    Header(weft_wire::Malformed),
    /// Its user bytes would be in a frame that does not exist.
    #[error("it refers to frame {index} of rank {owner}, which does not exist")]
    Reference {
        /// Rank that would own the frame.
        owner: u16,
        /// Number of the frame.
        index: u32,
    },
    /// It announces more bytes than a frame holds.
    #[error("it announces {0} bytes, more than a frame holds")]
    Size(u16),
    /// Its payload kind is not known.
    #[error("its user bytes are in a place of unknown kind {0}")]
    PayloadKind(u8),
}
