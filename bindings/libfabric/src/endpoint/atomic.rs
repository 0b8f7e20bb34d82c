//! Operations on memory of other ranks that nothing comes between.

use super::remote::Accessing;
use super::transfers::Transfers;
use crate::abi::{AtomicAttr, AtomicMessage, RemotePiece, flag};
use crate::job::Job;
use crate::memory::{Buffer, Memory, Vector};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result};
use crate::state::State;
use crate::transfer::SendOp;
use std::ffi::c_int;
use weft_endpoint::Packets;
use weft_tagged::remote::atomic::{AtomicAccess, AtomicOperation, Element};
use weft_tagged::remote::atomic_bytes;

/// Three kinds of calls, which have operations of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    Plain,
    Fetching,
    Comparing,
}

impl Flavor {
    /// The flavor that a query's flags name.
    pub fn of(flags: u64) -> Result<Self> {
        match flags {
            0 => Ok(Flavor::Plain),
            flag::FETCH_ATOMIC => Ok(Flavor::Fetching),
            flag::COMPARE_ATOMIC => Ok(Flavor::Comparing),
            _ => Err(Refusal::INVALID),
        }
    }

    /// The operation, if it is one of this flavor.
    fn atomic(self, datatype: c_int, op: c_int) -> Result<AtomicAccess> {
        let operation = u8::try_from(op).ok().and_then(AtomicOperation::of_number);
        let element = u8::try_from(datatype).ok().and_then(Element::of_number);
        let (Some(operation), Some(element)) = (operation, element) else {
            return Err(Refusal::NO_OPERATION);
        };
        let atomic = AtomicAccess { operation, element };
        let is_right = operation.compares() == (self == Flavor::Comparing)
            && atomic.is_valid(self != Flavor::Plain);
        if is_right { Ok(atomic) } else { Err(Refusal::NO_OPERATION) }
    }

    /// Largest number of elements that an operation takes, and the size of one.
    pub fn most(self, job: &Job, datatype: c_int, op: c_int) -> Result<AtomicAttr> {
        let atomic = self.atomic(datatype, op)?;
        let size = atomic.element.size();
        Ok(AtomicAttr { count: most_bytes(job, atomic) / size, size })
    }
}

/// `struct fi_ioc`, or one buffer: elements that the program has.
#[derive(Clone, Copy)]
pub(super) enum Elements {
    One(Buffer, usize),
    Many(Vector, usize),
    None,
}

impl Elements {
    fn memory(self, atomic: AtomicAccess) -> Result<Memory> {
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

/// An atomic access, as a call describes it.
#[derive(Clone, Copy)]
pub(super) struct Described {
    pub flavor: Flavor,
    /// `enum fi_datatype` and `enum fi_op`.
    pub what: (c_int, c_int),
    /// The elements that it is done with and compares with, and the place for those that stood
    /// there.
    pub elements: Elements,
    pub compared: Elements,
    pub result: Elements,
    pub accessing: Accessing,
}

impl Described {
    /// The plain access of a message: to as many elements as it has of the program's.
    pub fn of(message: &AtomicMessage, flags: u64) -> Result<Self> {
        let [RemotePiece { address, key, .. }] = *message.remote.slice(message.remote_count)?
        else {
            return Err(Refusal::INVALID);
        };
        let AtomicMessage { addr: to, context, datatype, op, .. } = *message;
        let elements = Elements::Many(Vector::of(message.iov), message.iov_count);
        let (compared, result) = (Elements::None, Elements::None);
        let accessing = Accessing { to, address, key, flags, context, silent: false };
        let (flavor, what) = (Flavor::Plain, (datatype, op));
        Ok(Described { flavor, what, elements, compared, result, accessing })
    }

    /// Access that also puts what stood there into `result`.
    pub fn fetching(self, result: Elements) -> Self {
        Described { flavor: Flavor::Fetching, result, ..self }
    }

    /// Access that also fetches, and compares what stands there first.
    pub fn comparing(self, compared: Elements, result: Elements) -> Self {
        Described { flavor: Flavor::Comparing, compared, result, ..self }
    }

    /// Access whose completion gives this back.
    pub fn told(mut self, context: Context) -> Self {
        self.accessing.context = context;
        self
    }

    /// Access of which nobody is told unless it fails.
    pub fn silent(mut self) -> Self {
        self.accessing.silent = true;
        self
    }

    /// Performs it.
    pub fn perform(&self, by: &Transfers) -> Result {
        let Described { flavor, what: (datatype, op), elements, compared, result, .. } = *self;
        let atomic = flavor.atomic(datatype, op)?;
        let fetches = flavor != Flavor::Plain;
        let into = result.memory(atomic)?;
        let length = if fetches { into.length() } else { elements.memory(atomic)?.length() };
        if length == 0 || length > most_bytes(&by.job, atomic) {
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
        let bound = by.bound()?;
        let (kind, counter) =
            if fetches { (flag::READ, bound.reads) } else { (flag::WRITE, bound.writes) };
        let ask = |state: &mut State, mut packets: &Packets, access: &_, op: SendOp| {
            let atomic = (atomic, fetches);
            state.remote.atomic(&mut packets, access, atomic, length as u64, &bytes, op)
        };
        self.accessing.begin(by, into, (flag::ATOMIC | kind, counter), ask)
    }
}

/// Bytes that an atomic access may have.
fn most_bytes(job: &Job, atomic: AtomicAccess) -> usize {
    atomic_bytes(job.packets().max_payload(), atomic)
}
