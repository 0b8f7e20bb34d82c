//! Sends and receives of one endpoint.

use super::bindings::Bindings;
use crate::abi::{ANYBODY, flag};
use crate::info::INJECT_BYTES;
use crate::job::Job;
use crate::memory::{Buffer, Memory};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result};
use crate::state::{State, refusal};
use crate::transfer::{Many, ReceiveOp, SendOp};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use weft_tagged::{Address, ReceivePattern, SendParameters, Tagging};

/// Least room left in a buffer for several messages, in bytes, unless the program sets another.
const LEAST_LEFT: usize = 64;

/// The job that an endpoint sends and receives in, its number there, and where it reports.
pub(super) struct Transfers {
    pub job: Arc<Job>,
    pub number: u8,
    /// True if receives may name a source; for others it says nothing (`FI_DIRECTED_RECV`).
    is_directed: bool,
    /// Flags of calls that have none.
    pub send_flags: u64,
    receive_flags: u64,
    pub least_left: AtomicUsize,
    /// The bindings as they were when it was enabled.
    pub enabled: OnceLock<Bindings>,
}

/// Parameters of a send.
pub(super) struct Sent {
    pub kind: Tagging,
    pub to: u64,
    pub tag: u64,
    pub data: Option<u64>,
    pub flags: u64,
    pub context: Context,
}

/// Parameters of a receive. Fields that are neighbors in a [`ReceivePattern`] are none here: two
/// words that were just stored are not loaded as one.
pub(super) struct Wanted {
    pub kind: Tagging,
    pub tag: u64,
    pub from: u64,
    pub ignore: u64,
    pub flags: u64,
    pub context: Context,
}

#[inline]
fn flag_of(kind: Tagging) -> u64 {
    if kind == Tagging::Tagged { flag::TAGGED } else { flag::MSG }
}

impl Wanted {
    /// Its context, its flags, and the flag of its kind.
    #[inline(always)]
    fn reported(&self) -> (Context, u64, u64) {
        (self.context, self.flags, flag_of(self.kind))
    }
}

impl Transfers {
    /// Those of endpoint `number`, whose calls have these flags if they have none: of sends, and of
    /// receives.
    pub fn new(job: Arc<Job>, number: u8, is_directed: bool, flags: (u64, u64)) -> Self {
        let (send_flags, receive_flags) = flags;
        let (least_left, enabled) = (AtomicUsize::new(LEAST_LEFT), OnceLock::new());
        Transfers { job, number, is_directed, send_flags, receive_flags, least_left, enabled }
    }

    /// A send without a tag or data, for calls that have no flags.
    #[inline(always)]
    pub fn send_of(&self, kind: Tagging) -> Sent {
        let (flags, context) = (self.send_flags, Context::NONE);
        Sent { kind, to: 0, tag: 0, data: None, flags, context }
    }

    /// A receive of whatever comes, for calls that have no flags.
    #[inline(always)]
    pub fn receive_of(&self, kind: Tagging) -> Wanted {
        let (flags, context) = (self.receive_flags, Context::NONE);
        Wanted { kind, tag: 0, from: ANYBODY, ignore: 0, flags, context }
    }

    /// The bindings, once the endpoint is enabled.
    #[inline]
    pub fn bound(&self) -> Result<&Bindings> {
        self.enabled.get().ok_or(Refusal::BAD_STATE)
    }

    /// Sends bytes that are the program's again when this returns, and tells nobody unless that
    /// fails.
    #[inline(always)]
    pub fn inject(
        &self,
        (buffer, length): (Buffer, usize),
        kind: Tagging,
        to: u64,
        tag: u64,
        data: Option<u64>,
    ) -> Result {
        match buffer.few(length, INJECT_BYTES) {
            Some(bytes) if self.send_short(bytes, (kind, to, tag, data), None) => Ok(()),
            _ => self.inject_other(buffer, length, kind, to, tag, data),
        }
    }

    /// Sends bytes, and tells when they are the program's again: here, if they are few and may
    /// leave at once.
    #[inline(always)]
    pub fn send_or_keep(&self, (buffer, length): (Buffer, usize), sent: Sent) -> Result {
        let &Sent { kind, to, tag, data, flags, context } = &sent;
        let waits = flags & (flag::DELIVERY_COMPLETE | flag::MATCH_COMPLETE) != 0;
        match buffer.few(length, INJECT_BYTES) {
            Some(bytes)
                if !waits
                    && self.send_short(bytes, (kind, to, tag, data), Some((context, flags))) =>
            {
                Ok(())
            }
            _ => self.send(buffer.memory(length)?, sent, false),
        }
    }

    /// Sends a few bytes, if that may be done at once, and tells so if there is a context. False if
    /// they go the way of others, on which whatever is wrong is found again.
    #[inline(always)]
    fn send_short(
        &self,
        bytes: &[u8],
        (kind, to, tag, data): (Tagging, u64, u64, Option<u64>),
        told: Option<(Context, u64)>,
    ) -> bool {
        let Some(Bindings { uncounted: Some(vector), send, .. }) = self.enabled.get() else {
            return false;
        };
        let job = &*self.job;
        let state = &mut *job.enter_quietly();
        // While nothing is pending all queues are empty.
        if job.is_pending() && !state.reports.has_room(send.queue) {
            return false;
        }
        let Ok(to) = state.address(*vector, to) else { return false };
        let message = SendParameters { to, from: self.number, kind, tag, data, wants_done: false };
        if !state.exchange.send_short(&mut job.packets(), &message, bytes) {
            return false;
        }
        if let Some((context, flags)) = told {
            let notice = send.notice(context, flags, flag::SEND | flag_of(kind));
            state.reports.sent(&notice, bytes.len(), None);
            job.set_pending();
        }
        true
    }

    #[inline(never)]
    fn inject_other(
        &self,
        buffer: Buffer,
        length: usize,
        kind: Tagging,
        to: u64,
        tag: u64,
        data: Option<u64>,
    ) -> Result {
        self.send(buffer.memory(length)?, Sent { to, tag, data, ..self.send_of(kind) }, true)
    }

    /// Sends. `silent` ones tell nobody, unless they fail.
    #[inline(never)]
    pub fn send(&self, memory: Memory, sent: Sent, silent: bool) -> Result {
        let Bindings { vector, send, .. } = self.bound()?;
        let inject = silent || sent.flags & flag::INJECT != 0;
        if inject && memory.length() > INJECT_BYTES {
            return Err(Refusal::TOO_LONG);
        }
        let mut state = self.job.enter();
        if !state.reports.has_room(send.queue) {
            return Err(Refusal::AGAIN);
        }
        let Some(vector) = *vector else { return Err(Refusal::NO_VECTOR) };
        let message = SendParameters {
            to: state.address(vector, sent.to)?,
            from: self.number,
            kind: sent.kind,
            tag: sent.tag,
            data: sent.data,
            // A send that tells nobody need not know.
            wants_done: !silent
                && sent.flags & (flag::DELIVERY_COMPLETE | flag::MATCH_COMPLETE) != 0,
        };
        let mut notice = send.notice(sent.context, sent.flags, flag::SEND | flag_of(sent.kind));
        notice.tells &= !silent;
        let op = SendOp { memory, inject, notice };
        let began = state.send(self.job.packets(), &message, op);
        self.began(&mut state, began)
    }

    /// Result for the caller of an operation that could be begun, or could not.
    #[inline]
    pub fn began(&self, state: &mut State, began: weft_tagged::Result<bool>) -> Result {
        match began {
            Ok(true) => Ok(()),
            Ok(false) => {
                // So that those who try again without looking at a queue get somewhere.
                let made = state.progress(self.job.packets());
                made.map_err(|error| refusal(&error))?;
                Err(Refusal::AGAIN)
            }
            Err(error) => {
                // To a lost rank it begins next, and ends at once.
                self.job.give_up_on_lost(state);
                Err(refusal(&error))
            }
        }
    }

    /// Receives, or looks whether there is something to receive.
    #[inline(always)]
    pub fn receive(&self, memory: Memory, wanted: Wanted) -> Result {
        let rare = flag::MULTI_RECV | flag::PEEK | flag::CLAIM | flag::DISCARD;
        match wanted.flags & rare {
            0 => self.post(memory, wanted, None),
            _ => self.receive_rarely(memory, wanted),
        }
    }

    #[inline(never)]
    fn receive_rarely(&self, memory: Memory, wanted: Wanted) -> Result {
        let Wanted { kind, from, tag, ignore, flags, .. } = wanted;
        if kind == Tagging::Tagged && flags & (flag::PEEK | flag::CLAIM | flag::DISCARD) != 0 {
            let source = self.source(&self.job.enter(), from)?;
            let op = self.bound()?.receive_op(memory, wanted.reported(), None);
            return self.look(op, &ReceivePattern { source, tag, ignore }, flags);
        }
        if kind == Tagging::Tagged || flags & flag::MULTI_RECV == 0 {
            return self.post(memory, wanted, None);
        }
        if memory.length() == 0 || memory.start() == Context::NONE {
            return Err(Refusal::INVALID);
        }
        self.post(memory, wanted, Some(Many::new(self.least_left.load(Ordering::Relaxed))))
    }

    /// Posts a receive, or gives it a message that is here.
    #[inline(always)]
    fn post(&self, memory: Memory, wanted: Wanted, many: Option<Box<Many>>) -> Result {
        let bindings = self.bound()?;
        let state = &mut *self.job.enter_quietly();
        let source = self.source(state, wanted.from)?;
        let pattern = ReceivePattern { source, tag: wanted.tag, ignore: wanted.ignore };
        let op = bindings.receive_op(memory, wanted.reported(), many);
        if !state.exchange.receive(self.number, wanted.kind, pattern, op) {
            self.job.set_pending();
            state.tell();
        }
        Ok(())
    }

    /// From whom a receive wants messages; `None` for anybody.
    #[inline(always)]
    fn source(&self, state: &State, from: u64) -> Result<Option<Address>> {
        if from == ANYBODY || !self.is_directed {
            return Ok(None);
        }
        state.address(self.bound()?.vector.ok_or(Refusal::NO_VECTOR)?, from).map(Some)
    }

    /// `FI_PEEK`, `FI_CLAIM`, `FI_DISCARD`.
    fn look(&self, op: ReceiveOp, pattern: &ReceivePattern, flags: u64) -> Result {
        let (number, name) = (self.number, op.notice.context.number());
        let has = |flag: u64| flags & flag != 0;
        // A message may have come that nobody has looked for.
        let mut state = self.job.progress()?;
        let state = &mut *state;
        if !has(flag::PEEK) {
            if !state.exchange.has_claimed(number, name) {
                return Err(Refusal::INVALID);
            }
            if has(flag::DISCARD) {
                let found = state.exchange.discard_claimed(number, name);
                state.reports.peeked(&op, found.as_ref());
            } else if state.exchange.receive_claimed(number, name, op).is_err() {
                return Err(Refusal::INVALID);
            }
            state.tell();
            return Ok(());
        }
        let exchange = &mut state.exchange;
        let found = if has(flag::DISCARD) {
            exchange.discard(number, Tagging::Tagged, pattern)
        } else if has(flag::CLAIM) && exchange.has_claimed(number, name) {
            return Err(Refusal::INVALID);
        } else if has(flag::CLAIM) {
            exchange.claim(number, Tagging::Tagged, pattern, name)
        } else {
            exchange.peek(number, Tagging::Tagged, pattern)
        };
        state.reports.peeked(&op, found.as_ref());
        state.tell();
        Ok(())
    }

    /// Takes a receive back, which nobody has sent a message for.
    pub fn cancel(&self, context: Context) -> Result {
        let mut state = self.job.progress()?;
        let is_it = |op: &ReceiveOp| op.notice.context == context;
        let op = state.exchange.cancel(self.number, is_it).ok_or(Refusal::NOT_FOUND)?;
        state.reports.canceled(&op);
        Ok(())
    }
}
