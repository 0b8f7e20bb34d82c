//! Waits of threads, and their sleep: what is done next is [`presence`](crate::presence)'s to say.

use crate::Result;
use crate::ni::any_node::AnyNode;
use crate::ni::node::Node;
use crate::ni::offloaded::Side;
use crate::ni::wait::{Deadline, Look, What};
use crate::presence::backoff::Step;
use crate::presence::constants::{LONG_WAIT, LONGEST_SLEEP};
use crate::presence::sleep::{Sleep, SleepEffect, SleepEvent};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Ticket, Waiter};
use weft_trace::{NamedThing, Recorder, What as Traced, record_text};

impl<L: Link> Node<L> {
    /// Longest sleep of a thread that waits. An NI apart rings whenever there is something to look
    /// at, so that only the host's own protocol can have a reason to wake without it.
    fn longest_sleep(&self) -> Duration {
        let interface = self.interface();
        let until_alarm = interface.until_alarm();
        if L::NI.is_none() {
            return until_alarm.min(LONGEST_SLEEP).min(interface.until_timer());
        }
        let deadline = interface.inner.enter().deadline_at(Side::Host);
        deadline.map_or(until_alarm, |deadline| until_alarm.min(interface.until(deadline)))
    }

    /// See [`AnyNode::sleep`]. Arrivals wake the thread that sleeps, not the upcall thread (thesis
    /// 6.2.2).
    pub(crate) fn sleep_unless(&self, step: &mut Look<'_>, limit: Duration) -> Result<Step> {
        let interface = self.interface();
        let sleepers = &interface.attendance.sleepers;
        let (mut sleep, mut effect) = (Sleep::begin(sleepers), SleepEffect::Arm);
        let (mut ticket, mut found) = (None, Ok(Step::Idle));
        loop {
            let event = match effect {
                SleepEffect::Arm => {
                    ticket = interface.inner.enter().link.arm(Waiter::Host);
                    SleepEvent::Armed(ticket.is_some())
                }
                SleepEffect::Look => {
                    found = step();
                    if matches!(found, Ok(Step::Idle)) {
                        SleepEvent::FoundNothing
                    } else {
                        SleepEvent::Found
                    }
                }
                SleepEffect::Sleep => {
                    if let Some(ticket) = ticket {
                        self.sleep_at_bell(ticket, limit.min(self.longest_sleep()));
                    }
                    SleepEvent::Done
                }
                SleepEffect::Disarm => {
                    interface.exit_after_sleep();
                    SleepEvent::Done
                }
                SleepEffect::Ring => {
                    interface.attendance.bells.ring(Waiter::Host);
                    SleepEvent::Done
                }
                SleepEffect::Over { has_more } => {
                    return if has_more { Ok(Step::Progress) } else { found };
                }
            };
            effect = sleep.next(event, sleepers);
        }
    }

    fn sleep_at_bell(&self, ticket: Ticket, limit: Duration) {
        let interface = self.interface();
        self.host_waits(true);
        self.sleeps.fetch_add(1, Ordering::Relaxed);
        if let Some(notice) = &interface.attendance.notice {
            notice.sleeps();
        }
        let record = |what| {
            if let Some(recorder) = &interface.attributes.services.recorder {
                recorder.record(&what);
            }
        };
        record(Traced::SleepBegins);
        interface.attendance.bells.wait(Waiter::Host, ticket, limit);
        record(Traced::SleepEnds);
        self.host_waits(false);
    }

    /// Tells an NI apart if the host waits: then it is not interrupted.
    #[inline]
    fn host_waits(&self, waits: bool) {
        if L::NI.is_some() {
            self.interface().inner.enter().offloaded.host_waits = waits;
        }
    }
}

/// Waits, whatever the link.
impl dyn AnyNode + '_ {
    /// Calls `step`, which should poll, until it is done; spins, yields, sleeps in between.
    ///
    /// # Errors
    /// The first error of `step`.
    pub(crate) fn wait(&self, step: &mut Look<'_>) -> Result<()> {
        match &self.attributes().services.recorder {
            None => self.wait_unseen(None, step),
            Some(recorder) => {
                self.record_wait(&**recorder, None, step, &mut |step| self.wait_unseen(None, step))
            }
        }
    }

    /// Does what [`Self::wait`] does, but ends where that would sleep.
    ///
    /// # Errors
    /// The first error of `step`.
    pub(crate) fn wait_awake(&self, step: &mut Look<'_>) -> Result<()> {
        self.attendance().waits.wait(step, &mut |_| Ok(Step::Done))
    }

    /// Pause of a program that polls ([`crate::Presence::pause`]).
    ///
    /// # Errors
    /// The first error of `step`.
    pub(crate) fn pause(&self, begins: bool, step: &mut Look<'_>) -> Result<u32> {
        if let Some(recorder) = &self.attributes().services.recorder {
            recorder.looked_in_vain();
        }
        self.attendance().waits.pause(begins, &mut |limit| self.sleep(step, limit))
    }

    /// Does what [`Self::wait`] does, and never sleeps beyond `deadline`. Before its first sleep
    /// `what` is asked what others may read until this returns, unless something [is
    /// published](crate::ni::attendance::Attendance::publish) already. A wait that sleeps not costs
    /// nothing more.
    ///
    /// # Errors
    /// The first error of `step`.
    pub(crate) fn wait_for(
        &self,
        what: What<'_>,
        deadline: Deadline,
        step: &mut Look<'_>,
    ) -> Result<()> {
        match &self.attributes().services.recorder {
            None => self.wait_noticed(what, deadline, step),
            Some(recorder) => {
                let wait = &mut |step: &mut Look<'_>| self.wait_noticed(what, deadline, step);
                self.record_wait(&**recorder, Some(what), step, wait)
            }
        }
    }

    fn wait_unseen(&self, deadline: Deadline, step: &mut Look<'_>) -> Result<()> {
        if self.attendance().sleepers.take_turns() {
            return self.wait_beside_coroutines(deadline, step);
        }
        let sleep = &mut |step: &mut Look<'_>| self.sleep(step, self.time_until(deadline));
        self.attendance().waits.wait(step, sleep)
    }

    fn wait_noticed(&self, what: What<'_>, deadline: Deadline, step: &mut Look<'_>) -> Result<()> {
        let attendance = self.attendance();
        let Some(notice) = &attendance.notice else {
            return self.wait_unseen(deadline, step);
        };
        let mut is_up = false;
        let waited = attendance.waits.wait(step, &mut |step| {
            if !is_up && !attendance.is_published() {
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

    /// Waits, where the host is coroutines that take turns. What one has processed may be what
    /// another waits for, which nobody wakes if a handler has done it.
    fn wait_beside_coroutines(&self, deadline: Deadline, step: &mut Look<'_>) -> Result<()> {
        let attendance = self.attendance();
        let has_processed = Cell::new(false);
        let wake_others = || {
            if has_processed.take() && attendance.sleepers.are_any_at_bell() {
                attendance.bells.ring(Waiter::Host);
            }
        };
        let mut look = || {
            let found = step();
            has_processed.set(has_processed.get() || !matches!(found, Ok(Step::Idle)));
            found
        };
        let waited = attendance.waits.wait(&mut look, &mut |look| {
            wake_others();
            self.sleep(look, self.time_until(deadline))
        });
        wake_others();
        waited
    }

    /// Time until a deadline; for ever without one.
    fn time_until(&self, deadline: Deadline) -> Duration {
        deadline.map_or(Duration::MAX, |deadline| deadline.saturating_sub(self.now()))
    }

    /// Writes down a wait, from its first look in vain on: one that finds at once what it wants is
    /// none. Of one that was long the text says what it was for.
    #[cold]
    fn record_wait(
        &self,
        recorder: &dyn Recorder,
        what: Option<What<'_>>,
        step: &mut Look<'_>,
        wait: &mut dyn FnMut(&mut Look<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut since = None;
        let waited = wait(&mut || {
            let found = step();
            if since.is_none() && matches!(found, Ok(Step::Idle)) {
                recorder.record(&Traced::WaitBegins);
                since = Some(self.now());
            }
            found
        });
        let Some(since) = since else { return waited };
        let time = self.now().saturating_sub(since);
        if let Some(what) = what.filter(|_| time >= LONG_WAIT) {
            record_text(recorder, NamedThing::Wait, 0, what().subject());
        }
        recorder.record(&Traced::WaitEnds);
        waited
    }
}

#[cfg(test)]
mod tests;
