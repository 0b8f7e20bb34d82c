//! The upcall thread on a network: it looks after timers, too, and each of its wake-ups is on the
//! way of messages, because the kernel wakes it from inside the sender's `sendto`.
//!
//! ```text
//!   program:  computes        | talks                       | computes
//!   thread:   sleeps, armed   | sleeps, put off again and   | tick: serves, arms, sleeps
//!                             | again by who enters         |
//! ```
//! While the program computes, the thread sleeps until something arrives or a timer of the
//! protocol is due. Who enters the node finds it so, disarms it and sets the timer that it sleeps
//! beside to a *tick* from now, once in half a tick ([`Node::put_off_look`]). So nothing wakes it
//! while the program talks. A tick after the program was last here it serves the protocol
//! (acknowledgements that are due, mostly), and is armed again.
//!
//! An arrival while the program computes is given the watchdog's delay (thesis 4.4, fig. 4.16), as
//! everywhere: if the program enters meanwhile, that puts the look off, and no interrupt comes of
//! it.

use super::{IDLE_LOOK, MOST_DELAYS, Watch};
use crate::AnyNode;
use crate::biased::Entered;
use crate::ni::inner::Inner;
use crate::ni::node::Node;
use std::sync::atomic::Ordering;
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Ticket, Waiter};
use weft_link::clock::{Clock, Nanoseconds};

/// Shortest sleep until a timer of the protocol: timers that follow each other closely share a
/// look.
const SHORTEST_SLEEP: Nanoseconds = 100_000;
/// Period in which it looks while a thread of the program sleeps in the node, which does all by
/// itself.
const BESIDE_SLEEPER: Duration = Duration::from_millis(100);

/// Outcome of a look at the node.
enum Look {
    /// Something is there for the program, or for upcalls.
    Waits,
    /// Nothing is: the thread may sleep with this.
    Nothing(Sleep),
    /// The program is inside.
    Inside,
}

/// Sleep of the upcall thread.
struct Sleep {
    ticket: Ticket,
    /// True if the link rings when its time is over; else the thread sees to that itself.
    is_timed: bool,
}

/// Cause of the end of a sleep.
#[derive(PartialEq, Eq)]
enum Woken {
    /// Its time was over.
    Time,
    /// An arrival, other work, or the end.
    Ring,
}

impl<L: Link> Watch<L> {
    /// Watches the network, until it is over.
    pub(super) fn watch_network(&mut self, interrupt: &mut impl FnMut()) {
        // Packets that the host had processed when it was left time to poll, and that time.
        let (mut left_time, mut pause) = (None, self.delay());
        while !self.is_over() {
            match self.node.look() {
                Look::Waits => {
                    let host = self.node.host_status();
                    let processed = host.packets_processed;
                    let is_eager = self.node.eager.load(Ordering::Relaxed);
                    match left_time {
                        None if !is_eager => pause = self.delay(),
                        Some(seen) if host.interrupts_disabled || seen != processed => {
                            pause = (pause * 2).min(self.delay() * MOST_DELAYS);
                        }
                        _ => {
                            self.node.timer_fallback.makes_upcalls(self.node.clock.now());
                            self.node.interrupts.run(&mut *interrupt);
                            left_time = None;
                            continue;
                        }
                    }
                    left_time = Some(processed);
                    self.leave_time(pause);
                }
                Look::Nothing(sleep) => {
                    let is_eager = self.node.eager.load(Ordering::Relaxed);
                    left_time = None;
                    if self.sleep(sleep, Woken::Ring) == Woken::Ring && !is_eager {
                        left_time = Some(self.node.host_status().packets_processed);
                        pause = self.delay();
                        self.leave_time(pause);
                    }
                }
                Look::Inside => {
                    left_time = None;
                    self.leave_time(Duration::from_nanos(self.node.timer_fallback.tick()));
                }
            }
        }
    }

    /// Leaves the program time to poll, and all that it needs if it does.
    fn leave_time(&self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let ticket = self.bells.ticket(Waiter::Upcall);
        self.node.announce_look(self.node.clock.now().saturating_add(time));
        self.sleep(Sleep { ticket, is_timed: false }, Woken::Time);
    }

    /// Sleeps until the announced look, which the program may put off meanwhile; or until something
    /// rings, if that is to end it.
    fn sleep(&self, sleep: Sleep, ends_at: Woken) -> Woken {
        let Sleep { mut ticket, mut is_timed } = sleep;
        let fallback = &self.node.timer_fallback;
        let woken = loop {
            let looks_at = fallback.looks_at.load(Ordering::Relaxed);
            let now = self.node.clock.now();
            if now >= looks_at {
                break Woken::Time;
            }
            let until_look = Duration::from_nanos(looks_at - now);
            if self.is_over() || (ends_at == Woken::Ring && self.node.has_pending_work()) {
                break Woken::Ring;
            }
            let limit = if is_timed { IDLE_LOOK } else { until_look };
            let wait = || self.bells.wait(Waiter::Upcall, ticket, limit);
            self.slack.sleep(limit, fallback.may_look_late(now), wait);
            ticket = self.bells.ticket(Waiter::Upcall);
            match fallback.put_off_from.load(Ordering::Relaxed) {
                0 if ends_at == Woken::Ring
                    && self.node.clock.now() < fallback.looks_at.load(Ordering::Relaxed) =>
                {
                    break Woken::Ring;
                }
                0 => {}
                // Who put it off has set the link's timer, or left it as it was.
                _ => {
                    let rings_early = fallback.rings_early.swap(false, Ordering::Relaxed);
                    is_timed = !rings_early && fallback.has_timer.load(Ordering::Relaxed);
                }
            }
        };
        fallback.awake();
        woken
    }
}

impl<L: Link> Node<L> {
    /// Serves the protocol in place of a program that computes. Arms the upcall thread's bell if
    /// there is nothing for the program, and announces when it looks again.
    fn look(&self) -> Look {
        let Some(mut inner) = self.inner.try_enter() else { return Look::Inside };
        self.serve_inside(&mut inner);
        if !inner.pending.is_empty() || inner.systems.has_takeable() {
            drop(inner);
            // The arrival that would have woken it is no longer in the link.
            self.nudge();
            return Look::Waits;
        }
        if self.has_pending_work() {
            return Look::Waits;
        }
        let now = self.clock.now();
        // It looks when it wakes, which puts the look off.
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let ticket = self.attributes.bells.ticket(Waiter::Upcall);
            return Look::Nothing(self.sleep_until(inner, now, BESIDE_SLEEPER, ticket));
        }
        let Some(ticket) = inner.link.arm(Waiter::Upcall) else { return Look::Waits };
        let timer = inner.ni.next_deadline().map_or(u64::MAX, |(deadline, _)| deadline);
        let timer = Duration::from_nanos(timer.saturating_sub(now).max(SHORTEST_SLEEP));
        // After the ticket: a thread that sets an earlier alarm from here on rings the bell.
        let limit = timer.min(self.until_alarm()).min(IDLE_LOOK);
        Look::Nothing(self.sleep_until(inner, now, limit, ticket))
    }

    /// A sleep of the upcall thread that begins `now`.
    fn sleep_until(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        now: Nanoseconds,
        limit: Duration,
        ticket: Ticket,
    ) -> Sleep {
        let is_timed = inner.ring_upcall_within(limit..=limit).is_some();
        self.timer_fallback.has_timer.store(is_timed, Ordering::Relaxed);
        self.timer_fallback.rings_early.store(false, Ordering::Relaxed);
        self.announce_look(now + limit.as_nanos() as u64);
        Sleep { ticket, is_timed }
    }

    /// Announces that the upcall thread sleeps, and when it looks again, unless who enters
    /// meanwhile puts that off.
    fn announce_look(&self, time: Nanoseconds) {
        self.timer_fallback.looks_at.store(time, Ordering::Relaxed);
        self.timer_fallback.put_off_from.store(0, Ordering::Relaxed);
    }
}
