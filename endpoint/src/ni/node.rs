//! A rank's network interface, entered by its threads.

use crate::Result;
use crate::biased::Biased;
use crate::link_memory::LinkMemory;
use crate::ni::any_node::{AnyNode, Statistics};
use crate::ni::attendance::Attendance;
use crate::ni::attributes::Attributes;
use crate::ni::dispatch::Dispatcher;
use crate::ni::inner::Inner;
use crate::ni::interface::Interface;
use crate::ni::wait::{Look, WaitPolicy, Waits};
use crate::presence::backoff::Step;
use crate::presence::cell::Sleepers;
use crate::presence::fallback::TimerFallback;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_link::clock::{Clock, Work};
use weft_link::{Capabilities, Link, ShortPackets};
use weft_protocol::watchdog::HostStatus;
use weft_protocol::{Ni, Settings};
use weft_wire::Rank;

/// A rank's network interface over a link of type `L`.
pub struct Node<L: Link> {
    pub(crate) dispatcher: Dispatcher<L>,
    /// See [`Inner::drained`].
    drained: Arc<AtomicU64>,
    pub(crate) sleeps: AtomicU64,
}

impl<L: Link> Node<L> {
    /// A node for rank `local` over `link`. The calling thread is the one that enters for free.
    pub fn new(local: Rank, settings: Settings, mut link: L, policy: WaitPolicy) -> Self {
        let (clock, glance) = (link.clock(), L::Short::glance(&link));
        let attributes = Attributes::new(local, &settings, &mut link);
        let fallback = TimerFallback::new(settings.acknowledge_after);
        let inner = Inner::new(link, Ni::new(local, settings));
        let drained = Arc::clone(&inner.drained);
        let inner = Biased::new(inner);
        // The host of an NI apart is coroutines, which take turns.
        let sleepers = Sleepers::new(L::NI.is_none().then(|| inner.fences()));
        let waits = Waits::new(policy, L::NETWORK.is_some());
        let attendance = Attendance::new(waits, sleepers, fallback, &attributes);
        let interface = Interface::new(inner, clock, attributes, attendance);
        let dispatcher = Dispatcher::new(interface, glance);
        Node { dispatcher, drained, sleeps: AtomicU64::new(0) }
    }

    /// The interface, as threads enter it.
    #[inline(always)]
    pub(crate) fn interface(&self) -> &Interface<L> {
        &self.dispatcher.interface
    }

    /// This rank.
    pub fn local(&self) -> Rank {
        self.interface().attributes.local
    }

    /// The link's properties.
    pub fn capabilities(&self) -> &Capabilities {
        &self.interface().attributes.capabilities
    }

    /// Counters of what this node has done.
    pub fn statistics(&self) -> Statistics {
        let interface = self.interface();
        let inner = interface.inner.enter();
        Statistics {
            protocol: inner.ni.counters(),
            packets_processed: self.dispatcher.packets_processed(),
            interrupts: interface.attendance.interrupts.taken(),
            sleeps: self.sleeps.load(Ordering::Relaxed),
            drains: inner.drained_polls,
        }
    }

    /// State of the host for the polling watchdog: packets processed, interrupts disabled.
    pub(crate) fn host_status(&self) -> HostStatus {
        HostStatus {
            packets_processed: self.dispatcher.packets_processed(),
            interrupts_disabled: self.interface().attendance.interrupts.are_off(),
        }
    }

    /// A number that grows whenever this rank takes something from the network. Reading it enters
    /// nothing.
    pub(crate) fn activity(&self) -> u64 {
        let drained = self.drained.load(Ordering::Relaxed);
        self.dispatcher.packets_processed().wrapping_add(drained)
    }
}

impl<L: Link> AnyNode for Node<L> {
    #[inline]
    fn attributes(&self) -> &Attributes {
        &self.interface().attributes
    }

    #[inline]
    fn attendance(&self) -> &Attendance {
        &self.interface().attendance
    }

    fn share(&self) {
        self.interface().inner.share();
    }

    fn linger(&self) {
        if L::NETWORK.is_some() {
            self.interface().linger_until_quiet();
        }
    }

    fn sleep(&self, step: &mut Look<'_>, limit: Duration) -> Result<Step> {
        self.sleep_unless(step, limit)
    }

    fn is_gone(&self, rank: Rank) -> bool {
        self.interface().inner.enter().ni.is_gone(rank)
    }

    fn statistics(&self) -> Statistics {
        Node::statistics(self)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.interface().clock.now())
    }

    fn with_memory(&self, uses: &mut dyn FnMut(&mut dyn LinkMemory)) {
        uses(&mut self.interface().inner.enter().link);
    }

    fn charge(&self, work: Work) {
        self.interface().clock.charge(work);
    }
}
