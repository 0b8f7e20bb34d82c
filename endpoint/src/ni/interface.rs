//! The interface as threads enter it: the lock, the time that is told on the way in, and on the way
//! out what has to be accounted for.

use crate::Result;
use crate::biased::{Biased, Entered};
use crate::ni::attendance::Attendance;
use crate::ni::attributes::Attributes;
use crate::ni::inner::Inner;
use crate::ni::offloaded::Side;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Loss, Waiter};
use weft_link::clock::{Clock, Nanoseconds, Work};
use weft_wire::Tag;

/// Copies of the news of a loss, which nobody acknowledges, in a datagram each.
const TOLD_TIMES: usize = 3;

/// A rank's interface, entered by one thread at a time.
pub(crate) struct Interface<L: Link> {
    pub inner: Biased<Inner<L>>,
    pub clock: L::Clock,
    pub attributes: Attributes,
    pub attendance: Attendance,
    /// The rank + 1 of whose loss others were told last, or need not be; 0 before.
    told: AtomicU32,
}

impl<L: Link> Interface<L> {
    /// The interface with this inside, by this clock.
    pub fn new(
        inner: Biased<Inner<L>>,
        clock: L::Clock,
        attributes: Attributes,
        attendance: Attendance,
    ) -> Self {
        Interface { inner, clock, attributes, attendance, told: AtomicU32::new(0) }
    }

    /// Tells the protocol the time, to be called on entering to run it or to ask the NI to. Where
    /// the NI is apart, hosts do not know what it was told last; where frames are lost, timers may
    /// be due.
    #[inline(always)]
    pub(crate) fn tell_time(&self, inner: &mut Inner<L>) {
        if L::NI.is_some() || L::NETWORK.is_some() {
            let now = self.clock.now();
            inner.tell_time(now, Side::Host);
            if L::NETWORK.is_some() && inner.path_checks.is_due(now) {
                let Inner { path_checks, link, ni, .. } = inner;
                path_checks.run(link, ni.local(), ni.settings(), now);
            }
        }
    }

    /// Enters for a look at the network.
    #[inline(always)]
    pub(crate) fn enter_to_look(&self) -> Entered<'_, Inner<L>> {
        self.clock.charge(Work::Poll);
        self.account_before_receiving();
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        inner
    }

    /// Moves packets from the network to this host, without any upcall. True if any came.
    ///
    /// # Errors
    /// A lost rank, or a peer that broke the protocol.
    pub(crate) fn drain(&self) -> Result<bool> {
        self.check_loss()?;
        let mut inner = self.enter_to_look();
        let drained = inner.drain();
        self.exit_after_poll(inner, matches!(drained, Ok(true)));
        drained
    }

    /// Fails once a rank was lost, unless the job goes on.
    pub(crate) fn check_loss(&self) -> Result<()> {
        match self.attributes.bells.loss() {
            None => Ok(()),
            Some(loss) => self.lose(loss),
        }
    }

    /// Tells the ranks of other hosts of a loss that this host has seen: their process manager may
    /// be late, or never tell them. What the network itself makes known each of them finds out.
    #[cold]
    pub(crate) fn tell_loss(&self, loss: Loss) {
        let number = u32::from(loss.rank.0) + 1;
        if L::NETWORK.is_none()
            || !loss.cause.is_seen_by_its_host()
            || self.told.swap(number, Ordering::Relaxed) == number
        {
            return;
        }
        for _ in 0..TOLD_TIMES {
            let mut inner = self.inner.enter();
            self.tell_time(&mut inner);
            let (ni, mut out) = inner.split(Side::Host);
            ni.tell_loss(loss.rank, loss.cause.to_bits(), &mut out);
            self.exit_and_flush(inner);
        }
    }

    /// True if packets wait for the host; `None` if the host is inside the node right now.
    pub(crate) fn try_has_arrivals(&self) -> Option<bool> {
        let mut inner = self.inner.try_enter()?;
        let waits = !inner.pending.is_empty() || inner.systems.has_takeable();
        Some(waits || inner.link.has_arrivals())
    }

    /// Time until then, by the node's clock; none once it is over.
    pub(crate) fn until(&self, time: Nanoseconds) -> Duration {
        Duration::from_nanos(time.saturating_sub(self.clock.now()))
    }

    /// Time until the alarm; for ever without one.
    pub(crate) fn until_alarm(&self) -> Duration {
        self.attendance.work.alarm().map_or(Duration::MAX, |alarm| self.until(alarm))
    }

    /// Wakes the threads whose polls skipped packets, once no packet is in an upcall or held. These
    /// polls have moved arrivals out of the link, whose bell does not ring for them again, and the
    /// threads may sleep.
    #[cold]
    pub(crate) fn wake_skipped(&self, inner: &Inner<L>) {
        if !inner.pending.is_empty() {
            self.attendance.bells.ring(Waiter::Host);
        }
    }

    /// Charges for the next packet of the host's own protocol: handling takes time before the
    /// answer.
    #[inline(always)]
    pub(crate) fn account_before_receiving(&self) {
        if L::NI.is_some() {
            self.account_for_next();
        }
    }

    fn account_for_next(&self) {
        let mut inner = self.inner.enter();
        if inner.offloaded.accounted {
            return;
        }
        let Some(next) = inner.offloaded.deferred.front() else { return };
        let is_fetch_add = matches!(next.header.tag, Tag::FaRequest | Tag::FaReply);
        inner.offloaded.accounted = true;
        drop(inner);
        self.clock.charge(Work::Deferred { packets: 1 });
        if is_fetch_add {
            // No upcall accepts it, but the host does.
            self.clock.charge(Work::Process { bytes: 0 });
        }
    }

    /// Unlocks the node after a poll that `found` something, or did not, and accounts for the
    /// packets on which the host ran the protocol.
    #[inline(always)]
    pub(crate) fn exit_after_poll(&self, mut inner: Entered<'_, Inner<L>>, found: bool) {
        if L::NI.is_some() {
            let packets = std::mem::take(&mut inner.offloaded.handled);
            let reinjected = std::mem::take(&mut inner.offloaded.reinjected_bytes);
            drop(inner);
            for bytes in reinjected {
                self.clock.charge(Work::Reinject { bytes });
            }
            if packets > 0 {
                self.clock.charge(Work::Deferred { packets });
            }
        } else {
            self.exit_after_look(inner, found);
        }
    }
}
