//! The short way in, for packets that have nothing out of the ordinary about them.
//!
//! A poll enters the node, finds the packet in its slot, and hands its bytes over where they lie.
//! Nothing is queued, and nothing is made of it that a system may keep, unless it wants to. Other
//! packets, and those that arrive while others wait, go the way of [`crate::ni::dispatch`].

use crate::biased::Entered;
use crate::ni::any_node::{Handler, Inspect, Polled, Taken, Upcall, Verdict};
use crate::ni::arrival::{Arrival, look_at};
use crate::ni::dispatch::{Dispatcher, RunningUpcall};
use crate::ni::inner::Inner;
use crate::ni::interface::Interface;
use std::sync::atomic::Ordering;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Gather, Glance, Link, Plain, ReceivedPlain, ShortPackets, ShortWords};
use weft_wire::{Protocol, Rank};

impl<L: Link> Dispatcher<L> {
    /// See [`Inbound::poll`](crate::ni::any_node::Inbound).
    #[inline(always)]
    pub(crate) fn poll_packet(&self) -> Option<Polled> {
        let Some((mut inner, short)) = self.enter_for_short(|_| true) else {
            return self.poll_slowly();
        };
        match inner.systems.table[short.protocol.index()].upcall.take() {
            Some(upcall) => self.call_plain(inner, &short, None, upcall),
            None => self.poll_plain(inner, &short, None),
        }
    }

    /// See [`Inbound::take_unless`](crate::ni::any_node::Inbound); the look of a system whose link
    /// is known is part of this.
    #[inline(always)]
    pub(crate) fn take_packet(
        &self,
        protocol: Protocol,
        mut inspector: impl Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        if self.is_idle() {
            return Some(Taken::Nothing);
        }
        match self.enter_for_short(|short| short.protocol == protocol) {
            Some((inner, short)) => self.give_plain(inner, &short, None, &mut inspector, into),
            None => self.take_slower(protocol, inspector, into),
        }
    }

    /// Does what [`Self::take_packet`] does, off the short way. The inspector is handed over, so
    /// that it need not lie in memory on that.
    #[inline(never)]
    fn take_slower(
        &self,
        protocol: Protocol,
        mut inspector: impl Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        self.take_slowly(protocol, &mut inspector, into)
    }

    /// True if there is nothing to be had from a look, as far as a glance tells.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_busy.load(Ordering::Relaxed) && self.glance.is_idle()
    }

    /// True if the next packet of the network may go the short way.
    #[inline(always)]
    fn is_short_way(&self) -> bool {
        !self.is_busy.load(Ordering::Relaxed)
            && !self.interface.attendance.sleepers.may_be_in_upcall()
    }

    /// Enters, as the thread that does so for free, and takes the packet that comes next, if that
    /// is in no frame, and `wanted`.
    #[inline(always)]
    fn enter_for_short(
        &self,
        wanted: impl FnOnce(&Plain) -> bool,
    ) -> Option<(Entered<'_, Inner<L>>, Plain)> {
        let way = L::SHORT?;
        let mut inner = self.interface.inner.enter_at_once().filter(|_| self.is_short_way())?;
        let short = way.peek(&inner.link).filter(wanted)?;
        way.take(&mut inner.link, &short);
        self.interface.tell_time(&mut inner);
        Some((inner, short))
    }

    /// The next packet, if it may go the short way.
    #[inline(always)]
    fn receive_plain(&self, inner: &mut Inner<L>) -> ReceivedPlain {
        match L::SHORT {
            Some(short) if self.is_short_way() => short.receive(&mut inner.link),
            _ => ReceivedPlain::Other,
        }
    }

    #[inline(never)]
    fn poll_slowly(&self) -> Option<Polled> {
        let mut inner = self.interface.enter_to_look();
        match self.receive_plain(&mut inner) {
            ReceivedPlain::Short(plain) => self.poll_plain(inner, &plain, None),
            ReceivedPlain::Framed(plain, frame) => self.poll_plain(inner, &plain, Some(frame)),
            ReceivedPlain::Other | ReceivedPlain::Nothing => self.poll_any(inner),
        }
    }

    /// A poll that has found a plain packet, and has taken it.
    #[inline(never)]
    fn poll_plain(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        plain: &Plain,
        frame: Option<Buffer>,
    ) -> Option<Polled> {
        let system = &mut inner.systems.table[plain.protocol.index()];
        if let Some(upcall) = system.upcall.take() {
            return self.call_plain(inner, plain, frame, upcall);
        }
        if let Some(handler) = system.handler.take() {
            return self.handle_plain(inner, plain, frame, handler);
        }
        let queued = inner.queue_plain(plain, frame);
        self.note_trouble(queued)?;
        self.poll_any(inner)
    }

    /// The upcall for a plain packet.
    #[inline(always)]
    fn call_plain<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        plain: &Plain,
        frame: Option<Buffer>,
        mut upcall: Upcall,
    ) -> Option<Polled> {
        let is_accepted = inner.accept_plain(plain, frame, || false).is_some();
        if is_accepted {
            let mut arrival = None;
            Arrival::fill(plain, frame, &mut arrival);
            self.begin_upcall();
            match frame {
                Some(_) => inner = self.call_outside(inner, &mut arrival, |slot| upcall(slot)),
                None => {
                    let running = RunningUpcall { dispatcher: self, arrival: &mut arrival };
                    inner = self.run_outside(inner, || upcall(running.arrival));
                    running.end(&inner);
                    if arrival.is_some() {
                        inner.release_plain(plain.source);
                    }
                }
            }
        }
        inner.systems.give_back(plain.protocol, upcall);
        self.polled(&inner, is_accepted)
    }

    /// A look of `handler` at a plain packet inside the lock, and then outside if there is more
    /// to do.
    fn handle_plain<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        plain: &Plain,
        frame: Option<Buffer>,
        mut handler: Box<dyn Handler>,
    ) -> Option<Polled> {
        let (mut slot, mut verdict) = (None, Verdict::Outside);
        Arrival::fill(plain, frame, &mut slot);
        let accepted = inner.accept_plain(plain, frame, || {
            verdict = slot.as_ref().map_or(Verdict::Done, |arrival| handler.inside(arrival));
            verdict != Verdict::Outside
        });
        match accepted {
            Some(false) => {
                self.begin_upcall();
                inner = self.call_outside(inner, &mut slot, |slot| handler.outside(slot));
            }
            Some(true) => self.count_processed(&inner),
            None => {}
        }
        if verdict == Verdict::Wake {
            self.interface.attendance.nudge();
        }
        inner.systems.table[plain.protocol.index()].handler.get_or_insert(handler);
        self.polled(&inner, accepted.is_some())
    }

    /// The result of a poll that has found a packet: it was accepted, or its sender broke the
    /// protocol.
    #[inline(always)]
    fn polled(&self, inner: &Inner<L>, is_accepted: bool) -> Option<Polled> {
        match is_accepted {
            true => Some(Polled::Packet),
            false => self.note_trouble(inner.check_failure().map(|()| Polled::Nothing)),
        }
    }

    #[inline(never)]
    fn take_slowly(
        &self,
        protocol: Protocol,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        let mut inner = self.interface.enter_to_look();
        let (plain, frame) = match self.receive_plain(&mut inner) {
            ReceivedPlain::Short(plain) => (plain, None),
            ReceivedPlain::Framed(plain, frame) => (plain, Some(frame)),
            ReceivedPlain::Other | ReceivedPlain::Nothing => {
                return self.take_any(inner, protocol, inspector, into);
            }
        };
        if plain.protocol == protocol {
            return self.give_plain(inner, &plain, frame, inspector, into);
        }
        let queued = inner.queue_plain(&plain, frame);
        self.note_trouble(queued)?;
        self.take_any(inner, protocol, inspector, into)
    }

    /// Gives a plain packet to the system that takes it.
    #[inline(always)]
    fn give_plain(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        plain: &Plain,
        frame: Option<Buffer>,
        inspector: &mut (impl Inspect + ?Sized),
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        let look = || look_at(plain, |bytes| inspector.inspect(plain.source, bytes));
        let Some(is_done) = inner.accept_plain(plain, frame, look) else {
            return self.note_trouble(inner.check_failure().map(|()| Taken::Nothing));
        };
        self.count_processed(&inner);
        if is_done {
            // Said here, or what was found is asked for again after the drop.
            drop(inner);
            return Some(Taken::AtOnce);
        }
        self.interface.attendance.sleepers.begin_upcall();
        Arrival::fill(plain, frame, into);
        Some(Taken::Held)
    }
}

impl<L: Link> Interface<L> {
    /// See [`Outbound::launch_short`](crate::ni::any_node::Outbound).
    #[inline(always)]
    pub(crate) fn send_short(&self, to: Rank, protocol: Protocol, bytes: &impl Gather) -> bool {
        let size = bytes.size() as u16;
        assert!(bytes.size() <= size_of::<ShortWords>(), "a packet is short");
        let Some(short) = L::SHORT else { return false };
        self.clock.charge(Work::Launch { bytes: size });
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let is_closed = !inner.gates.are_open() && !inner.gates.let_short_through(to);
        if is_closed || !short.are_taken_by(&inner.link, to) {
            return false;
        }
        let Some(header) = inner.ni.unicast_at_once(to, protocol, size) else { return false };
        short.transmit(&mut inner.link, to, &header, bytes);
        self.exit_after_launch(inner, Some(to));
        true
    }
}
