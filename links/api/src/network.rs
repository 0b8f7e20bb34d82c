//! Flushes, timers and paths: a link over a network has them besides frames.

use crate::Link;
use crate::clock::Nanoseconds;
use std::ops::RangeInclusive;
use std::time::Duration;
use weft_wire::Rank;

/// Flushes and timers of a link of type `L` over a network: it holds packets back until a flush,
/// receives several at once, and may lose some, so that the NI has timers. A thread that runs the
/// NI inline must serve both in time.
///
/// A value of this type exists only for such a link ([`crate::Link::NETWORK`]).
pub trait Network<L>: Copy + Send + 'static {
    /// True if [`crate::Link::flush`] may have something to send.
    fn has_unflushed(self, link: &L) -> bool;

    /// True if [`crate::Link::receive`] would find something without a poll of the network: packets
    /// that were received together with others.
    fn has_buffered(self, link: &L) -> bool;

    /// Rings the bell of the upcall thread once within this range of times from now on, the earlier
    /// the better, or not at all if this is called again before. It does not wake the thread by
    /// itself, so that who is at work can put off what the thread was to look at. Returns the time
    /// after which it rings, or `None` if this link cannot.
    fn ring_upcall_within(self, link: &mut L, after: RangeInclusive<Duration>) -> Option<Duration>;
}

/// [`Network::has_unflushed`]; false where nothing is held back.
#[inline(always)]
pub fn has_unflushed<L: Link>(link: &L) -> bool {
    L::NETWORK.is_some_and(|network| network.has_unflushed(link))
}

/// [`Network::has_buffered`]; false where no poll costs anything.
#[inline(always)]
pub fn has_buffered<L: Link>(link: &L) -> bool {
    L::NETWORK.is_some_and(|network| network.has_buffered(link))
}

/// Flushes and timers of a link that has none. There is no value of this.
#[derive(Clone, Copy, Debug)]
pub enum NoNetwork {}

impl<L> Network<L> for NoNetwork {
    fn has_unflushed(self, _: &L) -> bool {
        match self {}
    }

    fn has_buffered(self, _: &L) -> bool {
        match self {}
    }

    fn ring_upcall_within(self, _: &mut L, _: RangeInclusive<Duration>) -> Option<Duration> {
        match self {}
    }
}

/// Paths from this rank to others, which differ or change.
pub trait Paths {
    /// User bytes of a packet to `to` alone, at most; no less than of one to anybody. `None` if
    /// they are as many.
    fn payload_to(&self, to: Rank) -> Option<usize>;

    /// True if something that was transmitted to `to` is on its way still, and arrives, or is lost
    /// in a way of which this link knows: whoever would send it again waits as long as this says
    /// so. Not for each packet: it may be a call of the system.
    fn is_under_way(&mut self, to: Rank) -> bool;

    /// Probes how long packets may be, and looks after whatever else may change. Called now and
    /// then with the time. Returns what is to be told to the user.
    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu>;
}

/// News of the path to a rank: how long packets may be there now. Lengths are in bytes, with the IP
/// header where there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathMtu {
    /// Rank at the end of the path.
    pub to: Rank,
    /// Path MTU now.
    pub mtu: usize,
    /// MTU of the job.
    pub job: usize,
}
