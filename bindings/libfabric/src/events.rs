//! `struct fid_eq`: event queues. Nothing in Weft has events that are no completions, so they stay empty: address
//! vectors are ready when their calls return, and endpoints need no connections.

use crate::abi::{WAIT_NONE, class};
use crate::descriptor::{self, Descriptor};
use crate::object::{Argument, Class, Fid, FidOps, Given, give, ops};
use crate::pointer::Context;
use crate::refusal::{Missing, Result, unsupported};
use std::ffi::c_int;

/// The object.
#[repr(C)]
pub(crate) struct EventQueue {
    pub(crate) fid: Fid,
    ops: &'static EventOps,
    /// What its program waits for, in vain: `enum fi_wait_obj`, and a descriptor if it is one.
    wait: c_int,
    descriptor: Option<Descriptor>,
}

/// `struct fi_eq_attr`, as far as it is read.
#[repr(C)]
pub(crate) struct EventAttr {
    size: usize,
    flags: u64,
    wait_obj: c_int,
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
const _: () = assert!(
    std::mem::offset_of!(EventOps, strerror) == 40
        && std::mem::offset_of!(EventAttr, wait_obj) == 16
);

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

    fn control(&self, command: c_int, argument: Argument) -> Result {
        let number = self.descriptor.as_ref().map(Descriptor::number);
        descriptor::control(command, &argument, self.wait, number)
    }
}

/// `fi_eq_open`.
pub(crate) fn open(attributes: Option<&EventAttr>, context: Context) -> Result<Given<EventQueue>> {
    let wait = attributes.map_or(WAIT_NONE, |given| given.wait_obj);
    let (fid, descriptor) = (Fid::of::<EventQueue>(context), Descriptor::wanted(wait)?);
    Ok(give(EventQueue { fid, ops: &OPS, wait, descriptor }))
}

extern "C" fn nothing(_queue: &EventQueue) -> isize {
    -(libc::EAGAIN as isize)
}

extern "C" fn strerror(_queue: &EventQueue) -> *const std::ffi::c_char {
    c"no event of Weft's has an error".as_ptr()
}
