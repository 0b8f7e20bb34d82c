//! One rank's attachment to a network of datagrams.

use crate::device::{Device, Queues};
use crate::frames::Frames;
use crate::memory::DatagramPlace;
use crate::seal::{Keys, Refusals, Seals};
use crate::{ArrivalCounters, DatagramBells, OWN, ReceiveQueue, SendQueue, Sent, WayChange};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::{Nanoseconds, SystemClock};
use weft_link::memory::{Lending, Posting, ZeroCopy};
use weft_link::ni::NoSeparateNi;
use weft_link::{
    Buffer, Capabilities, Link, LinkPart, LinkViolation, Network, NoShort, PathMtu, Paths, Payload,
    Received, Services, SharedFrames,
};
use weft_wire::{Header, Rank, Tag, atomic, envelope, network};

/// Datagrams that are put together before the device sends them, at most.
pub const WAITING: usize = 64;

/// Settings with which a rank attaches.
pub struct DatagramSettings {
    /// Keys of the job, and this rank's number.
    pub keys: Keys,
    /// Number of ranks of the job.
    pub ranks: usize,
    /// The part of a place that a datagram may take.
    pub room: Range<usize>,
    /// Bytes that the network puts before a datagram and that its MTU includes.
    pub header_bytes: usize,
    /// True if all datagrams arrive, and in order.
    pub reliable: bool,
    /// Places of the frames that the program fills; their indices follow one another.
    pub frames: Vec<DatagramPlace>,
    /// Frames that readers of received packets may hold at once: as many as the receive buffers of
    /// the protocol, or it finds fewer than it counts on.
    pub receive_frames: usize,
    /// Places for arrivals, one more than that, unless the device brings them.
    pub places: Vec<DatagramPlace>,
    /// Bells that an arrival rings.
    pub bells: Arc<DatagramBells>,
}

/// Counters of a link since it was attached.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counters {
    /// On the way out.
    pub sent: Sent,
    /// On the way in.
    pub arrived: ArrivalCounters,
    /// Datagrams that arrived and were not for us, or not from whom they said, or came before.
    pub refused: Refusals,
}

/// A link whose packets travel in datagrams, through a device.
pub struct DatagramLink<D: Device> {
    device: D,
    queues: Queues,
    frames: Frames,
    /// Offset of a frame's body in its place.
    body: usize,
    /// For a packet that is copied out of the place where it waits.
    scratch: Box<[u8]>,
    capabilities: Capabilities,
    /// Bytes of a datagram at most.
    datagram_bytes: usize,
    header_bytes: usize,
    /// True if the last allocation found no frame.
    starved: bool,
    bells: Arc<DatagramBells>,
}

impl<D: Device> DatagramLink<D> {
    /// Attaches to a job.
    ///
    /// # Errors
    /// The settings leave no room for packets.
    pub fn new(device: D, settings: DatagramSettings) -> io::Result<Self> {
        let DatagramSettings { keys, room, frames, receive_frames, .. } = settings;
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let ranks = u16::try_from(settings.ranks).map_err(|_| invalid("too many ranks".into()))?;
        let seals = Seals::new(keys, ranks);
        let trailer_bytes = seals.protection().trailer_bytes();
        let around = envelope::SIZE + network::SIZE + trailer_bytes;
        let datagram_bytes = room.len();
        let most = datagram_bytes.saturating_sub(around);
        let max_payload = most / envelope::ALIGNMENT * envelope::ALIGNMENT;
        if max_payload < atomic::WORDS_BYTES || datagram_bytes > usize::from(u16::MAX) {
            let text = format!("datagrams of {datagram_bytes} bytes cannot carry packets");
            return Err(invalid(text));
        }
        let body = room.start + envelope::SIZE + network::SIZE;
        Ok(DatagramLink {
            device,
            capabilities: Capabilities {
                max_payload,
                multicast_payload: max_payload,
                inline_payload: 0,
                lossless: settings.reliable,
                ordered: settings.reliable,
                multicast: false,
                frames: frames.len(),
                receive_frames,
                host_frames: 0,
                threads: true,
            },
            queues: Queues {
                outgoing: SendQueue::new(settings.ranks, WAITING, room, trailer_bytes),
                incoming: ReceiveQueue::new(receive_frames, settings.places),
                seals,
            },
            frames: Frames::new(frames, body, max_payload),
            body,
            scratch: vec![0; max_payload].into_boxed_slice(),
            datagram_bytes,
            header_bytes: settings.header_bytes,
            starved: false,
            bells: settings.bells,
        })
    }

    /// Multicasts to ranks with the same number here leave as one datagram from here on, which the
    /// network copies ([`SendQueue::share`]). Not if packets are encrypted.
    #[must_use]
    pub fn sharing(mut self, addresses: Vec<Option<u16>>) -> Self {
        if self.queues.seals.protection().trailer_bytes() == 0 {
            let most = self.queues.outgoing.share(addresses);
            self.capabilities.multicast_payload = most.min(self.capabilities.max_payload);
        }
        self
    }

    /// Packets that are cut into so many frames at most leave as a run
    /// ([`SendQueue::set_most_in_run`]).
    #[must_use]
    pub fn with_runs(mut self, most: usize) -> Self {
        self.queues.outgoing.set_most_in_run(most);
        self
    }

    /// Counters of this link so far.
    pub fn counters(&self) -> Counters {
        let Queues { outgoing, incoming, seals } = &self.queues;
        Counters { sent: outgoing.sent, arrived: incoming.counters, refused: *seals.refusals() }
    }

    /// The way to the network.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// A descriptor that is readable while something may have arrived, for who sleeps beside this
    /// link's own bells.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn arrivals(&self) -> io::Result<OwnedFd> {
        self.bells.arrivals()
    }

    #[inline]
    fn send_waiting(&mut self) {
        let Queues { outgoing, incoming, .. } = &mut self.queues;
        if !incoming.pending_answers.is_answered() {
            outgoing.answer(&mut incoming.pending_answers, || self.device.place());
        }
        let congested = self.device.send(&mut self.queues);
        self.take_back();
        self.bells.set_congested(congested);
    }

    /// Takes frames back whose datagrams have left.
    #[inline]
    fn take_back(&mut self) {
        while let Some(place) = self.device.returned() {
            self.frames.put_back(place);
        }
    }

    #[inline]
    fn put(&mut self, to: Rank, header: &Header, body: &[u8]) {
        let DatagramLink { device, queues, .. } = self;
        if !queues.outgoing.put(to, header, body, || device.place()) {
            device.dropped(to);
        }
    }

    /// A packet whose user bytes are in a buffer: sent from there if that is a frame of the
    /// program's, unless others can share its datagram, be it packets or receivers, or the frame is
    /// on its way to somebody else, or encryption would change the bytes.
    #[inline]
    fn transmit_buffer(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let (size, frame) = (usize::from(header.size), buffer.number() as u32);
        let DatagramLink { device, queues, frames, .. } = self;
        let Queues { outgoing, incoming, seals } = queues;
        let taken = match incoming.read(buffer, size) {
            Some(bytes) => outgoing.put(to, header, bytes, || device.place()),
            None => {
                // Multicasts go to several from here.
                let alone = header.tag != Tag::Mcast && outgoing.fills_one(to, size);
                if D::SENDS_FRAMES
                    && alone
                    && !seals.protection().encrypts()
                    && !outgoing.is_full()
                    && let Some(place) = frames.take(frame)
                {
                    return outgoing.put_whole(to, header, place);
                }
                let Some(place) = frames.peek(frame) else {
                    return self.transmit_again(to, header, frame);
                };
                let bytes = &place[self.body..self.body + size];
                outgoing.put(to, header, bytes, || device.place())
            }
        };
        if !taken {
            device.dropped(to);
        }
    }

    /// A packet whose user bytes are in a frame that is on its way to somebody else.
    fn transmit_again(&mut self, to: Rank, header: &Header, frame: u32) {
        let size = usize::from(header.size);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch[..size].copy_from_slice(self.frame(frame, size));
        self.put(to, header, &scratch[..size]);
        self.scratch = scratch;
    }

    /// First bytes of a frame of the program's, wherever it is.
    fn frame(&self, frame: u32, size: usize) -> &[u8] {
        let index = self.frames.index(frame);
        let here = self.frames.peek(frame).or_else(|| self.device.sending(index));
        let mut waiting = self.queues.outgoing.waiting().iter().map(|waits| &waits.place);
        let place = here.or_else(|| waiting.find(|place| place.index() == index));
        let Some(place) = place else { unreachable!("a frame is here, or on its way") };
        &place[self.body..self.body + size]
    }

    /// Prepares for sleep: true if nothing has arrived, and what arrives makes the descriptor
    /// readable.
    fn prepare_sleep(&mut self) -> bool {
        // A sleeping rank sends nothing.
        self.flush();
        if self.wants_room() {
            self.bells.set_congested(true);
        }
        let found = self.has_arrivals();
        // The frame may have been a probe, or a goodbye.
        if !self.queues.incoming.pending_answers.is_answered() {
            self.flush();
        }
        !found && self.device.may_sleep()
    }
}

impl<D: Device> Drop for DatagramLink<D> {
    fn drop(&mut self) {
        self.device.leave(&mut self.queues);
    }
}

impl<D: Device> Link for DatagramLink<D> {
    type Clock = SystemClock;
    type Short = NoShort;
    type Network = Batches;
    type SeparateNi = NoSeparateNi;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<Batches> = Some(Batches);
    const NI: Option<NoSeparateNi> = None;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        let mut frame = self.frames.alloc();
        if D::SENDS_FRAMES && frame.is_none() {
            self.send_waiting();
            self.device.starve();
            self.take_back();
            frame = self.frames.alloc();
        }
        self.starved = frame.is_none();
        frame.map(|frame| Buffer::new(OWN, frame.into()))
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match self.queues.incoming.bytes(buffer) {
            Some(bytes) => bytes,
            None => self.frames.body(buffer.number() as u32),
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        if self.queues.outgoing.is_full() {
            self.send_waiting();
        }
        match payload {
            Payload::Buffer(buffer) => self.transmit_buffer(to, header, buffer),
            Payload::Words(words) => {
                let bytes = &atomic::to_bytes(words)[..envelope::body_bytes(header)];
                self.put(to, header, bytes);
            }
            Payload::Empty => self.put(to, header, &[]),
        }
    }

    #[inline]
    fn flush(&mut self) {
        let Queues { outgoing, incoming, .. } = &self.queues;
        if !outgoing.is_empty() || !incoming.pending_answers.is_answered() || self.device.has_work()
        {
            self.send_waiting();
        }
    }

    #[inline(always)]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let Queues { incoming, seals, .. } = &mut self.queues;
        let received = incoming.next(&mut self.device, seals);
        if let Some(received) = &received {
            self.device.received(received.header.source);
        }
        Ok(received)
    }

    fn has_arrivals(&mut self) -> bool {
        let Queues { incoming, seals, .. } = &mut self.queues;
        incoming.find(&mut self.device, seals)
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        let bytes = match self.queues.incoming.read(buffer, into.len()) {
            Some(bytes) => bytes,
            None => self.frame(buffer.number() as u32, into.len()),
        };
        into.copy_from_slice(bytes);
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        if !self.queues.incoming.free(buffer) {
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
        self.device.in_one_piece().map(|memory| memory as _)
    }

    fn posting(&mut self) -> Option<&mut dyn Posting> {
        self.device.in_one_piece().map(|memory| memory as _)
    }

    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy> {
        self.device.in_one_piece().map(|memory| memory as _)
    }

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        Some(self)
    }
}

/// Flushes and timers of a link whose datagrams wait for a flush, and come several at a time.
#[derive(Clone, Copy, Debug)]
pub struct Batches;

impl<D: Device> Network<DatagramLink<D>> for Batches {
    #[inline]
    fn has_unflushed(self, link: &DatagramLink<D>) -> bool {
        !link.queues.outgoing.is_empty()
    }

    #[inline]
    fn has_buffered(self, link: &DatagramLink<D>) -> bool {
        link.queues.incoming.has_buffered()
    }

    fn ring_upcall_within(
        self,
        link: &mut DatagramLink<D>,
        after: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        Some(link.bells.ring_upcall_within(after))
    }
}

impl<D: Device> Paths for DatagramLink<D> {
    fn payload_to(&self, _: Rank) -> Option<usize> {
        None
    }

    fn is_under_way(&mut self, _: Rank) -> bool {
        false
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        let change = self.device.tend(&mut self.queues, now);
        self.send_waiting();
        let job = self.datagram_bytes + self.header_bytes;
        change.map(|change| match change {
            WayChange::Narrow { to, most } => PathMtu { to, mtu: most + self.header_bytes, job },
            WayChange::Wide { to } => PathMtu { to, mtu: job, job },
        })
    }
}

impl<D: Device> LinkPart for DatagramLink<D> {
    fn is_own(&self, _: Buffer) -> bool {
        true
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        if self.queues.outgoing.is_full() {
            self.send_waiting();
        }
        self.put(to, header, bytes);
        true
    }

    fn most_payload_at_once(&self) -> usize {
        self.queues.outgoing.most_payload_in_run(self.capabilities.max_payload)
    }

    /// Nothing rings when a system has given a place back that it had to send: a ring that has room
    /// says so all the time, so that whoever needs a frame looks again and again.
    fn wants_room(&self) -> bool {
        self.bells.is_congested() || self.starved && self.device.has_work()
    }

    fn may_sleep(&mut self) -> bool {
        self.prepare_sleep()
    }
}
