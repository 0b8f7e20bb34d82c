//! Choice of the link for each packet.

use crate::bridge::Bridge;
use crate::memory::Routed;
use crate::short::NearShort;
use crate::turns::Turns;
use crate::waiting::Waiting;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::memory::{Lending, Posting, ZeroCopy};
use weft_link::ni::NoSeparateNi;
use weft_link::wrap::{Through, head_of, through};
use weft_link::{
    BadFrame, Buffer, Capabilities, Layer, Link, LinkPart, LinkViolation, Paths, Payload, Plain,
    Received, Services, SharedFrames, has_buffered,
};
use weft_trace::{PacketEvent, PollRecorder, Recorder, What};
use weft_wire::{Header, Rank};

/// The ranks that are near.
#[derive(Clone, Debug)]
pub struct Near {
    /// All ranks of the near link in the order of their numbers there, this one included.
    pub ranks: Vec<Rank>,
    /// True if packets to them go over the near link; if not, its bells alone are used.
    pub carries: bool,
}

impl Near {
    /// True if programs fill frames of the far link, because nobody reads any of the near one.
    fn fills_far(&self) -> bool {
        !self.carries || self.ranks.len() == 1
    }

    /// The only rank of a job of `ranks` to which packets of `own` go over the far link, if it is
    /// one.
    pub fn only_far(&self, own: Rank, ranks: u16) -> Option<Rank> {
        let is_near = |rank: &Rank| self.carries && self.ranks.contains(rank);
        let mut far = (0..ranks).map(Rank).filter(|rank| *rank != own && !is_near(rank));
        far.next().filter(|_| far.next().is_none())
    }
}

/// A link made of two.
pub struct Mixed<N: Link, F: Link> {
    pub(crate) near: N,
    pub(crate) far: F,
    capabilities: Capabilities,
    /// By number at the near link.
    near_ranks: Vec<Rank>,
    /// By rank: its number at the near link, if packets to it go over that.
    routes: Vec<Option<Rank>>,
    /// True if programs fill frames of the far link, also for packets to nobody in particular.
    fills_far: bool,
    pub(crate) waiting: Waiting,
    /// A far buffer that is being passed on to near ranks, and its copy in near memory.
    passed_on: Option<(Buffer, Buffer)>,
    /// Scratch space for the bytes of packets that cross from one memory to the other.
    scratch: Box<[u8]>,
    pub(crate) turns: Turns,
    pub(crate) bridge: Bridge,
    /// Writes down every packet, if the run is traced.
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
}

/// A buffer of one of the two.
pub(crate) enum Side {
    Near(Buffer),
    Far(Buffer),
}

impl Side {
    #[inline]
    pub fn of(buffer: Buffer) -> Self {
        match buffer.unmarked(Layer::Far) {
            None => Side::Near(buffer),
            Some(far) => Side::Far(far),
        }
    }
}

#[inline]
pub(crate) fn far_buffer(buffer: Buffer) -> Buffer {
    buffer.marked(Layer::Far)
}

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> Mixed<N, F> {
    /// A link for a job of `ranks` ranks. `near_ranks` says who is near; `arrivals` is readable
    /// while something waits at the far link.
    ///
    /// # Errors
    /// What the system says about starting the thread that waits for `arrivals`.
    ///
    /// # Panics
    /// If a near rank is none of the job's.
    pub fn new(
        near: N,
        near_ranks: Near,
        far: F,
        arrivals: OwnedFd,
        ranks: u16,
    ) -> io::Result<Self> {
        let fills_far = near_ranks.fills_far();
        let Near { ranks: near_ranks, carries } = near_ranks;
        let mut routes = vec![None; usize::from(ranks)];
        if carries {
            for (number, rank) in (0..).map(Rank).zip(&near_ranks) {
                routes[rank.index()] = Some(number);
            }
        }
        let (inside, outside) = (*near.capabilities(), *far.capabilities());
        let max_payload = match fills_far {
            true => outside.max_payload,
            false => inside.max_payload.min(outside.max_payload),
        };
        let capabilities = Capabilities {
            max_payload,
            multicast_payload: outside.multicast_payload.min(max_payload),
            inline_payload: 0,
            ordered: false,
            multicast: false,
            frames: if fills_far { outside.frames } else { inside.frames },
            ..outside
        };
        let others = if carries { near_ranks.len() - 1 } else { 0 };
        let turns = Turns::new(others, usize::from(ranks) - 1 - others);
        let more = far.more_arrivals().transpose()?;
        let recorder = near.services().recorder;
        Ok(Mixed {
            bridge: Bridge::start(arrivals, more, near.bells())?,
            recorder: recorder.map(|recorder| Arc::new(PollRecorder::new(recorder)) as Arc<_>),
            scratch: vec![0; max_payload].into_boxed_slice(),
            near,
            far,
            capabilities,
            near_ranks,
            routes,
            fills_far,
            waiting: Waiting::default(),
            passed_on: None,
            turns,
        })
    }

    /// The ranks to which packets go over the near link, this one left out if it is `own`.
    pub fn near_peers(&self, own: Rank) -> Vec<Rank> {
        let near = self.near_ranks.iter().copied();
        near.filter(|rank| *rank != own && self.routes[rank.index()].is_some()).collect()
    }

    /// The far link.
    pub fn far(&self) -> &F {
        &self.far
    }

    /// True if packets to this rank go over the far link.
    pub(crate) fn goes_far(&self, rank: Rank) -> bool {
        self.routes.get(rank.index()).is_some_and(Option::is_none)
    }

    /// Number at the near link of a rank to which packets go over that.
    #[inline]
    pub(crate) fn number(&self, rank: Rank) -> Option<Rank> {
        self.routes.get(rank.index()).copied().flatten()
    }

    /// A packet of the near link, whose source has a number of the job here.
    #[inline]
    pub(crate) fn of_job(&self, plain: Plain) -> Plain {
        Plain { source: self.near_ranks[plain.source.index()], ..plain }
    }

    /// That packet as the near link has it.
    #[inline]
    pub(crate) fn of_near(&self, plain: &Plain) -> Plain {
        Plain { source: self.number(plain.source).unwrap_or(plain.source), ..*plain }
    }

    #[inline]
    fn transmit_far(&mut self, to: Rank, header: &Header, payload: Payload) {
        let size = usize::from(header.size);
        match payload {
            Payload::Buffer(buffer) => match Side::of(buffer) {
                Side::Far(buffer) => self.far.transmit(to, header, Payload::Buffer(buffer)),
                Side::Near(buffer) => {
                    let bytes = &mut self.scratch[..size];
                    self.near.copy_out(buffer, bytes);
                    let taken = self.far.transmit_copy(to, header, bytes);
                    // What a link that may lose has no frame for is lost, and sent again.
                    let _ = taken;
                }
            },
            other => self.far.transmit(to, header, other),
        }
    }

    #[inline]
    fn transmit_near(&mut self, to: Rank, header: &Header, payload: Payload) {
        self.waiting.retry(&mut self.near);
        match payload {
            Payload::Buffer(buffer) => self.transmit_near_buffer(to, header, buffer),
            other if self.waiting.is_empty() => self.near.transmit(to, header, other),
            other => self.waiting.push(to, header, other),
        }
    }

    fn transmit_near_buffer(&mut self, to: Rank, header: &Header, buffer: Buffer) {
        let side = Side::of(buffer);
        if let Side::Near(own) = side
            && self.waiting.is_empty()
            && self.near.is_own(own)
        {
            self.near.transmit(to, header, Payload::Buffer(own));
            return;
        }
        if let Side::Far(far) = side
            && self.waiting.is_empty()
            && let Some(copy) = self.near_copy(far, header.size)
        {
            self.near.transmit(to, header, Payload::Buffer(copy));
            return;
        }
        let bytes = &mut self.scratch[..usize::from(header.size)];
        match side {
            Side::Near(buffer) => self.near.copy_out(buffer, bytes),
            Side::Far(buffer) => self.far.copy_out(buffer, bytes),
        }
        if !self.waiting.is_empty() || !self.near.transmit_copy(to, header, bytes) {
            self.waiting.push_bytes(to, header, bytes);
        }
    }

    /// A far buffer's copy in near memory: one for all near ranks that it is passed on to before
    /// the next flush.
    fn near_copy(&mut self, far: Buffer, size: u16) -> Option<Buffer> {
        if let Some((_, copy)) = self.passed_on.filter(|(passed_on, _)| *passed_on == far) {
            return Some(copy);
        }
        self.drop_copy();
        let bytes = &mut self.scratch[..usize::from(size)];
        self.far.copy_out(far, bytes);
        let copy = self.near.copy_in(bytes)?;
        self.passed_on = Some((far, copy));
        Some(copy)
    }

    #[inline]
    fn drop_copy(&mut self) {
        if let Some((_, copy)) = self.passed_on.take() {
            self.near.free(copy);
        }
    }

    /// The next packet, and which link is to have its turn first.
    fn receive_either(&mut self) -> Result<Option<Received>, LinkViolation> {
        if !self.turns.has_near() {
            return self.receive_far();
        }
        self.waiting.retry(&mut self.near);
        if self.turns.is_far(has_buffered(&self.far))
            && let Some(received) = self.receive_far()?
        {
            return Ok(Some(received));
        }
        match self.receive_near()? {
            Some(received) => Ok(Some(received)),
            None if self.turns.leaves_far() => Ok(None),
            None => self.receive_far(),
        }
    }

    /// Writes this down, if the run is traced.
    #[inline]
    pub(crate) fn record(&self, what: impl FnOnce() -> What) {
        if let Some(recorder) = &self.recorder {
            recorder.record(&what());
        }
    }

    #[inline]
    fn receive_near(&mut self) -> Result<Option<Received>, LinkViolation> {
        match self.near.receive() {
            Ok(None) => Ok(None),
            Ok(Some(mut received)) => {
                self.turns.took_near();
                received.header.source = self.near_ranks[received.header.source.index()];
                Ok(Some(received))
            }
            Err(violation) => Err(self.in_job(violation)),
        }
    }

    /// The near link's numbers in what it says are others than the job's.
    #[cold]
    fn in_job(&self, LinkViolation { from, what }: LinkViolation) -> LinkViolation {
        let rank = |number: Rank| self.near_ranks.get(number.index()).copied().unwrap_or(number);
        let what = match what {
            BadFrame::Reference { owner, index } => {
                BadFrame::Reference { owner: rank(Rank(owner)).0, index }
            }
            other => other,
        };
        LinkViolation { from: rank(from), what }
    }

    #[inline]
    fn receive_far(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.far.receive()?;
        if received.is_some() {
            self.turns.took_far();
            self.bridge.arrived();
        } else {
            self.turns.missed_far();
        }
        Ok(received.map(|mut received| {
            if let Payload::Buffer(buffer) = received.payload {
                received.payload = Payload::Buffer(far_buffer(buffer));
            }
            received
        }))
    }
}

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> Link for Mixed<N, F> {
    type Clock = N::Clock;
    type Short = NearShort<N::Short>;
    type Network = Through<F::Network>;
    type SeparateNi = NoSeparateNi;

    // Packets to other hosts are kept until they are acknowledged, and so never among these.
    const SHORT: Option<Self::Short> = match (N::SHORT, F::NETWORK) {
        (Some(short), Some(_)) => Some(NearShort(short)),
        _ => None,
    };
    const NETWORK: Option<Self::Network> = through(F::NETWORK);
    const NI: Option<NoSeparateNi> = None;

    fn clock(&self) -> N::Clock {
        self.near.clock()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// For a packet to one rank, a frame of the link that it goes over, from which it leaves
    /// without a copy.
    #[inline]
    fn alloc(&mut self, to: Option<Rank>) -> Option<Buffer> {
        if self.fills_far || to.is_some_and(|to| self.goes_far(to)) {
            return self.far.alloc(to).map(far_buffer);
        }
        self.waiting.retry(&mut self.near);
        // Those that wait were transmitted before.
        if self.waiting.is_empty() { self.near.alloc(None) } else { None }
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match Side::of(buffer) {
            Side::Near(buffer) => self.near.bytes(buffer),
            Side::Far(buffer) => self.far.bytes(buffer),
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        self.record(|| What::Sent(PacketEvent::new(to, header, head_of(self, header, payload))));
        match self.routes[to.index()] {
            Some(number) => self.transmit_near(number, header, payload),
            None => self.transmit_far(to, header, payload),
        }
    }

    #[inline]
    fn flush(&mut self) {
        self.drop_copy();
        self.waiting.retry(&mut self.near);
        self.far.flush();
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.receive_either()?;
        if let Some(Received { header, payload }) = &received {
            self.record(|| {
                let head = head_of(self, header, *payload);
                What::Received(PacketEvent::new(header.source, header, head))
            });
        }
        Ok(received)
    }

    fn has_arrivals(&mut self) -> bool {
        self.near.has_arrivals() || self.far.has_arrivals()
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        match Side::of(buffer) {
            Side::Near(buffer) => self.near.copy_out(buffer, into),
            Side::Far(buffer) => self.far.copy_out(buffer, into),
        }
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        match Side::of(buffer) {
            Side::Near(buffer) => self.near.free(buffer),
            Side::Far(buffer) => {
                self.drop_copy();
                self.far.free(buffer);
            }
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        self.near.bells()
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        self.flush();
        if waiter == Waiter::Upcall && !self.waiting.is_empty() {
            // Frames that come back ring the host's bell only.
            return None;
        }
        let ticket = self.near.arm(waiter)?;
        self.bridge.arm(waiter, self.far.wants_room());
        if !self.far.may_sleep() {
            self.disarm(waiter);
            return None;
        }
        // The frame may have been a probe, whose answer waits.
        self.far.flush();
        Some(ticket)
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.bridge.disarm(waiter);
        self.near.disarm(waiter);
    }

    fn services(&self) -> Services {
        let near = self.near.services();
        let routes = || self.routes.clone();
        Services {
            // Ranks of other hosts have none of them.
            words: None,
            shared_memory: near
                .shared_memory
                .map(|near| Arc::new(Routed { near, routes: routes() }) as _),
            cross_memory: near
                .cross_memory
                .map(|near| Arc::new(Routed { near, routes: routes() }) as _),
            recorder: self.recorder.clone(),
            ..near
        }
    }

    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        Some(self)
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
