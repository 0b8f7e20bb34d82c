//! Messages of a rank: what its ports, its readers and its senders share.
//!
//! Here is what is told to peers, how packets are given back, and how all who wait hear of a
//! failure. What is taken from the network is sorted by `sort`, and run by `run`.

use crate::arrived::{Content, Part};
use crate::error::{Error, Result};
use crate::format::{self, PacketHeader};
use crate::machine::{
    EndedMessage, MessageBody, PortRun, RequestAnswer, TakenPart, To, window_packets,
};
use crate::numbers::Numbers;
use crate::popup::Pool;
use crate::state::{FailureHook, State};
use crate::statistics::Counts;
use crate::tasks::Tasks;
use crate::wait::Threads;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use weft_endpoint::biased::Biased;
use weft_endpoint::{Packets, Progress, Protocol, Rank, SendPacket};

/// The messages of one rank, and the threads and tasks that wait for them.
pub(crate) struct Messages {
    pub packets: Packets,
    /// Entered from inside the network too: nobody enters the network from inside of it.
    pub state: Biased<State>,
    pub threads: Threads,
    pub tasks: Arc<Tasks>,
    pub numbers: Numbers,
    pub pool: Pool,
    pub counts: Counts,
    /// Packets of one sender that stay in link memory before more are copied out. All receivers of
    /// a sender share its frames, so all that they keep must be less than it has.
    pub keep_at_most: u32,
    /// Set by whoever leaves something to be done in `state`, so that a poll that finds no packet
    /// need not look there.
    pending: AtomicBool,
    /// True if a handler did something that the program has not heard of.
    has_incidents: AtomicBool,
    /// True if threads may keep handles to this.
    caches_handles: AtomicBool,
    /// Callback by which the packet layer makes progress while it waits, as long as this lives.
    _progress: Arc<Progress>,
}

impl Messages {
    /// Messages over `packets`, for which `poll` makes progress.
    pub fn new(
        packets: &Packets,
        poll: fn(&Arc<Self>) -> weft_endpoint::Result<bool>,
    ) -> Arc<Self> {
        let packets = packets.of(Protocol::MESSAGES);
        let messages = Arc::new_cyclic(|this: &Weak<Self>| {
            let this = this.clone();
            let progress: Arc<Progress> =
                Arc::new(move || this.upgrade().map_or(Ok(false), |messages| poll(&messages)));
            packets.system().progress_by(&progress);
            let window = window_packets(packets.max_payload());
            let senders = packets.room().saturating_sub(1).max(1);
            let seats = Arc::default();
            let tasks = Tasks::new(packets.clone(), Arc::clone(&seats));
            Messages {
                state: Biased::new(State::new(packets.rank(), window, packets.has_threads())),
                threads: Threads::new(packets.clone(), Arc::clone(&tasks), seats),
                tasks,
                numbers: Numbers::new(packets.clone()),
                pool: Pool::new(packets.has_threads()),
                counts: Counts::default(),
                keep_at_most: (packets.in_flight() / 2 / senders) as u32,
                pending: AtomicBool::new(false),
                has_incidents: AtomicBool::new(false),
                caches_handles: AtomicBool::new(false),
                _progress: progress,
                packets,
            }
        });
        let this = Arc::downgrade(&messages);
        messages.packets.losses().on_each(move |_| {
            if let Some(messages) = this.upgrade() {
                messages.wake_after_loss();
            }
        });
        messages
    }

    /// Lets threads keep handles to this, or not any more.
    pub fn set_caching(&self, caches: bool) {
        self.caches_handles.store(caches, Ordering::Relaxed);
    }

    /// True if threads may keep handles to this.
    #[inline]
    pub fn caches_handles(&self) -> bool {
        self.caches_handles.load(Ordering::Relaxed)
    }

    /// True if nothing is to be done but to wait for packets.
    #[inline]
    pub fn is_idle(&self) -> bool {
        !self.has_pending() && !self.numbers.are_wanted() && !self.tasks.has_any()
    }

    /// True if something was left to be done in `state`.
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire)
    }

    /// Something was left to be done in `state`: by whoever polls, for messages or not.
    pub fn note_pending(&self) {
        self.pending.store(true, Ordering::Release);
        self.packets.system().note_owing(true);
    }

    /// The calling thread does all that was left to be done; what is left meanwhile is noted again.
    #[inline]
    pub fn clear_pending(&self) {
        self.packets.system().note_owing(false);
        self.pending.store(false, Ordering::Release);
    }

    /// Something may be ready for a handler, and this thread may not poll again for long: an empty
    /// task is pending work for whoever does.
    pub fn have_handlers_run(&self) {
        self.tasks.spawn(std::future::ready(()));
    }

    /// Has arrivals looked at even if no thread of Weft's waits: a task of somebody else's executor
    /// does.
    pub fn somebody_waits(&self) {
        if !self.threads.waits_here() && !self.state.enter().is_handling() {
            self.packets.presence().set_eager();
        }
    }

    /// The next part of an arriving message; else leaves `waker` for it, and tells a sender that
    /// has asked that it may send.
    pub fn take_part(&self, body: &MessageBody, waker: Option<&Waker>) -> Result<Option<Part>> {
        let mut state = self.state.enter();
        let grant = match state.machine.take_part(body, waker) {
            TakenPart::Part(part) => return Ok(Some(part)),
            TakenPart::GivenUp(sent) => {
                let MessageBody { from, length, .. } = *body;
                return Err(Error::GivenUp { from, sent, length });
            }
            TakenPart::Nothing { grant } => grant,
        };
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        drop(state);
        self.packets.losses().check_lives(body.from)?;
        if grant {
            self.answer(body, RequestAnswer::Granted);
        }
        Ok(None)
    }

    /// The reader is done with what was in a packet, if there is any.
    #[inline(never)]
    pub fn give_back(&self, body: &MessageBody, content: &mut Content) {
        if let Content::Nothing = content {
            return;
        }
        if let Content::Held(held) = content {
            self.packets.release(held);
        }
        let mut state = self.state.enter();
        if let Content::Held(_) = content {
            state.machine.gave_back(body.from);
        }
        let report = state.machine.consumed(body, body.flow, content.cost());
        drop(state);
        *content = Content::Nothing;
        if let Some(consumed) = report {
            self.report(body, consumed);
        }
    }

    /// The reader is done with a short packet, which is no multicast, and had cost so much memory.
    #[inline(always)]
    pub fn consumed(&self, body: &MessageBody, cost: usize) {
        let report = self.state.enter().machine.consumed(body, None, cost);
        if let Some(consumed) = report {
            self.report(body, consumed);
        }
    }

    #[cold]
    #[inline(never)]
    fn report(&self, body: &MessageBody, consumed: u32) {
        let group = body.flow.map(|group| group.number());
        self.tell_window(body.from, PacketHeader::window(body.port, group, consumed));
    }

    /// The reader of an arriving message wants no more of it.
    pub fn abandon(&self, body: &MessageBody) {
        let ended = self.state.enter().machine.abandon(body);
        self.end(body, ended);
    }

    /// Does what is left to do for a message that its sender or its reader wants no more of.
    pub fn end(&self, body: &MessageBody, ended: EndedMessage<Part, Waker>) {
        ended.parts.into_iter().for_each(|mut part| self.give_back(body, &mut part.content));
        if ended.answer {
            self.answer(body, RequestAnswer::Unwanted);
        }
        ended.reader.into_iter().for_each(Waker::wake);
    }

    /// Answers the request of a message.
    fn answer(&self, body: &MessageBody, answer: RequestAnswer) {
        self.tell(To::Rank(body.from), answer.header(body.port, body.number));
    }

    /// Tells a sender of a window, of which it has half left. It may leave with an answer.
    pub fn tell_window(&self, to: Rank, header: PacketHeader) {
        self.packets.aside(|| self.tell(To::Rank(to), header));
    }

    /// Sends a control packet, or leaves it for later if there is no frame.
    pub fn tell(&self, to: To, header: PacketHeader) {
        if !self.try_tell(to, header) {
            let kept = self.state.enter().machine.owed.push(to, header);
            self.note_pending();
            if let Err(violation) = kept {
                self.fail(violation);
            }
        }
    }

    fn try_tell(&self, to: To, header: PacketHeader) -> bool {
        if let To::Rank(rank) = to
            && self.packets.short_payload(rank) >= format::SIZE
            && self.packets.send_short(rank, &[&header.emit()[..]])
        {
            return true;
        }
        let mut packet = match self.try_packet(to) {
            Ok(Some(packet)) => packet,
            // Nobody is there to be told.
            Err(error) if error.lost_rank().is_some() => return true,
            // That the pool is exhausted shows where the program sends.
            Ok(None) | Err(_) => return false,
        };
        let filled = packet.put(&header.emit()).is_ok();
        filled
            && match to {
                To::Rank(rank) => packet.unicast(rank).is_ok(),
                To::Group(group) => packet.multicast(group).is_ok(),
            }
    }

    /// A frame for a packet to these receivers, if one is free.
    #[inline(always)]
    pub fn try_packet(&self, to: To) -> Result<Option<SendPacket<'_>>> {
        Ok(match to {
            To::Rank(rank) => self.packets.try_packet_to(rank)?,
            To::Group(_) => self.packets.try_packet()?,
        })
    }

    /// Sends control packets that were left for later.
    #[cold]
    pub fn pay_owed(&self) {
        while let Some((to, header)) = {
            let mut state = self.state.enter();
            state.machine.owed.pop()
        } {
            if !self.try_tell(to, header) {
                self.state.enter().machine.owed.put_back(to, header);
                return self.note_pending();
            }
        }
    }

    /// The layer below cannot go on, and neither can this one.
    #[cold]
    pub fn lost(&self, error: weft_endpoint::Error) -> Error {
        self.fail(error.clone().into());
        error.into()
    }

    /// A rank is lost, and the job goes on: whoever waits looks whether it was for that.
    #[cold]
    pub fn wake_after_loss(&self) {
        let mut state = self.state.enter();
        let mut wakers = state.drain_wakers();
        wakers.extend(self.threads.followers());
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        self.packets.presence().nudge();
    }

    /// This rank cannot go on: everybody who waits is told, now or when they ask.
    #[cold]
    pub fn fail(&self, error: Error) {
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
        self.packets.presence().nudge();
    }

    /// Everybody who waits, with a waker or a hook.
    fn take_waiters(&self, state: &mut State) -> (Vec<Waker>, Vec<FailureHook>) {
        let mut wakers = state.drain_wakers();
        wakers.extend(self.threads.followers());
        (wakers, std::mem::take(&mut state.failure_hooks))
    }

    /// Reason why this rank cannot go on, if it cannot.
    pub fn failure(&self) -> Option<Error> {
        self.state.enter().failure.clone()
    }

    /// Has `hook` called once if this rank cannot go on: for what keeps wakers of its own.
    pub fn on_failure(&self, hook: impl FnOnce() + Send + 'static) {
        let mut state = self.state.enter();
        if state.failure.is_none() {
            state.failure_hooks.push(Box::new(hook));
            return;
        }
        drop(state);
        hook();
    }

    /// A handler panicked: its port takes no more messages.
    #[cold]
    pub fn panicked(&self, run: PortRun, from: Rank, what: String) {
        let dropped = self.state.enter().panicked(run, from, what);
        drop(dropped);
        self.announce_incident();
    }

    /// Wakes waiters after a handler.
    pub fn announce_incident(&self) {
        self.has_incidents.store(true, Ordering::Relaxed);
        self.note_pending();
        self.threads.wake_followers();
        self.packets.presence().nudge();
    }

    /// True if a handler did something that the program has not heard of.
    #[inline]
    pub fn has_incidents(&self) -> bool {
        self.has_incidents.load(Ordering::Relaxed)
    }

    /// Returns the fault of a handler, once.
    #[cold]
    pub fn raise_incident(&self) -> Result<()> {
        let mut state = self.state.enter();
        let incident = state.next_incident();
        self.has_incidents.store(!state.incidents.is_empty(), Ordering::Relaxed);
        incident.map_or(Ok(()), Err)
    }

    /// Ends what would keep this alive: tasks, timers, whoever waits.
    pub fn close(&self) {
        self.tasks.clear();
        self.pool.close();
        self.numbers.clear();
        let mut state = self.state.enter();
        self.set_caching(false);
        state.drop_handles();
        let waiters = self.take_waiters(&mut state);
        drop(state);
        drop(waiters);
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // Tasks that are ready hold the queue that they are in.
        self.tasks.clear();
    }
}
