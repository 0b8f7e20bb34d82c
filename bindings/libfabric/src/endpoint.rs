//! `struct fid_ep`: endpoints, reliable and without connections.

mod atomic;
mod plain;
mod remote;
mod tagged;

use crate::abi::{ANYBODY, ENABLE, Info, class, flag};
use crate::counter::Counter;
use crate::domain::Domain;
use crate::events::EventQueue;
use crate::job::Job;
use crate::memory::{Buffer, Memory};
use crate::object::{Argument, Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, Out, Room};
use crate::queue::Queue;
use crate::refusal::{Missing, Refusal, Result, call, sized, unsupported};
use crate::state::{AccessObservers, Bound, CounterId, QueueId, State, VectorId, Watched, refusal};
use crate::transfer::{Many, Notice, ReceiveOp, RemoteCounters, SendOp};
use crate::vector::{self, Vector};
use atomic::AtomicOps;
use plain::PlainOps;
use remote::RemoteOps;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tagged::TaggedOps;
use weft_tagged::{Address, Kind, Outgoing, Pattern};

/// Bytes that go back to the program when the call returns, if it wants that.
pub(crate) const INJECT_BYTES: usize = 256;
/// Bytes of a message at most.
pub(crate) const MESSAGE_BYTES: usize = isize::MAX as usize;
/// Least room left in a buffer for several messages, in bytes, unless the program sets another.
const LEAST_LEFT: usize = 64;

/// The object.
#[repr(C)]
pub(crate) struct Endpoint {
    pub(crate) fid: Fid,
    ops: &'static EndpointOps,
    names: &'static NameOps,
    plain: &'static PlainOps,
    remote: &'static RemoteOps,
    tagged: &'static TaggedOps,
    atomic: &'static AtomicOps,
    collective: &'static Nothing,
    job: Arc<Job>,
    number: u8,
    /// True if receives may name a source; for others it says nothing (`FI_DIRECTED_RECV`).
    is_directed: bool,
    /// Flags of calls that have none.
    send_flags: u64,
    receive_flags: u64,
    least_left: AtomicUsize,
    bindings: Mutex<Bindings>,
    held: Bound,
    /// The bindings as they were when it was enabled.
    bound: OnceLock<Bindings>,
}

/// Objects that an endpoint is bound to.
#[derive(Clone, Copy, Default)]
struct Bindings {
    vector: Option<VectorId>,
    /// `vector`, if nobody counts sends.
    uncounted: Option<VectorId>,
    send: Way,
    receive: Way,
    /// Counters of this endpoint's own accesses.
    reads: Option<CounterId>,
    writes: Option<CounterId>,
    /// Counters of accesses by others.
    remote: RemoteCounters,
}

/// Destination of the completions of one direction.
#[derive(Clone, Copy, Default)]
struct Way {
    queue: Option<QueueId>,
    /// `queue`, if it is told in the longest entries, and nothing else is: as most are bound.
    plain: Option<QueueId>,
    /// Only those that ask for it.
    selective: bool,
    counter: Option<CounterId>,
}

#[repr(C)]
struct EndpointOps {
    size: usize,
    cancel: extern "C" fn(&Endpoint, Context) -> isize,
    getopt: extern "C" fn(&Endpoint, c_int, c_int, Out<usize>, Out<usize>) -> c_int,
    setopt: extern "C" fn(&Endpoint, c_int, c_int, Out<usize>, usize) -> c_int,
    tx_ctx: Missing,
    rx_ctx: Missing,
    rx_size_left: Missing,
    tx_size_left: Missing,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Endpoint, collective) == 72
        && std::mem::offset_of!(EndpointOps, tx_size_left) == 56
        && size_of::<NameOps>() == 80
);

static OPS: EndpointOps = EndpointOps {
    size: size_of::<EndpointOps>(),
    cancel,
    getopt,
    setopt,
    tx_ctx: unsupported,
    rx_ctx: unsupported,
    rx_size_left: unsupported,
    tx_size_left: unsupported,
};

/// `struct fi_ops_cm`.
#[repr(C)]
struct NameOps {
    size: usize,
    setname: Missing,
    getname: extern "C" fn(&Endpoint, Room<u8>, Out<usize>) -> c_int,
    rest: [Missing; 7],
}

static NAMES: NameOps =
    NameOps { size: size_of::<NameOps>(), setname: unsupported, getname, rest: [unsupported; 7] };

/// A table of functions that are not there: as many as that of collectives has.
#[repr(C)]
struct Nothing {
    size: usize,
    functions: [Missing; 11],
}

static NOTHING: Nothing = Nothing { size: size_of::<Nothing>(), functions: [unsupported; 11] };

static FID_OPS: FidOps = ops::<Endpoint>();

impl Class for Endpoint {
    const CLASS: usize = class::EP;
    const OPS: &'static FidOps = &FID_OPS;

    fn close(&self) -> Result {
        // First, because others may be waiting in the same way.
        drop(self.job.enter().exchange.close(self.number));
        self.job.end_operations(self.number);
        let mut state = self.job.enter();
        state.close_endpoint(self.number);
        self.held.release(&mut state);
        Ok(())
    }

    fn bind(&self, other: &Fid, flags: u64) -> Result {
        if self.bound.get().is_some() {
            return Err(Refusal::BAD_STATE);
        }
        let mut bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        let Bindings { vector, send, receive, reads, writes, remote, .. } = &mut *bindings;
        if let Some(bound) = other.object::<Vector>() {
            *vector = Some(bound.id());
        } else if let Some(queue) = other.object::<Queue>() {
            for way in ways(send, receive, flags) {
                way.queue = Some(queue.id());
                way.selective = flags & flag::SELECTIVE_COMPLETION != 0;
                way.plain = queue.direct().filter(|_| way.counter.is_none());
            }
            self.held.add(&mut self.job.enter(), Watched::Queue(queue.id()));
        } else if let Some(counter) = other.object::<Counter>() {
            for way in ways(send, receive, flags) {
                (way.counter, way.plain) = (Some(counter.id()), None);
            }
            if flags & flag::READ != 0 {
                *reads = Some(counter.id());
            }
            if flags & flag::WRITE != 0 {
                *writes = Some(counter.id());
            }
            remote.bind(counter.id(), flags);
            self.held.add(&mut self.job.enter(), Watched::Counter(counter.id()));
        } else if other.object::<EventQueue>().is_none() {
            return Err(Refusal::INVALID);
        }
        Ok(())
    }

    fn control(&self, command: c_int, _argument: Argument) -> Result {
        if command != ENABLE {
            return Err(Refusal::UNSUPPORTED);
        }
        let mut bindings = *self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        bindings.uncounted = bindings.vector.filter(|_| bindings.send.counter.is_none());
        if bindings.vector.is_none() {
            return Err(Refusal::NO_VECTOR);
        }
        let Bindings { vector, send, receive, reads, writes, remote, .. } = bindings;
        let has_end = |way: &Way| way.queue.is_some() || way.counter.is_some();
        let is_counted = reads.or(writes).or(remote.reads).or(remote.writes).is_some();
        if !has_end(&send) && !has_end(&receive) && !is_counted {
            return Err(Refusal::NO_QUEUE);
        }
        let observers = AccessObservers { queue: receive.queue, vector, counters: remote };
        self.job.enter().enable_endpoint(self.number, observers);
        self.bound.set(bindings).map_err(|_| Refusal::BAD_STATE)
    }
}

/// The directions that a binding is for.
fn ways<'a>(
    send: &'a mut Way,
    receive: &'a mut Way,
    flags: u64,
) -> impl Iterator<Item = &'a mut Way> {
    let sends = (flags & flag::SEND != 0).then_some(send);
    sends.into_iter().chain((flags & flag::RECV != 0).then_some(receive))
}

/// `fi_endpoint`.
pub(crate) fn open(domain: &Domain, info: &Info, context: Context) -> Result<Given<Endpoint>> {
    let (send_flags, receive_flags) = crate::info::operation_flags(info);
    let job = Arc::clone(domain.job());
    let number = job.enter().open_endpoint()?;
    Ok(give(Endpoint {
        fid: Fid::of::<Endpoint>(context),
        ops: &OPS,
        names: &NAMES,
        plain: &plain::OPS,
        remote: &remote::OPS,
        tagged: &tagged::OPS,
        atomic: &atomic::OPS,
        collective: &NOTHING,
        job,
        number,
        is_directed: info.caps & flag::DIRECTED_RECV != 0,
        send_flags,
        receive_flags,
        least_left: AtomicUsize::new(LEAST_LEFT),
        bindings: Mutex::default(),
        held: Bound::default(),
        bound: OnceLock::new(),
    }))
}

/// Parameters of a send.
struct Sent {
    kind: Kind,
    to: u64,
    tag: u64,
    data: Option<u64>,
    flags: u64,
    context: Context,
}

/// Parameters of a receive. Fields that are neighbors in a [`Pattern`] are none here: two words
/// that were just stored are not loaded as one.
struct Wanted {
    kind: Kind,
    tag: u64,
    from: u64,
    ignore: u64,
    flags: u64,
    context: Context,
}

impl Way {
    #[inline]
    fn notice(&self, context: Context, flags: u64, kind: u64) -> Notice {
        let tells = !self.selective || flags & flag::COMPLETION != 0;
        Notice { queue: self.queue, tells, counter: self.counter, context, flags: kind as u32 }
    }
}

impl Bindings {
    #[inline(always)]
    fn receive_op(&self, memory: Memory, wanted: &Wanted, many: Option<Box<Many>>) -> ReceiveOp {
        let &Wanted { kind, flags, context, .. } = wanted;
        let notice = self.receive.notice(context, flags, flag::RECV | flag_of(kind));
        let plain = self.receive.plain.filter(|_| notice.tells && many.is_none());
        ReceiveOp { memory, notice, plain, many, vector: self.vector }
    }
}

#[inline]
fn flag_of(kind: Kind) -> u64 {
    if kind == Kind::Tagged { flag::TAGGED } else { flag::MSG }
}

impl Endpoint {
    #[inline]
    fn bound(&self) -> Result<&Bindings> {
        self.bound.get().ok_or(Refusal::BAD_STATE)
    }

    /// Sends bytes that are the program's again when this returns, and tells nobody unless that
    /// fails.
    #[inline(always)]
    fn inject(
        &self,
        (buffer, length): (Buffer, usize),
        kind: Kind,
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
    fn send_or_keep(&self, (buffer, length): (Buffer, usize), sent: Sent) -> Result {
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
        (kind, to, tag, data): (Kind, u64, u64, Option<u64>),
        told: Option<(Context, u64)>,
    ) -> bool {
        let Some(Bindings { uncounted: Some(vector), send, .. }) = self.bound.get() else {
            return false;
        };
        let job = &*self.job;
        let state = &mut *job.enter_quietly();
        // While nothing is pending all queues are empty.
        if job.is_pending() && !state.reports.has_room(send.queue) {
            return false;
        }
        let Ok(to) = state.address(*vector, to) else { return false };
        let message = Outgoing { to, from: self.number, kind, tag, data, wants_done: false };
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
        kind: Kind,
        to: u64,
        tag: u64,
        data: Option<u64>,
    ) -> Result {
        let (flags, context) = (self.send_flags, Context::NONE);
        self.send(buffer.memory(length)?, Sent { kind, to, tag, data, flags, context }, true)
    }

    /// Sends. `silent` ones tell nobody, unless they fail.
    #[inline(never)]
    fn send(&self, memory: Memory, sent: Sent, silent: bool) -> Result {
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
        let message = Outgoing {
            to: state.address(vector, sent.to)?,
            from: self.number,
            kind: sent.kind,
            tag: sent.tag,
            data: sent.data,
            // What tells nobody need not know.
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
    fn began(&self, state: &mut State, began: weft_tagged::Result<bool>) -> Result {
        match began {
            Ok(true) => Ok(()),
            Ok(false) => {
                // So that those who try again without looking at a queue get somewhere.
                let made = state.progress(self.job.packets());
                made.map_err(|error| refusal(&error))?;
                Err(Refusal::AGAIN)
            }
            Err(error) => Err(refusal(&error)),
        }
    }

    /// Receives, or looks whether there is something to receive.
    #[inline(always)]
    fn receive(&self, memory: Memory, wanted: Wanted) -> Result {
        let rare = flag::MULTI_RECV | flag::PEEK | flag::CLAIM | flag::DISCARD;
        match wanted.flags & rare {
            0 => self.post(memory, wanted, None),
            _ => self.receive_rarely(memory, wanted),
        }
    }

    #[inline(never)]
    fn receive_rarely(&self, memory: Memory, wanted: Wanted) -> Result {
        let Wanted { kind, from, tag, ignore, flags, .. } = wanted;
        if kind == Kind::Tagged && flags & (flag::PEEK | flag::CLAIM | flag::DISCARD) != 0 {
            let source = self.source(&self.job.enter(), from)?;
            let op = self.bound()?.receive_op(memory, &wanted, None);
            return self.look(op, &Pattern { source, tag, ignore }, flags);
        }
        if kind == Kind::Tagged || flags & flag::MULTI_RECV == 0 {
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
        let pattern = Pattern { source, tag: wanted.tag, ignore: wanted.ignore };
        let op = bindings.receive_op(memory, &wanted, many);
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
    fn look(&self, op: ReceiveOp, pattern: &Pattern, flags: u64) -> Result {
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
            exchange.discard(number, Kind::Tagged, pattern)
        } else if has(flag::CLAIM) && exchange.has_claimed(number, name) {
            return Err(Refusal::INVALID);
        } else if has(flag::CLAIM) {
            exchange.claim(number, Kind::Tagged, pattern, name)
        } else {
            exchange.peek(number, Kind::Tagged, pattern)
        };
        state.reports.peeked(&op, found.as_ref());
        state.tell();
        Ok(())
    }

    fn address(&self) -> Address {
        Address { rank: self.job.packets().rank(), endpoint: self.number }
    }
}

extern "C" fn cancel(endpoint: &Endpoint, context: Context) -> isize {
    sized(|| {
        let mut state = endpoint.job.progress()?;
        let is_it = |op: &ReceiveOp| op.notice.context == context;
        let op = state.exchange.cancel(endpoint.number, is_it).ok_or(Refusal::NOT_FOUND)?;
        state.reports.canceled(&op);
        Ok(0)
    })
}

/// `FI_OPT_MIN_MULTI_RECV` at the level of endpoints; nothing else is settable.
const LEAST_LEFT_OPTION: (c_int, c_int) = (0, 0);

extern "C" fn getopt(
    endpoint: &Endpoint,
    level: c_int,
    name: c_int,
    value: Out<usize>,
    length: Out<usize>,
) -> c_int {
    call(|| {
        if (level, name) != LEAST_LEFT_OPTION {
            return Err(Refusal::NO_OPTION);
        }
        if length.get().is_none_or(|length| length < size_of::<usize>()) {
            return Err(Refusal::TOO_SMALL);
        }
        value.set(endpoint.least_left.load(Ordering::Relaxed));
        length.set(size_of::<usize>());
        Ok(())
    })
}

extern "C" fn setopt(
    endpoint: &Endpoint,
    level: c_int,
    name: c_int,
    value: Out<usize>,
    length: usize,
) -> c_int {
    call(|| {
        if (level, name) != LEAST_LEFT_OPTION {
            return Err(Refusal::NO_OPTION);
        }
        let value = value.get().filter(|_| length == size_of::<usize>());
        endpoint.least_left.store(value.ok_or(Refusal::INVALID)?, Ordering::Relaxed);
        Ok(())
    })
}

extern "C" fn getname(endpoint: &Endpoint, room: Room<u8>, length: Out<usize>) -> c_int {
    call(|| {
        let bytes = endpoint.job.name().emit(endpoint.address());
        vector::give_address(&bytes, &room, &length)
    })
}

pub(crate) use atomic::query as query_atomic;

/// `void *desc`, which nothing here needs.
type Description = *const c_void;
