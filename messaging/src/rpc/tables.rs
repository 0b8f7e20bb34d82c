//! What a rank knows of calls that are not over: its own, and those that it serves.

use super::format::{CallHeader, CallNumber, Kind};
use crate::{HeaderStack, Message};
use slotmap::{Key, KeyData, SlotMap, new_key_type};
use std::collections::VecDeque;
use std::task::Waker;
use weft_node::biased::Biased;
use weft_packet::Rank;

/// Cancellations that are remembered because their requests have not been looked at yet.
const EARLY_LIMIT: usize = 256;

new_key_type! {
    /// A call of this rank.
    pub(super) struct CallKey;
    /// A request that this rank has not answered.
    pub(super) struct RequestKey;
}

/// The tables of one rank. No message is dropped, and nobody woken, inside the lock.
pub(super) struct Tables(Biased<State>);

#[derive(Default)]
struct State {
    calls: SlotMap<CallKey, Outgoing>,
    requests: SlotMap<RequestKey, Incoming>,
    /// Requests that were cancelled before they were looked at, oldest first.
    early: VecDeque<(Rank, CallNumber)>,
}

struct Outgoing {
    to: Rank,
    reply: Option<Reply>,
    waker: Option<Waker>,
}

struct Incoming {
    from: Rank,
    number: CallNumber,
    cancelled: bool,
    stage: Stage,
}

/// Who is responsible for a request's answer.
enum Stage {
    /// Its handler runs: whoever runs it knows what a panic says.
    InHandler,
    /// A panic has dropped it while its handler ran.
    Unwound,
    /// Whoever has it: its handler is through.
    Deferred,
}

/// What came back: a message, and what kind of answer it is.
pub(super) struct Reply {
    pub kind: Kind,
    pub message: Message,
}

/// How a call stood when its caller gave up on it.
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
    pub fn new() -> Self {
        Tables(Biased::new(State::default()))
    }

    /// A new call to `to`.
    pub fn begin_call(&self, to: Rank) -> CallKey {
        self.0.enter().calls.insert(Outgoing { to, reply: None, waker: None })
    }

    /// The reply to a call, which is over then. If there is none yet, `waker` is woken when it comes.
    pub fn take_reply(&self, call: CallKey, waker: Option<&Waker>) -> Option<Reply> {
        let mut state = self.0.enter();
        let outgoing = state.calls.get_mut(call)?;
        if outgoing.reply.is_some() {
            return state.calls.remove(call)?.reply;
        }
        let waker = waker?;
        let replaced = match &mut outgoing.waker {
            Some(old) if old.will_wake(waker) => None,
            old => old.replace(waker.clone()),
        };
        drop(state);
        drop(replaced);
        None
    }

    /// The caller wants no reply any more.
    pub fn abandon_call(&self, call: CallKey) -> Abandoned {
        let outgoing = self.0.enter().calls.remove(call);
        match outgoing {
            Some(Outgoing { reply: None, .. }) => Abandoned::Waiting,
            _ => Abandoned::Over,
        }
    }

    /// A message to the port that replies and cancellations come to. One that belongs to no call, or
    /// to one that is over, is skipped unread.
    pub fn arrived(&self, mut message: Message) {
        let from = message.source();
        let Some(header) = header_of(&mut message) else { return };
        match header.kind {
            Kind::Call => {}
            Kind::Cancel => self.cancelled(from, header.number),
            kind => self.answered(from, header.number, Reply { kind, message }),
        }
    }

    fn answered(&self, from: Rank, number: CallNumber, reply: Reply) {
        let Some(call) = key_of(number) else { return };
        // A reply that nobody takes is dropped as an argument: after the lock.
        let mut state = self.0.enter();
        let Some(outgoing) = state.calls.get_mut(call) else { return };
        // Whoever was not asked cannot answer, and only the first answer counts.
        if outgoing.to != from || outgoing.reply.is_some() {
            return;
        }
        outgoing.reply = Some(reply);
        let waker = outgoing.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn cancelled(&self, from: Rank, number: CallNumber) {
        let mut state = self.0.enter();
        let same = |request: &&mut Incoming| request.from == from && request.number == number;
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
        let mut state = self.0.enter();
        if !state.early.is_empty()
            && let Some(at) = state.early.iter().position(|early| *early == (from, number))
        {
            state.early.remove(at);
            return None;
        }
        Some(state.requests.insert(Incoming {
            from,
            number,
            cancelled: false,
            stage: Stage::InHandler,
        }))
    }

    /// Whether the caller of a request waits no more.
    pub fn is_cancelled(&self, request: RequestKey) -> bool {
        self.0.enter().requests.get(request).is_none_or(|request| request.cancelled)
    }

    /// A request ends. Returns whom to answer, if anybody waits.
    pub fn end_request(&self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        self.0.enter().end(request)
    }

    /// The handler of a request has returned or panicked. Returns whom to tell if a panic has dropped it.
    pub fn handled(&self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        let mut state = self.0.enter();
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
        let mut state = self.0.enter();
        let incoming = state.requests.get_mut(request)?;
        if matches!(incoming.stage, Stage::InHandler) {
            incoming.stage = Stage::Unwound;
            return None;
        }
        state.end(request)
    }
}

impl State {
    fn end(&mut self, request: RequestKey) -> Option<(Rank, CallNumber)> {
        let ended = self.requests.remove(request)?;
        (!ended.cancelled).then_some((ended.from, ended.number))
    }
}

/// Takes the call header off `message`.
pub(super) fn header_of(message: &mut Message) -> Option<CallHeader> {
    message.headers().pop().and_then(CallHeader::parse)
}

/// A header stack of this header alone.
pub(super) fn headers(kind: Kind, number: CallNumber) -> HeaderStack {
    let mut headers = HeaderStack::new();
    let pushed = headers.push(&CallHeader { kind, number }.emit());
    debug_assert!(pushed.is_ok(), "an empty stack has room for eight bytes");
    headers
}
