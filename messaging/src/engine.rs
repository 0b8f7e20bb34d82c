//! What packets become: messages, queued at ports.
//!
//! Whoever polls takes one packet, sorts it into its message, and runs the handlers that have something
//! now, outside of any lock and one a port at a time; a handler may read on while more packets of its
//! message arrive. How threads share that is in `wait`.

use crate::error::{Error, Result};
use crate::format::{self, Kind, PacketHeader};
use crate::handler::{Handler, guarded};
use crate::message::{Announced, Body, Message};
use crate::popup::Pool;
use crate::state::{Continues, Part, PortRun, State};
use crate::tasks::{Task, Tasks};
use crate::wait::Nudge;
use crate::window::window_packets;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use weft_node::biased::{Biased, this_thread};
use weft_packet::{Group, HeldPacket, Packets, Rank};

/// Bytes of messages that are copied out of link memory at most, to keep senders going.
const COPY_LIMIT_BYTES: usize = 64 << 20;

/// The messages of one rank.
pub struct Engine {
    packets: Packets,
    pub(crate) state: Biased<State>,
    pub(crate) tasks: Arc<Tasks>,
    /// Wakes the thread that polls.
    pub(crate) nudger: Waker,
    pool: Pool,
    /// Threads that follow and that nothing wakes but the leader.
    pub(crate) watchers: AtomicUsize,
    /// Whether a handler did something that the program has not heard of.
    has_incidents: AtomicBool,
    /// Packets of one sender that stay in link memory before more are copied out.
    keep_at_most: u32,
    this: Weak<Engine>,
}

/// What the messaging layer has done, with what is below it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Messages sent; a broadcast is one.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Packets copied out of link memory because their port was slow.
    pub packets_copied_out: u64,
    /// Sends that waited because their receiver's port was full.
    pub stalls: u64,
    /// Packets that handlers sent to full ports all the same.
    pub overdrafts: u64,
    /// Handlers that waited and became continuations.
    pub continuations: u64,
    /// The layers below.
    pub packets: weft_packet::Statistics,
}

/// What this layer itself counts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub messages_sent: u64,
    pub messages_received: u64,
    pub packets_copied_out: u64,
    pub stalls: u64,
    pub overdrafts: u64,
    pub continuations: u64,
}

impl Engine {
    /// Messages over `packets`, whose packets are all its own from here on.
    pub fn new(packets: Packets) -> Arc<Self> {
        Arc::new_cyclic(|this: &Weak<Engine>| {
            let announced = this.clone();
            let announce = Box::new(move || {
                if let Some(engine) = announced.upgrade() {
                    engine.task_is_ready();
                }
            });
            Engine {
                state: Biased::new(State::new(window_packets(packets.max_payload()))),
                tasks: Tasks::new(packets.clone(), announce),
                nudger: Waker::from(Arc::new(Nudge(packets.clone()))),
                pool: Pool::new(packets.has_threads()),
                watchers: AtomicUsize::new(0),
                has_incidents: AtomicBool::new(false),
                keep_at_most: (packets.in_flight() / 2) as u32,
                packets,
                this: this.clone(),
            }
        })
    }

    /// The packets below.
    #[inline]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// A lock for what handlers and the program of this rank share.
    pub fn lock<T>(&self, value: T) -> Biased<T> {
        Biased::new(value)
    }

    /// Makes all threads equal, for good: see [`Packets::share`]. For programs that send and receive in
    /// several threads (thesis 6.2.1).
    pub fn share(&self) {
        self.packets.share();
        self.state.share();
    }

    /// Takes packets from the network and runs handlers and tasks. Says whether anything happened. What
    /// a rank does when it polls.
    ///
    /// # Errors
    /// A lost rank, a peer that broke the format, or a handler that panicked.
    pub fn progress(self: &Arc<Self>) -> Result<bool> {
        let mut any = false;
        for _ in 0..64 {
            if !self.step()? {
                break;
            }
            any = true;
        }
        Ok(any)
    }

    /// What a rank does when it is interrupted: makes progress, as long as interrupts are on. An error
    /// comes again to whoever calls next.
    pub fn interrupted(self: &Arc<Self>) {
        self.packets.interrupted(|| self.advance().unwrap_or(false));
    }

    /// Takes one packet from the network, and runs what is ready.
    #[inline]
    pub(crate) fn step(self: &Arc<Self>) -> Result<bool> {
        let any = self.advance()?;
        self.raise_incident()?;
        Ok(any)
    }

    /// As [`Self::step`]; what handlers did wrong is left to who can hear it.
    #[inline]
    fn advance(self: &Arc<Self>) -> Result<bool> {
        match self.receive() {
            Ok(any) => Ok(any | self.run_ready()?),
            Err(error) => {
                self.lose(&error);
                Err(error)
            }
        }
    }

    /// A lost rank ends every wait. Tasks get to know it as well, where anybody still runs them.
    #[cold]
    fn lose(self: &Arc<Self>, error: &Error) {
        self.fail(error.clone());
        self.run_tasks();
    }

    /// What a handler did wrong, once.
    #[inline]
    pub(crate) fn raise_incident(&self) -> Result<()> {
        if self.has_incidents.load(Ordering::Relaxed) { self.next_incident() } else { Ok(()) }
    }

    #[cold]
    fn next_incident(&self) -> Result<()> {
        let mut state = self.state.enter();
        let incident = state.next_incident();
        self.has_incidents.store(!state.incidents.is_empty(), Ordering::Relaxed);
        incident.map_or(Ok(()), Err)
    }

    /// Takes one packet from the network and sorts it; no handler runs.
    #[inline]
    pub(crate) fn receive(&self) -> Result<bool> {
        let Some(held) = self.packets.take()? else { return Ok(false) };
        self.sort(held);
        self.packets.taken();
        Ok(true)
    }

    /// Runs `future` when somebody polls: now and then until it ends. Tasks of a rank run one at a time
    /// on each thread that polls; they may wait for anything of Weft's, and for each other.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(future);
    }

    /// Makes progress until every message sent from here has left this rank.
    ///
    /// # Errors
    /// As [`Self::progress`].
    pub fn flush(self: &Arc<Self>) -> Result<()> {
        self.watch(|engine| Ok(engine.state.enter().owed.is_empty() && engine.packets.is_flushed()))
    }

    /// Ends what would keep this rank alive: tasks, timers, whoever waits. Its owner calls it last.
    pub fn close(&self) {
        self.tasks.clear();
        let wakers = self.state.enter().drain_wakers();
        drop(wakers);
    }

    /// Whether messages wait for ports that this rank has never created.
    ///
    /// # Errors
    /// [`Error::Unclaimed`].
    pub fn check_unclaimed(&self) -> Result<()> {
        match self.state.enter().unclaimed() {
            None => Ok(()),
            Some((from, messages)) => Err(Error::Unclaimed { from, messages }),
        }
    }

    /// What this layer and those below have done.
    pub fn statistics(&self) -> Statistics {
        let counts = self.state.enter().statistics;
        Statistics {
            messages_sent: counts.messages_sent,
            messages_received: counts.messages_received,
            packets_copied_out: counts.packets_copied_out,
            stalls: counts.stalls,
            overdrafts: counts.overdrafts,
            continuations: counts.continuations,
            packets: self.packets.statistics(),
        }
    }

    /// Creates the port `name` and returns its slot.
    pub(crate) fn create_port(
        &self,
        name: &str,
        handler: impl FnOnce(PortRun) -> Option<Handler>,
    ) -> Result<usize> {
        let run = self.state.enter().create_port(name)?;
        if let Some(handler) = handler(run) {
            let is_ready = self.state.enter().set_handler(run.slot, handler);
            if is_ready {
                self.have_handlers_run();
            }
        }
        Ok(run.slot)
    }

    /// Something may be ready for a handler, and this thread may not poll again for long: an empty task is
    /// an errand for whoever does.
    pub(crate) fn have_handlers_run(&self) {
        self.spawn(std::future::ready(()));
    }

    pub(crate) fn remove_port(self: &Arc<Self>, slot: usize) {
        let (handlers, queue) = self.state.enter().remove_port(slot);
        // Outside the lock: dropping them enters it.
        drop(handlers);
        queue.into_iter().for_each(|announced| drop(self.open(announced)));
    }

    /// Makes a message of what has waited at a port. Messages hold the engine, so what waits in the
    /// engine cannot be one: it would keep itself and the node for ever.
    #[inline]
    fn open(self: &Arc<Self>, announced: Announced) -> Message {
        Message::new(Arc::clone(self), announced)
    }

    /// The message that has waited longest at the port in `slot`; else leaves `waker` for it.
    pub(crate) fn take_message(
        &self,
        slot: usize,
        waker: Option<&Waker>,
    ) -> Result<Option<Message>> {
        let mut state = self.state.enter();
        let port = state.ports.at(slot);
        let announced = port.queue.pop_front();
        if announced.is_none() {
            leave(&mut port.receivers, waker);
            return state.failure.clone().map_or(Ok(None), Err);
        }
        drop(state);
        let this = self.this.upgrade();
        Ok(announced.zip(this).map(|(announced, engine)| Message::new(engine, announced)))
    }

    /// The next part of an arriving message; else leaves `waker` for it.
    pub(crate) fn take_part(&self, body: &Body, waker: Option<&Waker>) -> Result<Option<Part>> {
        let mut state = self.state.enter();
        match state.take_part(body.from, body.number, waker) {
            None => state.failure.clone().map_or(Ok(None), Err),
            part => Ok(part),
        }
    }

    /// The reader is done with a part.
    #[inline]
    pub(crate) fn give_back(&self, body: &Body, part: Part) {
        let mut state = self.state.enter();
        match &part {
            Part::Kept(..) => *state.kept.entry(body.from) -= 1,
            Part::Copied(bytes, _) => state.copied_bytes -= copy_cost(bytes),
        }
        let report = state.consumed(body.from, body.port, body.flow);
        drop(state);
        if let Part::Kept(held, _) = part {
            self.packets.release(held);
        }
        if let Some((to, header)) = report {
            self.tell(to, header);
        }
    }

    /// The reader of an arriving message wants no more of it.
    pub(crate) fn abandon(&self, body: &Body) {
        let parts = self.state.enter().abandon(body.from, body.number);
        parts.into_iter().for_each(|part| self.give_back(body, part));
    }

    /// Sends a control packet, or leaves it for later if there is no frame.
    pub(crate) fn tell(&self, to: Rank, header: PacketHeader) {
        // A rank has room for all that it sends itself, and counts none of it.
        if to != self.packets.rank() && !self.try_tell(to, header) {
            self.state.enter().owed.push_back((to, header));
        }
    }

    fn try_tell(&self, to: Rank, header: PacketHeader) -> bool {
        // That the pool is exhausted, or the receiver gone, shows where the program sends.
        let Ok(Some(mut packet)) = self.packets.try_packet() else { return false };
        let filled = packet.put(&header.emit()).is_ok();
        filled && packet.unicast(to).is_ok()
    }

    #[cold]
    fn pay_owed(&self) {
        while let Some((to, header)) = {
            let mut state = self.state.enter();
            state.owed.pop_front()
        } {
            if !self.try_tell(to, header) {
                self.state.enter().owed.push_front((to, header));
                return;
            }
        }
    }

    /// Sorts a packet into its message, or does what a control packet says.
    #[inline]
    fn sort(&self, held: HeldPacket) {
        let from = held.source();
        let Some((header, rest)) = PacketHeader::parse(self.packets.read(&held)) else {
            return self.refuse(held, Error::Stray { from });
        };
        let bytes = (rest.len() - usize::from(header.header_bytes)) as u64;
        match header.kind {
            Kind::First => self.first(held, &header, bytes),
            Kind::Next => self.next(held, &header, bytes),
            Kind::Window | Kind::Probe | Kind::NoPort => self.control(held, &header),
        }
    }

    #[inline]
    fn first(&self, held: HeldPacket, header: &PacketHeader, bytes: u64) {
        let (from, flow) = (held.source(), held.group());
        let (number, length, port) = (header.message, header.bytes, header.port);
        let body = Body { from, number, length, port, flow };
        let header_bytes = header.header_bytes;
        let mut state = self.state.enter();
        if let Err(error) = state.check_first(from, header, bytes) {
            drop(state);
            return self.refuse(held, error);
        }
        if *state.kept.entry(from) >= self.keep_at_most && state.copied_bytes < COPY_LIMIT_BYTES {
            drop(state);
            let first = self.copy_out(held);
            state = self.state.enter();
            let wakers = state.announce(Announced { body, first, header_bytes }, bytes);
            drop(state);
            return wake(wakers);
        }
        *state.kept.entry(from) += 1;
        let first = Part::Kept(held, 0);
        let wakers = state.announce(Announced { body, first, header_bytes }, bytes);
        drop(state);
        wake(wakers);
    }

    fn next(&self, held: HeldPacket, header: &PacketHeader, bytes: u64) {
        let from = held.source();
        let flow = held.group();
        let mut state = self.state.enter();
        let part = match state.continues(from, header, bytes) {
            Continues::Stray => {
                drop(state);
                return self.refuse(held, Error::Stray { from });
            }
            Continues::Unwanted => {
                let report = state.consumed(from, header.port, flow);
                let _ = state.arrived(from, header.message, bytes, None);
                drop(state);
                self.packets.release(held);
                return report.into_iter().for_each(|(to, header)| self.tell(to, header));
            }
            Continues::Wanted => {
                let crowded = *state.kept.entry(from) >= self.keep_at_most;
                if crowded && state.copied_bytes < COPY_LIMIT_BYTES {
                    drop(state);
                    self.copy_out(held)
                } else {
                    *state.kept.entry(from) += 1;
                    drop(state);
                    Part::Kept(held, 0)
                }
            }
        };
        let mut state = self.state.enter();
        let (unwanted, reader) = state.arrived(from, header.message, bytes, Some(part));
        drop(state);
        if let Some(part) = unwanted {
            // Its reader left in between.
            let (number, length, port) = (header.message, 0, header.port);
            self.give_back(&Body { from, number, length, port, flow }, part);
        }
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn control(&self, held: HeldPacket, header: &PacketHeader) {
        let from = held.source();
        let mut state = self.state.enter();
        let slot = state.ports.find(header.port);
        let port = state.ports.at(slot);
        let (mut wakers, mut answer, mut legal) = (Vec::new(), None, true);
        match header.kind {
            Kind::Window => {
                let group =
                    header.bytes.checked_sub(1).map(|number| Group::numbered(number as u16));
                legal = port.outgoing.reported(from, group, header.message);
                wakers = std::mem::take(&mut port.senders);
            }
            Kind::Probe if port.name.is_none() => {
                answer = Some(PacketHeader::about(header.port, Kind::NoPort));
            }
            Kind::NoPort => {
                port.refused.insert(from);
                wakers = std::mem::take(&mut port.senders);
            }
            _ => {}
        }
        drop(state);
        self.packets.release(held);
        if !legal {
            self.fail(Error::Stray { from });
        }
        answer.into_iter().for_each(|answer| self.tell(from, answer));
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Takes a packet out of link memory: its sender has spent much of its window on packets that nobody
    /// reads. It must be able to go on, or two ranks that send much to each other before they read would
    /// stop for ever (careful-protocols 5.3).
    #[cold]
    fn copy_out(&self, held: HeldPacket) -> Part {
        let copy: Box<[u8]> = self.packets.read(&held).into();
        self.packets.copied(copy.len());
        self.packets.release(held);
        let mut state = self.state.enter();
        state.copied_bytes += copy_cost(&copy);
        state.statistics.packets_copied_out += 1;
        Part::Copied(copy, 0)
    }

    #[cold]
    fn refuse(&self, held: HeldPacket, error: Error) {
        self.packets.release(held);
        self.fail(error);
    }

    #[cold]
    fn fail(&self, error: Error) {
        let mut state = self.state.enter();
        state.failure.get_or_insert(error);
        let wakers = state.drain_wakers();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Runs the handlers of ports that have messages, and tasks that can go on.
    #[inline]
    fn run_ready(self: &Arc<Self>) -> Result<bool> {
        let mut any = false;
        loop {
            let mut state = self.state.enter();
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let Some((run, handler, announced)) = state.next_ready() else {
                if !state.owed.is_empty() {
                    drop(state);
                    self.pay_owed();
                }
                break;
            };
            state.enter_handler();
            drop(state);
            self.run_handler(run, handler, announced);
            any = true;
        }
        if self.tasks.has_any() {
            any |= self.run_tasks();
        }
        Ok(any)
    }

    fn run_handler(self: &Arc<Self>, run: PortRun, mut handler: Handler, announced: Announced) {
        let from = announced.body.from;
        let message = self.open(announced);
        let outcome = match &mut handler {
            Handler::Plain(code) => guarded(|| {
                code(message);
                true
            }),
            Handler::Async(waiting) => guarded(|| waiting.run(message)),
            Handler::Popup(code) => {
                let code = Arc::clone(code);
                self.pop_up(run, from, move || code(message));
                Ok(true)
            }
        };
        let mut state = self.state.enter();
        state.leave_handler();
        let unwanted = match outcome {
            Ok(true) => state.put_back(run, handler),
            Ok(false) => state.wait_with(run, handler),
            Err(what) => {
                drop(state);
                drop(handler);
                return self.panicked(run, from, what);
            }
        };
        drop(state);
        drop(unwanted);
    }

    /// Runs a handler on a thread of its own; in place, where ranks have no threads.
    fn pop_up(self: &Arc<Self>, run: PortRun, from: Rank, code: impl FnOnce() + Send + 'static) {
        let engine = Arc::clone(self);
        self.pool.run(Box::new(move || {
            let me = this_thread();
            engine.state.enter().popups.push(me);
            let outcome = guarded(code);
            let mut state = engine.state.enter();
            if let Some(place) = state.popups.iter().rposition(|thread| *thread == me) {
                state.popups.swap_remove(place);
            }
            drop(state);
            if let Err(what) = outcome {
                engine.panicked(run, from, what);
            }
        }));
    }

    /// A handler panicked: its port takes no more messages.
    #[cold]
    fn panicked(&self, run: PortRun, from: Rank, what: String) {
        let dropped = self.state.enter().panicked(run, from, what);
        drop(dropped);
        self.announce_incident();
    }

    /// Has whoever waits hear what a handler did.
    fn announce_incident(&self) {
        self.has_incidents.store(true, Ordering::Relaxed);
        self.wake_followers();
        self.packets.nudge();
    }

    fn run_tasks(self: &Arc<Self>) -> bool {
        let mut any = false;
        // As many as are ready now: one that wakes itself must not keep packets waiting.
        for _ in 0..64 {
            let Some(task) = self.tasks.next() else { break };
            let Some(mut continuation) = task.take() else { continue };
            self.state.enter().enter_handler();
            let waker = Waker::from(Arc::clone(&task));
            let mut context = Context::from_waker(&waker);
            let polled = guarded(|| continuation.as_mut().resume(&mut context));
            self.state.enter().leave_handler();
            any = true;
            match polled {
                Ok(Poll::Pending) => task.park(continuation),
                Ok(Poll::Ready(())) => self.task_ended(&task),
                Err(what) => self.task_panicked(&task, what),
            }
        }
        any
    }

    fn task_ended(&self, task: &Task) {
        if let (Some(run), false) = (task.port, task.concurrent) {
            let unwanted = self.state.enter().ended(run);
            drop(unwanted);
        }
    }

    fn task_panicked(&self, task: &Task, what: String) {
        match task.port {
            Some(run) => self.panicked(run, task.from(), what),
            None => {
                self.state.enter().incidents.push_back(Error::TaskPanicked(what));
                self.announce_incident();
            }
        }
    }

    /// A task became ready: whoever polls runs it, or else the upcall thread.
    fn task_is_ready(&self) {
        if self.state.enter().leader == 0 {
            self.packets.set_errand(true);
        } else {
            self.packets.nudge();
        }
    }
}

/// Leaves `waker` among others, once.
pub(crate) fn leave(wakers: &mut Vec<Waker>, waker: Option<&Waker>) {
    if let Some(waker) = waker
        && !wakers.iter().any(|other| other.will_wake(waker))
    {
        wakers.push(waker.clone());
    }
}

#[inline]
fn wake(wakers: Option<Vec<Waker>>) {
    wakers.into_iter().flatten().for_each(Waker::wake);
}

/// What a copy of `packet` costs: its bytes, and no less than the message that it may begin.
fn copy_cost(packet: &[u8]) -> usize {
    packet.len() + size_of::<Message>()
}

/// Bytes of a packet that a message has no use for.
pub(crate) const HEADER: usize = format::SIZE;
