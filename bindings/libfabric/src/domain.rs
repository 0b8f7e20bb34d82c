//! `struct fid_domain`: a part in the job. Opening the first one joins it, which all ranks have to
//! do.

use crate::abi::{AtomicAttr, Info, MR_BASIC, RegionAttr, THREAD_SAFE, class};
use crate::counter::{self, Counter, CounterAttr};
use crate::endpoint::{self, Endpoint};
use crate::entry::{Missing, call, table, unsupported};
use crate::job::Job;
use crate::memory::{Buffer, Memory, Vector as Pieces};
use crate::object::{Class, Fid, Given, give, object};
use crate::pointer::{Context, Out};
use crate::poll::{self, PollAttr, PollSet};
use crate::queue::{self, Queue, QueueAttr};
use crate::refusal::{Refusal, Result, no_flags, some};
use crate::region::{Region, Registration};
use crate::vector::{self, Vector, VectorAttr};
use std::ffi::c_int;
use std::sync::Arc;

object! {
    /// The object.
    struct Domain {
        ops: &'static DomainOps,
        regions: &'static RegionOps,
        job: Arc<Job>,
        /// True if regions are named by addresses and by keys of the provider's (`FI_MR_BASIC`).
        has_addresses: bool,
    }
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Domain, regions) == 32
        && std::mem::offset_of!(DomainOps, endpoint2) == 88
        && std::mem::offset_of!(RegionOps, regattr) == 24
);

impl Class for Domain {
    const CLASS: usize = class::DOMAIN;

    fn close(&self) -> Result {
        self.job.close();
        Ok(())
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
    Ok(give(Domain { fid, ops: &OPS, regions: &REGIONS, job, has_addresses }))
}

fn open_endpoint(
    domain: &Domain,
    info: Option<&Info>,
    out: &Out<Given<Endpoint>>,
    context: Context,
) -> Result {
    endpoint::open(&domain.job, some(info)?, context).map(|endpoint| out.set(endpoint))
}

table! {
    /// `struct fi_ops_domain`.
    OPS: DomainOps of Domain {
        av_open: call |domain, attributes: Option<&VectorAttr>, out: Out<Given<Vector>>,
            context: Context|
            vector::open(&domain.job, attributes, context).map(|vector| out.set(vector));
        cq_open: call |domain, attributes: Option<&QueueAttr>, out: Out<Given<Queue>>,
            context: Context|
            queue::open(&domain.job, attributes, context).map(|queue| out.set(queue));
        endpoint: call |domain, info: Option<&Info>, out: Out<Given<Endpoint>>, context: Context|
            open_endpoint(domain, info, &out, context);
        scalable_ep: missing;
        cntr_open: call |domain, attributes: Option<&CounterAttr>, out: Out<Given<Counter>>,
            context: Context|
            counter::open(&domain.job, attributes, context).map(|counter| out.set(counter));
        poll_open: call |domain, attributes: Option<&PollAttr>, out: Out<Given<PollSet>>|
            poll::open(&domain.job, attributes).map(|set| out.set(set));
        stx_ctx: missing;
        srx_ctx: missing;
        query_atomic: call |domain, datatype: c_int, op: c_int, attributes: Out<AtomicAttr>,
            flags: u64|
            endpoint::query_atomic(&domain.job, (datatype, op), flags)
                .map(|found| attributes.set(found));
        query_collective: missing;
        endpoint2: call |domain, info: Option<&Info>, out: Out<Given<Endpoint>>, flags: u64,
            context: Context|
            no_flags(flags).and_then(|()| open_endpoint(domain, info, &out, context));
    }
}

/// `FI_HMEM_SYSTEM`: memory of the machine, not of a device.
const OF_THE_MACHINE: c_int = 0;

fn register(
    domain: &Domain,
    memory: Memory,
    registration: Registration,
    out: &Out<Given<Region>>,
) -> Result {
    registration.of(&domain.job, domain.has_addresses, memory).map(|region| out.set(region))
}

table! {
    /// `struct fi_ops_mr`.
    REGIONS: RegionOps of Domain {
        reg: call |domain, start: Buffer, length: usize, access: u64, offset: u64, key: u64,
            _: u64, out: Out<Given<Region>>, context: Context| {
            let registration = Registration { access, offset, key, context };
            register(domain, start.addresses(length)?, registration, &out)
        };
        regv: call |domain, pieces: Pieces, count: usize, access: u64, offset: u64, key: u64,
            _: u64, out: Out<Given<Region>>, context: Context| {
            let registration = Registration { access, offset, key, context };
            register(domain, pieces.addresses(count)?, registration, &out)
        };
        regattr: call |domain, attributes: Option<&RegionAttr>, _: u64, out: Out<Given<Region>>| {
            let given = some(attributes)?;
            if given.iface != OF_THE_MACHINE || given.auth_key_size != 0 {
                return Err(Refusal::UNSUPPORTED);
            }
            let RegionAttr { access, offset, requested_key: key, context, .. } = *given;
            let registration = Registration { access, offset, key, context };
            let memory = Pieces::of(given.iov).addresses(given.iov_count)?;
            register(domain, memory, registration, &out)
        };
    }
}
