//! A rank's network interface, entered by its threads.

use crate::biased::Biased;
use crate::ni::any_node::{
    AnyNode, Destination, Handler, Inspect, Polled, Statistics, Taken, Upcall, Upcalls,
};
use crate::ni::arrival::Arrival;
use crate::ni::attendance::Attendance;
use crate::ni::attributes::Attributes;
use crate::ni::endpoint::Endpoint;
use crate::ni::frames::Frame;
use crate::ni::inner::{Inner, Side};
use crate::ni::wait::{Look, WaitPolicy, Waits};
use crate::posted::LinkMemory;
use crate::presence::backoff::Step;
use crate::presence::cell::Sleepers;
use crate::presence::fallback::TimerFallback;
use crate::{Error, Result};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Capabilities, Link, ShortPackets};
use weft_protocol::{Ni, Settings};
use weft_wire::{GroupId, Protocol, Rank};

/// A rank's network interface over a link of type `L`.
pub struct Node<L: Link> {
    pub(crate) inner: Biased<Inner<L>>,
    /// See [`Inner::is_busy`].
    pub(crate) is_busy: Arc<AtomicBool>,
    /// See [`Inner::drained`].
    drained: Arc<AtomicU64>,
    pub(crate) glance: Arc<<L::Short as ShortPackets<L>>::Glance>,
    pub(crate) clock: L::Clock,
    pub(crate) attributes: Attributes,
    pub(crate) attendance: Attendance,
    /// Systems whose packets wait to be taken, a bit each. A hint: written inside the lock.
    pub(crate) waiting_protocols: AtomicU32,
    pub(crate) packets_processed: AtomicU64,
    pub(crate) sleeps: AtomicU64,
    /// True once others were told of a loss, or need not be.
    pub(crate) has_told: AtomicBool,
    /// Error for which a poll failed last.
    pub(crate) trouble: Mutex<Option<Error>>,
}

impl<L: Link> Node<L> {
    /// A node for rank `local` over `link`. The calling thread is the one that enters for free.
    pub fn new(local: Rank, settings: Settings, mut link: L, policy: WaitPolicy) -> Self {
        let (clock, glance) = (link.clock(), L::Short::glance(&link));
        let attributes = Attributes::new(local, &settings, &mut link);
        let fallback = TimerFallback::new(settings.acknowledge_after);
        let inner = Inner::new(link, Ni::new(local, settings));
        let (is_busy, drained) = (Arc::clone(&inner.is_busy), Arc::clone(&inner.drained));
        let inner = Biased::new(inner);
        // The host of an NI apart is coroutines, which take turns.
        let sleepers = Sleepers::new(L::NI.is_none().then(|| inner.fences()));
        let waits = Waits::new(policy, L::NETWORK.is_some());
        Node {
            is_busy,
            drained,
            inner,
            glance,
            clock,
            attendance: Attendance::new(waits, sleepers, fallback, &attributes),
            attributes,
            waiting_protocols: AtomicU32::new(0),
            packets_processed: AtomicU64::new(0),
            sleeps: AtomicU64::new(0),
            has_told: AtomicBool::new(false),
            trouble: Mutex::new(None),
        }
    }

    /// This rank.
    pub fn local(&self) -> Rank {
        self.attributes.local
    }

    /// The link's properties.
    pub fn capabilities(&self) -> &Capabilities {
        &self.attributes.capabilities
    }

    /// Counters of what this node has done.
    pub fn statistics(&self) -> Statistics {
        let inner = self.inner.enter();
        Statistics {
            protocol: inner.ni.counters(),
            packets_processed: self.packets_processed.load(Ordering::Relaxed),
            interrupts: self.attendance.interrupts.taken(),
            sleeps: self.sleeps.load(Ordering::Relaxed),
            drains: inner.drained_polls,
        }
    }

    pub(crate) fn check_loss(&self) -> Result<()> {
        match self.attributes.bells.loss() {
            None => Ok(()),
            Some(loss) => {
                self.tell_loss(loss);
                Err(Error::RankLost(loss))
            }
        }
    }

    pub(crate) fn drain(&self) -> Result<bool> {
        self.check_loss()?;
        self.clock.charge(Work::Poll);
        self.account_before_receiving();
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let drained = inner.drain();
        self.exit_after_poll(inner, matches!(drained, Ok(true)));
        drained
    }

    /// Tells the protocol the time, to be called on entering to run it or to ask the NI to. Where
    /// the NI is apart, hosts do not know what it was told last; where frames are lost, timers may
    /// be due.
    #[inline(always)]
    pub(crate) fn tell_time(&self, inner: &mut Inner<L>) {
        if L::NI.is_some() || L::NETWORK.is_some() {
            let now = self.clock.now();
            inner.tell_time(now, Side::Host);
            if L::NETWORK.is_some() && now >= inner.tend_at {
                inner.tend_link(now);
            }
        }
    }

    /// State of the host for the polling watchdog: packets processed, interrupts disabled.
    pub(crate) fn host_status(&self) -> weft_protocol::watchdog::HostStatus {
        weft_protocol::watchdog::HostStatus {
            packets_processed: self.packets_processed.load(Ordering::Relaxed),
            interrupts_disabled: self.attendance.interrupts.are_off(),
        }
    }

    /// A number that grows whenever this rank takes something from the network. Reading it enters
    /// nothing.
    pub(crate) fn activity(&self) -> u64 {
        let drained = self.drained.load(Ordering::Relaxed);
        self.packets_processed.load(Ordering::Relaxed).wrapping_add(drained)
    }

    /// True if packets wait for the host; `None` if the host is inside the node right now.
    pub(crate) fn try_has_arrivals(&self) -> Option<bool> {
        let mut inner = self.inner.try_enter()?;
        let waits = !inner.pending.is_empty() || inner.systems.has_takeable();
        Some(waits || inner.link.has_arrivals())
    }
}

impl<L: Link> AnyNode for Node<L> {
    #[inline]
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    #[inline]
    fn attendance(&self) -> &Attendance {
        &self.attendance
    }

    fn endpoint(self: Arc<Self>) -> Endpoint {
        let any: Arc<dyn Any + Send + Sync> = Arc::clone(&self) as Arc<_>;
        any.downcast().map_or_else(|_| Endpoint::Other(self), Endpoint::Shm)
    }

    fn set_upcall(&self, protocol: Protocol, upcall: Upcall) {
        self.inner.enter().systems.set_upcall(protocol, upcall);
    }

    fn set_handler(&self, protocol: Protocol, handler: Box<dyn Handler>) {
        self.inner.enter().systems.set_handler(protocol, handler);
    }

    #[inline]
    fn alloc(&self, protocol: Protocol, to: Option<Rank>, upcalls: Upcalls) -> Result<Frame> {
        match self.try_frame(protocol, to)? {
            Some(found) => Ok(found),
            None => self.wait_for_frame(protocol, to, upcalls),
        }
    }

    fn discard(&self, frame: Buffer) {
        let mut inner = self.inner.enter();
        inner.held -= 1;
        inner.link.free(frame);
    }

    fn ask_with_next(&self, to: Rank) {
        if self.attributes.has_rank(to) {
            self.inner.enter().ni.ask_with_next(to);
        }
    }

    #[inline]
    fn launch(&self, frame: Buffer, protocol: Protocol, to: Destination, size: u16) -> Result<()> {
        self.clock.charge(Work::Launch { bytes: size });
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let mut receiver = None;
        match to {
            _ if !inner.gates.are_open() && inner.hold_back(frame, protocol, to, size) => {}
            Destination::Unicast(rank) if self.attributes.has_rank(rank) => {
                inner.unicast(protocol, rank, frame, size);
                receiver = Some(rank);
            }
            Destination::Unicast(rank) => {
                drop(inner);
                self.discard(frame);
                return Err(Error::NoSuchRank { rank, ranks: self.attributes.ranks });
            }
            Destination::Multicast(group) => {
                if let Err(error) = inner.multicast(protocol, group, frame, size) {
                    drop(inner);
                    self.discard(frame);
                    return Err(error);
                }
            }
        }
        self.exit_after_launch(inner, receiver);
        Ok(())
    }

    fn awaits_credit(&self, to: Rank) -> bool {
        let inner = self.inner.enter();
        let may_be_short = L::SHORT.is_some_and(|short| short.are_taken_by(&inner.link, to));
        may_be_short && inner.gates.are_open() && inner.ni.awaits_credit(to)
    }

    #[inline]
    fn launch_short(&self, to: Rank, protocol: Protocol, bytes: &[u8]) -> bool {
        self.send_short(to, protocol, &[bytes])
    }

    #[inline]
    fn poll(&self) -> Option<Polled> {
        self.poll_packet()
    }

    #[inline]
    fn take_unless(
        &self,
        protocol: Protocol,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        self.take_packet(protocol, |from: Rank, bytes: &[u8]| inspector.inspect(from, bytes), into)
    }

    #[cold]
    fn trouble(&self) -> Error {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.clone().unwrap_or_else(|| unreachable!("only who was told that a look failed asks"))
    }

    fn set_taken(&self, protocol: Protocol) {
        let mut inner = self.inner.enter();
        inner.systems.set_taken(protocol);
        self.publish_waiting(&inner);
    }

    #[inline]
    fn waiting_protocols(&self) -> u32 {
        self.unserved()
    }

    #[inline]
    fn taken(&self) {
        if self.attendance.sleepers.end_upcall_outside() {
            self.wake_skipped(&self.inner.enter());
        }
    }

    #[inline]
    fn try_alloc(&self, protocol: Protocol, to: Option<Rank>) -> Result<Option<Frame>> {
        self.try_frame(protocol, to)
    }

    fn share(&self) {
        self.inner.share();
    }

    fn linger(&self) {
        if L::NETWORK.is_some() {
            self.linger_until_quiet();
        }
    }

    fn members(&self, group: GroupId) -> Option<Vec<Rank>> {
        self.inner.enter().ni.group(group).map(|group| group.members().to_vec())
    }

    #[inline]
    fn release(&self, arrival: Arrival) {
        self.clock.charge(Work::Release);
        let mut inner = self.inner.enter();
        if L::NI.is_some() {
            self.tell_time(&mut inner);
        }
        // Elsewhere the time of the last look will do: an acknowledgement may be due earlier, by as
        // much as the program held the packet.
        inner.release(arrival.delivery);
        self.exit_after_release(inner);
    }

    #[inline]
    fn fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> Result<u64> {
        match &self.attributes.services.words {
            Some(words) => Ok(words.fetch_add(home, variable, amount)),
            None => self.fetch_and_add_by_packet(home, variable, amount),
        }
    }

    fn begin_fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> bool {
        self.begin_split_fetch(home, variable, amount)
    }

    fn take_fetched(&self) -> Option<u64> {
        let mut inner = self.inner.enter();
        inner.may_fetch();
        inner.split_answer.take()
    }

    fn create_group(&self, members: &[Rank]) -> Result<GroupId> {
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let group = inner.ni.create_group(members)?;
        if inner.ni.early() > 0 {
            inner.admit_early()?;
            self.exit_and_flush(inner);
            // Nothing arrives that would wake the threads that wait for it.
            self.attendance.nudge();
            self.attendance.bells.ring(Waiter::Upcall);
        }
        Ok(group)
    }

    fn sleep(&self, step: &mut Look<'_>, limit: Duration) -> Result<Step> {
        self.sleep_unless(step, limit)
    }

    fn is_flushed(&self) -> bool {
        let mut inner = self.inner.enter();
        let flushed = inner.is_flushed();
        if L::NI.is_some() {
            inner.offloaded.flushing = !flushed;
        }
        flushed
    }

    fn is_gone(&self, rank: Rank) -> bool {
        self.inner.enter().ni.is_gone(rank)
    }

    fn statistics(&self) -> Statistics {
        Node::statistics(self)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    fn with_memory(&self, uses: &mut dyn FnMut(&mut dyn LinkMemory)) {
        uses(&mut self.inner.enter().link);
    }

    fn charge(&self, work: Work) {
        self.clock.charge(work);
    }
}
