//! The engine's state, inside its lock: ports, messages that arrive, windows. No calls out of here.

use crate::announced::{Announced, Found, Run, Taker, Work};
use crate::arrived::{Arrived, Body, Spares};
use crate::arriving::Arrivals;
use crate::by_rank::ByRank;
use crate::engine::{Engine, Numbers, Statistics};
use crate::error::Error;
use crate::format::port_number;
use crate::handler::{Handler, Model};
use crate::owed::Owed;
use crate::rendezvous::Requests;
use crate::window::{Flow, Incoming, Outgoing};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::Waker;
use weft_endpoint::Rank;
use weft_endpoint::biased::this_thread;
use weft_endpoint::this_coroutine;

pub(crate) struct State {
    /// Packets of a port's window.
    pub window: u32,
    /// This rank, which sends to itself without a window.
    own: Rank,
    pub ports: Ports,
    /// Ports with a handler that does not run, and a message for it.
    pub ready: VecDeque<usize>,
    /// Messages whose last packet has not arrived, or was not read.
    pub arrivals: Arrivals,
    /// Messages whose receivers were asked.
    pub requests: Requests,
    /// Packets kept in link memory, by sender.
    pub kept: ByRank<u32>,
    /// Cost of packets that were copied out.
    pub copied_bytes: usize,
    /// Sends that wait for room at some port, and are not done with anything else meanwhile.
    pub stalled: u32,
    /// Sends among them that block a thread until their receiver has answered. Handlers that the
    /// thread runs meanwhile are above the send in its stack: they must not wait for what comes
    /// from another rank.
    pub asking: u32,
    /// Ports whose handlers would have to.
    deferred: Vec<usize>,
    /// Control packets that found no frame to leave in.
    pub owed: Owed,
    /// Those who want numbers of variables.
    pub numbers: Numbers,
    /// Reason why this rank cannot go on.
    pub failure: Option<Error>,
    /// Faults of handlers, each for the program to hear once.
    pub incidents: VecDeque<Error>,
    /// Counters of this layer itself.
    pub statistics: Statistics,
    /// The thread that polls, and how many of its waits are nested; others are woken by it.
    pub leader: usize,
    pub depth: u32,
    pub followers: Vec<(usize, Waker)>,
    /// True if threads are the system's, and no coroutines.
    has_threads: bool,
    /// Threads that are inside tasks, or handlers of ports that were dropped meanwhile.
    handling: Vec<usize>,
    /// Functions to call when this rank cannot go on.
    pub failure_hooks: Vec<Box<dyn FnOnce() + Send>>,
    /// Boxes for messages.
    pub spares: Spares,
    /// Threads that run handlers and nothing else.
    pub popups: Vec<usize>,
    /// Threads that wait for a future.
    pub blocked_on: Vec<usize>,
}

/// Largest number of ports that a peer has sent messages to and that this rank has not created.
/// A program may create that many at one rank before the others come to it.
pub(crate) const UNMADE_LIMIT: usize = 1 << 16;

/// The ports that this rank has created, or got messages for. Their slots stay what they are:
/// windows outlive a port that is dropped and created again.
#[derive(Default)]
pub(crate) struct Ports {
    slots: Vec<PortState>,
    by_number: BTreeMap<u32, usize>,
    /// Numbers that were asked for and their slots, by the last digit of the number.
    recent: [(u32, usize); 16],
    /// Number of ports that this rank has not created, by the first sender of a message for them.
    unmade: ByRank<usize>,
}

/// A port as long as it is not dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortRun {
    pub slot: usize,
    pub generation: u32,
}

#[derive(Default)]
pub(crate) struct PortState {
    /// Its name, once this rank has created it; messages may arrive before.
    pub name: Option<String>,
    /// Sender of the first message, as long as this rank has neither created the port nor sent
    /// there.
    unmade_for: Option<Rank>,
    /// Its handler, if it has one and it is not running.
    pub handler: Option<Box<Handler>>,
    pub has_handler: bool,
    /// The object that takes its messages before they are its handler's.
    pub taker: Option<Arc<dyn Taker>>,
    /// The thread that is inside its handler, if one is.
    runner: usize,
    /// Its handler, while a continuation of it waits.
    pub waiting: Option<Box<Handler>>,
    /// That continuation ended before its handler was put there.
    pub ended: bool,
    /// Number of times that a port was dropped here: messages for an earlier one are not this
    /// one's.
    pub generation: u32,
    pub queue: VecDeque<Box<Arrived>>,
    /// Those who ask for its messages.
    pub receivers: Vec<Waker>,
    pub outgoing: Outgoing,
    pub incoming: Incoming,
    /// Those who wait for room at this port elsewhere.
    pub senders: Vec<Waker>,
    /// Ranks that have no such port.
    pub refused: BTreeSet<Rank>,
}

impl Ports {
    /// The slot of the port with this number, for a message of `from`; `None` if that has sent to
    /// too many that nobody has created.
    #[inline]
    pub fn find(&mut self, number: u32, from: Rank) -> Option<usize> {
        let (recent, slot) = self.recent[number as usize % 16];
        // Where nothing is remembered yet there is number 0, which may have another slot, or none.
        if recent == number && number != 0 { Some(slot) } else { self.find_slowly(number, from) }
    }

    #[cold]
    fn find_slowly(&mut self, number: u32, from: Rank) -> Option<usize> {
        let slot = match self.known(number) {
            Some(slot) => slot,
            None => {
                let unmade = self.unmade.entry(from);
                if *unmade >= UNMADE_LIMIT {
                    return None;
                }
                *unmade += 1;
                self.add(number, Some(from))
            }
        };
        self.recent[number as usize % 16] = (number, slot);
        Some(slot)
    }

    /// The slot of the port with this number, if there is one.
    pub fn known(&self, number: u32) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// The slot of the port with this number, which this rank has created or sends to.
    pub fn own(&mut self, number: u32) -> usize {
        let slot = self.known(number).unwrap_or_else(|| self.add(number, None));
        if let Some(from) = self.slots[slot].unmade_for.take() {
            *self.unmade.entry(from) -= 1;
        }
        slot
    }

    fn add(&mut self, number: u32, unmade_for: Option<Rank>) -> usize {
        let slot = self.slots.len();
        self.by_number.insert(number, slot);
        self.slots.push(PortState { unmade_for, ..PortState::default() });
        slot
    }

    #[inline]
    pub fn at(&mut self, slot: usize) -> &mut PortState {
        &mut self.slots[slot]
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut PortState> {
        self.slots.iter_mut()
    }
}

impl PortState {
    /// True if nobody can read here while this rank is in a send: its messages are asked for, or
    /// its handler waits in the middle of one.
    pub fn is_unread(&self) -> bool {
        !self.has_handler || self.waiting.is_some()
    }

    /// The message that waits here, if it does.
    pub fn unqueue(&mut self, from: Rank, number: u32) -> Option<Box<Arrived>> {
        let mut bodies = self.queue.iter().map(|arrived| &arrived.body);
        let place = bodies.position(|body| body.from == from && body.number == number)?;
        self.queue.remove(place)
    }

    /// True if its handler is still the one of `run`.
    #[inline]
    pub fn runs(&self, run: PortRun) -> bool {
        self.has_handler && self.generation == run.generation
    }
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
            has_threads,
            window,
            own,
            ports: Ports::default(),
            ready: VecDeque::new(),
            arrivals: Arrivals::default(),
            requests: Requests::default(),
            kept: ByRank::default(),
            copied_bytes: 0,
            stalled: 0,
            asking: 0,
            deferred: Vec::new(),
            owed: Owed::default(),
            numbers: Numbers::default(),
            failure: None,
            incidents: VecDeque::new(),
            statistics: Statistics::default(),
            leader: 0,
            depth: 0,
            followers: Vec::new(),
            handling: Vec::new(),
            popups: Vec::new(),
            blocked_on: Vec::new(),
            failure_hooks: Vec::new(),
            spares: Spares::default(),
        }
    }

    /// Creates the port `name`.
    pub fn create_port(&mut self, name: &str) -> crate::Result<PortRun> {
        let slot = self.ports.own(port_number(name));
        let port = self.ports.at(slot);
        match &port.name {
            Some(taken) if taken == name => return Err(Error::PortTaken(name.into())),
            Some(taken) => return Err(Error::PortCollision(taken.clone(), name.into())),
            None => port.name = Some(name.into()),
        }
        Ok(PortRun { slot, generation: port.generation })
    }

    /// The slot of the port `name`, for a rank that only sends to it.
    pub fn port_elsewhere(&mut self, name: &str) -> crate::Result<usize> {
        let slot = self.ports.own(port_number(name));
        match &self.ports.at(slot).name {
            Some(other) if other != name => Err(Error::PortCollision(other.clone(), name.into())),
            _ => Ok(slot),
        }
    }

    /// Gives a port its handler. True if messages wait for it already.
    pub fn set_handler(&mut self, handler: Box<Handler>) -> bool {
        let slot = handler.port.slot;
        let port = self.ports.at(slot);
        port.has_handler = true;
        port.handler = Some(handler);
        let is_ready = !port.queue.is_empty();
        if is_ready {
            self.ready.push_back(slot);
        }
        is_ready
    }

    /// Forgets the port, all but its windows, and returns what nobody has read. Its handlers and
    /// its taker come with it, to be dropped outside of the lock.
    pub fn remove_port(&mut self, slot: usize) -> (impl Sized + use<>, VecDeque<Box<Arrived>>) {
        let port = self.ports.at(slot);
        (port.name, port.has_handler, port.ended) = (None, false, false);
        port.generation += 1;
        let runner = std::mem::take(&mut port.runner);
        if runner != 0 {
            self.handling.push(runner);
        }
        let handlers = [port.handler.take(), port.waiting.take()];
        ((handlers, port.taker.take()), std::mem::take(&mut port.queue))
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
        if self.handling.last() == Some(&me) {
            self.handling.pop();
        } else if let Some(place) = self.handling.iter().rposition(|thread| *thread == me) {
            self.handling.swap_remove(place);
        }
    }

    /// Notes that this thread is no longer in the handler of `run`.
    pub fn exit_handler(&mut self, run: PortRun) {
        let port = self.ports.at(run.slot);
        if port.generation == run.generation {
            port.runner = 0;
        } else {
            self.exit_task();
        }
    }

    /// A handler has returned. Gives it back if there may be more to do than to put it where it
    /// was.
    #[inline(always)]
    pub fn returned(&mut self, handler: Box<Handler>) -> Option<Box<Handler>> {
        let idle = self.is_idle();
        let port = self.ports.at(handler.port.slot);
        if !idle
            || port.generation != handler.port.generation
            || port.handler.is_some()
            || !port.queue.is_empty()
        {
            return Some(handler);
        }
        (port.runner, port.handler) = (0, Some(handler));
        None
    }

    /// True if this thread is in a handler, or a task.
    pub fn is_handling(&self) -> bool {
        let me = self.here();
        self.handling.contains(&me) || self.ports.slots.iter().any(|port| port.runner == me)
    }

    /// A run of a handler waits. Returns it if nobody needs it any more, to be dropped outside of
    /// the lock: what it holds may be a port.
    pub fn wait_with(&mut self, handler: Box<Handler>) -> Option<Box<Handler>> {
        self.statistics.continuations += 1;
        let port = self.ports.at(handler.port.slot);
        if !port.runs(handler.port) {
            return Some(handler);
        }
        if std::mem::take(&mut port.ended) || !handler.stops_port() {
            return self.put_back(handler);
        }
        port.waiting.replace(handler)
    }

    /// Ends the wait of the continuation of `run`: its port goes on.
    pub fn ended(&mut self, run: PortRun) -> Option<Box<Handler>> {
        let port = self.ports.at(run.slot);
        if !port.runs(run) {
            return None;
        }
        match port.waiting.take() {
            Some(handler) => self.put_back(handler),
            None => {
                port.ended = true;
                None
            }
        }
    }

    /// The next message for a handler that can run now, with that handler.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Run> {
        while let Some(slot) = self.ready.pop_front() {
            let port = self.ports.at(slot);
            if self.asking > 0
                && let Some(first) = port.queue.front()
                && port.handler.as_ref().is_some_and(|handler| handler.may_block())
                && !self.arrivals.is_complete(&first.body)
            {
                self.deferred.push(slot);
                continue;
            }
            let Some(handler) = port.handler.take() else { continue };
            match port.queue.pop_front() {
                Some(arrived) => {
                    port.runner = here(self.has_threads);
                    return Some(Run { handler, arrived });
                }
                None => port.handler = Some(handler),
            }
        }
        None
    }

    /// Something has come, or a send has ended: deferred handlers may run. True if there are
    /// any.
    pub fn resume_deferred(&mut self) -> bool {
        let any = !self.deferred.is_empty();
        self.ready.extend(self.deferred.drain(..));
        any
    }

    /// Queues a run that cannot happen here: its message and its handler go back to the port.
    pub fn run_later(&mut self, run: Run) {
        let Run { handler, arrived } = run;
        self.exit_handler(handler.port);
        let (port, slot) = (self.ports.at(handler.port.slot), handler.port.slot);
        port.queue.push_front(arrived);
        port.handler = Some(handler);
        self.ready.push_front(slot);
    }

    /// A handler can run again. Returns it as [`Self::wait_with`] does.
    pub fn put_back(&mut self, handler: Box<Handler>) -> Option<Box<Handler>> {
        let run = handler.port;
        let port = self.ports.at(run.slot);
        if !port.runs(run) || port.handler.is_some() {
            return Some(handler);
        }
        port.handler = Some(handler);
        if !port.queue.is_empty() {
            self.ready.push_back(run.slot);
        }
        None
    }

    /// A handler of `run` panicked: its port throws away what comes. Returns the handlers that it
    /// had.
    pub fn panicked(
        &mut self,
        run: PortRun,
        from: Rank,
        what: String,
    ) -> [Option<Box<Handler>>; 2] {
        let port = self.ports.at(run.slot);
        let name = match &port.name {
            Some(name) if port.runs(run) => name.clone(),
            _ => "(dropped)".into(),
        };
        let mut dropped = [None, None];
        if port.runs(run) {
            let discard = Box::new(Handler { port: run, model: Model::Plain(Box::new(drop)) });
            dropped = [port.waiting.take(), port.handler.replace(discard)];
            port.ended = false;
            if !port.queue.is_empty() {
                self.ready.push_back(run.slot);
            }
        }
        self.incidents.push_back(Error::Panicked { port: name, from, what });
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

    /// Takes room for one packet to `to` in the window of the port in `slot`; false if there is
    /// none.
    #[inline]
    pub fn claim(&mut self, slot: usize, to: Rank) -> bool {
        to == self.own || self.ports.at(slot).outgoing.claim(to, self.window)
    }

    /// Does what [`Self::claim`] does, for a short packet with all of a message, whose number this
    /// is. None leaves for this rank itself.
    #[inline(always)]
    pub fn claim_short(&mut self, slot: usize, to: Rank) -> Option<u32> {
        if to == self.own || !self.claim(slot, to) {
            return None;
        }
        Some(self.next_message_number())
    }

    #[inline]
    pub fn next_message_number(&mut self) -> u32 {
        self.statistics.messages_sent += 1;
        self.statistics.messages_sent as u32
    }

    /// True if nothing has to be done before the next handler runs.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.owed.is_empty() && self.failure.is_none()
    }

    /// True if a message for this port would be handled at once.
    #[inline]
    pub fn runs_now(&mut self, slot: usize) -> bool {
        let idle = self.is_idle();
        let port = self.ports.at(slot);
        idle && port.handler.is_some() && port.queue.is_empty()
    }

    /// Brings a message, of which all is here or not, to its port, and gives it with the handler
    /// that is to run on it if that can be at once. Returns it if it has to wait.
    #[inline(always)]
    pub fn offer(
        &mut self,
        engine: &Engine,
        mut arrived: Box<Arrived>,
        is_whole: bool,
        announced: &mut Announced,
    ) -> Option<Box<Arrived>> {
        let slot = arrived.body.slot;
        let may_run = self.is_idle() && (is_whole || self.asking == 0);
        let port = self.ports.at(slot);
        if let Some(taker) = &port.taker {
            match taker.take(arrived, engine.packets()) {
                Ok(found) => {
                    engine.count_received();
                    if found == Found::Asleep {
                        announced.work = Work::WakeTaker(slot);
                    }
                    return None;
                }
                Err(back) => arrived = back,
            }
        }
        if !may_run || !port.queue.is_empty() {
            return Some(arrived);
        }
        let Some(handler) = port.handler.take() else { return Some(arrived) };
        port.runner = here(self.has_threads);
        engine.count_received();
        announced.run = Some(Run { handler, arrived });
        None
    }

    /// Has a message wait at its port.
    #[inline(never)]
    pub fn queue(&mut self, engine: &Engine, mut arrived: Box<Arrived>) -> Work {
        engine.count_received();
        engine.count_queued();
        self.copied_bytes += arrived.wait();
        let (idle, slot) = (self.is_idle(), arrived.body.slot);
        let port = self.ports.at(slot);
        port.queue.push_back(arrived);
        // A port with more than one message is ready already, or its handler runs.
        if port.handler.is_some() && port.queue.len() == 1 {
            self.ready.push_back(slot);
        }
        match port.receivers.is_empty() {
            true if idle && !port.has_handler => Work::None,
            true => Work::Handlers,
            false => Work::WakeReceivers(slot),
        }
    }

    /// A packet of a flow that had cost so much memory was consumed: how many in all, if its sender
    /// is to be told.
    #[inline(always)]
    pub fn consumed(&mut self, body: &Body, flow: Flow, cost: usize) -> Option<u32> {
        self.copied_bytes -= cost;
        let incoming = &mut self.ports.at(body.slot).incoming;
        let report = incoming.consumed(body.from, flow, self.window);
        report.filter(|_| body.from != self.own)
    }

    /// Has messages that wait to be taken forget the engine, and those that are still to come.
    pub fn forget_engine(&mut self) {
        let queues = self.ports.iter_mut().map(|port| &mut port.queue);
        queues.flatten().for_each(|arrived| arrived.forget_engine());
    }

    /// Everything that somebody waits for with a waker.
    pub fn drain_wakers(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for port in self.ports.iter_mut() {
            wakers.append(&mut port.receivers);
            wakers.append(&mut port.senders);
        }
        wakers.extend(self.arrivals.drain_wakers());
        wakers.extend(self.requests.drain_wakers());
        wakers.extend(self.followers.iter().map(|(_, waker)| waker.clone()));
        wakers
    }

    /// Messages for ports that this rank has never created: their senders' ranks.
    pub fn unclaimed(&mut self) -> Option<(Rank, usize)> {
        // One that was dropped had its time: what was late for it is nobody's mistake.
        let never = |port: &&mut PortState| port.name.is_none() && port.generation == 0;
        let unknown = self.ports.iter_mut().filter(never);
        let mut waiting = unknown.filter(|port| !port.queue.is_empty());
        waiting.next().map(|port| (port.queue[0].body.from, port.queue.len()))
    }
}
