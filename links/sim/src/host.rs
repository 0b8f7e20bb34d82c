//! A simulated host processor: its clock, and how its program waits.

use crate::coroutine::{self, Stack, Strand};
use crate::machine::{MachineModel, per_byte};
use crate::state::{Event, Life, Parts, Shared, State, Waiting};
use crate::trace::FrameEvent;
use std::cell::RefMut;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use weft_link::bell::{Bells, Cause, Loss, Ticket, Waiter};
use weft_link::clock::{Clock, Nanoseconds, Work};
use weft_link::threads::{ThreadBody, Threads};
use weft_wire::Rank;

/// Panic payload with which a rank's program is unwound when it has to stop.
pub(crate) struct Stopped;

/// A program that runs for so long in real time computes; for less it may be looking for packets in
/// vain, which is not getting on.
const COMPUTES: Duration = Duration::from_millis(1);

/// Interrupt handler of a rank; absent while it runs.
pub(crate) type Interrupt = Box<dyn FnMut() + Send>;

/// The host processor of one rank: its clock and its bells.
#[derive(Clone)]
pub struct Processor {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rank: Rank,
    pub(crate) interrupt: Arc<std::sync::Mutex<Option<Interrupt>>>,
    /// True if computation is charged as measured.
    pub(crate) measured: bool,
}

/// Keeps what an interrupt does, until it is dropped.
#[must_use = "interrupts do nothing any more as soon as the guard is dropped"]
pub struct Interruptible(Processor);

impl Drop for Interruptible {
    fn drop(&mut self) {
        drop(self.0.lock_interrupt().take());
    }
}

impl Processor {
    /// Makes `interrupt` what an interrupt does, until the guard is dropped.
    pub fn on_interrupt(&self, interrupt: impl FnMut() + Send + 'static) -> Interruptible {
        *self.lock_interrupt() = Some(Box::new(interrupt));
        Interruptible(self.clone())
    }

    /// Suspends the program until the scheduler resumes it, and stops it if it has to.
    fn suspend<'a>(&'a self, state: RefMut<'a, State>) -> RefMut<'a, State> {
        drop(state);
        coroutine::suspend();
        self.stop_if_told(self.shared.borrow())
    }

    fn stop_if_told<'a>(&self, state: RefMut<'a, State>) -> RefMut<'a, State> {
        if self.has_to_stop(&state) && !std::thread::panicking() {
            drop(state);
            std::panic::resume_unwind(Box::new(Stopped));
        }
        state
    }

    fn has_to_stop(&self, state: &State) -> bool {
        let parts = &state.ranks[self.rank.index()];
        state.stopping || parts.unwinding || parts.life == Life::Crashed
    }

    /// True if the program can be suspended here. Not while it unwinds: others would then be taken
    /// to panic.
    fn can_wait(&self) -> bool {
        coroutine::is_inside() && !std::thread::panicking()
    }

    /// Lets everything happen that happens before this rank's time.
    fn synchronise<'a>(&'a self, mut state: RefMut<'a, State>) -> RefMut<'a, State> {
        let parts = state.rank(self.rank);
        let (time, epoch) = (parts.local, parts.epoch);
        if state.is_idle_until(time) {
            state.now = state.now.max(time);
            return state;
        }
        state.rank(self.rank).waiting = Waiting::Sync;
        state.schedule(time, Event::Resume(self.rank, epoch));
        self.suspend(state)
    }

    /// Computes for `time`, and takes interrupts meanwhile, as a signal handler would.
    fn compute<'a>(&'a self, mut state: RefMut<'a, State>, time: Nanoseconds) {
        let mut left = time;
        loop {
            let parts = state.rank(self.rank);
            if parts.interrupted && !parts.in_interrupt {
                drop(state);
                self.take_interrupt();
                state = self.shared.borrow();
                continue;
            }
            if left == 0 {
                return;
            }
            let (begin, epoch) = (parts.local, parts.epoch);
            let end = begin + left;
            if state.is_idle_until(end) {
                state.now = state.now.max(end);
                state.rank(self.rank).local = end;
                return;
            }
            state.rank(self.rank).waiting = Waiting::Computing;
            state.schedule(end, Event::Resume(self.rank, epoch));
            state = self.suspend(state);
            let parts = state.rank(self.rank);
            left = (end + std::mem::take(&mut parts.delayed)).saturating_sub(parts.local);
        }
    }

    fn sleep(&self, waiter: Waiter, ticket: Ticket, limit: Duration) {
        let mut state = self.shared.borrow();
        let parts = state.rank(self.rank);
        if waiter != Waiter::Host || parts.rings != ticket.0 || !self.can_wait() {
            return;
        }
        let now = parts.local;
        let end = u64::try_from(limit.as_nanos()).ok().and_then(|ns| now.checked_add(ns));
        state.sleep(self.rank, end);
        drop(self.suspend(state));
    }

    fn take_interrupt(&self) {
        let mut state = self.shared.borrow();
        let cost = self.slowed(&state, state.machine.host.interrupt_ns as f64);
        let parts = state.rank(self.rank);
        parts.interrupted = false;
        parts.in_interrupt = true;
        parts.local += cost;
        let time = parts.local;
        state.trace.note(time, self.rank, FrameEvent::Interrupted, None);
        drop(state);
        let taken = self.lock_interrupt().take();
        if let Some(mut interrupt) = taken {
            self.start_watch();
            interrupt();
            self.charge_run_time(Work::Poll);
            self.lock_interrupt().get_or_insert(interrupt);
        }
        self.shared.borrow().rank(self.rank).in_interrupt = false;
    }

    fn lock_interrupt(&self) -> std::sync::MutexGuard<'_, Option<Interrupt>> {
        self.interrupt.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn slowed(&self, state: &State, time: f64) -> Nanoseconds {
        // Rounded; by `f64::round` that is a call.
        (time * state.ranks[self.rank.index()].slowness + 0.5) as Nanoseconds
    }

    pub(crate) fn cost(&self, state: &State, work: Work) -> Nanoseconds {
        self.slowed(state, cost(&state.machine, work))
    }
}

/// Cost of `work` on the host of a `machine`, in nanoseconds.
fn cost(machine: &MachineModel, work: Work) -> f64 {
    let host = &machine.host;
    let bytes = |each: f64, count: usize| per_byte(each, count) as f64;
    match work {
        Work::Allocate => host.allocate_ns as f64,
        Work::Launch { bytes: size } => {
            host.launch_ns as f64 + bytes(host.launch_ns_per_byte, size.into())
        }
        Work::Poll => host.poll_ns as f64,
        Work::PollNi => host.poll_ni_ns as f64,
        Work::Process { bytes: size } => {
            let ends_message = (1..machine.pools.packet_bytes).contains(&size);
            let message_ns = if ends_message { host.message_ns } else { 0 };
            (host.process_ns + message_ns) as f64
        }
        Work::Reinject { bytes: size } => {
            host.reinject_ns as f64 + bytes(host.reinject_ns_per_byte, size.into())
        }
        Work::Deferred { packets } => host.deferred_ns as f64 * f64::from(packets),
        Work::Copy { bytes: size } => bytes(host.copy_ns_per_byte, size),
        Work::Release => host.release_ns as f64,
        Work::Operations(count) => host.operation_ns * count as f64,
    }
}

/// The program's own time, where it is charged as measured: what passes between the end of one call
/// into the simulator and the beginning of the next. That includes what Weft does in between, which
/// is little beside computations that are worth measuring.
impl Processor {
    /// The program runs from here on.
    #[inline]
    pub(crate) fn start_watch(&self) {
        if self.measured && coroutine::is_inside() {
            self.note_start();
        }
    }

    fn note_start(&self) {
        let mut state = self.shared.borrow();
        if state.at_ni.is_none() {
            state.rank(self.rank).running_since = Some(Instant::now());
        }
    }

    /// It has run until here. Interrupts are taken meanwhile only if it declares `work` itself:
    /// elsewhere it may be in the middle of what an interrupt would have to wait for.
    #[inline]
    fn charge_run_time(&self, work: Work) {
        if self.measured {
            self.charge_measured(work);
        }
    }

    fn charge_measured(&self, work: Work) {
        let mut state = self.shared.borrow();
        let Some(since) = state.rank(self.rank).running_since.take() else { return };
        let ran = since.elapsed();
        let times = state.machine.host.measured_times;
        let cost = self.slowed(&state, ran.as_nanos() as f64 * times);
        if ran >= COMPUTES {
            state.progress_at = state.progress_at.max(state.time_of(self.rank) + cost);
        }
        if matches!(work, Work::Operations(_)) && self.can_wait() {
            self.compute(state, cost);
        } else {
            state.rank(self.rank).local += cost;
        }
    }

    fn charge_declared(&self, work: Work) {
        let mut state = self.shared.borrow();
        if self.has_to_stop(&state) {
            if self.can_wait() {
                drop(self.stop_if_told(state));
            }
            return;
        }
        let cost = self.cost(&state, work);
        if !matches!(work, Work::Poll | Work::PollNi | Work::Deferred { .. } | Work::Allocate) {
            let time = state.time_of(self.rank) + cost;
            state.progress_at = state.progress_at.max(time);
        }
        if !self.can_wait() {
            state.rank(self.rank).local += cost;
            return;
        }
        if let Work::Launch { bytes } | Work::Reinject { bytes } = work {
            state = self.wait_for_bus(state, bytes, cost);
        }
        match work {
            Work::Operations(_) => self.compute(state, cost),
            Work::Poll | Work::PollNi | Work::Reinject { .. } => {
                let parts = state.rank(self.rank);
                parts.local += cost;
                // A host that polls needs no interrupt.
                parts.interrupted = false;
                drop(self.synchronise(state));
            }
            Work::Copy { .. } if state.machine.bus_part > 0.0 => {
                self.copy_beside_arrivals(state, cost);
            }
            _ => state.rank(self.rank).local += cost,
        }
    }

    /// Copies for `cost`, and for as long as the packets that the bus brings meanwhile have the
    /// memory.
    fn copy_beside_arrivals(&self, state: RefMut<'_, State>, cost: Nanoseconds) {
        let mut state = self.synchronise(state);
        let part = state.machine.bus_part;
        let brought = |parts: &Parts| {
            parts.bus_brought.saturating_sub(parts.bus_free.saturating_sub(parts.local))
        };
        let before = brought(state.rank(self.rank));
        let (mut left, mut waited) = (cost, 0);
        while left > 0 {
            state.rank(self.rank).local += left;
            state = self.synchronise(state);
            let meanwhile = brought(state.rank(self.rank)).saturating_sub(before);
            left = ((meanwhile as f64 * part) as Nanoseconds).saturating_sub(waited);
            waited += left;
        }
    }

    /// Takes the bus for the `bytes` bytes with which this host fills a packet at its NI. They wait
    /// for the copies that occupy it; the host only waits for more of these than it has to do
    /// besides within `cost`.
    fn wait_for_bus<'a>(
        &'a self,
        state: RefMut<'a, State>,
        bytes: u16,
        cost: Nanoseconds,
    ) -> RefMut<'a, State> {
        let length = per_byte(state.machine.bus.ns_per_byte, bytes.into());
        if length == 0 || state.machine.ni.at_host {
            return state;
        }
        let mut state = self.synchronise(state);
        let parts = state.rank(self.rank);
        parts.bus_free = parts.local.max(parts.bus_free) + length;
        parts.local = parts.local.max(parts.bus_free.saturating_sub(cost));
        state
    }
}

/// Coroutines of the rank, which take turns on its processor: one that has it keeps it until it
/// sleeps, while it computes too.
impl Threads for Processor {
    fn spawn(&self, _: &str, body: ThreadBody) -> io::Result<Option<JoinHandle<()>>> {
        let mut state = self.shared.borrow();
        if self.has_to_stop(&state) {
            return Err(io::Error::other(format!("rank {} has to stop", self.rank)));
        }
        let stack = Stack::new(state.stack_bytes)?;
        let parts = state.rank(self.rank);
        parts.strands += 1;
        let (number, processor) = (parts.strands, self.clone());
        let strand = Strand::new(number, stack, move || {
            processor.start_watch();
            body();
            processor.charge_run_time(Work::Poll);
            // Some may wait for its end.
            processor.ring(Waiter::Host);
        });
        parts.newborn.push((number, strand));
        parts.add(number);
        Ok(None)
    }
}

impl Clock for Processor {
    fn now(&self) -> Nanoseconds {
        self.charge_run_time(Work::Poll);
        let now = self.shared.borrow().time_of(self.rank);
        self.start_watch();
        now
    }

    fn charge(&self, work: Work) {
        self.charge_run_time(work);
        if !self.measured || !matches!(work, Work::Operations(_)) {
            self.charge_declared(work);
        }
        self.start_watch();
    }
}

impl Bells for Processor {
    fn wait(&self, waiter: Waiter, ticket: Ticket, limit: Duration) {
        self.charge_run_time(Work::Poll);
        self.sleep(waiter, ticket, limit);
        self.start_watch();
    }

    fn ticket(&self, _: Waiter) -> Ticket {
        Ticket(self.shared.borrow().rank(self.rank).rings)
    }

    fn ring(&self, waiter: Waiter) {
        if waiter == Waiter::Host {
            let mut state = self.shared.borrow();
            let time = state.time_of(self.rank);
            let time = state.rank(self.rank).shown_at.unwrap_or(time);
            state.ring(self.rank, time);
        }
    }

    fn loss(&self) -> Option<Loss> {
        let state = self.shared.borrow();
        if self.has_to_stop(&state) {
            // For destructors of a program that is being unwound: nothing is worth waiting for.
            return Some(Loss { rank: self.rank, cause: Cause::Misbehaved });
        }
        let heard = state.ranks[self.rank.index()].heard_losses;
        state.losses[heard..].iter().find(|loss| loss.rank != self.rank).copied()
    }

    fn announce(&self, loss: Loss) {
        self.shared.borrow().announce(loss);
    }

    fn take_losses(&self) -> Vec<Loss> {
        let mut state = self.shared.borrow();
        let known = state.losses.len();
        let heard = std::mem::replace(&mut state.rank(self.rank).heard_losses, known);
        let others = state.losses[heard..].iter().filter(|loss| loss.rank != self.rank);
        others.copied().collect()
    }
}

#[cfg(test)]
mod tests;
