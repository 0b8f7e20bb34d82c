//! Points in time, and why they matter.

use crate::settings::Recovery;
use crate::{Actions, Ni};

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

/// The time, and the timers that run out as it passes.
impl<B: Copy> Ni<B> {
    /// True if this NI runs timers, and must be told the time with [`Self::advance`] before it is
    /// told of events.
    #[inline]
    pub fn keeps_time(&self) -> bool {
        self.settings.preset.retransmits() || matches!(self.settings.recovery, Recovery::After(_))
    }

    /// The time is now `now`. Runs out the timers that are due. Time does not go back: a point
    /// before the last one counts as that.
    #[inline]
    pub fn advance(&mut self, now: Nanoseconds, out: &mut impl Actions<B>) {
        if !self.passes(now) {
            self.advance_slowly(now, out);
        }
    }

    /// The time is now `now`, if nothing else follows from that: no timer is due, and this NI was
    /// not deaf.
    #[inline]
    fn passes(&mut self, now: Nanoseconds) -> bool {
        let passed = now.saturating_sub(self.now);
        let passes = !matches!(self.settings.recovery, Recovery::After(_))
            && !self.settings.silence.is_some_and(|silence| silence.is_deaf(passed))
            && self.earliest_timer().is_none_or(|(earliest, _)| earliest > now);
        if passes {
            self.now = now.max(self.now);
        }
        passes
    }

    #[inline(never)]
    fn advance_slowly(&mut self, now: Nanoseconds, out: &mut impl Actions<B>) {
        self.tell_time(now);
        self.run_out(out);
        if self.suspicion_deadline().is_some_and(|deadline| deadline <= now) {
            self.try_recovery(out);
        }
    }

    /// The time is now `now`, and timers that are due wait for the next [`Self::advance`]: for an
    /// NI whose timers its host runs.
    pub fn tell_time(&mut self, now: Nanoseconds) {
        self.notice_deafness(now);
        self.now = now.max(self.now);
    }

    /// The time, as it was told last.
    pub fn now(&self) -> Nanoseconds {
        self.now
    }

    /// The latest time at which [`Self::advance`] is to be called, and the reason; `None` while no
    /// timer runs. It may be too early, which costs a look, but is never too late.
    pub fn next_deadline(&self) -> Option<(Nanoseconds, Timer)> {
        let suspicion = self.suspicion_deadline().map(|deadline| (deadline, Timer::Suspect));
        [self.earliest_timer(), suspicion].into_iter().flatten().min()
    }
}
