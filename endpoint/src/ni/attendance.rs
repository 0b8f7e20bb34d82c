//! Presence of a rank apart from its link: what its threads share, the bells that they ring, and
//! their status page. [`presence`](crate::presence) decides.

use crate::ni::attributes::Attributes;
use crate::ni::losses::Losses;
use crate::ni::wait::Waits;
use crate::presence::cell::{Interrupts, PendingWork, Relaxed, Sleepers};
use crate::presence::coalescing::FlushHint;
use crate::presence::fallback::TimerFallback;
use std::sync::Arc;
use std::time::Duration;
use weft_link::bell::{Bells, Waiter};
use weft_link::status::{Awaited, StatusNotice};
use weft_wire::Protocol;

/// Presence of a rank's threads, as they share it.
pub(crate) struct Attendance {
    pub waits: Waits,
    pub sleepers: Sleepers,
    pub work: PendingWork,
    pub interrupts: Interrupts,
    pub fallback: TimerFallback,
    /// Hint about the packets that the program launches next.
    pub hint: Relaxed<FlushHint>,
    pub bells: Arc<dyn Bells>,
    /// Losses that this rank has heard of.
    pub losses: Losses,
    /// Notice of what this rank waits for, if somebody can read it.
    pub notice: Option<Arc<dyn StatusNotice>>,
    /// True while the notice is not one of the wait under way, but of the whole it belongs to.
    is_published: Relaxed<bool>,
    is_closed: Relaxed<bool>,
}

impl Attendance {
    pub fn new(
        waits: Waits,
        sleepers: Sleepers,
        fallback: TimerFallback,
        attributes: &Attributes,
    ) -> Self {
        Attendance {
            waits,
            sleepers,
            work: PendingWork::default(),
            interrupts: Interrupts::default(),
            fallback,
            hint: Relaxed::new(FlushHint::Nothing),
            bells: Arc::clone(&attributes.bells),
            losses: Losses::default(),
            notice: attributes.services.notice.clone(),
            is_published: Relaxed::default(),
            is_closed: Relaxed::default(),
        }
    }

    /// True if a rank was lost, and the job does not go on.
    pub fn is_over(&self) -> bool {
        self.bells.loss().is_some() && !self.losses.goes_on()
    }

    /// Wakes a thread that sleeps in a wait, so that it looks again: another thread of this rank
    /// may have done what it waits for. Cheap while none sleeps.
    #[inline]
    pub fn nudge(&self) {
        if self.sleepers.are_any() {
            self.bells.ring(Waiter::Host);
        }
    }

    /// Sets or clears the mark that this system has work to do besides packets. The upcall thread
    /// interrupts if the host does not get to that work within the watchdog's delay.
    pub fn set_pending_work(&self, system: Protocol, there: bool) {
        if self.work.change(1 << system.index(), there) && there {
            self.bells.ring(Waiter::Upcall);
        }
    }

    /// Does what [`Self::set_pending_work`] does, for a host that will most likely get to the work
    /// itself: the upcall thread is not woken for it, and looks within a second.
    pub fn note_pending_work(&self, system: Protocol, there: bool) {
        self.work.change(1 << system.index(), there);
    }

    /// Has the upcall thread take arrivals at once, from here on, for a program that waits without
    /// polling; or look seldom while the program computes, for one that polls.
    pub fn set_eager(&self, is_eager: bool) {
        self.work.is_eager.set(is_eager);
        self.fallback.set_patient(!is_eager);
    }

    /// Has sleeping threads look again at this time by the node's clock.
    pub fn set_alarm(&self, time: Option<Duration>) {
        if self.work.set_alarm(time.map_or(u64::MAX, |time| time.as_nanos() as u64)) {
            self.nudge();
            self.bells.ring(Waiter::Upcall);
        }
    }

    /// Publishes a wait that consists of several, until [`Self::withdraw`]. False, and nothing is
    /// done, if nobody can know, or another thread has published one.
    pub fn publish(&self, awaited: &Awaited) -> bool {
        let Some(notice) = self.notice.as_ref().filter(|_| !self.is_published.replace(true)) else {
            return false;
        };
        notice.waits(awaited);
        true
    }

    /// True if such a wait is published.
    pub fn is_published(&self) -> bool {
        self.is_published.get()
    }

    /// Publishes that what was published is looked for again and again.
    pub fn publish_look(&self) {
        if let Some(notice) = &self.notice {
            notice.looks();
        }
    }

    /// Ends what [`Self::publish`] has begun.
    pub fn withdraw(&self) {
        if let Some(notice) = &self.notice {
            self.is_published.set(false);
            notice.goes_on();
        }
    }

    /// Ends the upcall thread's work for this node.
    pub fn close(&self) {
        self.is_closed.set(true);
        self.bells.ring(Waiter::Upcall);
    }

    /// True once [`Self::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }
}
