//! `struct fid_wait`: wait sets, by which a program waits for several queues and counters at once.
//! libfabric deprecates them from version 2 on, and has them still.

use crate::abi::{WAIT_NONE, WAIT_SET, class};
use crate::entry::{call, table};
use crate::job::limit;
use crate::object::{Argument, Class, Fid, Given, give, object};
use crate::pointer::{Context, List};
use crate::refusal::{Refusal, Result};
use crate::watch::Watch;
use std::ffi::c_int;
use std::sync::Arc;

object! {
    /// The object.
    struct WaitSet {
        ops: &'static WaitOps,
        /// Its members have it, too.
        watch: Arc<Watch>,
    }
}

/// `struct fi_wait_attr`.
#[repr(C)]
pub(crate) struct WaitAttr {
    wait_obj: c_int,
    flags: u64,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () =
    assert!(std::mem::offset_of!(WaitAttr, flags) == 8 && std::mem::offset_of!(WaitOps, wait) == 8);

impl Class for WaitSet {
    const CLASS: usize = class::WAIT;

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

/// The watch for a new object: `object` of its attributes, and `set` if that is the value for a
/// wait set.
pub(crate) fn wanted(object: c_int, set: &List<'_, Fid>) -> Result<Arc<Watch>> {
    if object != WAIT_SET {
        return Watch::new(object);
    }
    let set = set.slice(1)?.first().and_then(Fid::object::<WaitSet>);
    Ok(Arc::clone(&set.ok_or(Refusal::INVALID)?.watch))
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

table! {
    /// `struct fi_ops_wait`.
    OPS: WaitOps of WaitSet {
        wait: call |set, timeout_ms: c_int| set.watch.wait(limit(timeout_ms));
    }
}
