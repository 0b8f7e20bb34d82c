//! The engine: it makes messages of packets, and queues them at ports.
//!
//! Whoever polls takes one packet, sorts it into its message, and runs the handlers that have
//! something now, outside of any lock and one a port at a time; a handler may read on while more
//! packets of its message arrive. Here is what others call; `sort` and `run` are the two steps, and
//! how threads share them is in `wait`.

use crate::announced::{Announced, Asked, Asker, Taker, Work};
use crate::arrived::{self, Arrived, Part};
use crate::cached;
use crate::error::{Error, Result};
use crate::handler::{Handler, Model};
use crate::machine::{Answer, Body, Counters, PortRun, Taken as TakenPart, window_packets};
use crate::message::Message;
use crate::popup::Pool;
use crate::reports::Reports;
use crate::seats::Seats;
use crate::state::{FailureHook, State};
use crate::tasks::Tasks;
use crate::wait::Nudge;
use sharing::Sharing;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, Weak};
use std::task::Waker;
use weft_endpoint::biased::Biased;
use weft_endpoint::{Awaited, HeldPacket, Packets, Progress, Protocol, Rank, Taken};

mod numbers;
mod run;
mod sharing;
mod sort;

pub(crate) use numbers::{Numbered, Numbers};

/// The messages of one rank.
pub struct Engine {
    packets: Packets,
    /// Entered from inside the network too: nobody enters the network from inside of it.
    pub(crate) state: Biased<State>,
    /// Threads that wait.
    pub(crate) seats: Biased<Seats>,
    pub(crate) tasks: Arc<Tasks>,
    /// Wakes the thread that polls.
    pub(crate) nudger: Waker,
    /// Set by whoever leaves something to be done in `state`, so that a poll that finds no packet
    /// need not look there.
    pending: AtomicBool,
    /// True if a fetch-and-add is under way that nobody blocks for, or is wanted.
    counting: AtomicBool,
    pool: Pool,
    /// Messages that have come, and those that had to wait at their ports. Whoever sorts a packet
    /// counts, and nobody else sorts meanwhile.
    received: AtomicU64,
    queued: AtomicU64,
    /// True if threads may keep handles to this engine.
    caches_handles: AtomicBool,
    /// Threads that follow and that nothing wakes but the leader.
    pub(crate) watchers: AtomicUsize,
    /// True once the program has ended, and others are waited for.
    is_leaving: AtomicBool,
    /// True if a handler did something that the program has not heard of.
    has_incidents: AtomicBool,
    pub(crate) reports: Reports,
    sharing: Mutex<Sharing>,
    /// Packets of one sender that stay in link memory before more are copied out. All receivers of
    /// a sender share its frames, so all that they keep must be less than it has.
    keep_at_most: u32,
    /// Callback by which the packet layer makes progress while it waits, as long as this engine
    /// lives.
    _progress: Arc<Progress>,
}

/// Counters of the messaging layer, with those of the layers below it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Messages sent; a broadcast is one.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Packets copied out of link memory because their port was slow.
    pub packets_copied_out: u64,
    /// Packets in link memory that nobody has read, now.
    pub packets_unread: u64,
    /// Bytes of memory that packets take now which were copied out and which nobody has read.
    pub bytes_copied_out: u64,
    /// Sends that waited because their receiver's port was full.
    pub stalls: u64,
    /// Packets that handlers sent to full ports all the same.
    pub overdrafts: u64,
    /// Messages whose receivers were asked first.
    pub requests: u64,
    /// Handlers that waited and became continuations.
    pub continuations: u64,
    /// The layers below.
    pub packets: weft_endpoint::Statistics,
}

impl Engine {
    /// Messages over `packets`, whose packets are all its own from here on.
    pub fn new(packets: Packets) -> Arc<Self> {
        let packets = packets.of(Protocol::MESSAGES);
        Arc::new_cyclic(|this: &Weak<Engine>| {
            let engine = this.clone();
            let progress: Arc<Progress> =
                Arc::new(move || engine.upgrade().map_or(Ok(false), |it| it.progress_below()));
            packets.progress_by(&progress);
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
                    packets.has_threads(),
                )),
                seats: Biased::default(),
                tasks: Tasks::new(packets.clone(), announce),
                nudger: Waker::from(Arc::new(Nudge(packets.clone()))),
                pending: AtomicBool::new(false),
                counting: AtomicBool::new(false),
                pool: Pool::new(packets.has_threads()),
                received: AtomicU64::new(0),
                queued: AtomicU64::new(0),
                caches_handles: AtomicBool::new(false),
                watchers: AtomicUsize::new(0),
                is_leaving: AtomicBool::new(false),
                has_incidents: AtomicBool::new(false),
                reports: Reports::default(),
                sharing: Mutex::default(),
                keep_at_most: (packets.in_flight() / 2 / packets.size().saturating_sub(1).max(1))
                    as u32,
                _progress: progress,
                packets,
            }
        })
    }

    /// The packets below.
    #[inline]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Lets threads keep handles to this engine between messages, until its owner calls
    /// [`Self::close`]: it must.
    pub fn will_be_closed(&self) {
        self.caches_handles.store(self.packets.has_threads(), Ordering::Relaxed);
    }

    /// True if threads may keep handles to this engine.
    #[inline]
    pub(crate) fn caches_handles(&self) -> bool {
        self.caches_handles.load(Ordering::Relaxed)
    }

    /// Takes packets from the network and runs handlers and tasks. True if anything happened.
    /// What a rank does when it polls.
    ///
    /// # Errors
    /// A lost rank, a peer that broke the format, or a handler that panicked.
    pub fn progress(self: &Arc<Self>) -> Result<bool> {
        let mut any = false;
        for _ in 0..64 {
            if !self.step(None)? {
                break;
            }
            any = true;
        }
        Ok(any)
    }

    /// Makes progress on behalf of a rank that was interrupted, as long as interrupts are on. An
    /// error comes again to whoever calls next.
    pub fn interrupted(self: &Arc<Self>) {
        self.packets.interrupted(|| self.advance(None).unwrap_or(false));
    }

    /// Takes one packet from the network, and runs what is ready. An asker that was handed its
    /// message hears of nothing else.
    #[inline]
    pub(crate) fn step(self: &Arc<Self>, asker: Option<&Asker<'_>>) -> Result<bool> {
        let any = self.advance(asker)?;
        self.raise_incident(asker)?;
        Ok(any)
    }

    /// Does what [`Self::step`] does; faults of handlers are left to callers that can report them.
    #[inline]
    fn advance(self: &Arc<Self>, asker: Option<&Asker<'_>>) -> Result<bool> {
        let mut announced = Announced::default();
        match self.take(asker, &mut announced) {
            Ok(true) => {}
            Ok(false) if self.is_idle() => return Ok(false),
            Ok(false) => return self.run_ready(),
            Err(error) => {
                // Tasks get to know it as well, where anybody still runs them.
                self.run_tasks();
                return Err(error);
            }
        }
        let more = match announced.run {
            Some(run) => self.run_handler(run),
            None if matches!(announced.work, Work::None) => !self.is_idle(),
            None => self.wake(announced.work),
        };
        match more {
            true => self.run_ready().map(|_| true).or_else(|error| left_to_next(asker, error)),
            false => Ok(true),
        }
    }

    /// Wakes those who ask for what a packet has brought. True if something may run.
    #[inline(never)]
    fn wake(&self, work: Work) -> bool {
        match work {
            Work::WakeReceivers(slot) => {
                let next = || self.state.enter().dispatch.take_receiver(slot);
                std::iter::from_fn(next).for_each(Waker::wake);
            }
            Work::WakeTaker(slot) => {
                let taker = self.state.enter().dispatch.taker(slot).cloned();
                taker.into_iter().for_each(|taker| taker.wake());
            }
            Work::None | Work::Handlers => {}
        }
        !matches!(work, Work::None)
    }

    /// Makes progress for who waits for something below messages. What went wrong above is left to
    /// who can hear it.
    fn progress_below(self: &Arc<Self>) -> weft_endpoint::Result<bool> {
        match self.advance(None) {
            Err(Error::Packet(error)) => Err(error),
            Err(_) => Ok(false),
            Ok(any) => Ok(any),
        }
    }

    /// Takes one packet from the network, and sorts it. False if there is none.
    #[inline(always)]
    fn take(
        self: &Arc<Self>,
        asker: Option<&Asker<'_>>,
        announced: &mut Announced,
    ) -> Result<bool> {
        let mut held = HeldPacket::default();
        let sorter = sort::Sorter { engine: self, asker, announced: &mut *announced };
        match self.packets.take_unless(sorter, &mut held) {
            Ok(Taken::AtOnce) => Ok(true),
            Ok(Taken::Nothing) => Ok(false),
            Ok(Taken::Held) => {
                self.sort_held(held, announced);
                Ok(true)
            }
            Err(error) => Err(self.lost(error)),
        }
    }

    #[inline(never)]
    fn sort_held(self: &Arc<Self>, held: HeldPacket, announced: &mut Announced) {
        let sorting = self.packets.sorting();
        *announced = self.sort(held);
        drop(sorting);
    }

    /// Takes one packet from the network and sorts it; no handler runs.
    pub(crate) fn receive(self: &Arc<Self>) -> Result<bool> {
        let mut announced = Announced::default();
        if !self.take(None, &mut announced)? {
            return Ok(false);
        }
        match announced.run {
            Some(run) => self.state.enter().run_later(run),
            None => {
                self.wake(announced.work);
            }
        }
        self.note_pending();
        Ok(true)
    }

    /// True if nothing is to be done but to wait for packets.
    #[inline]
    fn is_idle(&self) -> bool {
        !self.pending.load(Ordering::Acquire)
            && !self.counting.load(Ordering::Acquire)
            && !self.tasks.has_any()
    }

    /// True if something was left to be done in `state`.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire)
    }

    /// Counts a message that has come.
    #[inline]
    pub(crate) fn count_received(&self) {
        self.received.store(self.received.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Counts a message that waits at its port from here on.
    pub(crate) fn count_queued(&self) {
        self.queued.store(self.queued.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Messages that ever had to wait at their ports.
    #[inline]
    pub(crate) fn queued(&self) -> u64 {
        // Whoever sorted before has released the network since.
        fence(Ordering::Acquire);
        self.queued.load(Ordering::Relaxed)
    }

    /// Something was left to be done in `state`: by whoever polls, for messages or not.
    pub(crate) fn note_pending(&self) {
        self.pending.store(true, Ordering::Release);
        self.packets.note_owing(true);
    }

    /// The layer below cannot go on, and neither can this one.
    #[cold]
    fn lost(&self, error: weft_endpoint::Error) -> Error {
        self.fail(error.clone().into());
        error.into()
    }

    /// Runs `future` when somebody polls: now and then until it ends. Tasks of a rank run one at a
    /// time on each thread that polls; they may wait for anything of Weft's, and for each other.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(future);
    }

    /// Notes that the program has ended, and others are waited for.
    pub(crate) fn set_leaving(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    /// True once the program has ended.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }

    /// Makes progress until every message sent from here has left this rank.
    ///
    /// # Errors
    /// Those of [`Self::progress`].
    pub fn flush(self: &Arc<Self>) -> Result<()> {
        self.watch_for(&|| Awaited::of_unknown("what it has sent to leave"), |engine| {
            let state = engine.state.enter();
            let owes_nothing = state.machine.owed.is_empty() && state.numbers.is_idle();
            drop(state);
            Ok(owes_nothing && engine.packets.is_flushed())
        })
    }

    /// Calls `take`, which takes one packet, as long as it finds something; not for ever, if
    /// handlers of several ranks keep each other busy, but until all packets must have been taken
    /// that were here when it began.
    pub(crate) fn take_all_that_is_here(
        self: &Arc<Self>,
        take: impl Fn(&Arc<Self>) -> Result<bool>,
    ) -> Result<()> {
        // Senders are served in turns, so that those to come have no more than their share.
        let most = 4 * self.packets.in_flight().max(64) * self.packets.size();
        for _ in 0..most {
            if !take(self)? {
                break;
            }
        }
        Ok(())
    }

    /// Takes one packet from the network, and runs what is ready.
    pub(crate) fn progress_once(self: &Arc<Self>) -> Result<bool> {
        self.step(None)
    }

    /// Ends what would keep this rank alive: tasks, timers, whoever waits. Its owner calls it last.
    pub fn close(&self) {
        self.tasks.clear();
        self.pool.close();
        let mut state = self.state.enter();
        self.caches_handles.store(false, Ordering::Relaxed);
        state.forget_engine();
        let (wakers, hooks) = self.take_waiters(&mut state);
        let numbers = std::mem::take(&mut state.numbers);
        drop(state);
        drop((wakers, hooks, numbers));
        arrived::forget();
        cached::forget();
    }

    /// Checks that no messages wait for ports that this rank has never created.
    ///
    /// # Errors
    /// [`Error::Unclaimed`].
    pub fn check_unclaimed(&self) -> Result<()> {
        match self.state.enter().dispatch.unclaimed() {
            None => Ok(()),
            Some((from, messages)) => Err(Error::Unclaimed { from, messages }),
        }
    }

    /// Counters of this layer and those below.
    pub fn statistics(&self) -> Statistics {
        let packets = self.packets.statistics();
        let state = self.state.enter();
        let Counters { messages_sent, packets_copied_out, stalls, overdrafts, requests } =
            state.machine.counters;
        Statistics {
            messages_sent,
            messages_received: self.received.load(Ordering::Relaxed),
            packets_copied_out,
            packets_unread: state.machine.unread(),
            bytes_copied_out: state.machine.copied_bytes() as u64,
            stalls,
            overdrafts,
            requests,
            continuations: state.dispatch.continuations,
            packets,
        }
    }

    /// Creates the port `name` and returns its slot.
    pub(crate) fn create_port(
        &self,
        name: &str,
        model: impl FnOnce(PortRun) -> Option<Model>,
    ) -> Result<usize> {
        let port = self.state.enter().create_port(name)?;
        if let Some(model) = model(port) {
            let is_ready =
                self.state.enter().dispatch.set_handler(Box::new(Handler { port, model }));
            if is_ready {
                self.note_pending();
                self.have_handlers_run();
            }
        }
        Ok(port.slot)
    }

    pub(crate) fn remove_port(self: &Arc<Self>, slot: usize) {
        let (unneeded, queue) = self.state.enter().remove_port(slot);
        // Outside the lock: dropping them enters it.
        drop(unneeded);
        queue.into_iter().for_each(|arrived| drop(self.open(arrived)));
    }

    /// Has `taker` take messages of a port before its handler.
    pub(crate) fn set_taker(&self, slot: usize, taker: Arc<dyn Taker>) {
        self.state.enter().dispatch.set_taker(slot, taker);
    }

    /// Makes a message of what has waited at a port. Messages hold the engine, so what waits in the
    /// engine cannot be one: it would keep itself and the node for ever.
    #[inline]
    pub(crate) fn open(self: &Arc<Self>, arrived: Box<Arrived>) -> Message {
        Message::new(self, arrived)
    }

    /// The message that has waited longest for an asker; else leaves `waker` for it. Who has none
    /// polls before it looks again, and hears there of a failure.
    #[inline]
    pub(crate) fn take_message(
        self: &Arc<Self>,
        asked: &Asked,
        asker: &Asker<'_>,
        waker: Option<&Waker>,
    ) -> Result<Option<Message>> {
        if let Some(arrived) = asker.take() {
            return Ok(Some(self.open(arrived)));
        }
        match waker {
            None if asked.is_empty(self.queued()) => Ok(None),
            waker => self.unqueue(asked, waker),
        }
    }

    #[inline(never)]
    pub(crate) fn unqueue(
        self: &Arc<Self>,
        mailbox: &Asked,
        waker: Option<&Waker>,
    ) -> Result<Option<Message>> {
        let mut state = self.state.enter();
        let arrived = state.dispatch.unqueue(mailbox.slot, waker);
        // Who follows, and every task, is woken by what is queued, and by nothing else.
        let is_empty = state.dispatch.is_asked_by(mailbox.slot, &self.nudger);
        let empty_at = if is_empty { self.queued() } else { u64::MAX };
        mailbox.empty_at.store(empty_at, Ordering::Relaxed);
        if arrived.is_none() && waker.is_some() {
            return state.failure.clone().map_or(Ok(None), Err);
        }
        drop(state);
        Ok(arrived.map(|arrived| self.open(arrived)))
    }

    /// The next part of an arriving message; else leaves `waker` for it, and tells a sender that
    /// has asked that it may send.
    pub(crate) fn take_part(&self, body: &Body, waker: Option<&Waker>) -> Result<Option<Part>> {
        let mut state = self.state.enter();
        let grant = match state.machine.take_part(body, waker) {
            TakenPart::Part(part) => return Ok(Some(part)),
            TakenPart::GivenUp(sent) => {
                let Body { from, length, .. } = *body;
                return Err(Error::GivenUp { from, sent, length });
            }
            TakenPart::Nothing { grant } => grant,
        };
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        drop(state);
        if grant {
            self.answer(body.from, body.port, body.number, Answer::Granted);
        }
        Ok(None)
    }

    /// Names a peer that has sent what no rank sends: for systems on messages, whose handlers find
    /// that. This rank cannot go on ([`Error::Violation`]).
    pub fn name_violation(&self, from: Rank, system: &'static str, what: &'static str) {
        self.fail(Error::Violation { from, system, what });
    }

    /// This rank cannot go on: everybody who waits is told, now or when they ask.
    #[cold]
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.state.enter();
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(error);
        let (wakers, hooks) = self.take_waiters(&mut state);
        drop(state);
        self.note_pending();
        wakers.into_iter().for_each(Waker::wake);
        hooks.into_iter().for_each(|hook| hook());
        self.packets.nudge();
    }

    /// Everybody who waits, with a waker or a hook.
    fn take_waiters(&self, state: &mut State) -> (Vec<Waker>, Vec<FailureHook>) {
        let mut wakers = state.drain_wakers();
        wakers.extend(self.seats.enter().followers());
        (wakers, std::mem::take(&mut state.failure_hooks))
    }

    /// Reason why this rank cannot go on, if it cannot.
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
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Tasks that are ready hold the queue that they are in.
        self.tasks.clear();
    }
}

/// An asker that was handed its message has made progress; the error comes again to whoever calls
/// next.
#[cold]
fn left_to_next(asker: Option<&Asker<'_>>, error: Error) -> Result<bool> {
    if asker.is_some_and(Asker::has_found) { Ok(true) } else { Err(error) }
}
