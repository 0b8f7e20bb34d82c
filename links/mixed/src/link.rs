//! Choice of the link for each packet.

use crate::bridge::Bridge;
use crate::memory::Routed;
use crate::turns::Turns;
use crate::waiting::Waiting;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::Nanoseconds;
use weft_link::gauge::Gauge;
use weft_link::memory::{CrossMemory, Lent, Posted, PostedHead, SharedMemory};
use weft_link::status::Notice;
use weft_link::wrap::head_of;
use weft_link::{
    BadFrame, Buffer, Capabilities, Gather, Link, LinkViolation, Part, PathMtu, Payload, Received,
    ShortWords,
};
use weft_trace::{PacketEvent, Polls, Recorder, What};
use weft_wire::{Header, Rank};

/// Marks buffers of the far link; links leave this bit to others.
const FAR: u64 = 1 << 60;

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
    near: N,
    far: F,
    capabilities: Capabilities,
    /// By number at the near link.
    near_ranks: Vec<Rank>,
    /// By rank: its number at the near link, if packets to it go over that.
    routes: Vec<Option<Rank>>,
    /// True if programs fill frames of the far link, also for packets to nobody in particular.
    fills_far: bool,
    waiting: Waiting,
    /// A far buffer that is being passed on to near ranks, and its copy in near memory.
    passed_on: Option<(Buffer, Buffer)>,
    /// Scratch space for the bytes of packets that cross from one memory to the other.
    scratch: Box<[u8]>,
    turns: Turns,
    bridge: Bridge,
    /// Writes down every packet, if the run is traced.
    recorder: Option<Arc<dyn Recorder>>,
}

/// A buffer of one of the two.
enum Side {
    Near(Buffer),
    Far(Buffer),
}

impl Side {
    #[inline]
    fn of(buffer: Buffer) -> Self {
        match buffer.0 & FAR {
            0 => Side::Near(buffer),
            _ => Side::Far(Buffer(buffer.0 & !FAR)),
        }
    }
}

#[inline]
fn far_buffer(buffer: Buffer) -> Buffer {
    debug_assert!(buffer.0 & FAR == 0, "links leave this bit free");
    Buffer(buffer.0 | FAR)
}

impl<N: Part, F: Part<Clock = N::Clock>> Mixed<N, F> {
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
        Ok(Mixed {
            bridge: Bridge::start(arrivals, more, near.bells())?,
            recorder: near.recorder().map(|recorder| Arc::new(Polls::new(recorder)) as Arc<_>),
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
    fn goes_far(&self, rank: Rank) -> bool {
        self.routes.get(rank.index()).is_some_and(Option::is_none)
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
        if self.turns.is_far(self.far.has_buffered())
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
    fn record(&self, what: impl FnOnce() -> What) {
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

impl<N: Part, F: Part<Clock = N::Clock>> Link for Mixed<N, F> {
    const LOSSY: bool = F::LOSSY;
    // Packets to other hosts are kept until they are acknowledged, and so never among these.
    const SHORT: bool = N::SHORT && F::LOSSY;

    const BY_WAY: bool = true;

    type Clock = N::Clock;
    type Glance = weft_link::NoGlance;

    fn glance(&self) -> std::sync::Arc<weft_link::NoGlance> {
        std::sync::Arc::default()
    }

    fn clock(&self) -> N::Clock {
        self.near.clock()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self) -> Option<Buffer> {
        if self.fills_far {
            return self.far.alloc().map(far_buffer);
        }
        self.waiting.retry(&mut self.near);
        // Those that wait were transmitted before.
        if self.waiting.is_empty() { self.near.alloc() } else { None }
    }

    /// A frame of the link that the packet goes over, from which it leaves without a copy.
    #[inline]
    fn alloc_to(&mut self, to: Rank) -> Option<Buffer> {
        match self.routes.get(to.index()) {
            Some(None) => self.far.alloc().map(far_buffer),
            _ => self.alloc(),
        }
    }

    fn payload_to(&self, to: Rank) -> usize {
        match self.routes.get(to.index()) {
            Some(None) => self.far.capabilities().max_payload,
            _ => self.capabilities.max_payload,
        }
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match Side::of(buffer) {
            Side::Near(buffer) => self.near.bytes(buffer),
            Side::Far(buffer) => self.far.bytes(buffer),
        }
    }

    fn lend(&mut self, buffer: Buffer, head: usize, lent: Lent) -> bool {
        match Side::of(buffer) {
            Side::Near(buffer) => self.near.lend(buffer, head, lent),
            Side::Far(buffer) => self.far.lend(buffer, head, lent),
        }
    }

    fn has_lent(&self, lent: Lent) -> bool {
        self.near.has_lent(lent) || self.far.has_lent(lent)
    }

    fn take_back(&mut self, lent: Lent) {
        self.near.take_back(lent);
        self.far.take_back(lent);
    }

    fn post(&mut self, from: Rank, posted: Posted) -> bool {
        self.goes_far(from) && self.far.post(from, posted)
    }

    fn sends_zero_copy(&self, to: Rank) -> bool {
        self.goes_far(to) && self.far.sends_zero_copy(to)
    }

    fn post_zero_copy(&mut self, from: Rank, posted: Posted) -> bool {
        self.goes_far(from) && self.far.post_zero_copy(from, posted)
    }

    fn send_zero_copy(&mut self, to: Rank, head: &PostedHead, lent: Lent) -> bool {
        self.goes_far(to) && self.far.send_zero_copy(to, head, lent)
    }

    fn carries(&self) -> bool {
        self.far.carries()
    }

    fn posted(&self, from: Rank, head: &PostedHead) -> usize {
        self.far.posted(from, head)
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.far.unpost(from, head)
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
    fn takes_short(&self, to: Rank) -> bool {
        self.routes.get(to.index()).is_some_and(Option::is_some)
    }

    #[inline]
    fn transmit_short(&mut self, to: Rank, header: &Header, bytes: &impl Gather) {
        let Some(number) = self.routes[to.index()] else {
            unreachable!("only where short packets are taken")
        };
        self.record(|| {
            let mut room = [0; size_of::<ShortWords>()];
            bytes.gather(&mut room[..bytes.size()]);
            let head = std::array::from_fn(|byte| room[byte]);
            What::Sent(PacketEvent::new(to, header, head))
        });
        self.waiting.retry(&mut self.near);
        if self.waiting.is_empty() {
            self.near.transmit_short(number, header, bytes);
        } else {
            let mut gathered = vec![0; usize::from(header.size)];
            bytes.gather(&mut gathered);
            self.waiting.push_bytes(number, header, &gathered);
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

    #[inline]
    fn has_unflushed(&self) -> bool {
        !self.waiting.is_empty() || self.far.has_unflushed()
    }

    #[inline]
    fn has_buffered(&self) -> bool {
        self.far.has_buffered()
    }

    fn has_arrivals(&mut self) -> bool {
        self.near.has_arrivals() || self.far.has_arrivals()
    }

    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer {
        match Side::of(buffer) {
            Side::Near(buffer) => self.near.detach(buffer, size),
            Side::Far(buffer) => far_buffer(self.far.detach(buffer, size)),
        }
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

    fn shared_memory(&self) -> Option<Arc<dyn SharedMemory>> {
        let (near, routes) = (self.near.shared_memory()?, self.routes.clone());
        Some(Arc::new(Routed { near, routes }))
    }

    fn notice(&self) -> Option<Arc<dyn Notice>> {
        self.near.notice()
    }

    fn gauge(&self) -> Option<Arc<dyn Gauge>> {
        self.near.gauge()
    }

    fn recorder(&self) -> Option<Arc<dyn Recorder>> {
        self.recorder.clone()
    }

    fn cross_memory(&self) -> Option<Arc<dyn CrossMemory>> {
        let (near, routes) = (self.near.cross_memory()?, self.routes.clone());
        Some(Arc::new(Routed { near, routes }))
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
        // What came may have been a probe, whose answer waits.
        self.far.flush();
        Some(ticket)
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.bridge.disarm(waiter);
        self.near.disarm(waiter);
    }

    fn ring_upcall_within(&mut self, after: RangeInclusive<Duration>) -> Option<Duration> {
        Some(self.bridge.ring_upcall_within(after))
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        self.far.tend(now)
    }
}
