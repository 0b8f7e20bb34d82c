//! `struct fi_ops_tagged`: messages with tags.

use super::{Description, Endpoint, Sent, Wanted};
use crate::abi::{TaggedMessage, flag};
use crate::memory::{Buffer, Vector};
use crate::pointer::Context;
use crate::refusal::{Refusal, done};
use weft_tagged::Kind;

type SendTo = extern "C" fn(&Endpoint, Buffer, usize, Description, u64, u64, Context) -> isize;
type ReceiveFrom =
    extern "C" fn(&Endpoint, Buffer, usize, Description, u64, u64, u64, Context) -> isize;

#[repr(C)]
pub(super) struct TaggedOps {
    size: usize,
    recv: ReceiveFrom,
    recvv: extern "C" fn(&Endpoint, Vector, Description, usize, u64, u64, u64, Context) -> isize,
    recvmsg: extern "C" fn(&Endpoint, Option<&TaggedMessage>, u64) -> isize,
    send: SendTo,
    sendv: extern "C" fn(&Endpoint, Vector, Description, usize, u64, u64, Context) -> isize,
    sendmsg: extern "C" fn(&Endpoint, Option<&TaggedMessage>, u64) -> isize,
    inject: extern "C" fn(&Endpoint, Buffer, usize, u64, u64) -> isize,
    senddata: extern "C" fn(&Endpoint, Buffer, usize, Description, u64, u64, u64, Context) -> isize,
    injectdata: extern "C" fn(&Endpoint, Buffer, usize, u64, u64, u64) -> isize,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(TaggedOps, injectdata) == 72);

pub(super) static OPS: TaggedOps = TaggedOps {
    size: size_of::<TaggedOps>(),
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

impl Endpoint {
    fn receive_tagged(&self, from: u64, tag: u64, ignore: u64, context: Context) -> Wanted {
        Wanted { kind: Kind::Tagged, from, tag, ignore, flags: self.receive_flags, context }
    }

    fn send_tagged(&self, to: u64, tag: u64, data: Option<u64>, context: Context) -> Sent {
        Sent { kind: Kind::Tagged, to, tag, data, flags: self.send_flags, context }
    }
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn recv(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    from: u64,
    tag: u64,
    ignore: u64,
    context: Context,
) -> isize {
    done(|| {
        let wanted = endpoint.receive_tagged(from, tag, ignore, context);
        endpoint.receive(buffer.memory(length)?, wanted)
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn recvv(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    from: u64,
    tag: u64,
    ignore: u64,
    context: Context,
) -> isize {
    done(|| {
        let wanted = endpoint.receive_tagged(from, tag, ignore, context);
        endpoint.receive(vector.memory(count)?, wanted)
    })
}

extern "C" fn recvmsg(endpoint: &Endpoint, message: Option<&TaggedMessage>, flags: u64) -> isize {
    done(|| {
        let message = message.ok_or(Refusal::INVALID)?;
        let TaggedMessage { addr, tag, ignore, context, .. } = *message;
        let wanted = Wanted { kind: Kind::Tagged, from: addr, tag, ignore, flags, context };
        endpoint.receive(Vector::of(message.iov).memory(message.iov_count)?, wanted)
    })
}

extern "C" fn send(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    to: u64,
    tag: u64,
    context: Context,
) -> isize {
    done(|| {
        let sent = endpoint.send_tagged(to, tag, None, context);
        endpoint.send_or_keep((buffer, length), sent)
    })
}

extern "C" fn sendv(
    endpoint: &Endpoint,
    vector: Vector,
    _description: Description,
    count: usize,
    to: u64,
    tag: u64,
    context: Context,
) -> isize {
    done(|| {
        let sent = endpoint.send_tagged(to, tag, None, context);
        endpoint.send(vector.memory(count)?, sent, false)
    })
}

extern "C" fn sendmsg(endpoint: &Endpoint, message: Option<&TaggedMessage>, flags: u64) -> isize {
    done(|| {
        let message = message.ok_or(Refusal::INVALID)?;
        let TaggedMessage { addr, tag, context, .. } = *message;
        let data = (flags & flag::REMOTE_CQ_DATA != 0).then_some(message.data);
        let sent = Sent { kind: Kind::Tagged, to: addr, tag, data, flags, context };
        endpoint.send(Vector::of(message.iov).memory(message.iov_count)?, sent, false)
    })
}

extern "C" fn inject(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    to: u64,
    tag: u64,
) -> isize {
    done(|| endpoint.inject((buffer, length), Kind::Tagged, to, tag, None))
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn senddata(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    _description: Description,
    data: u64,
    to: u64,
    tag: u64,
    context: Context,
) -> isize {
    done(|| {
        let sent = endpoint.send_tagged(to, tag, Some(data), context);
        endpoint.send_or_keep((buffer, length), sent)
    })
}

extern "C" fn injectdata(
    endpoint: &Endpoint,
    buffer: Buffer,
    length: usize,
    data: u64,
    to: u64,
    tag: u64,
) -> isize {
    done(|| endpoint.inject((buffer, length), Kind::Tagged, to, tag, Some(data)))
}
