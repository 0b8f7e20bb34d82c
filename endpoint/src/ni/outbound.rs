//! Packets out, whatever the link: frames to fill, and their launch.

use crate::ni::any_node::{AnyNode, Destination, Frame, Inbound, Outbound, Polled, Upcalls};
use crate::ni::node::Node;
use crate::presence::backoff::Step;
use crate::{Awaited, Error, Result};
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Link, ShortPackets};
use weft_wire::{GroupId, Protocol, Rank};

impl<L: Link> Outbound for Node<L> {
    #[inline]
    fn alloc(&self, protocol: Protocol, to: Option<Rank>, upcalls: Upcalls) -> Result<Frame> {
        match self.try_alloc(protocol, to)? {
            Some(found) => Ok(found),
            None => self.wait_for_frame(protocol, to, upcalls),
        }
    }

    #[inline]
    fn try_alloc(&self, protocol: Protocol, to: Option<Rank>) -> Result<Option<Frame>> {
        let interface = self.interface();
        interface.clock.charge(Work::Allocate);
        let mut inner = interface.inner.enter();
        if !inner.gates.are_open() {
            if let Some(lost) = to.filter(|to| inner.gates.is_lost(*to)) {
                return Err(interface.lost(lost));
            }
            if inner.gates.held_back(protocol) >= self.most_held_back() {
                return Ok(None);
            }
        }
        match inner.link.alloc(to) {
            Some(frame) => {
                inner.held += 1;
                Ok(Some((frame, inner.link.bytes(frame))))
            }
            None if inner.held >= interface.attributes.capabilities.frames => {
                Err(Error::PoolExhausted { frames: interface.attributes.capabilities.frames })
            }
            None => Ok(None),
        }
    }

    fn discard(&self, frame: Buffer) {
        let mut inner = self.interface().inner.enter();
        inner.held -= 1;
        inner.link.free(frame);
    }

    fn ask_with_next(&self, to: Rank) {
        let interface = self.interface();
        if interface.attributes.has_rank(to) {
            interface.inner.enter().ni.ask_with_next(to);
        }
    }

    #[inline]
    fn launch(&self, frame: Buffer, protocol: Protocol, to: Destination, size: u16) -> Result<()> {
        let interface = self.interface();
        interface.clock.charge(Work::Launch { bytes: size });
        let mut inner = interface.inner.enter();
        interface.tell_time(&mut inner);
        let mut receiver = None;
        let waits = !inner.gates.are_open()
            && match inner.hold_back(frame, protocol, to, size) {
                Ok(waits) => waits,
                Err(lost) => {
                    drop(inner);
                    self.discard(frame);
                    return Err(interface.lost(lost));
                }
            };
        match to {
            _ if waits => {}
            Destination::Unicast(rank) if interface.attributes.has_rank(rank) => {
                inner.unicast(protocol, rank, frame, size);
                receiver = Some(rank);
            }
            Destination::Unicast(rank) => {
                drop(inner);
                self.discard(frame);
                return Err(Error::NoSuchRank { rank, ranks: interface.attributes.ranks });
            }
            Destination::Multicast(group) => {
                if let Err(error) = inner.multicast(protocol, group, frame, size) {
                    drop(inner);
                    self.discard(frame);
                    return Err(error);
                }
            }
        }
        interface.exit_after_launch(inner, receiver);
        Ok(())
    }

    #[inline]
    fn launch_short(&self, to: Rank, protocol: Protocol, bytes: &[u8]) -> bool {
        self.interface().send_short(to, protocol, &[bytes])
    }

    fn awaits_credit(&self, to: Rank) -> bool {
        let inner = self.interface().inner.enter();
        let may_be_short = L::SHORT.is_some_and(|short| short.are_taken_by(&inner.link, to));
        may_be_short && inner.gates.let_short_through(to) && inner.ni.awaits_credit(to)
    }

    fn is_flushed(&self) -> bool {
        let mut inner = self.interface().inner.enter();
        let flushed = inner.is_flushed();
        if L::NI.is_some() {
            inner.offloaded.flushing = !flushed;
        }
        flushed
    }

    fn create_group(&self, members: &[Rank]) -> Result<GroupId> {
        let interface = self.interface();
        let mut inner = interface.inner.enter();
        interface.tell_time(&mut inner);
        let group = inner.ni.create_group(members)?;
        if inner.ni.observe().early() > 0 {
            inner.admit_early()?;
            interface.exit_and_flush(inner);
            // Nothing arrives that would wake the threads that wait for it.
            interface.attendance.nudge();
            interface.attendance.bells.ring(Waiter::Upcall);
        }
        Ok(group)
    }

    fn members(&self, group: GroupId) -> Option<Vec<Rank>> {
        self.interface().inner.enter().ni.group(group).map(|group| group.members().to_vec())
    }
}

impl<L: Link> Node<L> {
    /// A frame and its bytes, once there is one.
    #[cold]
    fn wait_for_frame(
        &self,
        protocol: Protocol,
        to: Option<Rank>,
        upcalls: Upcalls,
    ) -> Result<Frame> {
        let interface = self.interface();
        let mut found = None;
        let any: &dyn AnyNode = self;
        let what = || Awaited::of_unknown("a frame to send in");
        any.wait_for(&what, None, &mut || {
            found = self.try_alloc(protocol, to)?;
            if found.is_some() {
                return Ok(Step::Done);
            }
            let progress = match upcalls {
                Upcalls::Allowed => match self.poll() {
                    None => return Err(self.trouble()),
                    polled => matches!(polled, Some(Polled::Packet | Polled::OthersWait)),
                },
                Upcalls::Deferred => interface.drain()?,
            };
            self.detach_if_stuck();
            Ok(Step::of(progress))
        })?;
        found.ok_or(Error::PoolExhausted { frames: interface.attributes.capabilities.frames })
    }

    /// Frames of one system that may wait until their receivers take its packets again.
    fn most_held_back(&self) -> usize {
        let interface = self.interface();
        (interface.attributes.capabilities.frames / 4)
            .min(interface.attributes.window_packets)
            .max(1)
    }

    /// Takes pending packets out of their senders' memory if this is inside an upcall. Nothing is
    /// processed there: arrivals would hold their senders' frames, and if the senders are inside
    /// upcalls too, all would wait for one another.
    fn detach_if_stuck(&self) {
        let interface = self.interface();
        let mut inner = interface.inner.enter();
        if interface.attendance.sleepers.may_be_in_upcall() {
            inner.detach_pending();
        }
    }
}
