//! The way of each packet.

use crate::arrivals::{Arrivals, LISTENER, READER, UNKNOWN};
use crate::frames::Frames;
use crate::questions::Questions;
use crate::record::{Expected, HEAD_BYTES, PAYLOAD_MAX};
use crate::runs::{RunSettings, Runs};
use crate::ways::{WAY, Ways};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::io;
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use weft_datagram::seal::{Keys, Protection, Refusals, Seals, Secret};
use weft_datagram::{OWN, ReceiveQueue};
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::Nanoseconds;
use weft_link::memory::{Lending, LentMemory, Posted, PostedHead, Posting, ZeroCopy};
use weft_link::ni::NoSeparateNi;
use weft_link::wrap::{Through, through};
use weft_link::{
    Buffer, Capabilities, Layer, Link, LinkPart, LinkViolation, Network, NoShort, PathMtu, Paths,
    Payload, Received, Services, SharedFrames, TURN, has_unflushed,
};
use weft_wire::{Follows, Header, Rank, atomic, envelope, path};

mod memory;
mod receiving;

use receiving::Ahead;

/// Marks events of the link for runs.
const RUNS: u64 = 4 << 32;
/// Events that the set tells at once.
const EVENTS: usize = 64;
/// Pieces of a packet at most: fewer than datagrams that may wait at once (64).
const PIECES_MAX: usize = 48;
/// Bytes that do not wait for a flush, two long packets: the receiver reads them while the next
/// are filled.
const FLUSH_BYTES: usize = 96 << 10;
/// Bytes that do not wait for a flush where frames have lent memory, which takes no time to fill.
const LENT_FLUSH_BYTES: usize = 256 << 10;
/// Purpose of the secret from which records have their keys.
const RECORDS: &str = "Weft, records over TCP between two ranks, version 1";

/// Settings with which a rank attaches.
#[derive(Debug)]
pub struct BulkSettings {
    /// Bound and listening already.
    pub listener: TcpListener,
    /// Addresses at which all ranks listen, by rank.
    pub peers: Vec<SocketAddr>,
    /// Keys for records ([`keys`]).
    pub keys: Keys,
    /// Frames to send from.
    pub frames: u32,
    /// Packets that readers may hold at once.
    pub receive_frames: usize,
    /// A link beside the far one for packets of several datagrams.
    pub runs: Option<RunSettings>,
}

/// Keys for records of rank `own` in a job with this secret.
pub fn keys(secret: &Secret, job: u32, own: Rank, protection: Protection) -> Keys {
    Keys::new(secret.derive(RECORDS), job, own, protection)
}

/// Counters of a link since it was attached.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counters {
    /// Packets that went over connections.
    pub packets: u64,
    /// Long packets that went by datagram, in pieces.
    pub pieces: u64,
    /// Packets that went as runs of datagrams.
    pub runs: u64,
    /// Packets that came by the link for runs.
    pub arrived_runs: u64,
    /// Connections begun.
    pub begun: u64,
    /// Connections that broke, or never came about.
    pub broken: u64,
    /// Records that came.
    pub records: u64,
    /// Records that were lost for want of a place.
    pub dropped: u64,
    /// Connections of others refused.
    pub refused_connections: u64,
    /// Records refused.
    pub refused: Refusals,
}

/// A link for long packets around one that sends datagrams.
pub struct Bulk<F: LinkPart> {
    far: F,
    capabilities: Capabilities,
    frames: Frames,
    runs: Runs,
    ways: Ways,
    arrivals: Arrivals,
    incoming: ReceiveQueue<Box<[u8]>>,
    seals: Seals,
    epoll: Arc<OwnedFd>,
    trailer_bytes: usize,
    questions: Questions,
    /// Bytes handed to connections since the last flush.
    unflushed: usize,
    /// Packets of the far link that came while a record waited.
    passed_over: u32,
    /// Packets that wait for those before them.
    ahead: Ahead,
    counters: Counters,
}

impl<F: LinkPart> Bulk<F> {
    /// Attaches to a job, around its link `far`.
    ///
    /// # Errors
    /// What the system says.
    pub fn attach(far: F, settings: BulkSettings) -> io::Result<Self> {
        let BulkSettings { listener, peers, keys, frames, receive_frames, runs } = settings;
        let ranks = u16::try_from(peers.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "too many ranks"))?;
        let (own, job) = (keys.own(), keys.job());
        let seals = Seals::new(keys, ranks);
        let trailer_bytes = seals.protection().trailer_bytes();
        let epoll = Arc::new(epoll::create(CreateFlags::CLOEXEC)?);
        let runs = Runs::new(runs, |arrivals| {
            Ok(epoll::add(&epoll, arrivals, EventData::new_u64(RUNS), EventFlags::IN)?)
        })?;
        let expected = Expected { job, source: None, own, trailer_bytes };
        let outside = *far.capabilities();
        let places = receive_frames + 1;
        Ok(Bulk {
            capabilities: Capabilities {
                max_payload: max_payload(outside.max_payload),
                inline_payload: 0,
                ordered: false,
                frames: frames as usize,
                ..outside
            },
            frames: Frames::new(frames)?,
            runs,
            ways: Ways::new(peers, own, outside.max_payload),
            arrivals: Arrivals::new(Arc::clone(&epoll), listener, expected, ranks.into(), places)?,
            incoming: ReceiveQueue::new(receive_frames, Vec::new()),
            seals,
            epoll,
            trailer_bytes,
            questions: Questions::default(),
            unflushed: 0,
            passed_over: 0,
            ahead: Ahead::default(),
            counters: Counters::default(),
            far,
        })
    }

    /// The link that sends datagrams.
    pub fn far(&self) -> &F {
        &self.far
    }

    /// Counters of this link so far.
    pub fn counters(&self) -> Counters {
        let Bulk { ways, arrivals, incoming, seals, .. } = self;
        Counters {
            begun: ways.begun,
            broken: ways.broken,
            records: incoming.counters.datagrams,
            dropped: arrivals.dropped + incoming.counters.without_frame,
            refused_connections: arrivals.refused,
            refused: *seals.refusals(),
            ..self.counters
        }
    }

    /// Hands a packet to the far link.
    #[inline]
    fn transmit_far(&mut self, to: Rank, header: &Header, payload: Payload) {
        let Payload::Buffer(buffer) = payload else {
            return self.far.transmit(to, header, payload);
        };
        let size = usize::from(header.size);
        let bytes = match Side::of(buffer) {
            Side::Far(buffer) => {
                return self.far.transmit(to, header, Payload::Buffer(buffer));
            }
            Side::Own(frame) => self.frames.settled(frame, size),
            Side::Received(buffer) => received(&self.incoming, buffer, size),
            Side::Run(_) => return self.pass_on_run(to, header, buffer),
        };
        // What a link that may lose has no frame for is lost, and sent again.
        let _ = self.far.transmit_copy(to, header, bytes);
    }

    /// Hands a packet that came as a run to the far link.
    #[cold]
    #[inline(never)]
    fn pass_on_run(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let mut copy = Vec::new();
        let size = header.size.into();
        let bytes = Side::of(buffer).copied(&self.far, &self.runs, size, &mut copy);
        let _ = self.far.transmit_copy(to, header, bytes);
    }

    /// Sends a packet as a run.
    fn transmit_run(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let size = usize::from(header.size);
        if has_unflushed(&self.far) {
            // Packets that were sent there by datagram are not to be overtaken.
            self.far.flush();
        }
        let Bulk { far, frames, incoming, runs, .. } = self;
        let mut copy = Vec::new();
        let bytes = match Side::of(buffer) {
            Side::Own(frame) => frames.settled(frame, size),
            Side::Received(buffer) => received(incoming, buffer, size),
            other => other.copied(far, runs, size, &mut copy),
        };
        runs.send(to, header, bytes);
    }

    /// A packet that is long, or to a rank to which others went by another way than datagrams.
    #[inline(never)]
    fn transmit_slowly(&mut self, to: Rank, header: &Header, payload: Payload) {
        if header.follows == Follows::Nothing {
            return self.transmit_far(to, header, payload);
        }
        if self.ways.hear(to, header.follows) {
            self.ways.give_up(to, &mut self.frames);
        }
        let is_long = usize::from(header.size) > self.far.capabilities().max_payload;
        if !is_long && !self.ways.has_records(to) {
            let header = self.ways.number(to, header);
            return self.transmit_far(to, &header, payload);
        }
        let size = usize::from(header.size);
        let by_far = size <= self.far.most_payload_at_once();
        if is_long
            && (by_far || size <= self.runs.most())
            && let Payload::Buffer(buffer) = payload
            && self.ways.may_run(to, header.follows)
        {
            self.counters.runs += 1;
            if by_far {
                let header = self.ways.number_among(to, header);
                return self.transmit_far(to, &header, payload);
            }
            let header = self.ways.number(to, header);
            return self.transmit_run(to, &header, buffer);
        }
        self.transmit_by_record(to, header, payload, is_long);
    }

    /// A packet that goes by connection, or in pieces if there is none.
    fn transmit_by_record(&mut self, to: Rank, header: &Header, payload: Payload, is_long: bool) {
        let size = usize::from(header.size);
        let begins = !self.ways.is_by_record(to);
        if !self.ways.connect(to, self.epoll.as_fd(), &mut self.seals) {
            self.counters.pieces += u64::from(is_long);
            let header = self.ways.number_among(to, header);
            return self.transmit_far(to, &header, payload);
        }
        let header = &self.ways.number(to, header);
        let Bulk { far, frames, runs, ways, incoming, trailer_bytes, .. } = self;
        let Some(connection) = ways.connection(to) else { return };
        let queued = match payload {
            Payload::Buffer(buffer) => match Side::of(buffer) {
                Side::Own(frame)
                    if is_long && *trailer_bytes == 0 && frames.queue(frame, header.size) =>
                {
                    connection.push_frame(frame, header, frames);
                    true
                }
                Side::Own(frame) => {
                    frames.memory.settle(frame);
                    connection.push_copy(header, frames.memory.body(frame, size), *trailer_bytes)
                }
                Side::Received(buffer) => {
                    let bytes = incoming.read(buffer, size);
                    bytes.is_some_and(|bytes| connection.push_copy(header, bytes, *trailer_bytes))
                }
                other => {
                    let mut copy = Vec::new();
                    let bytes = other.copied(far, runs, size, &mut copy);
                    connection.push_copy(header, bytes, *trailer_bytes)
                }
            },
            Payload::Words(words) => {
                let bytes = &atomic::to_bytes(words)[..envelope::body_bytes(header)];
                connection.push_copy(header, bytes, *trailer_bytes)
            }
            Payload::Empty => connection.push_copy(header, &[], *trailer_bytes),
        };
        if queued {
            self.went(to, size, begins);
        }
    }

    /// A packet waits for the connection to `to`.
    fn went(&mut self, to: Rank, size: usize, begins: bool) {
        self.counters.packets += 1;
        self.ways.went(to);
        if begins {
            // Packets that were sent there by datagram are not to be overtaken.
            self.far.flush();
        }
        self.unflushed += size;
        let most = if self.frames.memory.any_lent() { LENT_FLUSH_BYTES } else { FLUSH_BYTES };
        if self.unflushed >= most {
            self.flush_connections(true);
        }
    }

    #[inline]
    fn flush_connections(&mut self, more: bool) {
        self.unflushed = 0;
        self.ways.flush(more, self.epoll.as_fd(), &mut self.frames, &mut self.seals);
    }
}

/// User bytes of a packet at most, where datagrams hold `datagram` bytes: it must be possible to
/// send it in pieces.
fn max_payload(datagram: usize) -> usize {
    let pieces = PIECES_MAX * datagram.saturating_sub(path::SIZE) / 64 * 64;
    pieces.clamp(datagram, PAYLOAD_MAX.max(datagram))
}

/// Buffer of a frame to send from.
fn own(frame: u32) -> Buffer {
    Buffer::new(OWN, frame.into()).marked(Layer::Bulk)
}

/// Owner of a buffer.
enum Side {
    Far(Buffer),
    /// Frame to send from.
    Own(u32),
    /// Packet in a record.
    Received(Buffer),
    /// Packet that came as a run.
    Run(Buffer),
}

/// Bytes of a packet in a record.
fn received(incoming: &ReceiveQueue<Box<[u8]>>, buffer: Buffer, size: usize) -> &[u8] {
    match incoming.read(buffer, size) {
        Some(bytes) => bytes,
        None => unreachable!("a buffer that was received is in a place"),
    }
}

impl Side {
    /// Bytes of a buffer of another link, in `copy`.
    #[cold]
    fn copied<'a>(
        self,
        far: &impl LinkPart,
        runs: &Runs,
        size: usize,
        copy: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        copy.resize(size, 0);
        match self {
            Side::Far(buffer) => far.copy_out(buffer, copy),
            Side::Run(buffer) => runs.link().copy_out(buffer, copy),
            _ => unreachable!("what is this link's own is read where it is"),
        }
        copy
    }

    #[inline]
    fn of(buffer: Buffer) -> Self {
        match (buffer.unmarked(Layer::Bulk), buffer.unmarked(Layer::Runs)) {
            (Some(own), _) if own.kind() == OWN => Side::Own(own.number() as u32),
            (Some(received), _) => Side::Received(received),
            (None, Some(run)) => Side::Run(run),
            (None, None) => Side::Far(buffer),
        }
    }
}

impl<F: LinkPart> Network<Bulk<F>> for Through<F::Network> {
    #[inline]
    fn has_unflushed(self, link: &Bulk<F>) -> bool {
        self.0.has_unflushed(&link.far) || link.ways.has_unflushed()
    }

    #[inline]
    fn has_buffered(self, link: &Bulk<F>) -> bool {
        self.0.has_buffered(&link.far) || link.incoming.has_buffered() || link.ahead.any()
    }

    fn ring_upcall_within(
        self,
        link: &mut Bulk<F>,
        after: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        self.0.ring_upcall_within(&mut link.far, after)
    }
}

impl<F: LinkPart> Link for Bulk<F> {
    type Clock = F::Clock;
    type Short = NoShort;
    type Network = Through<F::Network>;
    type SeparateNi = NoSeparateNi;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<Through<F::Network>> = through(F::NETWORK);
    const NI: Option<NoSeparateNi> = None;

    fn clock(&self) -> F::Clock {
        self.far.clock()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        self.frames.alloc().map(own)
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match Side::of(buffer) {
            Side::Far(buffer) => self.far.bytes(buffer),
            Side::Own(frame) => self.frames.memory.address(frame),
            Side::Received(buffer) => match self.incoming.bytes(buffer) {
                Some(address) => address,
                None => unreachable!("a buffer that was received is in a place"),
            },
            Side::Run(buffer) => self.runs.link().bytes(buffer),
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        if i32::from(header.size) <= self.ways.datagram_most(to) {
            self.transmit_far(to, header, payload);
        } else {
            self.transmit_slowly(to, header, payload);
        }
    }

    #[inline]
    fn flush(&mut self) {
        self.far.flush();
        self.flush_connections(false);
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        self.receive_next()
    }

    fn has_arrivals(&mut self) -> bool {
        // Whoever asks goes to sleep, perhaps: then the set is asked first afterwards.
        self.questions.hasten();
        self.ahead.any()
            || self.far.has_arrivals()
            || self.incoming.has_buffered()
            || self.arrivals.is_busy() && self.incoming.find(&mut self.arrivals, &mut self.seals)
            || self.runs.has_arrivals()
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        match Side::of(buffer) {
            Side::Far(buffer) => self.far.copy_out(buffer, into),
            Side::Own(frame) => {
                let [own, lent] = self.frames.memory.parts(frame, HEAD_BYTES + into.len());
                // What is lent follows what the frame has; either may be more than is wanted.
                let own = &own[HEAD_BYTES..];
                let (head, tail) = into.split_at_mut(own.len().min(into.len()));
                head.copy_from_slice(&own[..head.len()]);
                tail.copy_from_slice(&lent[..tail.len()]);
            }
            Side::Received(buffer) => {
                into.copy_from_slice(received(&self.incoming, buffer, into.len()));
            }
            Side::Run(buffer) => self.runs.link().copy_out(buffer, into),
        }
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        match Side::of(buffer) {
            Side::Far(buffer) => self.far.free(buffer),
            Side::Own(frame) => self.frames.free(frame),
            Side::Received(buffer) => {
                self.incoming.free(buffer);
            }
            Side::Run(buffer) => self.runs.free(buffer),
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        self.far.bells()
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        self.flush_connections(false);
        self.far.arm(waiter)
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.far.disarm(waiter);
    }

    fn services(&self) -> Services {
        self.far.services()
    }

    /// No frame of this link is read elsewhere, and the far link's are copied.
    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        None
    }

    fn lending(&mut self) -> Option<&mut dyn Lending> {
        Some(self)
    }

    fn posting(&mut self) -> Option<&mut dyn Posting> {
        Some(self)
    }

    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy> {
        None
    }

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        Some(self)
    }
}

impl<F: LinkPart> Paths for Bulk<F> {
    fn payload_to(&self, _: Rank) -> Option<usize> {
        None
    }

    fn is_under_way(&mut self, to: Rank) -> bool {
        self.ways.is_under_way(to)
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        self.arrivals.tend(now);
        self.ways.tend(now, &mut self.frames);
        self.runs.tend(now);
        self.look_around();
        self.flush_connections(false);
        self.far.paths()?.tend(now)
    }
}

impl<F: LinkPart> LinkPart for Bulk<F> {
    fn is_own(&self, _: Buffer) -> bool {
        true
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        if i32::from(header.size) <= self.ways.datagram_most(to) {
            return self.far.transmit_copy(to, header, bytes);
        }
        let Some(frame) = self.frames.take() else { return false };
        self.frames.memory.body_mut(frame, bytes.len()).copy_from_slice(bytes);
        self.transmit_slowly(to, header, Payload::Buffer(own(frame)));
        self.frames.free(frame);
        true
    }

    fn wants_room(&self) -> bool {
        self.far.wants_room()
    }

    fn more_arrivals(&self) -> Option<io::Result<OwnedFd>> {
        Some(self.epoll.try_clone())
    }
}
