//! Shared memory as a [`Link`].

use crate::doorbell::{Doorbell, Listener, OwnBells, register_for_barriers};
use crate::inbox::Inbox;
use crate::lent::ExportedMemory;
use crate::memory::{Cursor, Frames, View};
use crate::pool::Pool;
use crate::reach::Processes;
use crate::ring::{Consumer, INLINE_BYTES, Producer};
use crate::rings::Rings;
use crate::segment::{Segment, Settings, WORDS};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::SystemClock;
use weft_link::memory::{Reach, SharedMemory};
use weft_link::{
    BadFrame, Buffer, Capabilities, Gather, Link, LinkViolation, Look, Part, Payload, Plain,
    Received, SharedWords,
};
use weft_wire::{Header, Rank, Tag, compact};

/// One rank's attachment to the shared memory of its job.
pub struct Shm {
    own: Rank,
    settings: Settings,
    capabilities: Capabilities,
    segments: Arc<[Segment]>,
    frames: Frames,
    pool: Pool,
    inbox: Inbox,
    listener: Listener,
    rings: Arc<Rings>,
    peers: Vec<Peer>,
    processes: Arc<Processes>,
}

struct Peer {
    outgoing: Producer<Cursor>,
    doorbell: Doorbell,
    frames: Frames,
    /// Where this rank says that it gave the peer's frames back, a line a frame.
    releases: View<AtomicU8>,
}

/// Why a rank could not attach.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The settings are impossible, or do not match the segments.
    #[error("shared memory of this job cannot be used: {0}")]
    Settings(String),
    /// The kernel does not let memory be mapped.
    #[error("cannot map a segment: {0}")]
    Map(#[source] io::Error),
    /// No expedited membarrier, on which sleeping and waking rest.
    #[error(
        "the kernel offers no membarrier (Linux 4.16 or later has it; a seccomp filter may forbid it): {0}"
    )]
    Barrier(#[source] io::Error),
}

/// Where the user bytes of a slot are.
mod place {
    /// In the slot.
    pub const INLINE: u8 = 0;
    /// In a frame: word 0 of the payload has the owner's rank, and the frame above bit 16.
    pub const FRAME: u8 = 1;
}

/// The owner of a frame and its number, as word 0 of a payload has them.
#[inline(always)]
fn parse_reference(word: u64) -> (Rank, u32) {
    (Rank(word as u16), (word >> 16) as u32)
}

/// A plain packet of `source`, whose bytes are at `place`.
#[inline(always)]
fn found(source: Rank, header: compact::Plain, place: NonNull<u8>) -> Plain {
    let compact::Plain { protocol, size, credits, .. } = header;
    Plain { source, protocol, size, credits, place }
}

/// What a [`Buffer`] of this link is.
#[derive(Clone, Copy)]
enum Place {
    /// A frame of this rank's own pool.
    Own(u32),
    /// A small packet in the inbox.
    Inbox(u32),
    /// A frame of another rank.
    Frame(Rank, u32),
    /// A large packet in the inbox.
    Large(u32),
}

impl Place {
    #[inline]
    fn buffer(self) -> Buffer {
        Buffer(match self {
            Place::Own(frame) => u64::from(frame),
            Place::Inbox(index) => 1 << 62 | u64::from(index),
            Place::Large(index) => 3 << 62 | u64::from(index),
            Place::Frame(owner, frame) => 2 << 62 | u64::from(owner.0) << 32 | u64::from(frame),
        })
    }

    #[inline]
    fn of(buffer: Buffer) -> Self {
        match buffer.0 >> 62 {
            0 => Place::Own(buffer.0 as u32),
            1 => Place::Inbox(buffer.0 as u32),
            3 => Place::Large(buffer.0 as u32),
            _ => Place::Frame(Rank((buffer.0 >> 32) as u16), buffer.0 as u32),
        }
    }
}

impl Shm {
    /// Attaches rank `own` to the segments of its job, one a rank.
    ///
    /// # Errors
    /// [`AttachError`]; nothing stays mapped.
    pub fn attach(own: Rank, settings: Settings, files: &[OwnedFd]) -> Result<Self, AttachError> {
        settings.check().map_err(AttachError::Settings)?;
        let ranks = usize::from(settings.ranks);
        if files.len() != ranks || own.index() >= ranks {
            let what = format!("{} segments for {own:?} of {ranks}", files.len());
            return Err(AttachError::Settings(what));
        }
        register_for_barriers().map_err(AttachError::Barrier)?;
        let segments: Arc<[Segment]> = files
            .iter()
            .enumerate()
            .map(|(index, file)| Segment::map(file, settings, index == own.index()))
            .collect::<io::Result<Vec<_>>>()
            .map_err(AttachError::Map)?
            .into();
        let own_segment = &segments[own.index()];
        let incoming = segments.iter().map(|segment| Consumer::new(segment.ring(own))).collect();
        let rings = Arc::new(Rings::new(incoming, own_segment.control()));
        let peers = (0..settings.ranks)
            .map(|peer| Peer {
                outgoing: Producer::new(own_segment.ring(Rank(peer))),
                doorbell: Doorbell::new(&segments[usize::from(peer)], own),
                frames: segments[usize::from(peer)].frames(),
                releases: segments[usize::from(peer)].releases(),
            })
            .collect();
        Ok(Shm {
            own,
            settings,
            capabilities: Capabilities {
                max_payload: settings.frame_bytes as usize,
                multicast_payload: settings.frame_bytes as usize,
                inline_payload: INLINE_BYTES,
                lossless: true,
                ordered: true,
                multicast: true,
                frames: settings.frames as usize,
                receive_frames: 0,
                host_frames: 0,
                threads: true,
            },
            frames: own_segment.frames(),
            pool: Pool::new(&settings, own_segment.releases()),
            inbox: Inbox::new(),
            listener: Listener::new(own_segment, own, ranks, Arc::clone(&rings)),
            rings,
            peers,
            processes: Arc::new(Processes::new(own, &segments)),
            segments,
        })
    }

    /// The packet in the slot that was taken last, with these header words, checked: everything in
    /// it was written by `from`.
    #[inline]
    fn accept(&mut self, from: Rank, head: [u64; 2]) -> Result<Received, LinkViolation> {
        let bad = |what| LinkViolation { from, what };
        let header = match compact::parse(head, from) {
            Ok(header) => header,
            Err(malformed) => return Err(bad(BadFrame::Header(malformed))),
        };
        let place = compact::place(head[0]);
        let slot = self.rings.of(from.index()).latest();
        let payload = match header.tag {
            Tag::Credit
            | Tag::ChannelClear
            | Tag::Acknowledge
            | Tag::Nack
            | Tag::Farewell
            | Tag::Recall
            | Tag::Return => Payload::Empty,
            Tag::FaRequest | Tag::FaReply => Payload::Words([slot.word(0), slot.word(1)]),
            Tag::Ucast | Tag::Mcast => Payload::Buffer(match place {
                place::INLINE if usize::from(header.size) <= INLINE_BYTES => {
                    Place::Inbox(self.inbox.insert(slot.payload())).buffer()
                }
                place::FRAME if u32::from(header.size) <= self.settings.frame_bytes => {
                    let (owner, index) = parse_reference(slot.word(0));
                    if !self.has_frame(owner, index) {
                        return Err(bad(BadFrame::Reference { owner: owner.0, index }));
                    }
                    Place::Frame(owner, index).buffer()
                }
                place::INLINE | place::FRAME => return Err(bad(BadFrame::Size(header.size))),
                unknown => return Err(bad(BadFrame::Place(unknown))),
            }),
        };
        Ok(Received { header, payload })
    }

    /// True if another rank has this frame.
    #[inline(always)]
    fn has_frame(&self, owner: Rank, index: u32) -> bool {
        let Settings { ranks, frames, .. } = self.settings;
        owner != self.own && owner.0 < ranks && index < frames
    }

    /// The plain packet in the next slot of `peer`, if one is there.
    #[inline(always)]
    fn short_of(&self, peer: usize) -> Option<Plain> {
        let source = Rank(peer as u16);
        let (plain, slot) = self.rings.of(peer).peek_plain(place::INLINE, source)?;
        let is_short = usize::from(plain.size) <= INLINE_BYTES;
        is_short.then(|| found(source, plain, slot.bytes()))
    }

    /// The plain packet of `source` whose bytes the next slot says are in a frame, if that is so.
    #[inline(never)]
    fn look_framed(&mut self, source: Rank) -> Look {
        let ring = self.rings.of(source.index());
        if let Some((plain, slot)) = ring.peek_plain(place::FRAME, source)
            && u32::from(plain.size) <= self.settings.frame_bytes
            && let (owner, index) = parse_reference(slot.word(0))
            && self.has_frame(owner, index)
        {
            ring.advance();
            let place = self.peers[owner.index()].frames.at(index);
            return Look::Framed(found(source, plain, place), Place::Frame(owner, index).buffer());
        }
        Look::Other
    }

    /// Writes the slot of a packet whose bytes are in `buffer`.
    #[inline]
    fn push_buffer(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let outgoing = &mut self.peers[to.index()].outgoing;
        let (owner, frame) = match Place::of(buffer) {
            Place::Own(frame) if usize::from(header.size) <= INLINE_BYTES => {
                outgoing.push_bytes(header, place::INLINE, &self.frames.inline_words(frame));
                return;
            }
            Place::Inbox(index) => {
                outgoing.push_bytes(header, place::INLINE, &self.inbox.words(index));
                return;
            }
            Place::Own(frame) => {
                self.pool.add_reader(frame, to);
                (self.own, frame)
            }
            Place::Frame(owner, frame) => (owner, frame),
            Place::Large(_) => unreachable!("what was detached is not forwarded"),
        };
        let reference = u64::from(owner.0) | u64::from(frame) << 16;
        outgoing.push(header, place::FRAME, &[reference]);
    }
}

impl Link for Shm {
    const SHORT: bool = true;

    type Clock = SystemClock;
    type Glance = Rings;

    fn glance(&self) -> Arc<Rings> {
        Arc::clone(&self.rings)
    }

    #[inline]
    fn clock(&self) -> SystemClock {
        SystemClock
    }

    #[inline]
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self) -> Option<Buffer> {
        Some(Place::Own(self.pool.alloc()?).buffer())
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match Place::of(buffer) {
            Place::Own(frame) => self.frames.at(frame),
            Place::Inbox(index) => self.inbox.bytes(index),
            Place::Large(index) => self.inbox.large_bytes(index),
            Place::Frame(owner, frame) => self.peers[owner.index()].frames.at(frame),
        }
    }

    fn share(&mut self, buffer: Buffer, size: u16, readers: &[Rank]) {
        let Place::Own(frame) = Place::of(buffer) else { return };
        if usize::from(size) > INLINE_BYTES {
            for &reader in readers.iter().filter(|&&reader| reader != self.own) {
                self.pool.add_reader(frame, reader);
            }
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        match payload {
            Payload::Buffer(buffer) => self.push_buffer(to, header, buffer),
            Payload::Words(words) => {
                self.peers[to.index()].outgoing.push(header, place::INLINE, &words);
            }
            Payload::Empty => self.peers[to.index()].outgoing.push(header, place::INLINE, &[]),
        }
        self.peers[to.index()].doorbell.press();
    }

    #[inline(always)]
    fn transmit_short(&mut self, to: Rank, header: &Header, bytes: &impl Gather) {
        let peer = &mut self.peers[to.index()];
        peer.outgoing.push_gathered(header, place::INLINE, bytes);
        peer.doorbell.press();
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let Some(peer) = self.listener.next() else { return Ok(None) };
        let Some((head, _)) = self.rings.of(peer).pop() else { return Ok(None) };
        self.accept(Rank(peer as u16), head).map(Some)
    }

    #[inline(always)]
    fn look_short(&self) -> Option<Plain> {
        self.short_of(self.listener.likely()?)
    }

    #[inline(always)]
    fn take_short(&mut self, short: &Plain) {
        self.listener.spend_turn();
        self.rings.of(short.source.index()).advance();
    }

    #[inline]
    fn look(&mut self) -> Look {
        let Some(peer) = self.listener.next() else { return Look::Nothing };
        match self.short_of(peer) {
            Some(plain) => {
                self.rings.of(peer).advance();
                Look::Short(plain)
            }
            None => self.look_framed(Rank(peer as u16)),
        }
    }

    fn store_short(&mut self, short: &Plain) -> Buffer {
        let slot = self.rings.of(short.source.index()).latest();
        Place::Inbox(self.inbox.insert(slot.payload())).buffer()
    }

    #[inline]
    fn has_arrivals(&mut self) -> bool {
        self.listener.has_any()
    }

    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer {
        let Place::Frame(owner, frame) = Place::of(buffer) else { return buffer };
        let mut copy = vec![0; usize::from(size)].into_boxed_slice();
        self.peers[owner.index()].frames.copy_out(frame, &mut copy);
        self.free(buffer);
        Place::Large(self.inbox.insert_large(copy)).buffer()
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        match Place::of(buffer) {
            Place::Own(frame) => self.frames.copy_out(frame, into),
            Place::Frame(owner, frame) => self.peers[owner.index()].frames.copy_out(frame, into),
            Place::Large(index) => into.copy_from_slice(&self.inbox.large(index)[..into.len()]),
            Place::Inbox(index) => {
                for (bytes, word) in into.chunks_mut(8).zip(self.inbox.words(index)) {
                    bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
                }
            }
        }
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        match Place::of(buffer) {
            Place::Own(frame) => self.pool.free(frame),
            Place::Inbox(index) => self.inbox.remove(index),
            Place::Large(index) => self.inbox.remove_large(index),
            Place::Frame(owner, frame) => {
                // Only this rank writes this byte, so reading and writing it apart is enough.
                let owner = &self.peers[owner.index()];
                let count = &owner.releases[frame as usize * 64 + self.own.index()];
                count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
                owner.doorbell.gave_back();
            }
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::new(OwnBells::new(&self.segments[self.own.index()]))
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        self.listener.arm(waiter, self.pool.is_starved())
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.listener.disarm(waiter);
    }

    fn shared_memory(&self) -> Option<Arc<dyn SharedMemory>> {
        Some(Arc::new(ExportedMemory { own: self.own }))
    }

    fn reach(&self) -> Option<Arc<dyn Reach>> {
        Some(Arc::clone(&self.processes) as Arc<dyn Reach>)
    }

    fn words(&self) -> Option<Arc<dyn SharedWords>> {
        Some(Arc::new(Words {
            words: self.segments.iter().map(Segment::words).collect(),
            boards: self.segments.iter().map(Segment::board).collect(),
            doorbells: self.segments.iter().map(|s| Doorbell::new(s, self.own)).collect(),
        }))
    }
}

impl Part for Shm {
    #[inline]
    fn is_own(&self, buffer: Buffer) -> bool {
        matches!(Place::of(buffer), Place::Own(_) | Place::Inbox(_))
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        if bytes.len() > INLINE_BYTES {
            let Some(copy) = self.copy_in(bytes) else { return false };
            self.transmit(to, header, Payload::Buffer(copy));
            self.free(copy);
            return true;
        }
        self.transmit_short(to, header, &[bytes]);
        true
    }

    fn copy_in(&mut self, bytes: &[u8]) -> Option<Buffer> {
        // What fits into a slot goes in there.
        let frame = if bytes.len() > INLINE_BYTES { self.pool.alloc() } else { None }?;
        self.frames.copy_in(frame, bytes);
        Some(Place::Own(frame).buffer())
    }
}

/// The fetch-and-add words of all ranks, and their boards.
struct Words {
    words: Vec<View<AtomicU64>>,
    boards: Vec<View<AtomicU64>>,
    doorbells: Vec<Doorbell>,
}

impl Words {
    #[inline]
    fn word(&self, home: Rank, index: u16) -> &AtomicU64 {
        assert!(index < WORDS, "a rank has {WORDS} fetch-and-add words");
        &self.words[home.index()][8 * usize::from(index)]
    }
}

impl SharedWords for Words {
    #[inline]
    fn fetch_add(&self, home: Rank, index: u16, amount: u64) -> u64 {
        self.word(home, index).fetch_add(amount, Ordering::SeqCst)
    }

    #[inline]
    fn load(&self, home: Rank, index: u16) -> u64 {
        self.word(home, index).load(Ordering::Acquire)
    }

    #[inline]
    fn board(&self, home: Rank) -> &[AtomicU64] {
        &self.boards[home.index()]
    }

    fn wake_sleepers(&self) {
        for doorbell in &self.doorbells {
            doorbell.wake_host();
        }
    }
}
