//! Packets that are held back, so that they share a datagram and a system call with others.

use super::cell::Bits;
use super::constants::{COALESCE_FOR, LOOKS_OF_STREAM, STREAM, STREAM_GAP};
use weft_link::clock::Nanoseconds;
use weft_wire::Rank;

/// Word of the layer above on the packet that it launches next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlushHint {
    /// Nothing.
    Nothing,
    /// More follow at once, with which it leaves.
    More,
    /// It is the last for now: of those that followed one another, or of a kind of its own.
    Last,
    /// It is of a system's own, and the program's next packet soon follows, most likely.
    Aside,
}

/// Time at which transmitted packets leave the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaves {
    /// Now.
    AtOnce,
    /// With others, or once they have waited for long enough.
    Soon,
    /// With the next.
    WithNext,
}

impl Bits for FlushHint {
    #[inline(always)]
    fn to_bits(self) -> u64 {
        self as u64
    }

    #[inline(always)]
    fn of_bits(bits: u64) -> Self {
        match bits {
            1 => FlushHint::More,
            2 => FlushHint::Last,
            3 => FlushHint::Aside,
            _ => FlushHint::Nothing,
        }
    }
}

/// Knowledge of what a program sends, by which its packets leave at once or wait in the link.
///
/// The first packet to a rank since the program last looked leaves at once, so that a program that
/// sends one packet and waits for the answer does not wait for anything else (the fast path of Pupa
/// 2.3). The second shows that there are more. So do [`STREAM`] packets that follow one another,
/// although the program looks in between: it finds at once what it waits for, and sends on.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Coalescing {
    /// Receiver of the last packet, unless it has answered.
    last: Option<Rank>,
    /// Time of the last packet.
    launched_at: Nanoseconds,
    /// Packets to that rank, each of which soon followed the one before.
    streak: u32,
    /// True if the program has looked since the last packet.
    has_looked: bool,
    /// Empty polls of a program that sends a stream, since the last that found something.
    in_vain: u32,
    /// Time since which packets wait.
    since: Option<Nanoseconds>,
    /// True if the program's are among them.
    has_packets: bool,
}

impl Coalescing {
    /// Records a packet to `to`, or to several ranks. Of one that is said to be the last nothing
    /// follows for the next.
    #[inline]
    pub fn launched(&mut self, hint: FlushHint, to: Option<Rank>, now: Nanoseconds) -> Leaves {
        match hint {
            FlushHint::More => Leaves::WithNext,
            FlushHint::Last => Leaves::AtOnce,
            FlushHint::Aside => Leaves::Soon,
            FlushHint::Nothing if self.follows(to, now) => {
                self.has_packets = true;
                Leaves::Soon
            }
            FlushHint::Nothing => Leaves::AtOnce,
        }
    }

    /// Records a packet of which nothing was said; true if more are to be expected.
    fn follows(&mut self, to: Option<Rank>, now: Nanoseconds) -> bool {
        let is_same = to.is_some() && self.last == to;
        let gap = now.saturating_sub(self.launched_at);
        self.streak = if is_same && gap < STREAM_GAP { self.streak.saturating_add(1) } else { 0 };
        let may_follow = !self.has_looked || self.streak >= STREAM;
        let follows = is_same && gap < COALESCE_FOR && may_follow;
        self.last = to;
        self.launched_at = now;
        self.has_looked = false;
        self.in_vain = 0;
        follows
    }

    /// Records that `from` has sent something: what is sent to it next may be what it waits for.
    #[inline]
    pub fn heard(&mut self, from: Rank) {
        if self.last == Some(from) {
            self.last = None;
            self.streak = 0;
        }
    }

    /// Records that the program has given a packet back, after a hint.
    #[inline]
    pub fn released(&mut self, hint: FlushHint, has_more: impl FnOnce() -> bool) -> Leaves {
        match hint {
            FlushHint::More => Leaves::WithNext,
            _ => self.has_found(has_more),
        }
    }

    /// Records a look that found something. Transmitted packets leave, unless more have arrived
    /// already, which may have to be answered too, or some are held back.
    #[inline]
    pub fn has_found(&mut self, has_more: impl FnOnce() -> bool) -> Leaves {
        self.has_looked = true;
        self.in_vain = 0;
        if self.holds() || has_more() { Leaves::Soon } else { Leaves::AtOnce }
    }

    /// Records an empty poll.
    #[inline]
    pub fn has_found_nothing(&mut self) -> Leaves {
        if !self.is_waiting() && self.holds() { Leaves::Soon } else { Leaves::AtOnce }
    }

    /// Records an empty poll; true if the program waits.
    #[inline]
    fn is_waiting(&mut self) -> bool {
        self.has_looked = true;
        if self.streak < STREAM {
            return true;
        }
        self.in_vain = self.in_vain.saturating_add(1);
        self.in_vain >= LOOKS_OF_STREAM
    }

    /// True if packets are held back.
    #[inline]
    pub fn holds(&self) -> bool {
        self.since.is_some()
    }

    /// Holds packets back; returns since when that has been so, or `None` if it has been for long
    /// enough.
    pub fn hold(&mut self, now: Nanoseconds) -> Option<Nanoseconds> {
        let since = *self.since.get_or_insert(now);
        (now.saturating_sub(since) < COALESCE_FOR).then_some(since)
    }

    /// True if packets of the program are held back.
    pub fn holds_packets(&self) -> bool {
        self.has_packets
    }

    /// Records that all have left; true if some were held back.
    #[inline]
    pub fn has_left(&mut self) -> bool {
        self.has_packets = false;
        self.since.take().is_some()
    }
}

#[cfg(test)]
mod tests;
