//! One rank's attachment.

mod ending;
mod in_one_piece;

use crate::carrier::{Carried, Carrier};
use crate::endpoint::Endpoint;
use crate::hearing::{Hearing, Heartbeats};
use crate::meeting::Meeting;
use crate::memory::{Address, Place};
use crate::pieces::Pieces;
use crate::transport::Transport;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use weft_datagram::seal::{Keys, Protection, Refusals, Seals};
use weft_datagram::{
    Arrived, Batches, Batching, DatagramBells, Frames, Incoming, OWN, Outgoing, Sent,
};
use weft_link::bell::{Bells, Cause, Loss, Ticket, Waiter};
use weft_link::clock::{Nanoseconds, SystemClock};
use weft_link::memory::{Lending, Lent, Posted, PostedHead, Posting, ZeroCopy};
use weft_link::ni::NoNi;
use weft_link::timer::Timer;
use weft_link::{
    Buffer, Capabilities, Link, LinkViolation, NoShort, Part, PathMtu, Paths, Payload, Received,
    Services, SharedFrames,
};
use weft_wire::{Header, Rank, Tag, envelope, network};

/// Datagrams that are put together before they are handed to the provider.
const WAITING: usize = 64;
/// Offset of a frame's body in its place.
const BODY_START: usize = envelope::SIZE + network::SIZE;
/// Time between two looks of who sleeps where no descriptor says that there is something.
const LOOK_EVERY: Duration = Duration::from_micros(100);
/// Time between two looks where datagrams wait until the provider takes more.
const RETRY_EVERY: Duration = Duration::from_millis(1);
/// Time that the news of a clean end may be behind an error that follows from it.
const NEWS_TAKE: Nanoseconds = 600_000_000;
/// Settings with which a rank attaches.
pub struct FabricSettings<T = Endpoint> {
    /// The endpoint, which knows the addresses of all others.
    pub transport: T,
    /// Descriptor that is readable while something has arrived, if the provider has one.
    pub arrivals: Option<OwnedFd>,
    /// Keys of the job, and this rank's number.
    pub keys: Keys,
    /// Ranks of the job.
    pub ranks: u16,
    /// Bytes of a datagram at most.
    pub datagram_bytes: usize,
    /// Frames for sending.
    pub frames: usize,
    /// Frames for receiving, as many as the receive buffers of the protocol.
    pub receive_frames: usize,
    /// Places that are lent to the provider for arrivals.
    pub posted: usize,
    /// Meeting that goes on telling others where this rank is.
    pub meeting: Option<Meeting>,
    /// Heartbeats, if the protocol has none of its own.
    pub heartbeats: Option<Heartbeats>,
    /// Bells that announce the rank to which a datagram was lost, if the protocol does not send
    /// again: the job's. Their own, if `None`.
    pub announce_by: Option<Arc<dyn Bells>>,
}

/// Counters of a link since it was attached.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counters {
    /// On the way out.
    pub sent: Sent,
    /// On the way in.
    pub arrived: Arrived,
    /// At the provider.
    pub carried: Carried,
    /// Datagrams that arrived and were not from whom they said.
    pub refused: Refusals,
    /// Packets that were sent from the frames in which the program filled them.
    pub in_place: u64,
}

/// A link over a provider of libfabric.
pub struct Fabric<T: Transport = Endpoint> {
    carrier: Carrier<T>,
    seals: Seals,
    capabilities: Capabilities,
    frames: Frames<Place, Address>,
    outgoing: Outgoing<Place>,
    incoming: Incoming<Place>,
    /// Peers that were met, and heard of.
    hearing: Hearing,
    /// Ranks to which a datagram was lost, each with the time at which that was seen.
    suspects: Vec<(Rank, Nanoseconds)>,
    /// Goodbyes that were answered, of those in the order in which they came.
    answered: usize,
    own: Rank,
    ranks: u16,
    in_place: u64,
    arrivals: Arc<OwnedFd>,
    timer: Timer,
    timer_runs: bool,
    has_descriptor: bool,
    bells: Arc<DatagramBells>,
    meeting: Option<Meeting>,
    announce_by: Option<Arc<dyn Bells>>,
}

impl<T: Transport> Fabric<T> {
    /// Attaches to a job.
    ///
    /// # Errors
    /// What the system says about descriptors, or that the settings leave no room for packets.
    pub fn attach(settings: FabricSettings<T>) -> io::Result<Self> {
        let FabricSettings { keys, ranks, datagram_bytes, frames, receive_frames, .. } = settings;
        let own = keys.own();
        let pieces = Pieces::new(&keys);
        let seals = Seals::new(keys, ranks);
        let trailer_bytes = seals.protection().trailer_bytes();
        let max_payload = max_payload(datagram_bytes, trailer_bytes)?;
        let count = usize::from(ranks);
        let mut carrier = Carrier::new(settings.transport, pieces, count, settings.posted);
        let places = carrier.take_frames(frames);
        let places = places
            .ok_or_else(|| io::Error::new(io::ErrorKind::OutOfMemory, "no memory for frames"))?;
        let with_body = |place: Place| {
            let body = place.at(BODY_START, max_payload);
            (place, body)
        };
        let timer = Timer::new()?;
        let has_descriptor = settings.arrivals.is_some();
        let arrivals = Arc::new(one_of(settings.arrivals.as_ref().map(AsFd::as_fd), &timer)?);
        Ok(Fabric {
            carrier,
            seals,
            capabilities: Capabilities {
                max_payload,
                multicast_payload: max_payload,
                inline_payload: 0,
                lossless: true,
                ordered: true,
                multicast: false,
                frames,
                receive_frames,
                host_frames: 0,
                threads: true,
            },
            frames: Frames::new(places.into_iter().map(with_body)),
            outgoing: Outgoing::new(count, WAITING, 0..datagram_bytes, trailer_bytes),
            incoming: Incoming::new(receive_frames, Vec::new()),
            hearing: Hearing::new(count, settings.heartbeats),
            suspects: Vec::new(),
            answered: 0,
            own,
            ranks,
            in_place: 0,
            bells: Arc::new(DatagramBells::new(Arc::clone(&arrivals) as _)?),
            arrivals,
            timer,
            timer_runs: false,
            has_descriptor,
            meeting: settings.meeting,
            announce_by: settings.announce_by,
        })
    }

    /// Counters of this link so far.
    pub fn counters(&self) -> Counters {
        Counters {
            sent: self.outgoing.sent,
            arrived: self.incoming.counters,
            carried: self.carrier.counters,
            refused: *self.seals.refusals(),
            in_place: self.in_place,
        }
    }

    /// A descriptor that is readable while something may have arrived, for who sleeps beside this
    /// link's own bells.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn arrivals(&self) -> io::Result<OwnedFd> {
        self.arrivals.try_clone()
    }

    /// Hands all datagrams to the carrier.
    #[inline]
    fn send_waiting(&mut self) {
        if self.answered < self.incoming.gone.len() {
            self.answer_goodbyes();
        }
        let sends = !self.outgoing.is_empty();
        if sends {
            self.hand_over();
        }
        // What has just left is looked after next time. What sends again by itself has no
        // descriptor, and work that nobody knows of.
        let has_work = !sends && (self.carrier.has_work() || !self.has_descriptor);
        if has_work || self.carrier.is_stuck() {
            self.progress();
        }
        self.reclaim();
    }

    /// Hands what was put together to the carrier.
    #[inline]
    fn hand_over(&mut self) {
        self.outgoing.seal(&mut self.seals);
        while let Some(datagram) = self.outgoing.pop() {
            self.outgoing.sent.datagrams += 1;
            let end = datagram.end();
            self.hearing.sends(datagram.to);
            self.carrier.send(datagram.to, datagram.place, end);
        }
    }

    /// Has the provider work. What arrives meanwhile does not make the descriptor readable any
    /// more.
    #[inline]
    fn progress(&mut self) {
        self.carrier.progress();
        if self.carrier.has_arrived() && self.bells.is_armed() {
            self.bells.ring_armed();
        }
    }

    /// Wakes whoever sleeps and waits for a frame, if a look that found none took what would have
    /// woken it: the provider has to be asked again before one waits for its descriptor.
    #[cold]
    fn wake_if_taken(&mut self) {
        if self.has_descriptor && self.bells.is_armed() && !self.carrier.may_sleep() {
            self.bells.ring_armed();
        }
    }

    #[inline]
    fn reclaim(&mut self) {
        while let Some(place) = self.carrier.returned() {
            let back = self.frames.put_back(place.index(), place);
            debug_assert!(back.is_ok(), "only frames' places are returned");
        }
    }

    /// A packet whose user bytes are in a buffer: sent from there if that is a frame of the
    /// program's, unless other packets can share its datagram, or the frame is on its way to
    /// somebody else, or encryption would change the bytes.
    #[inline]
    fn transmit_buffer(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let size = usize::from(header.size);
        let (frame, is_own) = (buffer.number() as u32, self.incoming.bytes(buffer).is_none());
        // Multicasts go to several from here.
        let alone = header.tag != Tag::Mcast && self.outgoing.fills_one(to, size);
        if is_own
            && alone
            && !self.seals.protection().encrypts()
            && let Some(place) = self.frames.take(frame)
        {
            self.in_place += 1;
            return self.outgoing.put_whole(to, header, place);
        }
        let Fabric { outgoing, carrier, incoming, frames, .. } = self;
        let here = || frames.peek(frame).map(|place| &place[BODY_START..BODY_START + size]);
        let bytes = if is_own { here() } else { incoming.read(buffer, size) };
        let dropped = outgoing.sent.crowded_out;
        match bytes {
            Some(bytes) => outgoing.put(to, header, bytes, || carrier.place()),
            None => {
                let bytes = self.body(frame, size).to_vec();
                return self.put(to, header, &bytes);
            }
        }
        if self.outgoing.sent.crowded_out != dropped {
            self.carrier.fail(to, "no memory is left for datagrams that wait".into());
        }
    }

    /// Body of a frame of the program's, wherever it is.
    fn body(&self, frame: u32, size: usize) -> &[u8] {
        let here = self.frames.peek(frame).or_else(|| self.carrier.sending(frame));
        let mut waiting = self.outgoing.waiting().iter().map(|waits| &waits.place);
        let place = here.or_else(|| waiting.find(|place| place.index() == frame));
        let Some(place) = place else { unreachable!("a frame is here, or on its way") };
        &place[BODY_START..BODY_START + size]
    }

    #[inline]
    fn put(&mut self, to: Rank, header: &Header, body: &[u8]) {
        if self.outgoing.is_full() {
            self.send_waiting();
        }
        let dropped = self.outgoing.sent.crowded_out;
        self.outgoing.put(to, header, body, || self.carrier.place());
        if self.outgoing.sent.crowded_out != dropped {
            self.carrier.fail(to, "no memory is left for datagrams that wait".into());
        }
    }

    /// Says that the job has lost a rank to which a datagram did not get, once it has had the time
    /// to say that it ended in good order.
    #[cold]
    fn look_after_broken(&mut self, now: Nanoseconds) {
        for (rank, _) in &self.carrier.broken {
            if !self.suspects.iter().any(|(suspect, _)| suspect == rank) {
                self.suspects.push((*rank, now));
            }
        }
        let gone = &self.incoming.gone;
        let lost = self.suspects.iter().find(|(suspect, since)| {
            since.saturating_add(NEWS_TAKE) <= now && !gone.contains(suspect)
        });
        let Some((rank, _)) = lost else { return };
        self.announce(*rank, NEWS_TAKE);
    }

    /// Says that the job has lost `rank`, which was not reached for so long.
    fn announce(&self, rank: Rank, silence: Nanoseconds) {
        let tenths = u8::try_from(silence / 100_000_000).unwrap_or(u8::MAX);
        let loss = Loss { rank, cause: Cause::Unreachable(tenths) };
        match &self.announce_by {
            Some(bells) => bells.announce(loss),
            None => self.bells.announce(loss),
        }
    }

    /// Sends the heartbeats that are due, and says who is lost.
    #[cold]
    fn look_after_silent(&mut self, now: Nanoseconds, lost_after: Nanoseconds) {
        // Of what has come, what can be opened without anybody's reading is.
        let is_behind = self.incoming.find(&mut self.carrier, &mut self.seals);
        let Fabric { hearing, incoming, carrier, own, .. } = self;
        let gone = incoming.gone.clone();
        let is_watched =
            |rank: Rank| rank != *own && !gone.contains(&rank) && !carrier.is_broken(rank);
        let look = hearing.look(now, is_behind, is_watched, |rank| incoming.has_come(rank));
        for to in look.due {
            // What waits says as much once it leaves.
            if self.outgoing.is_full() || self.carrier.waits_for(to) {
                continue;
            }
            if let Some(place) = self.carrier.place() {
                self.outgoing.put_heartbeat(to, place);
            }
        }
        self.send_waiting();
        if let Some(rank) = look.lost {
            self.announce(rank, lost_after);
        }
    }

    /// Prepares for sleep: nothing has arrived, and what arrives makes the descriptor readable.
    fn prepare_sleep(&mut self) -> bool {
        // Who sleeps sends nothing.
        self.send_waiting();
        if self.has_arrivals() || self.carrier.pieces.take_news() {
            return false;
        }
        let after = match (self.carrier.is_stuck(), self.has_descriptor) {
            (_, false) => Some(LOOK_EVERY),
            (true, true) => Some(RETRY_EVERY),
            (false, true) => None,
        };
        match after {
            Some(after) => self.timer.set(after),
            None if self.timer_runs => drop(self.timer.take()),
            None => {}
        }
        self.timer_runs = after.is_some();
        !self.has_descriptor || self.carrier.may_sleep()
    }
}

/// User bytes of a packet in a datagram of so many bytes.
fn max_payload(datagram_bytes: usize, trailer_bytes: usize) -> io::Result<usize> {
    let around = envelope::SIZE + network::SIZE + trailer_bytes;
    let most = datagram_bytes.saturating_sub(around) / envelope::ALIGNMENT * envelope::ALIGNMENT;
    if most < envelope::WORDS_BYTES || datagram_bytes > usize::from(u16::MAX) {
        let text = format!("datagrams of {datagram_bytes} bytes cannot carry packets");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(most)
}

/// A descriptor that is readable while one of these is.
fn one_of(arrivals: Option<BorrowedFd<'_>>, timer: &Timer) -> io::Result<OwnedFd> {
    let both = epoll::create(CreateFlags::CLOEXEC)?;
    for each in arrivals.into_iter().chain([timer.as_fd()]) {
        epoll::add(&both, each, EventData::new_u64(0), EventFlags::IN)?;
    }
    Ok(both)
}

impl<T: Transport> Batching for Fabric<T> {
    #[inline]
    fn has_unflushed(&self) -> bool {
        !self.outgoing.is_empty()
    }

    #[inline]
    fn has_buffered(&self) -> bool {
        self.incoming.has_buffered()
    }

    fn own_bells(&self) -> &DatagramBells {
        &self.bells
    }
}

impl<T: Transport> Link for Fabric<T> {
    type Clock = SystemClock;
    type Short = NoShort;
    type Network = Batches;
    type Ni = NoNi;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<Batches> = Some(Batches);
    const NI: Option<NoNi> = None;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        let mut frame = self.frames.alloc();
        if frame.is_none() {
            self.send_waiting();
            self.progress();
            self.reclaim();
            frame = self.frames.alloc();
            if frame.is_none() {
                self.wake_if_taken();
            }
        }
        frame.map(|frame| Buffer::new(OWN, frame.into()))
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match self.incoming.bytes(buffer) {
            Some(bytes) => bytes,
            None => self.frames.body(buffer.number() as u32).0,
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        match payload {
            Payload::Buffer(buffer) => {
                if self.outgoing.is_full() {
                    self.send_waiting();
                }
                self.transmit_buffer(to, header, buffer);
            }
            Payload::Words([first, second]) => {
                let mut bytes = [0; envelope::WORDS_BYTES];
                bytes[..8].copy_from_slice(&first.to_le_bytes());
                bytes[8..].copy_from_slice(&second.to_le_bytes());
                self.put(to, header, &bytes);
            }
            Payload::Empty => self.put(to, header, &[]),
        }
    }

    #[inline]
    fn flush(&mut self) {
        self.send_waiting();
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.incoming.next(&mut self.carrier, &mut self.seals);
        if let Some(received) = &received {
            self.hearing.receives(received.header.source);
        }
        Ok(received)
    }

    fn has_arrivals(&mut self) -> bool {
        self.incoming.find(&mut self.carrier, &mut self.seals)
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        let bytes = match self.incoming.read(buffer, into.len()) {
            Some(bytes) => bytes,
            None => self.body(buffer.number() as u32, into.len()),
        };
        into.copy_from_slice(bytes);
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        if !self.incoming.free(buffer) {
            self.frames.free(buffer.number() as u32);
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::clone(&self.bells) as Arc<dyn Bells>
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        let bells = Arc::clone(&self.bells);
        bells.arm_unless(waiter, || !self.prepare_sleep())
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.bells.arm(waiter, false);
    }

    fn services(&self) -> Services {
        Services::default()
    }

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
        Some(self)
    }

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        Some(self)
    }
}

impl<T: Transport> Paths for Fabric<T> {
    fn payload_to(&self, _: Rank) -> Option<usize> {
        None
    }

    fn is_under_way(&mut self, _: Rank) -> bool {
        false
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        self.progress();
        if let Some(meeting) = &mut self.meeting {
            meeting.take_in();
            meeting.gone().for_each(|rank| self.incoming.note_gone(rank));
        }
        if !self.carrier.broken.is_empty() {
            self.look_after_broken(now);
        }
        if let Some(lost_after) = self.hearing.lost_after() {
            self.look_after_silent(now, lost_after);
        }
        None
    }
}

impl<T: Transport> Part for Fabric<T> {
    fn is_own(&self, _: Buffer) -> bool {
        true
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        self.put(to, header, bytes);
        true
    }

    fn may_sleep(&mut self) -> bool {
        self.prepare_sleep()
    }
}
