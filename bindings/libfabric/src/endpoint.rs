//! `struct fid_ep`: endpoints, reliable and without connections.

mod atomic;
mod bindings;
mod remote;
mod transfers;

use crate::abi::{
    AtomicAttr, AtomicMessage, ENABLE, Info, PlainMessage, RemoteMessage, TaggedMessage, class,
    flag,
};
use crate::counter::Counter;
use crate::entry::{Missing, call, done, table, unsupported};
use crate::events::EventQueue;
use crate::job::Job;
use crate::memory::{Buffer, Vector as Pieces};
use crate::object::{Argument, Class, Fid, Given, give, object};
use crate::pointer::{Context, Out, Room};
use crate::queue::Queue;
use crate::refusal::{Refusal, Result, some};
use crate::state::{Bound, Watched};
use crate::vector::{self, Vector};
use atomic::Elements::{Many, One};
use atomic::{Described, Elements, Flavor};
use bindings::Bindings;
use remote::{Accessing, parts};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use transfers::{Sent, Transfers, Wanted};
use weft_tagged::{Address, Tagging};

object! {
    /// The object.
    struct Endpoint {
        ops: &'static EndpointOps,
        names: &'static NameOps,
        plain: &'static PlainOps,
        remote: &'static RemoteOps,
        tagged: &'static TaggedOps,
        atomic: &'static AtomicOps,
        collective: &'static Nothing,
        transfers: Transfers,
        bindings: Mutex<Bindings>,
        held: Bound,
    }
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Endpoint, collective) == 72
        && std::mem::offset_of!(EndpointOps, tx_size_left) == 56
        && size_of::<NameOps>() == 80
        && std::mem::offset_of!(PlainOps, injectdata) == 72
        && std::mem::offset_of!(TaggedOps, injectdata) == 72
        && std::mem::offset_of!(RemoteOps, injectdata) == 72
        && std::mem::offset_of!(AtomicOps, compwritevalid) == 104
);

/// `void *desc`, which nothing here needs.
type Description = *const c_void;

/// A table of functions that are not there: as many as that of collectives has.
#[repr(C)]
struct Nothing {
    size: usize,
    functions: [Missing; 11],
}

static NOTHING: Nothing = Nothing { size: size_of::<Nothing>(), functions: [unsupported; 11] };

impl Class for Endpoint {
    const CLASS: usize = class::EP;

    fn close(&self) -> Result {
        let Transfers { job, number, .. } = &self.transfers;
        // First, because others may be waiting in the same way.
        drop(job.enter().exchange.close(*number));
        job.end_operations(*number);
        let mut state = job.enter();
        state.close_endpoint(*number);
        self.held.release(&mut state.reports);
        Ok(())
    }

    fn bind(&self, other: &Fid, flags: u64) -> Result {
        let Transfers { job, enabled, .. } = &self.transfers;
        if enabled.get().is_some() {
            return Err(Refusal::BAD_STATE);
        }
        let mut bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = other.object::<Vector>() {
            bindings.vector = Some(vector.id());
        } else if let Some(queue) = other.object::<Queue>() {
            bindings.bind_queue(queue.id(), queue.is_direct(), flags);
            self.held.add(&mut job.enter().reports, Watched::Queue(queue.id()));
        } else if let Some(counter) = other.object::<Counter>() {
            bindings.bind_counter(counter.id(), flags);
            self.held.add(&mut job.enter().reports, Watched::Counter(counter.id()));
        } else if other.object::<EventQueue>().is_none() {
            return Err(Refusal::INVALID);
        }
        Ok(())
    }

    fn control(&self, command: c_int, _argument: Argument) -> Result {
        if command != ENABLE {
            return Err(Refusal::UNSUPPORTED);
        }
        let Transfers { job, number, enabled, .. } = &self.transfers;
        let bindings = *self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        let (bindings, observers) = bindings.enabled()?;
        job.enter().enable_endpoint(*number, observers);
        enabled.set(bindings).map_err(|_| Refusal::BAD_STATE)
    }
}

/// `fi_endpoint`.
pub(crate) fn open(job: &Arc<Job>, info: &Info, context: Context) -> Result<Given<Endpoint>> {
    let is_directed = info.caps & flag::DIRECTED_RECV != 0;
    let number = job.enter().open_endpoint()?;
    let flags = crate::info::operation_flags(info);
    Ok(give(Endpoint {
        fid: Fid::of::<Endpoint>(context),
        ops: &OPS,
        names: &NAMES,
        plain: &PLAIN,
        remote: &REMOTE,
        tagged: &TAGGED,
        atomic: &ATOMIC,
        collective: &NOTHING,
        transfers: Transfers::new(Arc::clone(job), number, is_directed, flags),
        bindings: Mutex::default(),
        held: Bound::default(),
    }))
}

/// `fi_query_atomic`.
pub(crate) fn query_atomic(
    job: &Job,
    (datatype, op): (c_int, c_int),
    flags: u64,
) -> Result<AtomicAttr> {
    Flavor::of(flags)?.most(job, datatype, op)
}

/// `FI_OPT_MIN_MULTI_RECV` at the level of endpoints; nothing else is settable.
const LEAST_LEFT_OPTION: (c_int, c_int) = (0, 0);

fn check_option(level: c_int, name: c_int) -> Result {
    if (level, name) == LEAST_LEFT_OPTION { Ok(()) } else { Err(Refusal::NO_OPTION) }
}

fn get_option(endpoint: &Endpoint, value: &Out<usize>, length: &Out<usize>) -> Result {
    if length.get().is_none_or(|length| length < size_of::<usize>()) {
        return Err(Refusal::TOO_SMALL);
    }
    value.set(endpoint.transfers.least_left.load(Ordering::Relaxed));
    length.set(size_of::<usize>());
    Ok(())
}

fn set_option(endpoint: &Endpoint, value: &Out<usize>, length: usize) -> Result {
    let value = value.get().filter(|_| length == size_of::<usize>());
    let value = value.ok_or(Refusal::INVALID)?;
    endpoint.transfers.least_left.store(value, Ordering::Relaxed);
    Ok(())
}

table! {
    /// `struct fi_ops_ep`.
    OPS: EndpointOps of Endpoint {
        cancel: done |endpoint, context: Context| endpoint.transfers.cancel(context);
        getopt: call |endpoint, level: c_int, name: c_int, value: Out<usize>, length: Out<usize>|
            check_option(level, name).and_then(|()| get_option(endpoint, &value, &length));
        setopt: call |endpoint, level: c_int, name: c_int, value: Out<usize>, length: usize|
            check_option(level, name).and_then(|()| set_option(endpoint, &value, length));
        tx_ctx: missing;
        rx_ctx: missing;
        rx_size_left: missing;
        tx_size_left: missing;
    }
}

table! {
    /// `struct fi_ops_cm`.
    NAMES: NameOps of Endpoint {
        setname: missing;
        getname: call |endpoint, room: Room<u8>, length: Out<usize>| {
            let Transfers { job, number, .. } = &endpoint.transfers;
            let address = Address { rank: job.packets().rank(), endpoint: *number };
            vector::give_address(&job.name().emit(address), &room, &length)
        };
        getpeer: missing;
        connect: missing;
        listen: missing;
        accept: missing;
        reject: missing;
        shutdown: missing;
        join: missing;
    }
}

/// A receive of this kind, as the endpoint's flags have it.
#[inline(always)]
fn wanted(endpoint: &Endpoint, kind: Tagging) -> Wanted {
    endpoint.transfers.receive_of(kind)
}

/// A send of this kind, as the endpoint's flags have it.
#[inline(always)]
fn sent(endpoint: &Endpoint, kind: Tagging) -> Sent {
    endpoint.transfers.send_of(kind)
}

/// The data beside a message, if its flags say that there are some.
fn data_of(data: u64, flags: u64) -> Option<u64> {
    (flags & flag::REMOTE_CQ_DATA != 0).then_some(data)
}

table! {
    /// `struct fi_ops_msg`: messages without tags.
    PLAIN: PlainOps of Endpoint {
        recv: done |endpoint, buffer: Buffer, length: usize, _: Description, from: u64,
            context: Context| {
            let wanted = Wanted { from, context, ..wanted(endpoint, Tagging::Untagged) };
            endpoint.transfers.receive(buffer.memory(length)?, wanted)
        };
        recvv: done |endpoint, pieces: Pieces, _: Description, count: usize, from: u64,
            context: Context| {
            let wanted = Wanted { from, context, ..wanted(endpoint, Tagging::Untagged) };
            endpoint.transfers.receive(pieces.memory(count)?, wanted)
        };
        recvmsg: done |endpoint, message: Option<&PlainMessage>, flags: u64| {
            let &PlainMessage { iov, iov_count, addr: from, context, .. } = some(message)?;
            if flags & (flag::PEEK | flag::CLAIM | flag::DISCARD) != 0 {
                return Err(Refusal::UNSUPPORTED);
            }
            let wanted = Wanted { from, context, flags, ..wanted(endpoint, Tagging::Untagged) };
            endpoint.transfers.receive(Pieces::of(iov).memory(iov_count)?, wanted)
        };
        send: done |endpoint, buffer: Buffer, length: usize, _: Description, to: u64,
            context: Context| {
            let sent = Sent { to, context, ..sent(endpoint, Tagging::Untagged) };
            endpoint.transfers.send(buffer.memory(length)?, sent, false)
        };
        sendv: done |endpoint, pieces: Pieces, _: Description, count: usize, to: u64,
            context: Context| {
            let sent = Sent { to, context, ..sent(endpoint, Tagging::Untagged) };
            endpoint.transfers.send(pieces.memory(count)?, sent, false)
        };
        sendmsg: done |endpoint, message: Option<&PlainMessage>, flags: u64| {
            let &PlainMessage { iov, iov_count, addr: to, context, data, .. } = some(message)?;
            let (kind, data) = (Tagging::Untagged, data_of(data, flags));
            let sent = Sent { kind, to, tag: 0, data, flags, context };
            endpoint.transfers.send(Pieces::of(iov).memory(iov_count)?, sent, false)
        };
        inject: done |endpoint, buffer: Buffer, length: usize, to: u64|
            endpoint.transfers.inject((buffer, length), Tagging::Untagged, to, 0, None);
        senddata: done |endpoint, buffer: Buffer, length: usize, _: Description, data: u64,
            to: u64, context: Context| {
            let sent = Sent { to, data: Some(data), context, ..sent(endpoint, Tagging::Untagged) };
            endpoint.transfers.send(buffer.memory(length)?, sent, false)
        };
        injectdata: done |endpoint, buffer: Buffer, length: usize, data: u64, to: u64|
            endpoint.transfers.inject((buffer, length), Tagging::Untagged, to, 0, Some(data));
    }
}

table! {
    /// `struct fi_ops_tagged`: messages with tags.
    TAGGED: TaggedOps of Endpoint {
        recv: done |endpoint, buffer: Buffer, length: usize, _: Description, from: u64, tag: u64,
            ignore: u64, context: Context| {
            let wanted = Wanted { from, tag, ignore, context, ..wanted(endpoint, Tagging::Tagged) };
            endpoint.transfers.receive(buffer.memory(length)?, wanted)
        };
        recvv: done |endpoint, pieces: Pieces, _: Description, count: usize, from: u64, tag: u64,
            ignore: u64, context: Context| {
            let wanted = Wanted { from, tag, ignore, context, ..wanted(endpoint, Tagging::Tagged) };
            endpoint.transfers.receive(pieces.memory(count)?, wanted)
        };
        recvmsg: done |endpoint, message: Option<&TaggedMessage>, flags: u64| {
            let &TaggedMessage { iov, iov_count, addr: from, tag, ignore, context, .. } =
                some(message)?;
            let wanted = Wanted { kind: Tagging::Tagged, from, tag, ignore, flags, context };
            endpoint.transfers.receive(Pieces::of(iov).memory(iov_count)?, wanted)
        };
        send: done |endpoint, buffer: Buffer, length: usize, _: Description, to: u64, tag: u64,
            context: Context| {
            let sent = Sent { to, tag, context, ..sent(endpoint, Tagging::Tagged) };
            endpoint.transfers.send_or_keep((buffer, length), sent)
        };
        sendv: done |endpoint, pieces: Pieces, _: Description, count: usize, to: u64, tag: u64,
            context: Context| {
            let sent = Sent { to, tag, context, ..sent(endpoint, Tagging::Tagged) };
            endpoint.transfers.send(pieces.memory(count)?, sent, false)
        };
        sendmsg: done |endpoint, message: Option<&TaggedMessage>, flags: u64| {
            let &TaggedMessage { iov, iov_count, addr: to, tag, context, data, .. } =
                some(message)?;
            let (kind, data) = (Tagging::Tagged, data_of(data, flags));
            let sent = Sent { kind, to, tag, data, flags, context };
            endpoint.transfers.send(Pieces::of(iov).memory(iov_count)?, sent, false)
        };
        inject: done |endpoint, buffer: Buffer, length: usize, to: u64, tag: u64|
            endpoint.transfers.inject((buffer, length), Tagging::Tagged, to, tag, None);
        senddata: done |endpoint, buffer: Buffer, length: usize, _: Description, data: u64,
            to: u64, tag: u64, context: Context| {
            let sent = Sent { to, tag, data: Some(data), context, ..sent(endpoint, Tagging::Tagged) };
            endpoint.transfers.send_or_keep((buffer, length), sent)
        };
        injectdata: done |endpoint, buffer: Buffer, length: usize, data: u64, to: u64, tag: u64|
            endpoint.transfers.inject((buffer, length), Tagging::Tagged, to, tag, Some(data));
    }
}

/// An access, as the endpoint's flags have it.
fn accessing(endpoint: &Endpoint, to: u64, (address, key): (u64, u64)) -> Accessing {
    endpoint.transfers.access_of(to, address, key)
}

table! {
    /// `struct fi_ops_rma`: reading and writing memory of other ranks.
    REMOTE: RemoteOps of Endpoint {
        read: done |endpoint, buffer: Buffer, length: usize, _: Description, from: u64,
            address: u64, key: u64, context: Context| {
            let access = Accessing { context, ..accessing(endpoint, from, (address, key)) };
            access.read(&endpoint.transfers, buffer.memory(length)?)
        };
        readv: done |endpoint, pieces: Pieces, _: Description, count: usize, from: u64,
            address: u64, key: u64, context: Context| {
            let access = Accessing { context, ..accessing(endpoint, from, (address, key)) };
            access.read(&endpoint.transfers, pieces.memory(count)?)
        };
        readmsg: done |endpoint, message: Option<&RemoteMessage>, flags: u64| {
            let (memory, access) = parts(some(message)?, flags)?;
            access.read(&endpoint.transfers, memory)
        };
        write: done |endpoint, buffer: Buffer, length: usize, _: Description, to: u64,
            address: u64, key: u64, context: Context| {
            let access = Accessing { context, ..accessing(endpoint, to, (address, key)) };
            access.write(&endpoint.transfers, buffer.memory(length)?, None)
        };
        writev: done |endpoint, pieces: Pieces, _: Description, count: usize, to: u64,
            address: u64, key: u64, context: Context| {
            let access = Accessing { context, ..accessing(endpoint, to, (address, key)) };
            access.write(&endpoint.transfers, pieces.memory(count)?, None)
        };
        writemsg: done |endpoint, message: Option<&RemoteMessage>, flags: u64| {
            let message = some(message)?;
            let (memory, access) = parts(message, flags)?;
            access.write(&endpoint.transfers, memory, data_of(message.data, flags))
        };
        inject: done |endpoint, buffer: Buffer, length: usize, to: u64, address: u64, key: u64| {
            let access = Accessing { silent: true, ..accessing(endpoint, to, (address, key)) };
            access.write(&endpoint.transfers, buffer.memory(length)?, None)
        };
        writedata: done |endpoint, buffer: Buffer, length: usize, _: Description, data: u64,
            to: u64, address: u64, key: u64, context: Context| {
            let access = Accessing { context, ..accessing(endpoint, to, (address, key)) };
            access.write(&endpoint.transfers, buffer.memory(length)?, Some(data))
        };
        injectdata: done |endpoint, buffer: Buffer, length: usize, data: u64, to: u64,
            address: u64, key: u64| {
            let access = Accessing { silent: true, ..accessing(endpoint, to, (address, key)) };
            access.write(&endpoint.transfers, buffer.memory(length)?, Some(data))
        };
    }
}

/// An atomic access to `(address, key)` of another rank, with `(datatype, op)`, that neither
/// compares nor fetches anything.
fn plain(
    endpoint: &Endpoint,
    elements: Elements,
    to: u64,
    place: (u64, u64),
    what: (c_int, c_int),
) -> Described {
    let (flavor, accessing) = (Flavor::Plain, accessing(endpoint, to, place));
    let (compared, result) = (Elements::None, Elements::None);
    Described { flavor, what, elements, compared, result, accessing }
}

table! {
    /// `struct fi_ops_atomic`: operations on memory of other ranks that nothing comes between.
    ATOMIC: AtomicOps of Endpoint {
        write: done |endpoint, buffer: Buffer, count: usize, _: Description, to: u64,
            address: u64, key: u64, datatype: c_int, op: c_int, context: Context|
            plain(endpoint, One(buffer, count), to, (address, key), (datatype, op))
                .told(context).perform(&endpoint.transfers);
        writev: done |endpoint, pieces: Pieces, _: Description, count: usize, to: u64,
            address: u64, key: u64, datatype: c_int, op: c_int, context: Context|
            plain(endpoint, Many(pieces, count), to, (address, key), (datatype, op))
                .told(context).perform(&endpoint.transfers);
        writemsg: done |endpoint, message: Option<&AtomicMessage>, flags: u64|
            Described::of(some(message)?, flags)?.perform(&endpoint.transfers);
        inject: done |endpoint, buffer: Buffer, count: usize, to: u64, address: u64, key: u64,
            datatype: c_int, op: c_int|
            plain(endpoint, One(buffer, count), to, (address, key), (datatype, op))
                .silent().perform(&endpoint.transfers);
        readwrite: done |endpoint, buffer: Buffer, count: usize, _: Description, result: Buffer,
            _: Description, to: u64, address: u64, key: u64, datatype: c_int, op: c_int,
            context: Context|
            plain(endpoint, One(buffer, count), to, (address, key), (datatype, op))
                .fetching(One(result, count)).told(context).perform(&endpoint.transfers);
        readwritev: done |endpoint, pieces: Pieces, _: Description, count: usize, results: Pieces,
            _: Description, result_count: usize, to: u64, address: u64, key: u64, datatype: c_int,
            op: c_int, context: Context|
            plain(endpoint, Many(pieces, count), to, (address, key), (datatype, op))
                .fetching(Many(results, result_count)).told(context).perform(&endpoint.transfers);
        readwritemsg: done |endpoint, message: Option<&AtomicMessage>, results: Pieces,
            _: Description, result_count: usize, flags: u64|
            Described::of(some(message)?, flags)?
                .fetching(Many(results, result_count)).perform(&endpoint.transfers);
        compwrite: done |endpoint, buffer: Buffer, count: usize, _: Description, compared: Buffer,
            _: Description, result: Buffer, _: Description, to: u64, address: u64, key: u64,
            datatype: c_int, op: c_int, context: Context|
            plain(endpoint, One(buffer, count), to, (address, key), (datatype, op))
                .comparing(One(compared, count), One(result, count))
                .told(context).perform(&endpoint.transfers);
        compwritev: done |endpoint, pieces: Pieces, _: Description, count: usize,
            compared: Pieces, _: Description, compared_count: usize, results: Pieces,
            _: Description, result_count: usize, to: u64, address: u64, key: u64, datatype: c_int,
            op: c_int, context: Context|
            plain(endpoint, Many(pieces, count), to, (address, key), (datatype, op))
                .comparing(Many(compared, compared_count), Many(results, result_count))
                .told(context).perform(&endpoint.transfers);
        compwritemsg: done |endpoint, message: Option<&AtomicMessage>, compared: Pieces,
            _: Description, compared_count: usize, results: Pieces, _: Description,
            result_count: usize, flags: u64|
            Described::of(some(message)?, flags)?
                .comparing(Many(compared, compared_count), Many(results, result_count))
                .perform(&endpoint.transfers);
        writevalid: call |endpoint, datatype: c_int, op: c_int, count: Out<usize>|
            valid(endpoint, Flavor::Plain, (datatype, op), &count);
        readwritevalid: call |endpoint, datatype: c_int, op: c_int, count: Out<usize>|
            valid(endpoint, Flavor::Fetching, (datatype, op), &count);
        compwritevalid: call |endpoint, datatype: c_int, op: c_int, count: Out<usize>|
            valid(endpoint, Flavor::Comparing, (datatype, op), &count);
    }
}

/// Tells how many elements an atomic access may have.
fn valid(
    endpoint: &Endpoint,
    flavor: Flavor,
    (datatype, op): (c_int, c_int),
    count: &Out<usize>,
) -> Result {
    let most = flavor.most(&endpoint.transfers.job, datatype, op)?;
    count.set(most.count);
    Ok(())
}
