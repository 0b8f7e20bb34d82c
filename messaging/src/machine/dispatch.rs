//! Dispatch of messages to handlers: which runs on which, and when (thesis 6.2.3). Sans-IO, as all
//! of the machine.
//!
//! A port's messages run in order, one at a time: its handler is taken out while it runs, so that
//! nobody else can run it. A message that comes meanwhile waits in the queue of its port; a port
//! that has both a message and a handler is *ready*.
//!
//! A handler that may block runs on the stack of whoever polls. As long as it
//! [must not wait](super::Machine::may_wait_for) for the rest of a message, it is put off.

use super::Wakeable;
use super::body::MessageBody;
use super::ports::Ports;
use super::register;
use crate::error::Error;
use crate::format::port_number;
use std::collections::VecDeque;
use weft_endpoint::Rank;

/// A handler of messages.
pub trait Handling {
    /// Its port.
    fn port(&self) -> PortRun;
    /// True if it may block the thread that runs it.
    fn may_block(&self) -> bool;
    /// True if the next message waits for the end of a run that waits.
    fn stops_port(&self) -> bool;
}

/// A message that waits at a port.
pub trait Queued {
    /// The message.
    fn body(&self) -> &MessageBody;
}

/// A port as long as it is not dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PortRun {
    /// Its slot.
    pub slot: usize,
    /// Number of ports of this name that were dropped before.
    pub generation: u32,
}

/// Use of a port at this rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// This rank has created it.
    pub is_created: bool,
    /// Nobody can read there while this rank is in a send: its messages are asked for, or its
    /// handler waits in the middle of one.
    pub is_unread: bool,
}

/// The handlers of a rank's ports, and the messages that wait for them. `H` is a handler, `M` a
/// message, `T` what takes messages of a port before its handler could, `W` who asks for messages.
#[derive(Clone, Hash)]
pub struct Dispatch<H, M, T, W> {
    slots: Vec<PortSlot<H, M, T, W>>,
    /// Ports with a handler that does not run, and a message for it.
    ready: VecDeque<usize>,
    /// Ports whose handlers must not run yet.
    deferred: Vec<usize>,
    /// Handlers that waited and became continuations.
    pub continuations: u64,
}

/// A port of this rank.
#[derive(Clone, Hash)]
pub struct PortSlot<H, M, T, W> {
    /// Its name, once this rank has created it; messages may arrive before.
    name: Option<String>,
    /// Its handler, if it has one and it is not running.
    handler: Option<H>,
    has_handler: bool,
    taker: Option<T>,
    /// The thread that is inside its handler, if one is; 0 is none.
    runner: usize,
    /// Its handler, while a continuation of it waits.
    waiting: Option<H>,
    /// That continuation ended before its handler was put there.
    ended: bool,
    /// Number of times that a port was dropped here: messages for an earlier one are not this
    /// one's.
    generation: u32,
    queue: VecDeque<M>,
    receivers: Vec<W>,
}

/// Remains of a port that is dropped.
pub struct Removed<H, M, T> {
    /// Handlers and taker, which are dropped outside of locks: they may hold ports.
    pub owners: ([Option<H>; 2], Option<T>),
    /// Messages that nobody has read.
    pub unread: VecDeque<M>,
    /// The thread that is in its handler, or 0.
    pub runner: usize,
}

impl<H, M, T, W> Default for PortSlot<H, M, T, W> {
    fn default() -> Self {
        let (name, has_handler, runner, ended, generation) = Default::default();
        let (handler, taker, waiting) = (None, None, None);
        let (queue, receivers) = (VecDeque::new(), Vec::new());
        PortSlot {
            name,
            handler,
            has_handler,
            taker,
            runner,
            waiting,
            ended,
            generation,
            queue,
            receivers,
        }
    }
}

impl<H, M, T, W> Default for Dispatch<H, M, T, W> {
    fn default() -> Self {
        let (ready, deferred, continuations) = Default::default();
        Dispatch { slots: Vec::new(), ready, deferred, continuations }
    }
}

impl<H: Handling, M, T, W> PortSlot<H, M, T, W> {
    /// True if its handler is still the one of `run`.
    #[inline]
    fn runs(&self, run: PortRun) -> bool {
        self.has_handler && self.generation == run.generation
    }

    /// The taker, which has messages before the handler could.
    #[inline]
    pub fn taker(&self) -> Option<&T> {
        self.taker.as_ref()
    }

    /// The handler that is to run on a message that has come, on the thread `here`, if that can be
    /// at once; it is marked as running.
    #[inline(always)]
    pub fn begin(&mut self, here: usize) -> Option<H> {
        if !self.queue.is_empty() {
            return None;
        }
        let handler = self.handler.take()?;
        self.runner = here;
        Some(handler)
    }
}

impl<H: Handling, M: Queued, T, W: Wakeable> Dispatch<H, M, T, W> {
    #[inline(always)]
    fn at(&mut self, slot: usize) -> &mut PortSlot<H, M, T, W> {
        if slot >= self.slots.len() {
            self.grow(slot);
        }
        &mut self.slots[slot]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, slot: usize) {
        self.slots.resize_with(slot + 1, PortSlot::default);
    }

    /// Creates the port `name`.
    ///
    /// # Errors
    /// [`Error::PortTaken`], [`Error::PortCollision`].
    pub fn create(&mut self, ports: &mut Ports<W>, name: &str) -> Result<PortRun, Error> {
        let slot = ports.own(port_number(name));
        let port = self.at(slot);
        match &port.name {
            Some(taken) if taken == name => return Err(Error::PortTaken(name.into())),
            Some(taken) => return Err(Error::PortCollision(taken.clone(), name.into())),
            None => port.name = Some(name.into()),
        }
        Ok(PortRun { slot, generation: port.generation })
    }

    /// The slot of the port `name`, for a rank that only sends to it.
    ///
    /// # Errors
    /// [`Error::PortCollision`].
    pub fn elsewhere(&mut self, ports: &mut Ports<W>, name: &str) -> Result<usize, Error> {
        let slot = ports.own(port_number(name));
        match &self.at(slot).name {
            Some(other) if other != name => Err(Error::PortCollision(other.clone(), name.into())),
            _ => Ok(slot),
        }
    }

    /// Gives a port its handler. True if messages wait for it already.
    pub fn set_handler(&mut self, handler: H) -> bool {
        let slot = handler.port().slot;
        let port = self.at(slot);
        port.has_handler = true;
        port.handler = Some(handler);
        let is_ready = !port.queue.is_empty();
        if is_ready {
            self.ready.push_back(slot);
        }
        is_ready
    }

    /// Has `taker` take messages of a port before its handler.
    pub fn set_taker(&mut self, slot: usize, taker: T) {
        self.at(slot).taker = Some(taker);
    }

    /// Forgets the port.
    pub fn remove(&mut self, slot: usize) -> Removed<H, M, T> {
        let port = self.at(slot);
        (port.name, port.has_handler, port.ended) = (None, false, false);
        port.generation += 1;
        Removed {
            owners: ([port.handler.take(), port.waiting.take()], port.taker.take()),
            unread: std::mem::take(&mut port.queue),
            runner: std::mem::take(&mut port.runner),
        }
    }

    /// Use of a port at this rank.
    pub fn usage(&mut self, slot: usize) -> Usage {
        let port = self.at(slot);
        Usage {
            is_created: port.name.is_some(),
            is_unread: !port.has_handler || port.waiting.is_some(),
        }
    }

    /// True if no handler is ready.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty()
    }

    /// True if a message for this port would be handled at once, if anything is.
    #[inline]
    pub fn has_free_handler(&mut self, slot: usize) -> bool {
        let port = self.at(slot);
        port.handler.is_some() && port.queue.is_empty()
    }

    /// The port in a slot, and true if no handler is ready.
    #[inline(always)]
    pub fn port(&mut self, slot: usize) -> (&mut PortSlot<H, M, T, W>, bool) {
        if slot >= self.slots.len() {
            self.grow(slot);
        }
        (&mut self.slots[slot], self.ready.is_empty())
    }

    /// Has a message wait at its port. True if somebody asks for it; a handler may be ready then,
    /// as well.
    #[inline]
    pub fn queue(&mut self, message: M) -> bool {
        let slot = message.body().slot;
        let port = self.at(slot);
        port.queue.push_back(message);
        let has_receivers = !port.receivers.is_empty();
        // A port with more than one message is ready already, or its handler runs.
        if port.handler.is_some() && port.queue.len() == 1 {
            self.ready.push_back(slot);
        }
        has_receivers
    }

    /// True if a port has a handler, which may be running.
    #[inline]
    pub fn has_handler(&mut self, slot: usize) -> bool {
        self.at(slot).has_handler
    }

    /// The message that has waited longest at a port; else leaves `waiter` for it.
    pub fn unqueue(&mut self, slot: usize, waiter: Option<&W>) -> Option<M> {
        let port = self.at(slot);
        let message = port.queue.pop_front();
        if message.is_none() {
            register(&mut port.receivers, waiter);
        }
        message
    }

    /// True if nothing waits at a port, and all who ask for its messages are `waiter`.
    pub fn is_asked_by(&mut self, slot: usize, waiter: &W) -> bool {
        let port = self.at(slot);
        port.queue.is_empty() && port.receivers.iter().all(|other| other.is(waiter))
    }

    /// Takes a message that waits at a port, if `is_it` finds one there.
    pub fn take_queued(&mut self, slot: usize, is_it: impl Fn(&M) -> bool) -> Option<M> {
        let queue = &mut self.at(slot).queue;
        let place = queue.iter().position(is_it)?;
        queue.remove(place)
    }

    /// A waiter for messages of a port, to be woken.
    pub fn take_receiver(&mut self, slot: usize) -> Option<W> {
        self.at(slot).receivers.pop()
    }

    /// The next message for a handler that can run now, with that handler; it is marked as running
    /// on the thread `here`. A handler that may block is put off until `may_begin` says that it may
    /// read the message.
    #[inline]
    pub fn next_ready(
        &mut self,
        here: usize,
        may_begin: impl Fn(&MessageBody) -> bool,
    ) -> Option<(H, M)> {
        while let Some(slot) = self.ready.pop_front() {
            let port = &mut self.slots[slot];
            if let Some(first) = port.queue.front()
                && port.handler.as_ref().is_some_and(Handling::may_block)
                && !may_begin(first.body())
            {
                self.deferred.push(slot);
                continue;
            }
            let Some(handler) = port.handler.take() else { continue };
            match port.queue.pop_front() {
                Some(message) => {
                    port.runner = here;
                    return Some((handler, message));
                }
                None => port.handler = Some(handler),
            }
        }
        None
    }

    /// Something has come, or no thread is blocked any more: handlers that were put off may run.
    /// True if there are any.
    pub fn resume_deferred(&mut self) -> bool {
        let any = !self.deferred.is_empty();
        self.ready.extend(self.deferred.drain(..));
        any
    }

    /// Puts a run off that cannot happen here: its message and its handler go back to the port. It
    /// must have been left by [`Self::left`].
    pub fn run_later(&mut self, handler: H, message: M) {
        let slot = handler.port().slot;
        let port = self.at(slot);
        port.queue.push_front(message);
        port.handler = Some(handler);
        self.ready.push_front(slot);
    }

    /// A handler has returned, and nothing else is to be done. Gives it back if there may be more
    /// to do than to put it where it was.
    #[inline(always)]
    pub fn returned(&mut self, handler: H) -> Option<H> {
        let run = handler.port();
        let port = self.at(run.slot);
        if port.generation != run.generation || port.handler.is_some() || !port.queue.is_empty() {
            return Some(handler);
        }
        (port.runner, port.handler) = (0, Some(handler));
        None
    }

    /// The thread that ran the handler of `run` has left it. False if the port was dropped
    /// meanwhile.
    pub fn left(&mut self, run: PortRun) -> bool {
        let port = self.at(run.slot);
        let is_there = port.generation == run.generation;
        if is_there {
            port.runner = 0;
        }
        is_there
    }

    /// True if the thread `me` is in a handler of a port.
    pub fn is_run_by(&self, me: usize) -> bool {
        self.slots.iter().any(|port| port.runner == me)
    }

    /// A handler can run again. Returns it if nobody needs it any more, to be dropped outside of
    /// locks: what it holds may be a port.
    pub fn put_back(&mut self, handler: H) -> Option<H> {
        let run = handler.port();
        let port = self.at(run.slot);
        if !port.runs(run) || port.handler.is_some() {
            return Some(handler);
        }
        port.handler = Some(handler);
        if !port.queue.is_empty() {
            self.ready.push_back(run.slot);
        }
        None
    }

    /// A run of a handler waits. Returns it as [`Self::put_back`] does.
    pub fn wait_with(&mut self, handler: H) -> Option<H> {
        self.continuations += 1;
        let run = handler.port();
        let port = self.at(run.slot);
        if !port.runs(run) {
            return Some(handler);
        }
        if std::mem::take(&mut port.ended) || !handler.stops_port() {
            return self.put_back(handler);
        }
        port.waiting.replace(handler)
    }

    /// Ends the wait of the continuation of `run`: its port goes on. Returns a handler as
    /// [`Self::put_back`] does.
    pub fn ended(&mut self, run: PortRun) -> Option<H> {
        let port = self.at(run.slot);
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

    /// A handler of `run` panicked: `instead` takes its place. Returns the port's name, if it is
    /// there, and what is dropped as [`Self::put_back`] says.
    pub fn replace(&mut self, run: PortRun, instead: H) -> (Option<String>, [Option<H>; 2]) {
        let port = self.at(run.slot);
        if !port.runs(run) {
            return (None, [Some(instead), None]);
        }
        let replaced = [port.waiting.take(), port.handler.replace(instead)];
        port.ended = false;
        let name = port.name.clone();
        if !port.queue.is_empty() {
            self.ready.push_back(run.slot);
        }
        (name, replaced)
    }

    /// All messages that wait.
    pub fn queued_mut(&mut self) -> impl Iterator<Item = &mut M> {
        self.slots.iter_mut().flat_map(|port| &mut port.queue)
    }

    /// All waiters for messages.
    pub fn drain_waiters(&mut self) -> Vec<W> {
        let receivers = self.slots.iter_mut().map(|port| &mut port.receivers);
        receivers.flat_map(std::mem::take).collect()
    }

    /// A port that this rank has never created and that messages wait for: the sender of the first,
    /// and their number. One that was dropped had its time: what was late for it is nobody's
    /// mistake.
    pub fn unclaimed(&self) -> Option<(Rank, usize)> {
        let never = |port: &&PortSlot<H, M, T, W>| port.name.is_none() && port.generation == 0;
        let mut unknown = self.slots.iter().filter(never);
        unknown.find_map(|port| Some((port.queue.front()?.body().from, port.queue.len())))
    }
}
