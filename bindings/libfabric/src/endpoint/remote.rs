//! `struct fi_ops_rma`: reading and writing memory of other ranks.

use super::{Description, Endpoint, INJECT_BYTES};
use crate::abi::{RemoteMessage, RemotePiece, flag};
use crate::memory::{Buffer, Memory, Vector};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result, done};
use crate::state::{CounterId, State};
use crate::transfer::{Notice, SendOp};
use weft_endpoint::Packets;
use weft_tagged::remote::{Access, Asking};

type OneWay = extern "C" fn(&Endpoint, Buffer, usize, Description, u64, u64, u64, Context) -> isize;
type Gathered =
    extern "C" fn(&Endpoint, Vector, Description, usize, u64, u64, u64, Context) -> isize;
type Message = extern "C" fn(&Endpoint, Option<&RemoteMessage>, u64) -> isize;

#[repr(C)]
pub(super) struct RemoteOps {
    size: usize,
    read: OneWay,
    readv: Gathered,
    readmsg: Message,
    write: OneWay,
    writev: Gathered,
    writemsg: Message,
    inject: extern "C" fn(&Endpoint, Buffer, usize, u64, u64, u64) -> isize,
    writedata:
        extern "C" fn(&Endpoint, Buffer, usize, Description, u64, u64, u64, u64, Context) -> isize,
    injectdata: extern "C" fn(&Endpoint, Buffer, usize, u64, u64, u64, u64) -> isize,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(RemoteOps, injectdata) == 72);

pub(super) static OPS: RemoteOps = RemoteOps {
    size: size_of::<RemoteOps>(),
    read,
    readv,
    readmsg,
    write,
    writev,
    writemsg,
    inject,
    writedata,
    injectdata,
};

/// Parameters of an access, besides its bytes.
pub(super) struct Accessing {
    pub to: u64,
    pub address: u64,
    pub key: u64,
    pub flags: u64,
    pub context: Context,
}

/// Reports of an access.
pub(super) struct Telling {
    /// Nobody is told, unless it fails.
    pub silent: bool,
    /// Kind of the operation.
    pub kind: u64,
    pub counter: Option<CounterId>,
}

impl Endpoint {
    /// Asks for an access by `ask`.
    pub(super) fn access(
        &self,
        memory: Memory,
        accessing: &Accessing,
        telling: &Telling,
        ask: impl FnOnce(&mut State, &Packets, &Access, SendOp) -> weft_tagged::Result<Asking<SendOp>>,
    ) -> Result {
        let Accessing { to, address, key, flags, context } = *accessing;
        let bound = self.bound()?;
        let inject = telling.silent || flags & flag::INJECT != 0;
        if inject && memory.length() > INJECT_BYTES {
            return Err(Refusal::TOO_LONG);
        }
        let mut state = self.job.enter();
        let queue = bound.send.queue;
        if !state.reports.has_room(queue) {
            return Err(Refusal::AGAIN);
        }
        let vector = bound.vector.ok_or(Refusal::NO_VECTOR)?;
        let to = state.address(vector, to)?;
        let access = Access { to, from: self.number, key, offset: address };
        let tells = !telling.silent && (!bound.send.selective || flags & flag::COMPLETION != 0);
        let notice =
            Notice { queue, tells, counter: telling.counter, context, flags: telling.kind as u32 };
        let op = SendOp { memory, inject, notice };
        let asking = ask(&mut state, self.job.packets(), &access, op);
        let began = asking.map(|asking| state.asked(&asking));
        self.began(&mut state, began)
    }

    fn put(
        &self,
        memory: Memory,
        accessing: &Accessing,
        data: Option<u64>,
        silent: bool,
    ) -> Result {
        let kind = flag::RMA | flag::WRITE;
        let telling = Telling { silent, kind, counter: self.bound()?.writes };
        self.access(memory, accessing, &telling, |state, mut packets, access, op| {
            state.remote.write(&mut packets, access, data, op)
        })
    }

    fn get(&self, memory: Memory, accessing: &Accessing) -> Result {
        let kind = flag::RMA | flag::READ;
        let telling = Telling { silent: false, kind, counter: self.bound()?.reads };
        self.access(memory, accessing, &telling, |state, mut packets, access, op| {
            state.remote.read(&mut packets, access, op)
        })
    }

    pub(super) fn accessing(&self, to: u64, address: u64, key: u64, context: Context) -> Accessing {
        Accessing { to, address, key, flags: self.send_flags, context }
    }
}

impl RemoteMessage {
    /// The program's bytes, and where those of the other rank are, which are as many.
    fn parts(&self, flags: u64) -> Result<(Memory, Accessing)> {
        let memory = Vector::of(self.iov).memory(self.iov_count)?;
        let [RemotePiece { address, length, key }] = *self.remote.slice(self.remote_count)? else {
            return Err(Refusal::INVALID);
        };
        if length != memory.length() {
            return Err(Refusal::INVALID);
        }
        let RemoteMessage { addr: to, context, .. } = *self;
        Ok((memory, Accessing { to, address, key, flags, context }))
    }
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn read(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    from: u64,
    address: u64,
    key: u64,
    context: Context,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(from, address, key, context);
        endpoint.get(buffer.memory(length)?, &accessing)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn readv(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    from: u64,
    address: u64,
    key: u64,
    context: Context,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(from, address, key, context);
        endpoint.get(vector.memory(count)?, &accessing)
    })
}

extern "C" fn readmsg(endpoint: &Endpoint, message: Option<&RemoteMessage>, flags: u64) -> isize {
    done(|| {
        let (memory, accessing) = message.ok_or(Refusal::INVALID)?.parts(flags)?;
        endpoint.get(memory, &accessing)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn write(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    to: u64,
    address: u64,
    key: u64,
    context: Context,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(to, address, key, context);
        endpoint.put(buffer.memory(length)?, &accessing, None, false)
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
    context: Context,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(to, address, key, context);
        endpoint.put(vector.memory(count)?, &accessing, None, false)
    })
}

extern "C" fn writemsg(endpoint: &Endpoint, message: Option<&RemoteMessage>, flags: u64) -> isize {
    done(|| {
        let message = message.ok_or(Refusal::INVALID)?;
        let (memory, accessing) = message.parts(flags)?;
        let data = (flags & flag::REMOTE_CQ_DATA != 0).then_some(message.data);
        endpoint.put(memory, &accessing, data, false)
    })
}

extern "C" fn inject(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    to: u64,
    address: u64,
    key: u64,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(to, address, key, Context::NONE);
        endpoint.put(buffer.memory(length)?, &accessing, None, true)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn writedata(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    data: u64,
    to: u64,
    address: u64,
    key: u64,
    context: Context,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(to, address, key, context);
        endpoint.put(buffer.memory(length)?, &accessing, Some(data), false)
    })
}

extern "C" fn injectdata(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    data: u64,
    to: u64,
    address: u64,
    key: u64,
) -> isize {
    done(|| {
        let accessing = endpoint.accessing(to, address, key, Context::NONE);
        endpoint.put(buffer.memory(length)?, &accessing, Some(data), true)
    })
}
