//! The upcall thread: it does what [`presence::watch`](crate::presence::watch) says.

mod slack;

use crate::AnyNode;
use crate::ni::any_node::Statistics;
use crate::ni::lossy::ring_upcall_within;
use crate::ni::node::Node;
use crate::presence::constants::{
    BESIDE_SLEEPER, DELAY_ON_SHARED_CORES, IDLE_LOOK, INTERRUPT_DELAY, SHORTEST_SLEEP,
};
use crate::presence::fallback::{Sleep, Woken};
use crate::presence::watch::{Act, Found, Host, MemoryWatch, NetworkWatch, WatchEvent};
use slack::Slack;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::Clock;
use weft_link::gauge::{Counts, Gauge};

/// The delay between an arrival and an interrupt for a job with `ranks` ranks on `cores` cores,
/// unless the user asks for another (`docs/internals/performance.md` has the measurements).
///
/// With a core for each rank, about twice what a wake-up across cores costs: a host that polls at
/// all is not interrupted. Where ranks share cores, a host that does not poll is most likely just
/// not running, and an interrupt would only take the core from another rank; so the delay is then
/// about what the scheduler gives to one at a time.
pub fn default_interrupt_delay(ranks: usize, cores: usize) -> Duration {
    if ranks <= cores { INTERRUPT_DELAY } else { DELAY_ON_SHARED_CORES }
}

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
        node.interface().attendance.fallback.watched();
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
        self.node.attendance().close();
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
    let Some(period) = node.interface().heartbeat() else { return Ok(None) };
    let node = Arc::clone(node);
    let beat = move || {
        let slack = Slack::new();
        while !node.interface().attendance.is_closed() && !node.interface().attendance.is_over() {
            node.interface().beat();
            slack.sleep(period, true, || std::thread::park_timeout(period));
        }
    };
    std::thread::Builder::new().name("weft-heartbeats".into()).spawn(beat).map(Some)
}

struct Watch<L: Link> {
    node: Arc<Node<L>>,
    bells: Arc<dyn Bells>,
    machine: Machine,
    /// The sleep for which the bell was armed, until it is slept.
    armed: Option<(Ticket, Sleep)>,
    slack: Slack,
    /// Place where others may see the counts of this rank.
    gauge: Option<Arc<dyn Gauge>>,
}

/// Machine of the thread, by the link that it looks at.
enum Machine {
    Memory(MemoryWatch),
    Network(NetworkWatch),
}

impl<L: Link> Watch<L> {
    fn new(node: Arc<Node<L>>, delay: Duration) -> Self {
        let bells = Arc::clone(&node.interface().attendance.bells);
        let gauge = node.interface().attributes.services.gauge.clone();
        let machine = match L::NETWORK.is_some() {
            true => Machine::Network(NetworkWatch::new(delay)),
            false => Machine::Memory(MemoryWatch::new(delay)),
        };
        Watch { node, bells, machine, armed: None, slack: Slack::new(), gauge }
    }

    fn run(mut self, mut interrupt: impl FnMut(), lost: impl FnOnce(weft_link::bell::Loss)) {
        let mut act = Act::Look;
        while !self.is_over() {
            if self.bells.loss().is_some() {
                self.hear_losses(&mut interrupt);
            }
            let event = match act {
                Act::Look => WatchEvent::Looked(self.look()),
                Act::Sleep => WatchEvent::Woken(self.sleep_armed()),
                Act::Pause(time) => {
                    self.pause(time);
                    WatchEvent::Paused
                }
                Act::Interrupt => {
                    self.node
                        .interface()
                        .attendance
                        .fallback
                        .makes_upcalls(self.node.interface().clock.now());
                    self.node.interface().attendance.interrupts.run(&mut interrupt);
                    WatchEvent::Interrupted
                }
            };
            act = self.next(event);
        }
        if let Some(loss) = self.bells.loss()
            && !self.node.interface().attendance.is_closed()
        {
            self.node.interface().tell_loss(loss);
            // Even if no thread waits in the node, one may wait for a future that only a poll there
            // ends.
            self.node.interface().attendance.interrupts.run(&mut interrupt);
            lost(loss);
        }
    }

    /// Hears of losses for a host that may compute: its futures may wait for the lost.
    #[cold]
    fn hear_losses(&self, interrupt: &mut impl FnMut()) {
        // What a peer did wrong the next poll finds, too.
        let _ = self.node.interface().check_loss();
        self.node.interface().attendance.interrupts.run(interrupt);
    }

    fn next(&mut self, event: WatchEvent) -> Act {
        let (node, host) = (&self.node, self.node.host());
        match &mut self.machine {
            Machine::Network(machine) => machine.next(event, &host),
            Machine::Memory(machine) => {
                machine.next(event, node.interface().clock.now(), &host, || node.is_idle_for_host())
            }
        }
    }

    /// True if there is nothing to watch any more. Until then counters are published on request.
    fn is_over(&self) -> bool {
        if let Some(gauge) = self.gauge.as_ref().filter(|gauge| gauge.is_wanted()) {
            gauge.show(&self.counts());
        }
        let attendance = &self.node.interface().attendance;
        attendance.is_closed() || attendance.is_over()
    }

    fn counts(&self) -> Counts {
        let Statistics { protocol, interrupts, sleeps, .. } = self.node.statistics();
        let acknowledged_ns =
            self.node.interface().inner.enter().ni.observe().slowest_acknowledgement();
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

    fn look(&mut self) -> Found {
        let (found, armed) = match L::NETWORK.is_some() {
            true => self.node.look_at_network(),
            false => self.node.look_at_memory(),
        };
        self.armed = armed;
        found
    }

    fn sleep_armed(&mut self) -> Woken {
        self.armed.take().map_or(Woken::Ring, |(ticket, sleep)| self.sleep(ticket, sleep))
    }

    /// Leaves the program time, and on a network all that it needs if it visits the node meanwhile.
    fn pause(&self, time: Duration) {
        let ticket = self.bells.ticket(Waiter::Upcall);
        if L::NETWORK.is_some() {
            let sleep = self
                .node
                .interface()
                .attendance
                .fallback
                .unarmed(self.node.interface().clock.now(), time);
            self.sleep(ticket, sleep);
        } else if !self.node.interface().attendance.is_closed() {
            self.bells.wait(Waiter::Upcall, ticket, time);
        }
    }

    /// Sleeps until the announced look, which the program may put off meanwhile; or until something
    /// rings, if that is to end it.
    fn sleep(&self, mut ticket: Ticket, sleep: Sleep) -> Woken {
        let (node, fallback) = (&self.node, &self.node.interface().attendance.fallback);
        let woken = loop {
            let Some(part) = fallback.part(node.interface().clock.now()) else { break Woken::Time };
            if self.is_over() || (sleep == Sleep::Armed && node.has_work()) {
                break Woken::Ring;
            }
            let may_be_late = part.may_be_late && L::NETWORK.is_some();
            let wait = || self.bells.wait(Waiter::Upcall, ticket, part.limit);
            self.slack.sleep(part.limit, may_be_late, wait);
            ticket = self.bells.ticket(Waiter::Upcall);
            if fallback.rang(sleep, node.interface().clock.now()) {
                break Woken::Ring;
            }
        };
        fallback.awake();
        woken
    }
}

/// Looks of the upcall thread.
impl<L: Link> Node<L> {
    /// The host, as it is seen from outside.
    fn host(&self) -> Host {
        let interface = self.interface();
        Host {
            status: self.host_status(),
            activity: self.activity(),
            is_eager: interface.attendance.work.is_eager.get(),
            core: interface.attendance.waits.core(),
        }
    }

    /// True if there is something to do besides packets: pending work, or an alarm.
    fn has_work(&self) -> bool {
        let interface = self.interface();
        interface.attendance.work.is_there(|| interface.clock.now())
    }

    /// True if there is nothing that the host should get to.
    fn is_idle_for_host(&self) -> bool {
        !self.interface().try_has_arrivals().unwrap_or(false) && !self.has_work()
    }

    /// Arms the upcall thread's bell, unless packets are there or the host is inside.
    fn look_at_memory(&self) -> (Found, Option<(Ticket, Sleep)>) {
        let interface = self.interface();
        let inner = interface.inner.try_enter().filter(|inner| inner.pending.is_empty());
        let Some(ticket) = inner.and_then(|mut inner| inner.link.arm(Waiter::Upcall)) else {
            return (Found::Waits, None);
        };
        // After the ticket: a thread that sets an earlier alarm from here on rings the bell.
        let limit = IDLE_LOOK.min(interface.until_alarm());
        let sleep = interface.attendance.fallback.armed(interface.clock.now(), limit, false);
        (Found::Nothing, Some((ticket, sleep)))
    }

    /// Serves the protocol in place of a program that computes. Arms the upcall thread's bell if
    /// there is nothing for the program, and announces when it looks again.
    fn look_at_network(&self) -> (Found, Option<(Ticket, Sleep)>) {
        let interface = self.interface();
        let (fallback, sleepers) = (&interface.attendance.fallback, &interface.attendance.sleepers);
        let Some(mut inner) = interface.inner.try_enter() else {
            return (Found::Inside(Duration::from_nanos(fallback.tick())), None);
        };
        interface.serve_inside(&mut inner);
        if !inner.pending.is_empty() || inner.systems.has_takeable() {
            drop(inner);
            // The arrival that would have woken it is no longer in the link.
            interface.attendance.nudge();
            return (Found::Waits, None);
        }
        if self.has_work() {
            return (Found::Waits, None);
        }
        let now = interface.clock.now();
        // A thread that sleeps looks when it wakes, which puts the look off.
        let (ticket, limit) = if sleepers.are_any_at_bell() {
            (interface.attendance.bells.ticket(Waiter::Upcall), BESIDE_SLEEPER)
        } else {
            let Some(ticket) = inner.link.arm(Waiter::Upcall) else { return (Found::Waits, None) };
            let timer = inner.ni.next_deadline().map_or(u64::MAX, |(deadline, _)| deadline);
            let timer = Duration::from_nanos(timer.saturating_sub(now).max(SHORTEST_SLEEP));
            // After the ticket: a thread that sets an earlier alarm from here on rings the bell.
            (ticket, timer.min(interface.until_alarm()).min(IDLE_LOOK))
        };
        let is_timed = ring_upcall_within(&mut inner.link, limit..=limit).is_some();
        (Found::Nothing, Some((ticket, fallback.armed(now, limit, is_timed))))
    }
}
