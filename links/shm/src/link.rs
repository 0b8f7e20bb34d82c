//! Implementation of [`Link`] by shared memory.

use crate::cross_memory::Processes;
use crate::doorbell::{Doorbell, Listener, OwnBells};
use crate::exported::ExportedMemory;
use crate::inbox::Inbox;
use crate::memory::{Cursor, Frames, View};
use crate::pool::Pool;
use crate::prefetch;
use crate::ring::{Consumer, INLINE_BYTES, Producer};
use crate::rings::Rings;
use crate::segment::{Segment, Settings};
use crate::status::StatusPage;
use crate::trace::TraceRing;
use crate::words::Words;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::SystemClock;
use weft_link::ni::NoSeparateNi;
use weft_link::sync::Scope;
use weft_link::{
    BadFrame, Buffer, Capabilities, Gather, Link, LinkPart, LinkViolation, NoNetwork, Paths,
    Payload, Plain, Received, ReceivedPlain, Services, SharedFrames, ShortPackets,
    no_program_memory,
};
use weft_trace::Recorder;
use weft_wire::{Header, Rank, Tag, compact};

/// Attachment of one rank to the shared memory of its job.
pub struct Shm {
    own: Rank,
    settings: Settings,
    /// Release counts of a frame: a byte for each rank, in whole lines.
    releases_bytes: usize,
    capabilities: Capabilities,
    segments: Arc<[Segment]>,
    frames: Frames,
    pool: Pool,
    inbox: Inbox,
    listener: Listener,
    rings: Arc<Rings>,
    peers: Vec<Peer>,
    processes: Arc<Processes>,
    status: Arc<StatusPage>,
    trace: Option<Arc<TraceRing>>,
}

struct Peer {
    outgoing: Producer<Cursor>,
    doorbell: Doorbell,
    frames: Frames,
    /// Counts of the peer's frames that were released, a byte a reader.
    releases: View<AtomicU8>,
}

/// Reason why a rank could not attach.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The settings are impossible, or do not match the memory.
    #[error("shared memory of this job cannot be used: {0}")]
    Settings(String),
    /// The kernel does not let memory be mapped.
    #[error("cannot map the shared memory: {0}")]
    Map(#[source] io::Error),
    /// The kernel has no expedited membarrier, on which sleeping and waking rest.
    #[error(
        "the kernel offers no membarrier (Linux 4.16 or later has it; a seccomp filter may forbid it): {0}"
    )]
    Barrier(#[source] io::Error),
}

/// Payload kinds: where the user bytes of a slot are.
mod payload_kind {
    /// In the slot.
    pub const INLINE: u8 = 0;
    /// In a frame. Word 0 of the payload has the rank of its owner, and above bit 16 its number.
    pub const FRAME: u8 = 1;
}

/// Owner of a frame and its number, from word 0 of a payload.
#[inline(always)]
fn parse_reference(word: u64) -> (Rank, u32) {
    (Rank(word as u16), (word >> 16) as u32)
}

/// Plain packet of `source`, with its user bytes at `bytes`.
#[inline(always)]
fn plain_packet(source: Rank, header: compact::PlainHeader, bytes: NonNull<u8>) -> Plain {
    let compact::PlainHeader { protocol, size, credits, .. } = header;
    Plain { source, protocol, size, credits, bytes }
}

/// Buffer kind: what a [`Buffer`] of this link names.
#[derive(Clone, Copy)]
enum BufferKind {
    /// A frame of this rank.
    Own(u32),
    /// A small packet in the inbox.
    Inbox(u32),
    /// A frame of another rank.
    Peer(Rank, u32),
    /// A large packet in the inbox.
    Large(u32),
}

impl BufferKind {
    #[inline]
    fn buffer(self) -> Buffer {
        match self {
            BufferKind::Own(frame) => Buffer::new(0, frame.into()),
            BufferKind::Inbox(index) => Buffer::new(1, index.into()),
            BufferKind::Peer(owner, frame) => {
                Buffer::new(2, u64::from(owner.0) << 32 | u64::from(frame))
            }
            BufferKind::Large(index) => Buffer::new(3, index.into()),
        }
    }

    #[inline]
    fn of(buffer: Buffer) -> Self {
        let number = buffer.number();
        match buffer.kind() {
            0 => BufferKind::Own(number as u32),
            1 => BufferKind::Inbox(number as u32),
            3 => BufferKind::Large(number as u32),
            _ => BufferKind::Peer(Rank((number >> 32) as u16), number as u32),
        }
    }
}

impl Shm {
    /// Attaches rank `own` to the memory of its job.
    ///
    /// # Errors
    /// [`AttachError`]. Nothing stays mapped.
    pub fn attach(own: Rank, settings: Settings, memory: &OwnedFd) -> Result<Self, AttachError> {
        settings.check().map_err(AttachError::Settings)?;
        let ranks = usize::from(settings.ranks);
        if own.index() >= ranks {
            return Err(AttachError::Settings(format!("it has no rank {own} of {ranks}")));
        }
        Scope::Host.register().map_err(AttachError::Barrier)?;
        let segments = Segment::map_all(memory, settings, Some(own)).map_err(AttachError::Map)?;
        let segments: Arc<[Segment]> = segments.into();
        let own_segment = &segments[own.index()];
        let incoming = segments.iter().map(|segment| Consumer::new(segment.ring(own))).collect();
        let rings = Arc::new(Rings::new(incoming, own_segment.control()));
        let peers = (0..settings.ranks)
            .map(|peer| Peer {
                outgoing: Producer::new(own_segment.ring(Rank(peer))),
                doorbell: Doorbell::new(&segments[usize::from(peer)].control(), own),
                frames: segments[usize::from(peer)].frames(),
                releases: segments[usize::from(peer)].releases(),
            })
            .collect();
        Ok(Shm {
            own,
            settings,
            releases_bytes: settings.releases_bytes(),
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
            status: Arc::new(own_segment.status()),
            trace: own_segment.trace().map(Arc::new),
            listener: Listener::new(own_segment.control(), own, ranks, Arc::clone(&rings)),
            rings,
            peers,
            processes: Arc::new(Processes::new(own, &segments)),
            segments,
        })
    }

    /// Parses the packet in the slot that was taken last, with these header words, and checks all
    /// of it, because `from` wrote all of it.
    #[inline]
    fn accept(&mut self, from: Rank, head: [u64; 2]) -> Result<Received, LinkViolation> {
        let bad = |what| LinkViolation { from, what };
        let header = match compact::parse(head, from) {
            Ok(header) => header,
            Err(malformed) => return Err(bad(BadFrame::Header(malformed))),
        };
        let kind = compact::payload_kind(head[0]);
        let slot = self.rings.of(from.index()).latest();
        let payload = match header.tag {
            Tag::Credit
            | Tag::ChannelClear
            | Tag::Acknowledge
            | Tag::Nack
            | Tag::Farewell
            | Tag::Recall
            | Tag::Return
            | Tag::Lost => Payload::Empty,
            Tag::FaRequest | Tag::FaReply => {
                Payload::Words([slot.word(0), slot.word(1), slot.word(2)])
            }
            Tag::Ucast | Tag::Mcast => Payload::Buffer(match kind {
                payload_kind::INLINE if usize::from(header.size) <= INLINE_BYTES => {
                    BufferKind::Inbox(self.inbox.insert(slot.payload())).buffer()
                }
                payload_kind::FRAME if u32::from(header.size) <= self.settings.frame_bytes => {
                    let (owner, index) = parse_reference(slot.word(0));
                    if !self.has_frame(owner, index) {
                        return Err(bad(BadFrame::Reference { owner: owner.0, index }));
                    }
                    BufferKind::Peer(owner, index).buffer()
                }
                payload_kind::INLINE | payload_kind::FRAME => {
                    return Err(bad(BadFrame::Size(header.size)));
                }
                unknown => return Err(bad(BadFrame::PayloadKind(unknown))),
            }),
        };
        Ok(Received { header, payload })
    }

    /// True if `owner` is another rank that has a frame `index`.
    #[inline(always)]
    fn has_frame(&self, owner: Rank, index: u32) -> bool {
        let Settings { ranks, frames, .. } = self.settings;
        owner != self.own && owner.0 < ranks && index < frames
    }

    /// Plain packet in the next slot of `peer`, if one is there that is in no frame.
    #[inline(always)]
    fn peek_short_from(&self, peer: usize) -> Option<Plain> {
        let source = Rank(peer as u16);
        let (plain, slot) = self.rings.of(peer).peek_plain(payload_kind::INLINE, source)?;
        let is_short = usize::from(plain.size) <= INLINE_BYTES;
        is_short.then(|| plain_packet(source, plain, slot.bytes()))
    }

    /// Receives the next packet of `source` if it is plain, and in a frame that exists.
    #[inline(never)]
    fn receive_framed(&mut self, source: Rank) -> ReceivedPlain {
        let ring = self.rings.of(source.index());
        if let Some((plain, slot)) = ring.peek_plain(payload_kind::FRAME, source)
            && u32::from(plain.size) <= self.settings.frame_bytes
            && let (owner, index) = parse_reference(slot.word(0))
            && self.has_frame(owner, index)
        {
            ring.advance();
            let bytes = self.peers[owner.index()].frames.at(index);
            return ReceivedPlain::Framed(
                plain_packet(source, plain, bytes),
                BufferKind::Peer(owner, index).buffer(),
            );
        }
        ReceivedPlain::Other
    }

    /// Writes the slot of a packet with its user bytes in `buffer`.
    #[inline]
    fn push_buffer(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let outgoing = &mut self.peers[to.index()].outgoing;
        let size = usize::from(header.size);
        let (owner, frame) = match BufferKind::of(buffer) {
            BufferKind::Own(frame) if size <= INLINE_BYTES => {
                let words = self.frames.words(frame, size);
                return outgoing.push_words(header, payload_kind::INLINE, words);
            }
            BufferKind::Inbox(index) => {
                let words = self.inbox.words(index, size);
                return outgoing.push_words(header, payload_kind::INLINE, words);
            }
            BufferKind::Own(frame) => {
                self.pool.add_reader(frame, to);
                (self.own, frame)
            }
            BufferKind::Peer(owner, frame) => (owner, frame),
            BufferKind::Large(_) => unreachable!("what was detached is not forwarded"),
        };
        let reference = u64::from(owner.0) | u64::from(frame) << 16;
        outgoing.push(header, payload_kind::FRAME, &[reference]);
    }
}

/// Short packets, which are in their slots.
#[derive(Clone, Copy, Debug)]
pub struct InSlots(());

impl ShortPackets<Shm> for InSlots {
    type Glance = Rings;

    fn glance(link: &Shm) -> Arc<Rings> {
        Arc::clone(&link.rings)
    }

    #[inline(always)]
    fn are_taken_by(self, _: &Shm, _: Rank) -> bool {
        true
    }

    #[inline(always)]
    fn transmit(self, link: &mut Shm, to: Rank, header: &Header, bytes: &impl Gather) {
        let peer = &mut link.peers[to.index()];
        peer.outgoing.push_gathered(header, payload_kind::INLINE, bytes);
        peer.doorbell.press();
    }

    #[inline(always)]
    fn peek(self, link: &Shm) -> Option<Plain> {
        link.peek_short_from(link.listener.likely()?)
    }

    #[inline(always)]
    fn take(self, link: &mut Shm, short: &Plain) {
        link.listener.spend_turn();
        link.rings.of(short.source.index()).advance();
    }

    #[inline]
    fn receive(self, link: &mut Shm) -> ReceivedPlain {
        let Some(peer) = link.listener.next() else { return ReceivedPlain::Nothing };
        match link.peek_short_from(peer) {
            Some(plain) => {
                link.rings.of(peer).advance();
                ReceivedPlain::Short(plain)
            }
            None => link.receive_framed(Rank(peer as u16)),
        }
    }

    fn store(self, link: &mut Shm, short: &Plain) -> Buffer {
        let slot = link.rings.of(short.source.index()).latest();
        BufferKind::Inbox(link.inbox.insert(slot.payload())).buffer()
    }
}

impl Link for Shm {
    type Clock = SystemClock;
    type Short = InSlots;
    type Network = NoNetwork;
    type SeparateNi = NoSeparateNi;

    const SHORT: Option<InSlots> = Some(InSlots(()));
    const NETWORK: Option<NoNetwork> = None;
    const NI: Option<NoSeparateNi> = None;

    #[inline]
    fn clock(&self) -> SystemClock {
        SystemClock
    }

    #[inline]
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        let frame = self.pool.alloc()?;
        // Its reader may have had the first line last: it comes while this frame is filled.
        if let Some(next) = self.pool.next() {
            prefetch::for_writing(self.frames.at(next).as_ptr());
        }
        Some(BufferKind::Own(frame).buffer())
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match BufferKind::of(buffer) {
            BufferKind::Own(frame) => self.frames.at(frame),
            BufferKind::Inbox(index) => self.inbox.bytes(index),
            BufferKind::Large(index) => self.inbox.large_bytes(index),
            BufferKind::Peer(owner, frame) => self.peers[owner.index()].frames.at(frame),
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        match payload {
            Payload::Buffer(buffer) => self.push_buffer(to, header, buffer),
            Payload::Words(words) => {
                self.peers[to.index()].outgoing.push(header, payload_kind::INLINE, &words);
            }
            Payload::Empty => {
                self.peers[to.index()].outgoing.push(header, payload_kind::INLINE, &[])
            }
        }
        self.peers[to.index()].doorbell.press();
    }

    #[inline(always)]
    fn flush(&mut self) {}

    #[inline]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let Some(peer) = self.listener.next() else { return Ok(None) };
        let Some((head, _)) = self.rings.of(peer).pop() else { return Ok(None) };
        self.accept(Rank(peer as u16), head).map(Some)
    }

    #[inline]
    fn has_arrivals(&mut self) -> bool {
        self.listener.has_any()
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        match BufferKind::of(buffer) {
            BufferKind::Own(frame) => self.frames.copy_out(frame, into),
            BufferKind::Peer(owner, frame) => {
                self.peers[owner.index()].frames.copy_out(frame, into)
            }
            BufferKind::Large(index) => {
                into.copy_from_slice(&self.inbox.large(index)[..into.len()])
            }
            BufferKind::Inbox(index) => {
                let words = self.inbox.words(index, into.len());
                for (bytes, word) in into.chunks_mut(8).zip(words) {
                    let word = word.load(Ordering::Relaxed).to_ne_bytes();
                    bytes.copy_from_slice(&word[..bytes.len()]);
                }
            }
        }
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        match BufferKind::of(buffer) {
            BufferKind::Own(frame) => self.pool.free(frame),
            BufferKind::Inbox(index) => self.inbox.remove(index),
            BufferKind::Large(index) => self.inbox.remove_large(index),
            BufferKind::Peer(owner, frame) => {
                // Only this rank writes this byte, so a load and a store are enough.
                let owner = &self.peers[owner.index()];
                let first = frame as usize * self.releases_bytes;
                let count = &owner.releases[first + self.own.index()];
                count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
                owner.doorbell.wake_for_frame();
            }
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::new(OwnBells::new(self.segments[self.own.index()].control()))
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        self.listener.arm(waiter, self.pool.is_starved())
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.listener.disarm(waiter);
    }

    fn services(&self) -> Services {
        let own = &self.segments[self.own.index()];
        Services {
            words: Some(Arc::new(Words::new(&self.segments, self.own))),
            shared_memory: Some(Arc::new(ExportedMemory { own: self.own })),
            cross_memory: Some(Arc::clone(&self.processes) as _),
            notice: Some(Arc::clone(&self.status) as _),
            gauge: Some(Arc::new(own.gauge())),
            recorder: self.trace.clone().map(|trace| trace as Arc<dyn Recorder>),
            ..Services::default()
        }
    }

    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        Some(self)
    }

    no_program_memory!();

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        None
    }
}

impl SharedFrames for Shm {
    fn share(&mut self, buffer: Buffer, size: u16, readers: &[Rank]) {
        let BufferKind::Own(frame) = BufferKind::of(buffer) else { return };
        if usize::from(size) > INLINE_BYTES {
            for &reader in readers.iter().filter(|&&reader| reader != self.own) {
                self.pool.add_reader(frame, reader);
            }
        }
    }

    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer {
        let BufferKind::Peer(owner, frame) = BufferKind::of(buffer) else { return buffer };
        let mut copy = vec![0; usize::from(size)].into_boxed_slice();
        self.peers[owner.index()].frames.copy_out(frame, &mut copy);
        self.free(buffer);
        BufferKind::Large(self.inbox.insert_large(copy)).buffer()
    }

    fn forget_reader(&mut self, reader: Rank) {
        if reader.index() < self.segments.len() {
            self.pool.forget_reader(reader);
        }
    }
}

impl LinkPart for Shm {
    #[inline]
    fn is_own(&self, buffer: Buffer) -> bool {
        matches!(BufferKind::of(buffer), BufferKind::Own(_) | BufferKind::Inbox(_))
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        if bytes.len() > INLINE_BYTES {
            let Some(copy) = self.copy_in(bytes) else { return false };
            self.transmit(to, header, Payload::Buffer(copy));
            self.free(copy);
            return true;
        }
        InSlots(()).transmit(self, to, header, &[bytes]);
        true
    }

    fn copy_in(&mut self, bytes: &[u8]) -> Option<Buffer> {
        // Bytes that fit into a slot need no frame.
        let frame = if bytes.len() > INLINE_BYTES { self.pool.alloc() } else { None }?;
        self.frames.copy_in(frame, bytes);
        Some(BufferKind::Own(frame).buffer())
    }
}
