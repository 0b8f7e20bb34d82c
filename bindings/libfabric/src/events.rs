//! `struct fid_eq`: event queues. Nothing in Weft has events that are no completions, so they stay
//! empty: address vectors are ready when their calls return, and endpoints need no connections.

use crate::abi::{WAIT_NONE, class};
use crate::entry::{Missing, unsupported};
use crate::object::{Argument, Class, Fid, Given, give, object};
use crate::pointer::{Context, List};
use crate::refusal::Result;
use crate::state::Watched;
use crate::wait;
use crate::watch::Watch;
use std::ffi::c_int;
use std::sync::Arc;

object! {
    /// The object.
    struct EventQueue {
        ops: &'static EventOps,
        /// Watch by which its program waits: in vain, if nothing else is in it.
        watch: Arc<Watch>,
    }
}

/// `struct fi_eq_attr`, as far as it is read.
#[repr(C)]
pub(crate) struct EventAttr {
    size: usize,
    flags: u64,
    wait_obj: c_int,
    signaling_vector: c_int,
    wait_set: List<'static, Fid>,
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
        && std::mem::offset_of!(EventAttr, wait_set) == 24
);

static OPS: EventOps = EventOps {
    size: size_of::<EventOps>(),
    read: nothing,
    readerr: nothing,
    write: unsupported,
    sread: unsupported,
    strerror,
};

impl Class for EventQueue {
    const CLASS: usize = class::EQ;

    fn close(&self) -> Result {
        self.watch.remove(Watched::Events);
        Ok(())
    }

    fn control(&self, command: c_int, argument: Argument) -> Result {
        self.watch.control(command, &argument)
    }
}

impl EventQueue {
    /// Watch by which its program waits.
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }
}

/// `fi_eq_open`.
pub(crate) fn open(attributes: Option<&EventAttr>, context: Context) -> Result<Given<EventQueue>> {
    let watch = match attributes {
        Some(given) => wait::wanted(given.wait_obj, &given.wait_set)?,
        None => Watch::new(WAIT_NONE)?,
    };
    watch.add_events();
    Ok(give(EventQueue { fid: Fid::of::<EventQueue>(context), ops: &OPS, watch }))
}

extern "C" fn nothing(_queue: &EventQueue) -> isize {
    -(libc::EAGAIN as isize)
}

extern "C" fn strerror(_queue: &EventQueue) -> *const std::ffi::c_char {
    c"no event of Weft's has an error".as_ptr()
}
