//! Capabilities of a link that a link around it passes on.

use crate::clock::{Nanoseconds, Work};
use crate::ni::{ControlProgram, SeparateNi};
use crate::{Buffer, Gather, Link, Network, Payload, Plain, ReceivedPlain, ShortPackets};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;
use weft_wire::{Header, Rank};

/// Short packets, flushes and timers, or an NI, of the link that another is around.
#[derive(Clone, Copy, Debug)]
pub struct Through<T>(pub T);

/// Makes a capability of the link inside one of the link around it.
pub const fn through<T: Copy>(inner: Option<T>) -> Option<Through<T>> {
    match inner {
        Some(inner) => Some(Through(inner)),
        None => None,
    }
}

/// Link around another that passes on what it does not change.
pub trait Wrapper {
    /// Link inside.
    type Inner: Link;

    /// Returns the link inside.
    fn inner(&self) -> &Self::Inner;

    /// Returns the link inside, to change it.
    fn inner_mut(&mut self) -> &mut Self::Inner;
}

impl<W: Wrapper, T: ShortPackets<W::Inner>> ShortPackets<W> for Through<T> {
    type Glance = T::Glance;

    fn glance(link: &W) -> Arc<T::Glance> {
        T::glance(link.inner())
    }

    fn are_taken_by(self, link: &W, to: Rank) -> bool {
        self.0.are_taken_by(link.inner(), to)
    }

    fn transmit(self, link: &mut W, to: Rank, header: &Header, bytes: &impl Gather) {
        self.0.transmit(link.inner_mut(), to, header, bytes);
    }

    fn peek(self, link: &W) -> Option<Plain> {
        self.0.peek(link.inner())
    }

    fn take(self, link: &mut W, short: &Plain) {
        self.0.take(link.inner_mut(), short);
    }

    fn receive(self, link: &mut W) -> ReceivedPlain {
        self.0.receive(link.inner_mut())
    }

    fn store(self, link: &mut W, short: &Plain) -> Buffer {
        self.0.store(link.inner_mut(), short)
    }
}

impl<W: Wrapper, T: Network<W::Inner>> Network<W> for Through<T> {
    fn has_unflushed(self, link: &W) -> bool {
        self.0.has_unflushed(link.inner())
    }

    fn has_buffered(self, link: &W) -> bool {
        self.0.has_buffered(link.inner())
    }

    fn ring_upcall_within(self, link: &mut W, after: RangeInclusive<Duration>) -> Option<Duration> {
        self.0.ring_upcall_within(link.inner_mut(), after)
    }
}

impl<W: Wrapper, T: SeparateNi<W::Inner>> SeparateNi<W> for Through<T> {
    fn control_program(self, link: &W) -> ControlProgram {
        self.0.control_program(link.inner())
    }

    fn notify(self, link: &mut W, work: Option<Work>) {
        self.0.notify(link.inner_mut(), work);
    }

    fn copy_to_host(self, link: &mut W, payload: Payload, size: u16) -> Option<Payload> {
        self.0.copy_to_host(link.inner_mut(), payload, size)
    }

    fn wake_at(self, link: &mut W, deadline: Option<Nanoseconds>) {
        self.0.wake_at(link.inner_mut(), deadline);
    }

    fn interrupt(self, link: &mut W) {
        self.0.interrupt(link.inner_mut());
    }
}
