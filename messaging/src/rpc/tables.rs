//! Tables of the calls that are not over: a rank's own, and those that it serves.

use super::format::{CallHeader, CallKind, CallNumber};
use crate::announced::{Found, Taker};
use crate::arrived::Arrived;
use crate::engine::Engine;
use crate::messages::Messages;
use crate::{Error, Message};
use slotmap::{Key, KeyData, SlotMap, new_key_type};
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;
use weft_endpoint::biased::Biased;
use weft_endpoint::{Loss, Packets, Rank};

/// Cancellations that are remembered because their requests have not been looked at yet.
const EARLY_LIMIT: usize = 256;

/// A call that was seen by so many ticks of the watch has waited for a second at least.
const LATE: u8 = 3;

/// Number and rank of a service's port.
pub(super) type ServicePort = (u32, Rank);

new_key_type! {
    /// A call of this rank.
    pub(super) struct CallKey;
    /// A request that this rank has not answered.
    pub(super) struct RequestKey;
}

/// The tables of one rank. No message is dropped, nobody woken, and nothing sent inside the lock.
pub(super) struct Tables {
    state: Biased<State>,
    messages: Weak<Messages>,
    /// Calls that ended in the state: those whose callers were not handed the reply. Counted
    /// inside.
    over: AtomicU64,
    /// The request that ended last.
    ended: AtomicU64,
}

#[derive(Default)]
struct State {
    calls: SlotMap<CallKey, PendingCall>,
    /// Those who wait for calls that are over, and are to be woken.
    woken: Vec<Waker>,
    requests: SlotMap<RequestKey, PendingRequest>,
    /// Requests that were cancelled before they were looked at, oldest first.
    early: VecDeque<(Rank, CallNumber)>,
    /// Reason why there are no calls any more.
    failure: Option<Error>,
    /// True if calls that wait are looked after, and the timer for that.
    watched: bool,
    timer: Option<(Duration, u64)>,
    /// Services that were asked for and have not been refused.
    asked: BTreeSet<ServicePort>,
}

struct PendingCall {
    port: ServicePort,
    /// Its reply, or how else it ended. Apart, so that the one that comes mostly is one word.
    reply: Option<Box<Arrived>>,
    ending: Option<Box<Ending>>,
    waker: Option<Waker>,
    /// Number of times that the watch has seen it.
    seen: u8,
}

struct PendingRequest {
    from: Rank,
    number: CallNumber,
    cancelled: bool,
    stage: Stage,
}

/// The one responsible for a request's answer.
enum Stage {
    /// Its handler runs: whoever runs it knows what a panic says.
    InHandler,
    /// A panic has dropped it while its handler ran.
    Unwound,
    /// Its owner: the handler has returned, and the reply is still to come.
    Deferred,
}

/// End of a call: its reply, mostly.
pub(super) type Outcome = std::result::Result<Box<Arrived>, Box<Ending>>;

/// End of a call without a reply.
pub(super) enum Ending {
    /// Its request was dropped.
    NoReply,
    /// Its service failed; this is the service's text.
    Remote(Message),
    /// There is no such service.
    NoService,
    /// This rank cannot go on.
    Failed(Error),
}

impl PendingCall {
    fn is_over(&self) -> bool {
        self.reply.is_some() || self.ending.is_some()
    }

    /// Has `waker` woken when it is over. Gives back another that is not needed any more.
    fn wait(&mut self, waker: &Waker) -> Option<Waker> {
        match &self.waker {
            Some(old) if old.will_wake(waker) => None,
            _ => self.waker.replace(waker.clone()),
        }
    }
}

/// State of a call when its caller gave up on it.
pub(super) enum Abandoned {
    /// There was no reply yet.
    Waiting,
    /// There was one, which nobody will read; or the call was over.
    Over,
}

impl CallKey {
    /// The number that stands for this call in messages.
    ///
    /// # Panics
    /// With 2^24 calls outstanding.
    pub fn number(self) -> CallNumber {
        let key = self.data().as_ffi();
        let number = CallNumber::new(key as u32, (key >> 32) as u32);
        assert!(number.is_some(), "no rank has room for 16 million outstanding calls");
        number.unwrap_or_else(|| unreachable!("asserted above"))
    }
}

/// The call that `number` stands for. Anybody may have made it up, so it need not stand for one.
fn key_of(number: CallNumber) -> Option<CallKey> {
    let key = u64::from(number.generation()) << 32 | u64::from(number.slot());
    let key = KeyData::from_ffi(key);
    // Keys have odd generations only; others are made odd, and would be those of another call.
    let exact = (key.as_ffi() >> 32) as u32 == number.generation();
    exact.then(|| CallKey::from(key))
}

impl Tables {
    pub fn new(engine: &Arc<Engine>) -> Self {
        let (over, ended) = (AtomicU64::new(0), AtomicU64::new(0));
        let messages = Arc::downgrade(&engine.messages);
        Tables { state: Biased::new(State::default()), messages, over, ended }
    }

    /// All threads are equal from here on.
    pub fn share(&self) {
        self.state.share();
    }

    /// A new call to a service, and how many were over before.
    #[inline]
    pub fn begin_call(&self, port: ServicePort) -> crate::Result<(CallKey, u64)> {
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let call = PendingCall { port, reply: None, ending: None, waker: None, seen: 0 };
        Ok((state.calls.insert(call), self.over.load(Ordering::Relaxed)))
    }

    /// True if no call has ended in here since so many had.
    #[inline]
    pub fn has_ended_none_since(&self, over: u64) -> bool {
        self.over.load(Ordering::Relaxed) == over
    }

    /// A call is over whose caller was handed the reply.
    #[inline]
    pub fn answered(&self, call: CallKey, mut reply: Box<Arrived>) -> Box<Arrived> {
        reply.headers_left = 0;
        let call = self.state.enter().calls.remove(call);
        drop(call);
        reply
    }

    /// The outcome of a call, if it is over: there is no such call from here on. If it is not,
    /// `waker` is woken when it is.
    pub fn take_outcome(&self, call: CallKey, waker: Option<&Waker>) -> Option<Outcome> {
        let mut state = self.state.enter();
        let outgoing = state.calls.get_mut(call)?;
        if !outgoing.is_over() {
            let replaced = waker.and_then(|waker| outgoing.wait(waker));
            drop(state);
            drop(replaced);
            return None;
        }
        let ended = state.calls.remove(call)?;
        drop(state);
        drop(ended.waker);
        ended.reply.map(Ok).or(ended.ending.map(Err))
    }

    /// The caller wants no reply any more.
    pub fn abandon_call(&self, call: CallKey) -> Abandoned {
        let outgoing = self.state.enter().calls.remove(call);
        match outgoing {
            Some(outgoing) if !outgoing.is_over() => Abandoned::Waiting,
            _ => Abandoned::Over,
        }
    }

    /// Ends all calls that have no reply: this rank cannot go on.
    pub fn fail(&self, failure: Option<Error>) {
        let mut state = self.state.enter();
        state.failure = failure;
        let Some(failure) = state.failure.clone() else { return };
        let wakers = state.end_calls(|_| true, || Ending::Failed(failure.clone()));
        self.count_over();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends all calls to a rank that is lost and that have no reply.
    pub fn lose(&self, loss: Loss) {
        let error = Error::from(weft_endpoint::Error::RankLost(loss));
        let mut state = self.state.enter();
        let ending = || Ending::Failed(error.clone());
        let wakers = state.end_calls(|call| call.port.1 == loss.rank, ending);
        self.count_over();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends the calls of a service that is not there.
    pub fn refuse(&self, port: ServicePort) {
        let mut state = self.state.enter();
        state.asked.remove(&port);
        // Those that have waited for less will ask for themselves.
        let late = |call: &PendingCall| call.port == port && call.seen >= LATE;
        let wakers = state.end_calls(late, || Ending::NoService);
        self.count_over();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// True if calls are to be looked after from here on, and were not before.
    pub fn begin_watch(&self) -> bool {
        !std::mem::replace(&mut self.state.enter().watched, true)
    }

    /// The timer of the watch.
    pub fn set_timer(&self, timer: (Duration, u64)) {
        self.state.enter().timer = Some(timer);
    }

    /// The timer of the watch, if there is one.
    pub fn timer(&self) -> Option<(Duration, u64)> {
        self.state.enter().timer
    }

    /// True if the timer has gone off; then there is none.
    pub fn timer_has_fired(&self, now: Duration) -> bool {
        let mut state = self.state.enter();
        let fired = state.timer.is_some_and(|(time, _)| time <= now);
        if fired {
            state.timer = None;
        }
        fired
    }

    /// Services that were asked for.
    pub fn asked(&self) -> Vec<ServicePort> {
        self.state.enter().asked.iter().copied().collect()
    }

    /// Some time has passed: which services to ask for. `None` if no call waits; then the watch is
    /// over.
    pub fn tick(&self) -> Option<BTreeSet<ServicePort>> {
        let mut state = self.state.enter();
        let (mut waits, mut late) = (false, BTreeSet::new());
        for call in state.calls.values_mut().filter(|call| !call.is_over()) {
            waits = true;
            // A late one asks every second time.
            call.seen = if call.seen > LATE { LATE } else { call.seen + 1 };
            if call.seen == LATE {
                late.insert(call.port);
            }
        }
        state.watched = waits;
        match waits {
            true => state.asked.extend(&late),
            false => state.asked.clear(),
        }
        waits.then_some(late)
    }

    /// A message to the port that replies and cancellations come to. One that belongs to no call,
    /// or to one that is over, is skipped unread.
    #[inline]
    pub fn arrived(&self, mut message: Message) {
        let from = message.source();
        let Some(header) = header_of(&mut message) else { return };
        match header.kind {
            // One that was not taken belongs to no call.
            CallKind::Call | CallKind::Answer => {}
            CallKind::Cancel => self.cancelled(from, header.number, &mut message),
            CallKind::NoReply => self.ended(from, header.number, Ending::NoReply),
            CallKind::Failed => self.ended(from, header.number, Ending::Remote(message)),
        }
    }

    fn ended(&self, from: Rank, number: CallNumber, ending: Ending) {
        // One that nobody takes is dropped after the lock.
        let mut ending = Some(Box::new(ending));
        let mut state = self.state.enter();
        let Some(outgoing) = state.outstanding(from, number) else { return };
        outgoing.ending = ending.take();
        let waker = outgoing.waker.take();
        self.count_over();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    #[cold]
    fn cancelled(&self, from: Rank, number: CallNumber, message: &mut Message) {
        let mut port = [0; 4];
        if message.len() == port.len() && message.read_exact(&mut port).is_ok() {
            let port = u32::from_le_bytes(port);
            let messages = self.messages.upgrade();
            if messages.is_some_and(|all| discard_request(&all, (port, from), number)) {
                return;
            }
        }
        let mut state = self.state.enter();
        let same = |request: &&mut PendingRequest| request.from == from && request.number == number;
        match state.requests.values_mut().find(same) {
            Some(request) => request.cancelled = true,
            None => {
                // Its request waits at its port still, or was answered meanwhile.
                if state.early.len() == EARLY_LIMIT {
                    state.early.pop_front();
                }
                state.early.push_back((from, number));
            }
        }
    }

    /// A request begins, unless it was cancelled before.
    pub fn begin_request(&self, from: Rank, number: CallNumber) -> Option<RequestKey> {
        let mut state = self.state.enter();
        if !state.early.is_empty()
            && let Some(at) = state.early.iter().position(|early| *early == (from, number))
        {
            state.early.remove(at);
            return None;
        }
        Some(state.requests.insert(PendingRequest {
            from,
            number,
            cancelled: false,
            stage: Stage::InHandler,
        }))
    }

    /// True if the caller of a request waits no more.
    pub fn is_cancelled(&self, request: RequestKey) -> bool {
        self.state.enter().requests.get(request).is_none_or(|request| request.cancelled)
    }

    /// A request ends. Returns whom to answer, if anybody waits.
    #[inline]
    pub fn end_request(&self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        let mut state = self.state.enter();
        self.ended.store(request.data().as_ffi(), Ordering::Relaxed);
        state.end(request)
    }

    /// The handler of a request has returned or panicked. Returns whom to tell if a panic has
    /// dropped it.
    #[inline]
    pub fn handled(&self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        match self.ended.load(Ordering::Relaxed) == request.data().as_ffi() {
            true => None,
            false => self.deferred(request),
        }
    }

    /// Some calls have ended in the state, which this thread is inside of.
    fn count_over(&self) {
        self.over.store(self.over.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    #[inline(never)]
    fn deferred(&self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        let mut state = self.state.enter();
        let incoming = state.requests.get_mut(request)?;
        match incoming.stage {
            Stage::Unwound => state.end(request),
            Stage::InHandler | Stage::Deferred => {
                incoming.stage = Stage::Deferred;
                None
            }
        }
    }

    /// A panic drops a request. Returns whom to tell, unless whoever runs its handler does.
    pub fn unwind_request(&self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        let mut state = self.state.enter();
        let incoming = state.requests.get_mut(request)?;
        if matches!(incoming.stage, Stage::InHandler) {
            incoming.stage = Stage::Unwound;
            return None;
        }
        state.end(request)
    }
}

impl Taker<Box<Arrived>> for Tables {
    /// Replies are given to their calls.
    #[inline]
    fn take(&self, arrived: Box<Arrived>, packets: &Packets) -> Result<Found, Box<Arrived>> {
        let header = arrived.headers(packets).first_chunk().copied();
        let Some(CallHeader { kind: CallKind::Answer, number }) =
            header.and_then(CallHeader::parse)
        else {
            return Err(arrived);
        };
        let mut state = self.state.enter();
        let answered = state.answer(number, arrived);
        self.count_over();
        answered
    }

    fn wake(&self) {
        let next = || self.state.enter().woken.pop();
        std::iter::from_fn(next).for_each(Waker::wake);
    }
}

impl State {
    /// Gives a reply to its call, or back.
    #[inline(always)]
    fn answer(
        &mut self,
        number: CallNumber,
        mut reply: Box<Arrived>,
    ) -> Result<Found, Box<Arrived>> {
        let Some(outgoing) = self.outstanding(reply.body.from, number) else { return Err(reply) };
        reply.headers_left -= super::format::SIZE as u8;
        outgoing.reply = Some(reply);
        if outgoing.waker.is_none() {
            return Ok(Found::Looking);
        }
        let waker = outgoing.waker.take();
        self.woken.extend(waker);
        Ok(Found::Asleep)
    }

    /// The call that `from` answers, if it waits for an answer. Whoever was not asked cannot give
    /// one, and only the first counts.
    #[inline]
    fn outstanding(&mut self, from: Rank, number: CallNumber) -> Option<&mut PendingCall> {
        let outgoing = self.calls.get_mut(key_of(number)?)?;
        (outgoing.port.1 == from && !outgoing.is_over()).then_some(outgoing)
    }

    /// Ends the calls that have no reply and that are `chosen`. Returns who waits for them.
    fn end_calls(
        &mut self,
        chosen: impl Fn(&PendingCall) -> bool,
        ending: impl Fn() -> Ending,
    ) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for call in self.calls.values_mut() {
            if !call.is_over() && chosen(call) {
                call.ending = Some(Box::new(ending()));
                wakers.extend(call.waker.take());
            }
        }
        wakers
    }

    #[inline]
    fn end(&mut self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        let ended = self.requests.remove(request)?;
        (!ended.cancelled).then_some((ended.from, ended.number))
    }
}

/// Takes the call header off `message`.
#[inline]
pub(super) fn header_of(message: &mut Message) -> Option<CallHeader> {
    message.headers().pop().and_then(CallHeader::parse)
}

/// Throws away the request for a call of `from` that ended because this rank does not have the port
/// that it waits at; else it would be missed when this rank leaves. True if it was there.
pub(super) fn discard_request(
    messages: &Arc<Messages>,
    (port, from): ServicePort,
    number: CallNumber,
) -> bool {
    let header = CallHeader { kind: CallKind::Call, number }.emit();
    let mut state = messages.state.enter();
    // The number is what a peer says.
    let Some(slot) = state.machine.ports.known(port) else { return false };
    if state.dispatch.usage(slot).is_created {
        return false;
    }
    let is_it = |waiting: &Arrived| {
        let headers = waiting.bytes(&messages.packets).get(..waiting.part.start);
        waiting.body.from == from && headers.is_some_and(|headers| headers.ends_with(&header))
    };
    let found = state.dispatch.take_queued(slot, |waiting| is_it(waiting));
    drop(state);
    // Dropping it gives its sender the room back that it took.
    found.map(|request| drop(Message::new(messages, request))).is_some()
}
