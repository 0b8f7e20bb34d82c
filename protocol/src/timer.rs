//! Points in time, and why they matter.

/// A point in time, in nanoseconds since whatever the caller likes; it never goes back.
pub type Nanoseconds = u64;

/// Reason why an NI wants to be told of a point in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A packet has been unacknowledged for too long.
    Retransmit,
    /// A packet was received and nothing has taken an acknowledgement back.
    Acknowledge,
    /// A peer has not been heard of for long, or has not heard.
    Silence,
    /// Packets have waited for credits for so long that it may be a deadlock.
    Suspect,
}

/// Timers of all peers, of which the first is known.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub(crate) struct Timers {
    /// No timer of any peer runs out before this; they are looked through when it has passed.
    earliest: Option<(Nanoseconds, Timer)>,
}

impl Timers {
    /// A timer runs out at `deadline`.
    #[inline]
    pub fn wake_by(&mut self, deadline: Nanoseconds, why: Timer) {
        let earliest = self.earliest.get_or_insert((deadline, why));
        *earliest = (deadline, why).min(*earliest);
    }

    /// After the first packet between two ranks, at `now`, heartbeats are expected.
    #[inline]
    pub fn expect(&mut self, is_first: bool, now: Nanoseconds, heartbeat_after: Nanoseconds) {
        if is_first {
            self.wake_by(now + heartbeat_after, Timer::Silence);
        }
    }

    /// The first point in time at which a timer may run out, and which.
    #[inline]
    pub fn earliest(&self) -> Option<(Nanoseconds, Timer)> {
        self.earliest
    }

    /// True if a timer may run out at `now`.
    #[inline]
    pub fn are_due(&self, now: Nanoseconds) -> bool {
        self.earliest.is_some_and(|(earliest, _)| earliest <= now)
    }

    /// The timers of all peers were looked through: the first of them.
    pub fn set(&mut self, earliest: Option<(Nanoseconds, Timer)>) {
        self.earliest = earliest;
    }
}

#[cfg(test)]
mod tests;
