//! Sleep of a node's threads, and its bounds.

use crate::Result;
use crate::ni::inner::Inner;
use crate::ni::node::Node;
use crate::ni::wait::{self, Deadline, Look, Step};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Nanoseconds};
use weft_link::status::Awaited;
use weft_trace::{Named, Recorder, What, record_text};

/// The longest sleep before a waiting thread looks again by itself (invariant I9).
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
/// Length of a wait of which a trace says what it was for: to say it takes a hundredth of that.
const LONG_WAIT: Duration = Duration::from_micros(10);

impl<L: Link> Node<L> {
    /// Longest sleep of a thread that waits. An NI apart rings whenever there is something to look
    /// at, so that only the host's own protocol can have a reason to wake without it.
    fn longest_sleep(&self) -> Duration {
        let until_alarm = self.until_alarm();
        if L::NI.is_none() {
            return until_alarm.min(LONGEST_SLEEP).min(self.until_timer());
        }
        let deadline = self.inner.enter().host_deadline();
        deadline.map_or(until_alarm, |deadline| until_alarm.min(self.until(deadline)))
    }

    /// Time until the alarm; for ever without one.
    pub(crate) fn until_alarm(&self) -> Duration {
        match self.alarm.load(Ordering::SeqCst) {
            u64::MAX => Duration::MAX,
            alarm => self.until(alarm),
        }
    }

    /// Time until a deadline; for ever without one.
    fn time_until(&self, deadline: Deadline) -> Duration {
        deadline.map_or(Duration::MAX, |deadline| self.until(deadline.as_nanos() as u64))
    }

    /// Time until then, by the node's clock; none once it is over.
    pub(crate) fn until(&self, time: Nanoseconds) -> Duration {
        Duration::from_nanos(time.saturating_sub(self.clock.now()))
    }

    /// True if the upcall thread has something to do besides packets: pending work, or an alarm.
    pub(crate) fn has_pending_work(&self) -> bool {
        self.pending_work.load(Ordering::SeqCst) != 0 || self.until_alarm().is_zero()
    }

    /// Sleeps until something arrives, or `limit` has passed, unless `step` finds something when
    /// all is armed. Arrivals wake the thread that sleeps, not the upcall thread (thesis 6.2.2).
    pub(crate) fn sleep(&self, step: &mut Look<'_>, limit: Duration) -> Result<Step> {
        // Before `step`: a thread that changes what is waited for, and nudges, either does so
        // before `step` looks, or sees that this thread sleeps. An NI apart has its host in one
        // thread.
        self.asleep.fetch_add(1, Ordering::SeqCst);
        if L::NI.is_none() {
            self.inner.heavy_fence();
        }
        let slept = self.sleep_armed(step, limit);
        let others = self.asleep.fetch_sub(1, Ordering::SeqCst) - 1;
        if L::NI.is_none() && others > 0 {
            // The bell has woken one thread, which has disarmed it for all.
            self.attributes.bells.ring(Waiter::Host);
        }
        slept
    }

    fn sleep_armed(&self, step: &mut Look<'_>, limit: Duration) -> Result<Step> {
        let Some(ticket) = self.inner.enter().link.arm(Waiter::Host) else {
            return Ok(Step::Progress);
        };
        let skipped_polls = self.skipped_polls.load(Ordering::Relaxed);
        let found = step();
        if matches!(found, Ok(Step::Idle)) && self.were_polls_skipped(skipped_polls) {
            self.inner.enter().link.disarm(Waiter::Host);
            return Ok(Step::Progress);
        }
        self.host_waits(true);
        if matches!(found, Ok(Step::Idle)) {
            self.sleeps.fetch_add(1, Ordering::Relaxed);
            let limit = limit.min(self.longest_sleep());
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            if let Some(notice) = &self.attributes.services.notice {
                notice.sleeps();
            }
            self.record(What::SleepBegins);
            self.attributes.bells.wait(Waiter::Host, ticket, limit);
            self.record(What::SleepEnds);
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
        self.host_waits(false);
        self.inner.enter().link.disarm(Waiter::Host);
        found
    }

    /// See [`AnyNode::wait`](crate::AnyNode::wait).
    pub(crate) fn wait_or_sleep(&self, step: &mut Look<'_>) -> Result<()> {
        match &self.attributes.services.recorder {
            None => self.wait_unseen(None, step),
            Some(recorder) => {
                self.record_wait(&**recorder, None, step, &mut |step| self.wait_unseen(None, step))
            }
        }
    }

    fn wait_unseen(&self, deadline: Deadline, step: &mut Look<'_>) -> Result<()> {
        match L::NI.is_some() {
            false => self.waits.wait(step, &mut |step| self.sleep(step, self.time_until(deadline))),
            true => self.wait_beside_coroutines(deadline, step),
        }
    }

    /// Does what [`Self::wait_or_sleep`] does, and never sleeps beyond `deadline`. Before its first
    /// sleep `what` is asked what others may read until this returns, unless something
    /// [is said](Self::say) already. A wait that sleeps not costs nothing more.
    pub(crate) fn wait_visibly(
        &self,
        what: wait::What<'_>,
        deadline: Deadline,
        step: &mut Look<'_>,
    ) -> Result<()> {
        match &self.attributes.services.recorder {
            None => self.wait_noticed(what, deadline, step),
            Some(recorder) => {
                let wait = &mut |step: &mut Look<'_>| self.wait_noticed(what, deadline, step);
                self.record_wait(&**recorder, Some(what), step, wait)
            }
        }
    }

    fn wait_noticed(
        &self,
        what: wait::What<'_>,
        deadline: Deadline,
        step: &mut Look<'_>,
    ) -> Result<()> {
        let Some(notice) = &self.attributes.services.notice else {
            return self.wait_unseen(deadline, step);
        };
        let mut is_up = false;
        let waited = self.waits.wait(step, &mut |step| {
            if !is_up && !self.is_said.load(Ordering::Relaxed) {
                is_up = true;
                notice.waits(&what());
            }
            self.sleep(step, self.time_until(deadline))
        });
        if is_up {
            notice.goes_on();
        }
        waited
    }

    /// Writes down a wait, from its first look in vain on: one that finds at once what it wants is
    /// none. Of one that was long the text says what it was for.
    #[cold]
    fn record_wait(
        &self,
        recorder: &dyn Recorder,
        what: Option<wait::What<'_>>,
        step: &mut Look<'_>,
        wait: &mut dyn FnMut(&mut Look<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut since = None;
        let waited = wait(&mut || {
            let found = step();
            if since.is_none() && matches!(found, Ok(Step::Idle)) {
                recorder.record(&What::WaitBegins);
                since = Some(self.clock.now());
            }
            found
        });
        let Some(since) = since else { return waited };
        let time = Duration::from_nanos(self.clock.now().saturating_sub(since));
        if let Some(what) = what.filter(|_| time >= LONG_WAIT) {
            record_text(recorder, Named::Wait, 0, what().subject());
        }
        recorder.record(&What::WaitEnds);
        waited
    }

    /// Writes this down, if the run is traced.
    fn record(&self, what: What) {
        if let Some(recorder) = &self.attributes.services.recorder {
            recorder.record(&what);
        }
    }

    /// Has others know of a wait that consists of several, until [`Self::unsay`]. False, and
    /// nothing is done, if nobody can know, or another thread has said something.
    pub(crate) fn say(&self, awaited: &Awaited) -> bool {
        let Some(notice) = &self.attributes.services.notice else { return false };
        if self.is_said.swap(true, Ordering::Relaxed) {
            return false;
        }
        notice.waits(awaited);
        true
    }

    /// Says of what [`Self::say`] has said that it is looked for again and again.
    pub(crate) fn looks(&self) {
        if let Some(notice) = &self.attributes.services.notice {
            notice.looks();
        }
    }

    /// Ends what [`Self::say`] has said.
    pub(crate) fn unsay(&self) {
        if let Some(notice) = &self.attributes.services.notice {
            self.is_said.store(false, Ordering::Relaxed);
            notice.goes_on();
        }
    }

    /// Waits, where the host is coroutines that take turns. What one has processed may be what
    /// another waits for, which nobody wakes if a handler has done it.
    fn wait_beside_coroutines(&self, deadline: Deadline, step: &mut Look<'_>) -> Result<()> {
        let has_processed = Cell::new(false);
        let wake_others = || {
            if has_processed.take() && self.sleepers.load(Ordering::SeqCst) > 0 {
                self.attributes.bells.ring(Waiter::Host);
            }
        };
        let mut look = || {
            let found = step();
            has_processed.set(has_processed.get() || !matches!(found, Ok(Step::Idle)));
            found
        };
        let waited = self.waits.wait(&mut look, &mut |look| {
            wake_others();
            self.sleep(look, self.time_until(deadline))
        });
        wake_others();
        waited
    }

    /// True if a poll skipped packets because another thread was in an upcall or sorting, and is
    /// not any more. If it still is, it rings afterwards: it sees that this thread sleeps.
    fn were_polls_skipped(&self, before: u32) -> bool {
        if L::NI.is_some() || self.skipped_polls.load(Ordering::Relaxed) == before {
            return false;
        }
        self.inner.heavy_fence();
        !self.in_upcall.load(Ordering::Relaxed)
    }

    /// Wakes the threads whose polls skipped packets, once no packet is in an upcall or held. These
    /// polls have moved arrivals out of the link, whose bell does not ring for them again, and the
    /// threads may sleep.
    #[cold]
    pub(crate) fn wake_skipped(&self, inner: &Inner<L>) {
        if !inner.pending.is_empty() {
            self.attributes.bells.ring(Waiter::Host);
        }
    }

    /// Tells an NI apart if the host waits: then it is not interrupted.
    #[inline]
    fn host_waits(&self, waits: bool) {
        if L::NI.is_some() {
            self.inner.enter().offloaded.host_waits = waits;
        }
    }
}

/// A time as an alarm has it; none is never.
pub(crate) fn nanoseconds_of(time: Option<Duration>) -> u64 {
    time.map_or(u64::MAX, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests;
