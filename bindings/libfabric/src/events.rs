//! `struct fid_eq`: event queues. Nothing in Weft has events that are no completions, so they stay empty: address
//! vectors are ready when their calls return, and endpoints need no connections.

use crate::abi::class;
use crate::object::{Class, Fid, FidOps, Given, give, ops};
use crate::pointer::Context;
use crate::refusal::{Missing, unsupported};

/// The object.
#[repr(C)]
pub(crate) struct EventQueue {
    pub(crate) fid: Fid,
    ops: &'static EventOps,
}

#[repr(C)]
struct EventOps {
    size: usize,
    read: extern "C" fn(&EventQueue) -> isize,
    readerr: extern "C" fn(&EventQueue) -> isize,
    write: Missing,
    sread: Missing,
    strerror: extern "C" fn(&EventQueue) -> *const std::ffi::c_char,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(EventOps, strerror) == 40);

static OPS: EventOps = EventOps {
    size: size_of::<EventOps>(),
    read: nothing,
    readerr: nothing,
    write: unsupported,
    sread: unsupported,
    strerror,
};

static FID_OPS: FidOps = ops::<EventQueue>();

impl Class for EventQueue {
    const CLASS: usize = class::EQ;
    const OPS: &'static FidOps = &FID_OPS;
}

/// `fi_eq_open`.
pub(crate) fn open(context: Context) -> Given<EventQueue> {
    give(EventQueue { fid: Fid::of::<EventQueue>(context), ops: &OPS })
}

extern "C" fn nothing(_queue: &EventQueue) -> isize {
    -(libc::EAGAIN as isize)
}

extern "C" fn strerror(_queue: &EventQueue) -> *const std::ffi::c_char {
    c"no event of Weft's has an error".as_ptr()
}
