//! `struct fid_fabric`: where domains come from. There is one fabric, Weft.

use crate::abi::{Info, class};
use crate::counter::Counter;
use crate::domain::{self, Domain};
use crate::entry::{Missing, call, table, unsupported};
use crate::events::{self, EventAttr, EventQueue};
use crate::object::{Class, Fid, Given, give, object};
use crate::pointer::{Context, List, Out};
use crate::queue::Queue;
use crate::refusal::{Refusal, Result, no_flags};
use crate::wait::{self, WaitAttr, WaitSet};
use crate::watch::Watch;
use std::ffi::c_int;
use std::sync::Arc;

object! {
    /// The object.
    struct Fabric {
        ops: &'static FabricOps,
        /// The host writes the version that its client asked for here.
        api_version: u32,
    }
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Fabric, api_version) == 32
        && std::mem::offset_of!(FabricOps, domain2) == 48
);

impl Class for Fabric {
    const CLASS: usize = class::FABRIC;
}

/// `fi_fabric`.
pub(crate) fn open(context: Context) -> Given<Fabric> {
    give(Fabric { fid: Fid::of::<Fabric>(context), ops: &OPS, api_version: 0 })
}

/// The watch of this object of the program's, if programs wait for such.
fn watch_of(fid: &Fid) -> Option<&Arc<Watch>> {
    let queue = || fid.object().map(Queue::watch);
    let counter = || fid.object().map(Counter::watch);
    let events = || fid.object().map(EventQueue::watch);
    let set = || fid.object().map(WaitSet::watch);
    queue().or_else(counter).or_else(events).or_else(set)
}

/// Before a program waits for descriptors: refused if there is something for it already.
fn try_wait(fids: &[Option<&Fid>]) -> Result {
    let mut may_wait = true;
    for fid in fids {
        let watch = fid.and_then(watch_of).ok_or(Refusal::INVALID)?;
        may_wait &= watch.prepare_to_wait()?;
    }
    if may_wait { Ok(()) } else { Err(Refusal::AGAIN) }
}

table! {
    /// `struct fi_ops_fabric`.
    OPS: FabricOps of Fabric {
        domain: call |_fabric, info: Option<&Info>, out: Out<Given<Domain>>, context: Context|
            domain::open(info, context).map(|domain| out.set(domain));
        passive_ep: missing;
        eq_open: call |_fabric, attributes: Option<&EventAttr>, out: Out<Given<EventQueue>>,
            context: Context|
            events::open(attributes, context).map(|queue| out.set(queue));
        wait_open: call |_fabric, attributes: Option<&WaitAttr>, out: Out<Given<WaitSet>>|
            wait::open(attributes).map(|set| out.set(set));
        trywait: call |_fabric, fids: List<'_, Option<&Fid>>, count: c_int| {
            let count = usize::try_from(count).map_err(|_| Refusal::INVALID)?;
            try_wait(fids.slice(count)?)
        };
        domain2: call |_fabric, info: Option<&Info>, out: Out<Given<Domain>>, flags: u64,
            context: Context|
            no_flags(flags)
                .and_then(|()| domain::open(info, context).map(|domain| out.set(domain)));
    }
}
