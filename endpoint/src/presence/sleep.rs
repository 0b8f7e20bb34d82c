//! The sleep of a thread of the program, from the moment at which it gives up looking.
//!
//! ```text
//!   announced ──▶ Arm ──▶ Look ── nothing ──▶ Sleep ──▶ Disarm ──▶ left ──▶ Ring ──▶ Over
//!                  │        │ something, or polls have             │ nobody else    ▲
//!                  │        │ skipped packets ──────▶ Disarm       └────────────────┘
//!                  └── packets are there ──▶ left
//! ```
//! It announces itself first, so that a thread that has something for it either had it before the
//! last look, or sees that this one sleeps ([`Sleepers`]). The bell wakes one thread, which disarms
//! it for all: so who leaves while others sleep rings for them.

use super::cell::Sleepers;
use super::planted::{Bug, Planted};

/// Next thing that the thread is to do; [`Sleep::next`] is told its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SleepEffect {
    /// Arm the bell.
    Arm,
    /// Look for the last time at what is waited for.
    Look,
    /// Sleep until the bell rings or a time has passed.
    Sleep,
    /// Disarm the bell.
    Disarm,
    /// Ring the bell for others.
    Ring,
    /// Go on: with what the look found, or as if it had found something, if that is so.
    Over {
        /// True if there is something that the look has not found.
        has_more: bool,
    },
}

/// Outcome of an effect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SleepEvent {
    /// It is done: slept, disarmed, rung.
    Done,
    /// The bell is armed; or not, because packets are there.
    Armed(bool),
    /// The look has found nothing.
    FoundNothing,
    /// It has found something.
    Found,
}

/// A sleep, with the number of polls that had skipped packets when its bell was armed.
#[derive(Clone, Hash, Debug)]
pub struct Sleep {
    stage: SleepEffect,
    skipped: u32,
    has_more: bool,
    planted: Planted,
}

impl Sleep {
    /// A sleep of the calling thread; the first effect is [`SleepEffect::Arm`].
    pub fn begin(sleepers: &Sleepers) -> Self {
        sleepers.announce();
        Sleep { stage: SleepEffect::Arm, skipped: 0, has_more: false, planted: Planted::default() }
    }

    /// The effect after `event`.
    pub fn next(&mut self, event: SleepEvent, sleepers: &Sleepers) -> SleepEffect {
        self.stage = match (self.stage, event) {
            (SleepEffect::Arm, SleepEvent::Armed(false)) => {
                self.has_more = true;
                self.leave(sleepers)
            }
            (SleepEffect::Arm, _) => {
                self.skipped = sleepers.skipped();
                SleepEffect::Look
            }
            (SleepEffect::Look, SleepEvent::FoundNothing) => {
                self.has_more = sleepers.may_have_missed(self.skipped);
                if self.has_more { SleepEffect::Disarm } else { self.fall_asleep(sleepers) }
            }
            (SleepEffect::Look, _) => SleepEffect::Disarm,
            (SleepEffect::Sleep, _) => {
                sleepers.wait_at_bell(false);
                SleepEffect::Disarm
            }
            (SleepEffect::Disarm, _) => self.leave(sleepers),
            (SleepEffect::Ring | SleepEffect::Over { .. }, _) => self.over(),
        };
        self.stage
    }

    fn fall_asleep(&self, sleepers: &Sleepers) -> SleepEffect {
        sleepers.wait_at_bell(true);
        SleepEffect::Sleep
    }

    fn leave(&self, sleepers: &Sleepers) -> SleepEffect {
        let rings = sleepers.leave() && !self.planted.strikes(Bug::LoseRing);
        if rings { SleepEffect::Ring } else { self.over() }
    }

    fn over(&self) -> SleepEffect {
        SleepEffect::Over { has_more: self.has_more }
    }

    /// Makes the mistake, at each opportunity.
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, bug: Bug) {
        self.planted.plant(bug);
    }
}
