//! `struct fid_domain`: a part in the job. Opening the first one joins it, which all ranks have to
//! do.

use crate::abi::{AtomicAttr, Info, MR_BASIC, THREAD_SAFE, class};
use crate::counter::{Counter, CounterAttr};
use crate::endpoint::Endpoint;
use crate::job::Job;
use crate::object::{Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, Out};
use crate::poll::{PollAttr, PollSet};
use crate::queue::{Queue, QueueAttr};
use crate::refusal::{Missing, Refusal, Result, call, unsupported};
use crate::region::{self, RegionOps};
use crate::vector::{Vector, VectorAttr};
use std::ffi::c_int;
use std::sync::Arc;

/// The object.
#[repr(C)]
pub(crate) struct Domain {
    pub(crate) fid: Fid,
    ops: &'static DomainOps,
    regions: &'static RegionOps,
    job: Arc<Job>,
    /// True if regions are named by addresses and by keys of the provider's (`FI_MR_BASIC`).
    has_addresses: bool,
}

#[repr(C)]
struct DomainOps {
    size: usize,
    av_open: extern "C" fn(&Domain, Option<&VectorAttr>, Out<Given<Vector>>, Context) -> c_int,
    cq_open: extern "C" fn(&Domain, Option<&QueueAttr>, Out<Given<Queue>>, Context) -> c_int,
    endpoint: extern "C" fn(&Domain, Option<&Info>, Out<Given<Endpoint>>, Context) -> c_int,
    scalable_ep: Missing,
    cntr_open: extern "C" fn(&Domain, Option<&CounterAttr>, Out<Given<Counter>>, Context) -> c_int,
    poll_open: extern "C" fn(&Domain, Option<&PollAttr>, Out<Given<PollSet>>) -> c_int,
    stx_ctx: Missing,
    srx_ctx: Missing,
    query_atomic: extern "C" fn(&Domain, c_int, c_int, Out<AtomicAttr>, u64) -> c_int,
    query_collective: Missing,
    endpoint2: extern "C" fn(&Domain, Option<&Info>, Out<Given<Endpoint>>, u64, Context) -> c_int,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Domain, regions) == 32 && std::mem::offset_of!(DomainOps, endpoint2) == 88
);

static OPS: DomainOps = DomainOps {
    size: size_of::<DomainOps>(),
    av_open,
    cq_open,
    endpoint,
    scalable_ep: unsupported,
    cntr_open,
    poll_open,
    stx_ctx: unsupported,
    srx_ctx: unsupported,
    query_atomic: crate::endpoint::query_atomic,
    query_collective: unsupported,
    endpoint2,
};

static FID_OPS: FidOps = ops::<Domain>();

impl Class for Domain {
    const CLASS: usize = class::DOMAIN;
    const OPS: &'static FidOps = &FID_OPS;

    fn close(&self) -> Result {
        self.job.close();
        Ok(())
    }
}

impl Domain {
    /// The job.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// True if regions are named by addresses.
    pub fn has_addresses(&self) -> bool {
        self.has_addresses
    }
}

/// `fi_domain`. Blocks until all ranks of the job are there.
pub(crate) fn open(info: Option<&Info>, context: Context) -> Result<Given<Domain>> {
    let asked = info.and_then(crate::info::domain_of);
    let threading = asked.map(|domain| domain.threading);
    let has_addresses = asked.is_some_and(|domain| domain.mr_mode == MR_BASIC);
    let job = Job::open()?;
    if threading.is_none_or(|threading| threading <= THREAD_SAFE) {
        job.share();
    }
    let fid = Fid::of::<Domain>(context);
    Ok(give(Domain { fid, ops: &OPS, regions: &region::OPS, job, has_addresses }))
}

extern "C" fn av_open(
    domain: &Domain,
    attributes: Option<&VectorAttr>,
    out: Out<Given<Vector>>,
    context: Context,
) -> c_int {
    call(|| crate::vector::open(domain, attributes, context).map(|vector| out.set(vector)))
}

extern "C" fn cq_open(
    domain: &Domain,
    attributes: Option<&QueueAttr>,
    out: Out<Given<Queue>>,
    context: Context,
) -> c_int {
    call(|| crate::queue::open(domain, attributes, context).map(|queue| out.set(queue)))
}

extern "C" fn cntr_open(
    domain: &Domain,
    attributes: Option<&CounterAttr>,
    out: Out<Given<Counter>>,
    context: Context,
) -> c_int {
    call(|| crate::counter::open(domain, attributes, context).map(|counter| out.set(counter)))
}

extern "C" fn poll_open(
    domain: &Domain,
    attributes: Option<&PollAttr>,
    out: Out<Given<PollSet>>,
) -> c_int {
    call(|| crate::poll::open(domain, attributes).map(|set| out.set(set)))
}

extern "C" fn endpoint(
    domain: &Domain,
    info: Option<&Info>,
    out: Out<Given<Endpoint>>,
    context: Context,
) -> c_int {
    call(|| {
        let info = info.ok_or(Refusal::INVALID)?;
        crate::endpoint::open(domain, info, context).map(|endpoint| out.set(endpoint))
    })
}

extern "C" fn endpoint2(
    domain: &Domain,
    info: Option<&Info>,
    out: Out<Given<Endpoint>>,
    flags: u64,
    context: Context,
) -> c_int {
    if flags != 0 { unsupported() as c_int } else { endpoint(domain, info, out, context) }
}
