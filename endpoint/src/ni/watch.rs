//! The upcall thread: interrupts, for a host that computes and does not poll.
//!
//! It sleeps until an arrival rings its bell, lets the polling watchdog's delay pass, and compares
//! the host's count of packets processed (thesis 4.4, fig. 4.16). If the host has processed none,
//! it polls in the host's place: that is the interrupt. While packets keep coming and the host
//! keeps processing them, it looks ever less often and leaves its bell unarmed, so that senders do
//! not pay for waking it. On a network it sleeps all that time ([`network`]).

mod network;
mod slack;

use crate::AnyNode;
use crate::ni::any_node::Statistics;
use crate::ni::contention::Core;
use crate::ni::node::Node;
use slack::Slack;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use weft_link::Link;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::gauge::{Counts, Gauge};
use weft_protocol::watchdog::{Verdict, Watchdog};

/// The delay between an arrival and an interrupt for a job with `ranks` ranks on `cores` cores,
/// unless the user asks for another (`docs/internals/performance.md` has the measurements).
///
/// With a core for each rank, about twice what a wake-up across cores costs: a host that polls at
/// all is not interrupted. Where ranks share cores, a host that does not poll is most likely just
/// not running, and an interrupt would only take the core from another rank; so the delay is then
/// about what the scheduler gives to one at a time.
pub fn default_interrupt_delay(ranks: usize, cores: usize) -> Duration {
    match ranks <= cores {
        true => Duration::from_micros(70),
        false => DELAY_ON_SHARED_CORES,
    }
}

/// Shortest delay where others want the rank's core.
const DELAY_ON_SHARED_CORES: Duration = Duration::from_millis(2);

/// While the host polls, the delay grows up to this many times.
const MOST_DELAYS: u32 = 8;
/// A host that has been polling for long is looked at less often still: the delay is at most this
/// part of that time, and so is what an interrupt comes late by when the host begins to compute.
const SHARE_OF_ACTIVITY: u32 = 16;
/// Longest delay on those grounds. Each look takes the core from a rank, for 10 us or more.
const LONGEST_DELAY: Duration = Duration::from_millis(5);
/// Period in which a thread with nothing to do looks if it is still needed.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// A running upcall thread; stops when its node closes.
pub struct WatchThread {
    thread: Option<JoinHandle<()>>,
    heartbeats: Option<JoinHandle<()>>,
    node: Arc<dyn AnyNode>,
}

impl WatchThread {
    /// Starts the upcall thread of `node`. On an interrupt it calls `interrupt`, which should poll
    /// as [`Packets::interrupted`](crate::Packets::interrupted) does. When the job has lost a rank
    /// it does so once more, then calls `lost` once and ends.
    ///
    /// # Errors
    /// Those of the system, when it starts a thread.
    pub fn start<L: Link>(
        node: Arc<Node<L>>,
        delay: Duration,
        interrupt: impl FnMut() + Send + 'static,
        lost: impl FnOnce(weft_link::bell::Loss) + Send + 'static,
    ) -> std::io::Result<Self> {
        let heartbeats = start_heartbeats(&node)?;
        node.timer_fallback.watched();
        let watched = Arc::clone(&node);
        let thread = std::thread::Builder::new().name("weft-upcalls".into()).spawn(move || {
            // A panic in an upcall must end the rank, not just this thread.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Watch::new(watched, delay).run(interrupt, lost);
            }));
            if outcome.is_err() {
                std::process::abort();
            }
        })?;
        Ok(WatchThread { thread: Some(thread), heartbeats, node })
    }
}

impl Drop for WatchThread {
    fn drop(&mut self) {
        self.node.close();
        if let Some(heartbeats) = self.heartbeats.take() {
            heartbeats.thread().unpark();
            let _ = heartbeats.join();
        }
        let Some(thread) = self.thread.take() else { return };
        // An upcall may itself drop the last handle: a thread cannot wait for itself.
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join();
        }
    }
}

/// Starts a thread that keeps heartbeats going while the program computes and the upcall thread is
/// in an upcall that takes its time. It never makes upcalls.
fn start_heartbeats<L: Link>(node: &Arc<Node<L>>) -> std::io::Result<Option<JoinHandle<()>>> {
    let Some(period) = node.heartbeat() else { return Ok(None) };
    let node = Arc::clone(node);
    let beat = move || {
        let slack = Slack::new();
        while !node.is_closed() && node.attributes.bells.loss().is_none() {
            node.beat();
            slack.sleep(period, true, || std::thread::park_timeout(period));
        }
    };
    std::thread::Builder::new().name("weft-heartbeats".into()).spawn(beat).map(Some)
}

struct Watch<L: Link> {
    node: Arc<Node<L>>,
    bells: Arc<dyn Bells>,
    watchdog: Watchdog,
    delay: Duration,
    slack: Slack,
    start: Instant,
    /// Place where others may see the counts of this rank.
    gauge: Option<Arc<dyn Gauge>>,
}

impl<L: Link> Watch<L> {
    fn new(node: Arc<Node<L>>, delay: Duration) -> Self {
        let bells = Arc::clone(&node.attributes.bells);
        let watchdog = Watchdog::new(delay.as_nanos() as u64);
        let gauge = node.attributes.services.gauge.clone();
        Watch { node, bells, watchdog, delay, slack: Slack::new(), start: Instant::now(), gauge }
    }

    /// Delay of an interrupt, as it is at first.
    fn delay(&self) -> Duration {
        match self.node.waits.core() {
            Core::Own => self.delay,
            Core::Shared | Core::Busy | Core::Rationed => self.delay.max(DELAY_ON_SHARED_CORES),
        }
    }

    fn run(mut self, mut interrupt: impl FnMut(), lost: impl FnOnce(weft_link::bell::Loss)) {
        match L::NETWORK.is_some() {
            true => self.watch_network(&mut interrupt),
            false => self.watch_memory(&mut interrupt),
        }
        if let Some(loss) = self.bells.loss()
            && !self.node.is_closed()
        {
            self.node.tell_loss(loss);
            // Even if no thread waits in the node, one may wait for a future that only a poll there
            // ends.
            self.node.interrupts.run(&mut interrupt);
            lost(loss);
        }
    }

    /// True if there is nothing to watch any more. Until then whoever asks is shown the counts.
    fn is_over(&self) -> bool {
        if let Some(gauge) = self.gauge.as_ref().filter(|gauge| gauge.is_wanted()) {
            gauge.show(&self.counts());
        }
        self.node.is_closed() || self.bells.loss().is_some()
    }

    fn counts(&self) -> Counts {
        let Statistics { protocol, interrupts, sleeps, .. } = self.node.statistics();
        let acknowledged_ns = self.node.inner.enter().ni.slowest_acknowledgement();
        Counts {
            packets_sent: protocol.packets_sent,
            packets_received: protocol.packets_received,
            bytes_sent: protocol.bytes_sent,
            bytes_received: protocol.bytes_received,
            blocked_sends: protocol.blocked_sends,
            retransmissions: protocol.retransmissions,
            interrupts,
            sleeps,
            acknowledged_ns: acknowledged_ns.unwrap_or_default(),
        }
    }

    /// Watches arrivals in shared memory, until it is over.
    fn watch_memory(&mut self, interrupt: &mut impl FnMut()) {
        while !self.is_over() {
            if let Some((ticket, limit)) = self.node.arm_watch(IDLE_LOOK)
                && !self.node.has_pending_work()
            {
                self.bells.wait(Waiter::Upcall, ticket, limit);
            }
            self.watch_host(interrupt);
        }
    }

    /// Watches until the host has processed everything and nothing more arrives.
    fn watch_host(&mut self, interrupt: &mut impl FnMut()) {
        let (mut pause, mut began) = (self.delay(), Instant::now());
        let mut processed = self.node.host_status().packets_processed;
        let mut activity = self.node.activity();
        // A program that waits without polling is given no time to poll.
        let mut at_once = self.node.eager.load(Ordering::Relaxed);
        while !self.is_over() {
            self.watchdog.arrived(self.now());
            if !std::mem::take(&mut at_once) {
                self.pause(pause);
            }
            let host = self.node.host_status();
            // A host at work gets to its packets by itself: it is not disturbed by a look inside.
            // One that is inside drains the node: that is as good as progress.
            let waiting = host.packets_processed != processed || !self.is_idle();
            let is_active = self.node.activity() != activity;
            let delivered = host.packets_processed + u64::from(waiting);
            match self.watchdog.timeout(self.now(), delivered, host) {
                Verdict::Cancel if !is_active => return,
                Verdict::Cancel | Verdict::Restart if is_active => {
                    pause = longer(pause, self.delay(), began.elapsed());
                }
                Verdict::Cancel | Verdict::Restart => {}
                Verdict::Interrupt => {
                    self.node.interrupts.run(&mut *interrupt);
                    (pause, began) = (self.delay(), Instant::now());
                }
            }
            processed = self.node.host_status().packets_processed;
            activity = self.node.activity();
        }
    }

    /// True if there is nothing that the host should get to.
    fn is_idle(&self) -> bool {
        !self.node.try_has_arrivals().unwrap_or(false) && !self.node.has_pending_work()
    }

    fn pause(&self, time: Duration) {
        let ticket: Ticket = self.bells.ticket(Waiter::Upcall);
        if !self.node.is_closed() {
            self.bells.wait(Waiter::Upcall, ticket, time);
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

impl<L: Link> Node<L> {
    /// Arms the upcall thread's bell, for a sleep that lasts no longer than `limit`; returns the
    /// ticket, and the longest sleep. `None` if packets are there, or the host is inside.
    fn arm_watch(&self, limit: Duration) -> Option<(Ticket, Duration)> {
        let mut inner = self.inner.try_enter()?;
        if !inner.pending.is_empty() {
            return None;
        }
        let ticket = inner.link.arm(Waiter::Upcall)?;
        // After the ticket: a thread that sets an earlier alarm from here on rings the bell.
        Some((ticket, limit.min(self.until_alarm())))
    }
}

/// The pause after `pause`, for a host that has been polling for `active`.
fn longer(pause: Duration, delay: Duration, active: Duration) -> Duration {
    let share = active / SHARE_OF_ACTIVITY;
    (pause * 2).min((delay * MOST_DELAYS).max(share.min(LONGEST_DELAY)))
}

#[cfg(test)]
mod tests;
