//! `struct fi_ops_atomic`: operations on memory of other ranks that nothing comes between.

use super::remote::{Accessing, Telling};
use super::{Description, Endpoint};
use crate::abi::{AtomicAttr, AtomicMessage, RemotePiece, flag};
use crate::domain::Domain;
use crate::memory::{Buffer, Memory, Vector};
use crate::pointer::{Context, Out};
use crate::refusal::{Refusal, Result, call, done};
use crate::state::State;
use crate::transfer::{Exposed, SendOp};
use std::ffi::c_int;
use weft_endpoint::Packets;
use weft_tagged::remote::Remote;
use weft_tagged::remote::atomic::{Atomic, Element, Operation};

type Valid = extern "C" fn(&Endpoint, c_int, c_int, Out<usize>) -> c_int;

#[repr(C)]
pub(super) struct AtomicOps {
    size: usize,
    write: extern "C" fn(
        &Endpoint,
        Buffer,
        usize,
        Description,
        u64,
        u64,
        u64,
        c_int,
        c_int,
        Context,
    ) -> isize,
    writev: extern "C" fn(
        &Endpoint,
        Vector,
        Description,
        usize,
        u64,
        u64,
        u64,
        c_int,
        c_int,
        Context,
    ) -> isize,
    writemsg: extern "C" fn(&Endpoint, Option<&AtomicMessage>, u64) -> isize,
    inject: extern "C" fn(&Endpoint, Buffer, usize, u64, u64, u64, c_int, c_int) -> isize,
    readwrite: extern "C" fn(
        &Endpoint,
        Buffer,
        usize,
        Description,
        Buffer,
        Description,
        u64,
        u64,
        u64,
        c_int,
        c_int,
        Context,
    ) -> isize,
    readwritev: extern "C" fn(
        &Endpoint,
        Vector,
        Description,
        usize,
        Vector,
        Description,
        usize,
        u64,
        u64,
        u64,
        c_int,
        c_int,
        Context,
    ) -> isize,
    readwritemsg:
        extern "C" fn(&Endpoint, Option<&AtomicMessage>, Vector, Description, usize, u64) -> isize,
    compwrite: extern "C" fn(
        &Endpoint,
        Buffer,
        usize,
        Description,
        Buffer,
        Description,
        Buffer,
        Description,
        u64,
        u64,
        u64,
        c_int,
        c_int,
        Context,
    ) -> isize,
    compwritev: extern "C" fn(
        &Endpoint,
        Vector,
        Description,
        usize,
        Vector,
        Description,
        usize,
        Vector,
        Description,
        usize,
        u64,
        u64,
        u64,
        c_int,
        c_int,
        Context,
    ) -> isize,
    compwritemsg: extern "C" fn(
        &Endpoint,
        Option<&AtomicMessage>,
        Vector,
        Description,
        usize,
        Vector,
        Description,
        usize,
        u64,
    ) -> isize,
    writevalid: Valid,
    readwritevalid: Valid,
    compwritevalid: Valid,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(AtomicOps, compwritevalid) == 104);

pub(super) static OPS: AtomicOps = AtomicOps {
    size: size_of::<AtomicOps>(),
    write,
    writev,
    writemsg,
    inject,
    readwrite,
    readwritev,
    readwritemsg,
    compwrite,
    compwritev,
    compwritemsg,
    writevalid,
    readwritevalid,
    compwritevalid,
};

/// Three kinds of calls, which have operations of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavor {
    Plain,
    Fetching,
    Comparing,
}

impl Flavor {
    /// The operation, if it is one of this flavor.
    fn atomic(self, datatype: c_int, op: c_int) -> Result<Atomic> {
        let operation = u8::try_from(op).ok().and_then(Operation::of_number);
        let element = u8::try_from(datatype).ok().and_then(Element::of_number);
        let (Some(operation), Some(element)) = (operation, element) else {
            return Err(Refusal::NO_OPERATION);
        };
        let atomic = Atomic { operation, element };
        let is_right = operation.compares() == (self == Flavor::Comparing)
            && atomic.is_valid(self != Flavor::Plain);
        if is_right { Ok(atomic) } else { Err(Refusal::NO_OPERATION) }
    }
}

/// `struct fi_ioc`, or one buffer: elements that the program has.
#[derive(Clone, Copy)]
enum Elements {
    One(Buffer, usize),
    Many(Vector, usize),
    None,
}

impl Elements {
    fn memory(self, atomic: Atomic) -> Result<Memory> {
        let size = atomic.element.size();
        match self {
            Elements::One(buffer, count) => {
                buffer.memory(count.checked_mul(size).ok_or(Refusal::INVALID)?)
            }
            Elements::Many(vector, count) => vector.elements(count, size),
            Elements::None => Vector::NONE.memory(0),
        }
    }
}

/// Parameters of an atomic call, besides those of an access.
struct Operands {
    flavor: Flavor,
    datatype: c_int,
    op: c_int,
    elements: Elements,
    compared: Elements,
    result: Elements,
}

impl Endpoint {
    fn operate(&self, accessing: &Accessing, operands: &Operands, silent: bool) -> Result {
        let &Operands { flavor, datatype, op, elements, compared, result } = operands;
        let atomic = flavor.atomic(datatype, op)?;
        let fetches = flavor != Flavor::Plain;
        let into = result.memory(atomic)?;
        let length = if fetches { into.length() } else { elements.memory(atomic)?.length() };
        let payload = self.job.packets().max_payload();
        if length == 0 || length > most_bytes(payload, atomic) {
            return Err(Refusal::INVALID);
        }
        let mut bytes = Vec::with_capacity(length * atomic.operation.operands());
        let given = [elements, compared];
        for elements in &given[..atomic.operation.operands()] {
            let memory = elements.memory(atomic)?;
            if memory.length() != length {
                return Err(Refusal::INVALID);
            }
            memory.read(0, length, &mut |part| bytes.extend_from_slice(part));
        }
        let bound = self.bound()?;
        let (kind, counter) =
            if fetches { (flag::READ, bound.reads) } else { (flag::WRITE, bound.writes) };
        let telling = Telling { silent, kind: flag::ATOMIC | kind, counter };
        let ask = |state: &mut State, mut packets: &Packets, access: &_, op: SendOp| {
            let atomic = (atomic, fetches);
            state.remote.atomic(&mut packets, access, atomic, length as u64, &bytes, op)
        };
        self.access(into, accessing, &telling, ask)
    }
}

impl AtomicMessage {
    /// Its operands, which are as many as the elements of the other rank, and where those are.
    fn parts(&self, flavor: Flavor, flags: u64) -> Result<(Accessing, Operands)> {
        let [RemotePiece { address, key, .. }] = *self.remote.slice(self.remote_count)? else {
            return Err(Refusal::INVALID);
        };
        let AtomicMessage { addr: to, context, datatype, op, .. } = *self;
        let elements = Elements::Many(Vector::of(self.iov), self.iov_count);
        let (compared, result) = (Elements::None, Elements::None);
        let operands = Operands { flavor, datatype, op, elements, compared, result };
        Ok((Accessing { to, address, key, flags, context }, operands))
    }
}

/// Bytes that an atomic access may have.
fn most_bytes(payload: usize, atomic: Atomic) -> usize {
    Remote::<SendOp, Exposed>::atomic_bytes(payload, atomic)
}

/// Largest number of elements that an operation takes.
fn most(payload: usize, flavor: Flavor, datatype: c_int, op: c_int) -> Result<(usize, usize)> {
    let atomic = flavor.atomic(datatype, op)?;
    let size = atomic.element.size();
    Ok((most_bytes(payload, atomic) / size, size))
}

/// `fi_query_atomic`.
pub(crate) extern "C" fn query(
    domain: &Domain,
    datatype: c_int,
    op: c_int,
    attributes: Out<AtomicAttr>,
    flags: u64,
) -> c_int {
    call(|| {
        let flavor = match flags {
            0 => Flavor::Plain,
            flag::FETCH_ATOMIC => Flavor::Fetching,
            flag::COMPARE_ATOMIC => Flavor::Comparing,
            _ => return Err(Refusal::INVALID),
        };
        let payload = domain.job().packets().max_payload();
        let (count, size) = most(payload, flavor, datatype, op)?;
        attributes.set(AtomicAttr { count, size });
        Ok(())
    })
}

fn valid(
    endpoint: &Endpoint,
    flavor: Flavor,
    datatype: c_int,
    op: c_int,
    out: &Out<usize>,
) -> c_int {
    call(|| {
        let payload = endpoint.job.packets().max_payload();
        most(payload, flavor, datatype, op).map(|(count, _)| out.set(count))
    })
}

extern "C" fn writevalid(
    endpoint: &Endpoint,
    datatype: c_int,
    op: c_int,
    count: Out<usize>,
) -> c_int {
    valid(endpoint, Flavor::Plain, datatype, op, &count)
}

extern "C" fn readwritevalid(
    endpoint: &Endpoint,
    datatype: c_int,
    op: c_int,
    count: Out<usize>,
) -> c_int {
    valid(endpoint, Flavor::Fetching, datatype, op, &count)
}

extern "C" fn compwritevalid(
    endpoint: &Endpoint,
    datatype: c_int,
    op: c_int,
    count: Out<usize>,
) -> c_int {
    valid(endpoint, Flavor::Comparing, datatype, op, &count)
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn write(
    endpoint: &Endpoint,
    buffer: Buffer,
    count: usize,
    _description: Description,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: Context,
) -> isize {
    done(|| {
        let elements = Elements::One(buffer, count);
        let accessing = endpoint.accessing(to, address, key, context);
        endpoint.operate(&accessing, &plain(datatype, op, elements), false)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn writev(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: Context,
) -> isize {
    done(|| {
        let elements = Elements::Many(vector, count);
        let accessing = endpoint.accessing(to, address, key, context);
        endpoint.operate(&accessing, &plain(datatype, op, elements), false)
    })
}

extern "C" fn writemsg(endpoint: &Endpoint, message: Option<&AtomicMessage>, flags: u64) -> isize {
    done(|| {
        let (accessing, operands) = message.ok_or(Refusal::INVALID)?.parts(Flavor::Plain, flags)?;
        endpoint.operate(&accessing, &operands, false)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn inject(
    endpoint: &Endpoint,
    buffer: Buffer,
    count: usize,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
) -> isize {
    done(|| {
        let elements = Elements::One(buffer, count);
        let accessing = endpoint.accessing(to, address, key, Context::NONE);
        endpoint.operate(&accessing, &plain(datatype, op, elements), true)
    })
}

fn plain(datatype: c_int, op: c_int, elements: Elements) -> Operands {
    let (flavor, compared, result) = (Flavor::Plain, Elements::None, Elements::None);
    Operands { flavor, datatype, op, elements, compared, result }
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn readwrite(
    endpoint: &Endpoint,
    buffer: Buffer,
    count: usize,
    _description: Description,
    result: Buffer,
    _result_description: Description,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: Context,
) -> isize {
    done(|| {
        let (flavor, compared) = (Flavor::Fetching, Elements::None);
        let (elements, result) = (Elements::One(buffer, count), Elements::One(result, count));
        let operands = Operands { flavor, datatype, op, elements, compared, result };
        endpoint.operate(&endpoint.accessing(to, address, key, context), &operands, false)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn readwritev(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    results: Vector,
    _result_description: Description,
    result_count: usize,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: Context,
) -> isize {
    done(|| {
        let (flavor, compared) = (Flavor::Fetching, Elements::None);
        let elements = Elements::Many(vector, count);
        let result = Elements::Many(results, result_count);
        let operands = Operands { flavor, datatype, op, elements, compared, result };
        endpoint.operate(&endpoint.accessing(to, address, key, context), &operands, false)
    })
}

extern "C" fn readwritemsg(
    endpoint: &Endpoint,
    message: Option<&AtomicMessage>,
    results: Vector,
    _result_description: Description,
    result_count: usize,
    flags: u64,
) -> isize {
    done(|| {
        let (accessing, operands) =
            message.ok_or(Refusal::INVALID)?.parts(Flavor::Fetching, flags)?;
        let result = Elements::Many(results, result_count);
        endpoint.operate(&accessing, &Operands { result, ..operands }, false)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn compwrite(
    endpoint: &Endpoint,
    buffer: Buffer,
    count: usize,
    _description: Description,
    compared: Buffer,
    _compared_description: Description,
    result: Buffer,
    _result_description: Description,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: Context,
) -> isize {
    done(|| {
        let [elements, compared, result] =
            [buffer, compared, result].map(|buffer| Elements::One(buffer, count));
        let flavor = Flavor::Comparing;
        let operands = Operands { flavor, datatype, op, elements, compared, result };
        endpoint.operate(&endpoint.accessing(to, address, key, context), &operands, false)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn compwritev(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    compared: Vector,
    _compared_description: Description,
    compared_count: usize,
    results: Vector,
    _result_description: Description,
    result_count: usize,
    to: u64,
    address: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: Context,
) -> isize {
    done(|| {
        let flavor = Flavor::Comparing;
        let elements = Elements::Many(vector, count);
        let compared = Elements::Many(compared, compared_count);
        let result = Elements::Many(results, result_count);
        let operands = Operands { flavor, datatype, op, elements, compared, result };
        endpoint.operate(&endpoint.accessing(to, address, key, context), &operands, false)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn compwritemsg(
    endpoint: &Endpoint,
    message: Option<&AtomicMessage>,
    compared: Vector,
    _compared_description: Description,
    compared_count: usize,
    results: Vector,
    _result_description: Description,
    result_count: usize,
    flags: u64,
) -> isize {
    done(|| {
        let (accessing, operands) =
            message.ok_or(Refusal::INVALID)?.parts(Flavor::Comparing, flags)?;
        let compared = Elements::Many(compared, compared_count);
        let result = Elements::Many(results, result_count);
        endpoint.operate(&accessing, &Operands { compared, result, ..operands }, false)
    })
}
