//! What packets become: messages, queued at ports.
//!
//! Whoever polls takes one packet, sorts it into its message, and runs the handlers that have something
//! now, outside of any lock and one a port at a time; a handler may read on while more packets of its
//! message arrive. How threads share that is in `wait`.

use crate::error::{Error, Result};
use crate::format::{self, Kind, PacketHeader};
use crate::handler::{Handler, guarded};
use crate::lend;
use crate::message::{Arrived, Body, Message};
use crate::popup::Pool;
use crate::state::{Announcement, Part, PortRun, State, copy_cost};
use crate::tasks::{Task, Tasks};
use crate::wait::Nudge;
use crate::window::window_packets;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use weft_node::biased::Biased;
use weft_packet::{Group, HeldPacket, Packets, Rank};

/// Bytes of messages that are copied out of link memory at most, to keep senders going.
const COPY_LIMIT_BYTES: usize = 64 << 20;

/// Boxes for messages that are kept to be used again.
const SPARE_MESSAGES: usize = 256;

/// The messages of one rank.
pub struct Engine {
    packets: Packets,
    pub(crate) state: Biased<State>,
    pub(crate) tasks: Arc<Tasks>,
    /// Wakes the thread that polls.
    pub(crate) nudger: Waker,
    /// Set by whoever leaves something to be done in `state`, so that a poll that finds no packet need
    /// not look there.
    unrest: AtomicBool,
    pool: Pool,
    /// Packets of one sender that stay in link memory before more are copied out. All receivers of a
    /// sender share its frames, so all that they keep must be less than it has.
    keep_at_most: u32,
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
                state: Biased::new(State::new(
                    packets.rank(),
                    window_packets(packets.max_payload()),
                )),
                tasks: Tasks::new(packets.clone(), announce),
                nudger: Waker::from(Arc::new(Nudge(packets.clone()))),
                unrest: AtomicBool::new(false),
                pool: Pool::new(packets.has_threads()),
                keep_at_most: (packets.in_flight() / 2 / packets.size().saturating_sub(1).max(1))
                    as u32,
                packets,
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

    /// Lets threads keep handles to this engine between messages, until its owner calls [`Self::close`]: it
    /// must.
    pub fn will_be_closed(&self) {
        self.state.enter().lends = self.packets.has_threads();
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
        self.packets.interrupted(|| match self.step() {
            Ok(any) => any,
            Err(error) => {
                self.put_off(error);
                false
            }
        });
    }

    /// Keeps an error that came at the wrong time for the program.
    fn put_off(&self, error: Error) {
        if matches!(error, Error::Panicked { .. } | Error::TaskPanicked(_)) {
            self.state.enter().incidents.push_front(error);
            self.disturb();
        }
    }

    /// Takes one packet from the network, and runs what is ready.
    #[inline]
    pub(crate) fn step(self: &Arc<Self>) -> Result<bool> {
        let mut held = HeldPacket::default();
        match self.packets.take(&mut held) {
            Ok(true) => {}
            Ok(false) if self.is_quiet() => return Ok(false),
            Ok(false) => return self.run_ready(),
            Err(error) => return Err(self.lost(error)),
        }
        let announcement = self.sort(held);
        self.packets.taken();
        let more = match announcement {
            Announcement::Runs(slot, handler, arrived) => self.run_handler(slot, handler, arrived),
            Announcement::Waits => true,
            Announcement::Rests => !self.is_quiet(),
            Announcement::Wakes(wakers) => {
                wakers.into_iter().for_each(Waker::wake);
                true
            }
        };
        if more {
            self.run_ready()?;
        }
        Ok(true)
    }

    /// Takes one packet from the network and sorts it; no handler runs.
    pub(crate) fn receive(&self) -> Result<bool> {
        let mut held = HeldPacket::default();
        match self.packets.take(&mut held) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => return Err(self.lost(error)),
        }
        let announcement = self.sort(held);
        self.packets.taken();
        match announcement {
            Announcement::Runs(slot, handler, arrived) => {
                self.state.enter().run_later(slot, handler, arrived);
            }
            Announcement::Waits | Announcement::Rests => {}
            Announcement::Wakes(wakers) => wakers.into_iter().for_each(Waker::wake),
        }
        self.disturb();
        Ok(true)
    }

    /// Whether nothing is to be done but to wait for packets.
    #[inline]
    fn is_quiet(&self) -> bool {
        !self.unrest.load(Ordering::Acquire) && !self.tasks.has_any()
    }

    /// Something was left to be done in `state`.
    fn disturb(&self) {
        self.unrest.store(true, Ordering::Release);
    }

    /// The layer below cannot go on, and neither can this one.
    #[cold]
    fn lost(&self, error: weft_packet::Error) -> Error {
        self.fail(error.clone().into());
        error.into()
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
        self.wait(|engine, _| {
            let flushed = engine.state.enter().owed.is_empty() && engine.packets.is_flushed();
            Ok(flushed.then_some(()))
        })
    }

    /// Ends what would keep this rank alive: tasks, timers, whoever waits. Its owner calls it last.
    pub fn close(&self) {
        self.tasks.clear();
        self.pool.close();
        let mut state = self.state.enter();
        state.lends = false;
        let (wakers, hooks) = (state.drain_wakers(), std::mem::take(&mut state.failure_hooks));
        drop(state);
        drop((wakers, hooks));
        lend::forget();
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
            self.state.enter().set_handler(run.slot, Box::new(handler));
            self.disturb();
            self.packets.nudge();
        }
        Ok(run.slot)
    }

    pub(crate) fn remove_port(self: &Arc<Self>, slot: usize) {
        let (handlers, queue) = self.state.enter().remove_port(slot);
        // Outside the lock: dropping them enters it.
        drop(handlers);
        queue.into_iter().for_each(|arrived| drop(self.open(arrived)));
    }

    /// Makes a message of what has waited at a port. Messages hold the engine, so what waits in the
    /// engine cannot be one: it would keep itself and the node for ever.
    #[inline]
    fn open(self: &Arc<Self>, arrived: Box<Arrived>) -> Message {
        Message::new(lend::borrow(self), arrived)
    }

    /// The message that has waited longest at the port in `slot`; else leaves `waker` for it.
    pub(crate) fn take_message(
        self: &Arc<Self>,
        slot: usize,
        waker: Option<&Waker>,
    ) -> Result<Option<Message>> {
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let port = state.ports.at(slot);
        let arrived = port.queue.pop_front();
        if arrived.is_none() {
            leave(&mut port.receivers, waker);
            return Ok(None);
        }
        drop(state);
        Ok(arrived.map(|arrived| self.open(arrived)))
    }

    /// The next part of an arriving message; else leaves `waker` for it.
    pub(crate) fn take_part(&self, body: &Body, waker: Option<&Waker>) -> Result<Option<Part>> {
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        Ok(state.take_part(body.from, body.number, waker))
    }

    /// The reader is done with a part.
    #[inline]
    pub(crate) fn give_back(&self, body: &Body, part: &mut Part) {
        self.packets.release(&mut part.held);
        let copy = part.copy.take();
        let report = self.state.enter().give_back(body, copy.as_deref());
        if let Some((to, header)) = report {
            self.tell(to, header);
        }
    }

    /// The reader is done with a message, and with its part if there is one. Says whether handles to this
    /// engine may be kept.
    #[inline]
    pub(crate) fn finish(&self, mut arrived: Box<Arrived>) -> bool {
        let Arrived { body, part, .. } = &mut *arrived;
        let was_held = part.held.is_some();
        self.packets.release(&mut part.held);
        let copy = part.copy.take();
        let mut state = self.state.enter();
        let report = match was_held || copy.is_some() {
            true => state.give_back(body, copy.as_deref()),
            false => None,
        };
        if state.spare.len() < SPARE_MESSAGES {
            state.spare.push(arrived);
        }
        let lends = state.lends;
        drop(state);
        if let Some((to, header)) = report {
            self.tell(to, header);
        }
        lends
    }

    /// The reader of an arriving message wants no more of it.
    pub(crate) fn abandon(&self, body: &Body) {
        let parts = self.state.enter().abandon(body.from, body.number);
        parts.into_iter().for_each(|mut part| self.give_back(body, &mut part));
    }

    /// Sends a control packet, or leaves it for later if there is no frame.
    pub(crate) fn tell(&self, to: Rank, header: PacketHeader) {
        if !self.try_tell(to, header) {
            self.state.enter().owed.push_back((to, header));
            self.disturb();
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
                return self.disturb();
            }
        }
    }

    /// Sorts a packet into its message, or does what a control packet says.
    // Inlined, or the packet would be moved once more.
    #[inline(always)]
    fn sort(&self, held: HeldPacket) -> Announcement {
        let Some(from) = held.source() else { return Announcement::Waits };
        let Some((header, rest)) = PacketHeader::parse(self.packets.read(&held)) else {
            return self.refuse(held, Error::Stray { from });
        };
        let bytes = (rest.len() - usize::from(header.header_bytes)) as u64;
        match header.kind {
            Kind::First => self.first(held, from, &header, bytes),
            Kind::Next => self.next(held, from, &header, bytes),
            Kind::Window | Kind::Probe | Kind::NoPort => self.control(held, from, &header),
        }
    }

    #[inline(always)]
    fn first(
        &self,
        held: HeldPacket,
        from: Rank,
        header: &PacketHeader,
        bytes: u64,
    ) -> Announcement {
        let mut state = self.state.enter();
        if let Err(error) = state.check_first(from, header, bytes) {
            drop(state);
            return self.refuse(held, error);
        }
        let mut arrived = state.spare.pop().unwrap_or_default();
        arrived.body = Body::new(from, held.group(), header);
        arrived.read = 0;
        arrived.headers_left = header.header_bytes;
        arrived.start = HEADER + usize::from(header.header_bytes);
        arrived.part.held = held;
        let at_most = match state.runs_now(header.port) {
            // What a handler reads at once is kept by nobody.
            true => self.keep_at_most.max(1),
            false => self.keep_at_most,
        };
        if is_crowded(&mut state, from, at_most) {
            drop(state);
            self.copy_out(&mut arrived.part);
            return self.state.enter().announce(arrived, bytes);
        }
        state.announce(arrived, bytes)
    }

    fn next(
        &self,
        held: HeldPacket,
        from: Rank,
        header: &PacketHeader,
        bytes: u64,
    ) -> Announcement {
        let body = Body::new(from, held.group(), header);
        let mut state = self.state.enter();
        if !state.continues(from, header, bytes) {
            drop(state);
            return self.refuse(held, Error::Stray { from });
        }
        // What nobody wants counts as kept until it is given back.
        let crowded = is_crowded(&mut state, from, self.keep_at_most);
        drop(state);
        let mut part = Part { held, copy: None };
        if crowded {
            self.copy_out(&mut part);
        }
        let (unwanted, reader) = self.state.enter().arrived(from, header.message, bytes, part);
        if let Some(mut part) = unwanted {
            self.give_back(&body, &mut part);
        }
        reader.map_or(Announcement::Waits, |reader| Announcement::Wakes(vec![reader]))
    }

    fn control(&self, mut held: HeldPacket, from: Rank, header: &PacketHeader) -> Announcement {
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
        self.packets.release(&mut held);
        if !legal {
            self.fail(Error::Stray { from });
        }
        answer.into_iter().for_each(|answer| self.tell(from, answer));
        Announcement::Wakes(wakers)
    }

    /// Takes a packet out of link memory: its sender has spent much of its window on packets that nobody
    /// reads. It must be able to go on, or two ranks that send much to each other before they read would
    /// stop for ever (careful-protocols 5.3).
    #[cold]
    fn copy_out(&self, part: &mut Part) {
        let copy: Box<[u8]> = self.packets.read(&part.held).into();
        self.packets.copied(copy.len());
        self.packets.release(&mut part.held);
        let mut state = self.state.enter();
        state.copied_bytes += copy_cost(&copy);
        state.statistics.packets_copied_out += 1;
        part.copy = Some(copy);
    }

    #[cold]
    fn refuse(&self, mut held: HeldPacket, error: Error) -> Announcement {
        self.packets.release(&mut held);
        self.fail(error);
        Announcement::Waits
    }

    /// This rank cannot go on: everybody who waits is told, now or when they ask.
    #[cold]
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.state.enter();
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(error);
        let (wakers, hooks) = (state.drain_wakers(), std::mem::take(&mut state.failure_hooks));
        drop(state);
        self.disturb();
        wakers.into_iter().for_each(Waker::wake);
        hooks.into_iter().for_each(|hook| hook());
        self.packets.nudge();
    }

    /// Why this rank cannot go on, if it cannot.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state.enter().failure.clone()
    }

    /// Has `hook` called once if this rank cannot go on: for what keeps wakers of its own.
    pub(crate) fn on_failure(&self, hook: impl FnOnce() + Send + 'static) {
        let mut state = self.state.enter();
        if state.failure.is_none() {
            state.failure_hooks.push(Box::new(hook));
            return;
        }
        drop(state);
        hook();
    }

    /// Runs the handlers of ports that have messages, and tasks that can go on.
    #[inline]
    fn run_ready(self: &Arc<Self>) -> Result<bool> {
        let mut any = false;
        self.unrest.store(false, Ordering::Release);
        loop {
            let mut state = self.state.enter();
            if let Some(failure) = &state.failure {
                self.disturb();
                return Err(failure.clone());
            }
            if let Some(incident) = state.incidents.pop_front() {
                self.disturb();
                return Err(incident);
            }
            let Some((slot, handler, arrived)) = state.next_ready() else {
                if !state.owed.is_empty() {
                    drop(state);
                    self.pay_owed();
                }
                break;
            };
            state.enter_handler();
            drop(state);
            self.run_handler(slot, handler, arrived);
            any = true;
        }
        if self.tasks.has_any() {
            any |= self.run_tasks();
        }
        Ok(any)
    }

    /// Runs a handler. Says whether there may be something to do after it.
    #[inline]
    fn run_handler(
        self: &Arc<Self>,
        slot: usize,
        mut handler: Box<Handler>,
        arrived: Box<Arrived>,
    ) -> bool {
        let from = arrived.body.from;
        let message = self.open(arrived);
        let outcome = match &mut *handler {
            Handler::Plain(code) => guarded(|| {
                code(message);
                true
            }),
            Handler::Async(waiting) => guarded(|| waiting.run(message)),
            Handler::Popup(code) => {
                let code = Arc::clone(code);
                self.pop_up(slot, from, move || code(message));
                Ok(true)
            }
        };
        let mut state = self.state.enter();
        state.leave_handler();
        match outcome {
            Ok(true) => state.put_back(slot, handler),
            Ok(false) => state.wait_with(slot, handler),
            Err(what) => {
                drop(state);
                drop(handler);
                self.panicked(slot, from, what);
                return true;
            }
        }
        !state.is_calm() || self.tasks.has_any()
    }

    /// Runs a handler on a thread of its own; in place, where ranks have no threads.
    fn pop_up(self: &Arc<Self>, slot: usize, from: Rank, handler: impl FnOnce() + Send + 'static) {
        let engine = Arc::clone(self);
        self.pool.run(Box::new(move || {
            if let Err(what) = guarded(handler) {
                engine.panicked(slot, from, what);
                engine.packets.nudge();
            }
        }));
    }

    /// A handler panicked: its port takes no more messages.
    #[cold]
    fn panicked(self: &Arc<Self>, slot: usize, from: Rank, what: String) {
        let mut state = self.state.enter();
        let port = state.ports.at(slot);
        let name = port.name.clone().unwrap_or_default();
        port.waiting = None;
        port.handler = Some(Box::new(Handler::Plain(Box::new(drop))));
        if !port.queue.is_empty() {
            state.ready.push_back(slot);
        }
        state.incidents.push_back(Error::Panicked { port: name, from, what });
        drop(state);
        self.disturb();
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
        if let Some(run) = task.port {
            self.state.enter().ended(run);
            self.disturb();
        }
    }

    fn task_panicked(self: &Arc<Self>, task: &Task, what: String) {
        match task.port {
            Some(run) => self.panicked(run.slot, self.packets.rank(), what),
            None => self.state.enter().incidents.push_back(Error::TaskPanicked(what)),
        }
        self.disturb();
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

/// Whether a packet of `from` has to be copied out, because so many are kept; if not, it is counted.
#[inline]
fn is_crowded(state: &mut State, from: Rank, at_most: u32) -> bool {
    let kept = state.kept.entry(from);
    if *kept >= at_most && state.copied_bytes < COPY_LIMIT_BYTES {
        return true;
    }
    *kept += 1;
    false
}

/// Leaves `waker` among others, once.
pub(crate) fn leave(wakers: &mut Vec<Waker>, waker: Option<&Waker>) {
    if let Some(waker) = waker
        && !wakers.iter().any(|other| other.will_wake(waker))
    {
        wakers.push(waker.clone());
    }
}

/// Bytes of a packet that a message has no use for.
pub(crate) const HEADER: usize = format::SIZE;
