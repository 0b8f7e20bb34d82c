//! `struct fid_wait`: wait sets, by which a program waits for several queues and counters at once.
//! libfabric deprecates them from version 2 on, and has them still.

use crate::abi::{WAIT_NONE, WAIT_SET, class};
use crate::job::limit;
use crate::object::{Argument, Class, Fid, FidOps, Given, give, ops};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result, call};
use crate::watch::Watch;
use std::ffi::c_int;
use std::sync::Arc;

/// The object.
#[repr(C)]
pub(crate) struct WaitSet {
    pub(crate) fid: Fid,
    ops: &'static WaitOps,
    /// Its members have it, too.
    watch: Arc<Watch>,
}

/// `struct fi_wait_attr`.
#[repr(C)]
pub(crate) struct WaitAttr {
    wait_obj: c_int,
    flags: u64,
}

#[repr(C)]
struct WaitOps {
    size: usize,
    wait: extern "C" fn(&WaitSet, c_int) -> c_int,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () =
    assert!(std::mem::offset_of!(WaitAttr, flags) == 8 && std::mem::offset_of!(WaitOps, wait) == 8);

static OPS: WaitOps = WaitOps { size: size_of::<WaitOps>(), wait };

static FID_OPS: FidOps = ops::<WaitSet>();

impl Class for WaitSet {
    const CLASS: usize = class::WAIT;
    const OPS: &'static FidOps = &FID_OPS;

    fn close(&self) -> Result {
        if self.watch.is_empty() { Ok(()) } else { Err(Refusal::BUSY) }
    }

    fn control(&self, command: c_int, argument: Argument) -> Result {
        self.watch.control(command, &argument)
    }
}

impl WaitSet {
    /// Watch by which its program waits.
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }
}

/// `fi_wait_open`.
pub(crate) fn open(attributes: Option<&WaitAttr>) -> Result<Given<WaitSet>> {
    let attributes = attributes.ok_or(Refusal::INVALID)?;
    // A set is waited for, and not as a member of another.
    if attributes.flags != 0 || matches!(attributes.wait_obj, WAIT_NONE | WAIT_SET) {
        return Err(Refusal::INVALID);
    }
    let watch = Watch::new(attributes.wait_obj)?;
    Ok(give(WaitSet { fid: Fid::of::<WaitSet>(Context::NONE), ops: &OPS, watch }))
}

extern "C" fn wait(set: &WaitSet, timeout_ms: c_int) -> c_int {
    call(|| set.watch.wait(limit(timeout_ms)))
}
