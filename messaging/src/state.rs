//! The state of a rank's messages, inside its lock: the machine of messaging, with handlers,
//! messages, and those who wait put into it. No calls out of here but those of a [taker](Taker).

use crate::announced::{self, Found, Taker, Work};
use crate::arrived::{Arrived, Message, Part, Spares};
use crate::error::Error;
use crate::handler::{Handler, Model};
use crate::machine::{Dispatch, Limits, Machine, MessageBody, PortRun, Removed, Usage};
use crate::statistics::Counts;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use weft_endpoint::biased::this_thread;
use weft_endpoint::{Packets, Rank, this_coroutine};

/// Bytes of messages that are copied out of link memory at most, to keep senders going.
const COPY_LIMIT_BYTES: usize = 64 << 20;

/// Handlers, and messages that wait for them.
type Handlers = Dispatch<Code, Box<Arrived>, Arc<dyn Taker<Box<Arrived>>>, Waker>;

/// A handler of messages.
pub(crate) type Code = Box<Handler<Message>>;

/// A handler that is to run, and the message for it.
pub(crate) type Run = announced::Run<Code, Box<Arrived>>;

/// Outcome of sorting a packet.
pub(crate) type Announced = announced::Announced<Code, Box<Arrived>>;

/// Function to call when this rank cannot go on.
pub(crate) type FailureHook = Box<dyn FnOnce() + Send>;

pub(crate) struct State {
    pub machine: Machine<Part, Waker>,
    pub dispatch: Handlers,
    /// Reason why this rank cannot go on.
    pub failure: Option<Error>,
    /// Faults of handlers, each for the program to hear once.
    pub incidents: VecDeque<Error>,
    /// Functions to call when this rank cannot go on.
    pub failure_hooks: Vec<FailureHook>,
    /// Boxes for messages.
    pub spares: Spares,
    /// True if threads are the system's, and no coroutines.
    has_threads: bool,
    /// Threads that are inside tasks, or handlers of ports that were dropped meanwhile.
    handling: Vec<usize>,
    /// Threads that run handlers and nothing else.
    popups: Vec<usize>,
}

/// See [`State::here`].
#[inline]
fn here(has_threads: bool) -> usize {
    if has_threads { this_thread() } else { this_coroutine() }
}

impl State {
    /// Nothing yet, at rank `own`; a port's window has so many packets.
    pub fn new(own: Rank, window: u32, has_threads: bool) -> Self {
        State {
            machine: Machine::new(own, Limits { window, copied_bytes: COPY_LIMIT_BYTES }),
            dispatch: Dispatch::default(),
            failure: None,
            incidents: VecDeque::new(),
            failure_hooks: Vec::new(),
            spares: Spares::default(),
            has_threads,
            handling: Vec::new(),
            popups: Vec::new(),
        }
    }

    /// Creates the port `name`.
    pub fn create_port(&mut self, name: &str) -> crate::Result<PortRun> {
        self.dispatch.create(&mut self.machine.ports, name)
    }

    /// The slot of the port `name`, for a rank that only sends to it.
    pub fn port_elsewhere(&mut self, name: &str) -> crate::Result<usize> {
        self.dispatch.elsewhere(&mut self.machine.ports, name)
    }

    /// Forgets the port, all but its windows, and returns what nobody has read. Its handlers and
    /// its taker come with it, to be dropped outside of the lock.
    pub fn remove_port(&mut self, slot: usize) -> (impl Sized + use<>, VecDeque<Box<Arrived>>) {
        let Removed { owners, unread, runner } = self.dispatch.remove(slot);
        if runner != 0 {
            self.handling.push(runner);
        }
        (owners, unread)
    }

    /// The calling thread, or coroutine: handlers of others may wait while it runs.
    #[inline]
    pub fn here(&self) -> usize {
        here(self.has_threads)
    }

    /// Notes that this thread is in a task, until [`Self::exit_task`].
    pub fn enter_task(&mut self) {
        self.handling.push(self.here());
    }

    pub fn exit_task(&mut self) {
        let me = self.here();
        remove_last(&mut self.handling, me);
    }

    /// Notes that this thread runs a handler and nothing else; returns it for
    /// [`Self::exit_popup`].
    pub fn enter_popup(&mut self) -> usize {
        let me = self.here();
        self.popups.push(me);
        me
    }

    pub fn exit_popup(&mut self, thread: usize) {
        remove_last(&mut self.popups, thread);
    }

    /// Notes that this thread is no longer in the handler of `run`.
    pub fn exit_handler(&mut self, run: PortRun) {
        if !self.dispatch.left(run) {
            self.exit_task();
        }
    }

    /// A handler has returned. Gives it back if there may be more to do than to put it where it
    /// was.
    #[inline(always)]
    pub fn returned(&mut self, handler: Code) -> Option<Code> {
        match self.is_idle() {
            true => self.dispatch.returned(handler),
            false => Some(handler),
        }
    }

    /// True if this thread is in a handler, or a task.
    pub fn is_handling(&self) -> bool {
        let me = self.here();
        self.handling.contains(&me) || self.dispatch.is_run_by(me)
    }

    /// The next message for a handler that can run now, with that handler.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Run> {
        let (machine, here) = (&self.machine, here(self.has_threads));
        let may_begin =
            |body: &MessageBody| machine.may_wait_for(body.from) || machine.is_complete(body);
        let (handler, arrived) = self.dispatch.next_ready(here, may_begin)?;
        Some(Run { handler, arrived })
    }

    /// Queues a run that cannot happen here: its message and its handler go back to the port.
    pub fn run_later(&mut self, Run { handler, arrived }: Run) {
        self.exit_handler(handler.port);
        self.dispatch.run_later(handler, arrived);
    }

    /// A handler of `run` panicked: its port throws away what comes. Returns the handlers that it
    /// had.
    pub fn panicked(&mut self, run: PortRun, from: Rank, what: String) -> [Option<Code>; 2] {
        let discard = Box::new(Handler { port: run, model: Model::Plain(Box::new(drop)) });
        let (name, dropped) = self.dispatch.replace(run, discard);
        let port = name.unwrap_or_else(|| "(dropped)".into());
        self.incidents.push_back(Error::Panicked { port, from, what });
        dropped
    }

    /// The next fault of a handler, for the program to hear; not for handlers, which would be the
    /// next to fail.
    #[cold]
    pub fn next_incident(&mut self) -> Option<Error> {
        let me = self.here();
        if self.is_handling() || self.popups.contains(&me) {
            return None;
        }
        self.incidents.pop_front()
    }

    /// The slot of the port with this number, and what it is used for, if this rank knows it.
    pub fn usage(&mut self, port: u32) -> Option<(usize, Usage)> {
        let slot = self.machine.ports.known(port)?;
        Some((slot, self.dispatch.usage(slot)))
    }

    /// True if nothing has to be done before the next handler runs.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.dispatch.is_idle() && self.machine.owed.is_empty() && self.failure.is_none()
    }

    /// True if a message for this port would be handled at once.
    #[inline]
    pub fn runs_now(&mut self, slot: usize) -> bool {
        self.is_idle() && self.dispatch.has_free_handler(slot)
    }

    /// Brings a message, of which all is here or not, to its port, and gives it with the handler
    /// that is to run on it if that can be at once. Returns it if it has to wait.
    #[inline(always)]
    pub fn offer(
        &mut self,
        packets: &Packets,
        counts: &Counts,
        mut arrived: Box<Arrived>,
        is_whole: bool,
        announced: &mut Announced,
    ) -> Option<Box<Arrived>> {
        let slot = arrived.body.slot;
        let (port, is_idle) = self.dispatch.port(slot);
        if let Some(taker) = port.taker() {
            match taker.take(arrived, packets) {
                Ok(found) => {
                    counts.count_received();
                    if let Found::Asleep = found {
                        announced.work = Work::WakeTaker(slot);
                    }
                    return None;
                }
                Err(back) => arrived = back,
            }
        }
        let is_idle = is_idle && self.machine.owed.is_empty() && self.failure.is_none();
        if !is_idle || !is_whole && !self.machine.may_wait_for(arrived.body.from) {
            return Some(arrived);
        }
        let Some(handler) = port.begin(here(self.has_threads)) else {
            return Some(arrived);
        };
        counts.count_received();
        announced.run = Some(Run { handler, arrived });
        None
    }

    /// Has a message wait at its port.
    #[inline(never)]
    pub fn queue(&mut self, counts: &Counts, mut arrived: Box<Arrived>) -> Work {
        counts.count_received();
        counts.count_queued();
        self.machine.waits(arrived.wait());
        let (idle, slot) = (self.is_idle(), arrived.body.slot);
        match self.dispatch.queue(arrived) {
            true => Work::WakeReceivers(slot),
            false if idle && !self.dispatch.has_handler(slot) => Work::None,
            false => Work::Handlers,
        }
    }

    /// Drops the handles to this state in what waits inside it.
    pub fn drop_handles(&mut self) {
        self.dispatch.queued_mut().for_each(|arrived| arrived.drop_handle());
    }

    /// Brings a short message to its port; false if it would have to wait there, and too much does.
    #[inline(always)]
    pub fn sort_short(
        &mut self,
        packets: &Packets,
        counts: &Counts,
        mut arrived: Box<Arrived>,
        announced: &mut Announced,
    ) -> bool {
        // A sender to too many ports is reported where errors are.
        let Some(slot) = self.machine.ports.find(arrived.body.port, arrived.body.from) else {
            return false;
        };
        arrived.body.slot = slot;
        if let Some(arrived) = self.offer(packets, counts, arrived, true, announced) {
            if !self.machine.has_memory() {
                return false;
            }
            announced.work = self.queue(counts, arrived);
        }
        true
    }

    /// Everything that somebody waits for with a waker.
    pub fn drain_wakers(&mut self) -> Vec<Waker> {
        let mut wakers = self.machine.drain_waiters();
        wakers.extend(self.dispatch.drain_waiters());
        wakers
    }
}

/// Removes `thread` where it stands last.
fn remove_last(threads: &mut Vec<usize>, thread: usize) {
    if let Some(place) = threads.iter().rposition(|other| *other == thread) {
        threads.swap_remove(place);
    }
}
