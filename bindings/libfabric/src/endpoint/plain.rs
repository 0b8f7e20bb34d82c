//! `struct fi_ops_msg`: messages without tags.

use super::{Description, Endpoint, Sent, Wanted};
use crate::abi::{PlainMessage, flag};
use crate::memory::{Buffer, Vector};
use crate::pointer::Context;
use crate::refusal::{Refusal, done};
use weft_tagged::Kind;

#[repr(C)]
pub(super) struct PlainOps {
    size: usize,
    recv: extern "C" fn(&Endpoint, Buffer, usize, Description, u64, Context) -> isize,
    recvv: extern "C" fn(&Endpoint, Vector, Description, usize, u64, Context) -> isize,
    recvmsg: extern "C" fn(&Endpoint, Option<&PlainMessage>, u64) -> isize,
    send: extern "C" fn(&Endpoint, Buffer, usize, Description, u64, Context) -> isize,
    sendv: extern "C" fn(&Endpoint, Vector, Description, usize, u64, Context) -> isize,
    sendmsg: extern "C" fn(&Endpoint, Option<&PlainMessage>, u64) -> isize,
    inject: extern "C" fn(&Endpoint, Buffer, usize, u64) -> isize,
    senddata: extern "C" fn(&Endpoint, Buffer, usize, Description, u64, u64, Context) -> isize,
    injectdata: extern "C" fn(&Endpoint, Buffer, usize, u64, u64) -> isize,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(PlainOps, injectdata) == 72);

pub(super) static OPS: PlainOps = PlainOps {
    size: size_of::<PlainOps>(),
    recv,
    recvv,
    recvmsg,
    send,
    sendv,
    sendmsg,
    inject,
    senddata,
    injectdata,
};

fn wanted(from: u64, flags: u64, context: Context) -> Wanted {
    Wanted { kind: Kind::Untagged, from, tag: 0, ignore: 0, flags, context }
}

fn sent(to: u64, data: Option<u64>, flags: u64, context: Context) -> Sent {
    Sent { kind: Kind::Untagged, to, tag: 0, data, flags, context }
}

extern "C" fn recv(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    from: u64,
    context: Context,
) -> isize {
    done(|| {
        let wanted = wanted(from, endpoint.receive_flags, context);
        endpoint.receive(buffer.memory(length)?, wanted)
    })
}

extern "C" fn recvv(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    from: u64,
    context: Context,
) -> isize {
    done(|| {
        let wanted = wanted(from, endpoint.receive_flags, context);
        endpoint.receive(vector.memory(count)?, wanted)
    })
}

extern "C" fn recvmsg(endpoint: &Endpoint, message: Option<&PlainMessage>, flags: u64) -> isize {
    done(|| {
        let message = message.ok_or(Refusal::INVALID)?;
        if flags & (flag::PEEK | flag::CLAIM | flag::DISCARD) != 0 {
            return Err(Refusal::UNSUPPORTED);
        }
        let memory = Vector::of(message.iov).memory(message.iov_count)?;
        endpoint.receive(memory, wanted(message.addr, flags, message.context))
    })
}

extern "C" fn send(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    to: u64,
    context: Context,
) -> isize {
    done(|| {
        let sent = sent(to, None, endpoint.send_flags, context);
        endpoint.send(buffer.memory(length)?, sent, false)
    })
}

extern "C" fn sendv(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    to: u64,
    context: Context,
) -> isize {
    done(|| {
        let sent = sent(to, None, endpoint.send_flags, context);
        endpoint.send(vector.memory(count)?, sent, false)
    })
}

extern "C" fn sendmsg(endpoint: &Endpoint, message: Option<&PlainMessage>, flags: u64) -> isize {
    done(|| {
        let message = message.ok_or(Refusal::INVALID)?;
        let data = (flags & flag::REMOTE_CQ_DATA != 0).then_some(message.data);
        let memory = Vector::of(message.iov).memory(message.iov_count)?;
        endpoint.send(memory, sent(message.addr, data, flags, message.context), false)
    })
}

extern "C" fn inject(endpoint: &Endpoint, buffer: Buffer, length: usize, to: u64) -> isize {
    done(|| endpoint.inject((buffer, length), Kind::Untagged, to, 0, None))
}

extern "C" fn senddata(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    data: u64,
    to: u64,
    context: Context,
) -> isize {
    done(|| {
        let sent = sent(to, Some(data), endpoint.send_flags, context);
        endpoint.send(buffer.memory(length)?, sent, false)
    })
}

extern "C" fn injectdata(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    data: u64,
    to: u64,
) -> isize {
    done(|| endpoint.inject((buffer, length), Kind::Untagged, to, 0, Some(data)))
}
