//! `struct fid_mr`: memory that other ranks may access. Messages need none of it: what is
//! registered without a right for others is a key and nothing else.

use crate::abi::{ENABLE, RegionAttr, class, flag};
use crate::counter::Counter;
use crate::domain::Domain;
use crate::job::Job;
use crate::memory::{Buffer, Memory, Vector};
use crate::object::{Argument, Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, Out};
use crate::refusal::{Refusal, Result, call};
use crate::state::{Bound, Watched};
use crate::transfer::{Exposed, RemoteCounters};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use weft_tagged::remote::Rights;

/// The object.
#[repr(C)]
pub(crate) struct Region {
    pub(crate) fid: Fid,
    description: *mut c_void,
    key: u64,
    job: Arc<Job>,
    /// True if others have a right to it.
    is_exposed: bool,
    held: Bound,
}

/// `struct fi_ops_mr`, of domains.
#[repr(C)]
pub(crate) struct RegionOps {
    size: usize,
    reg: extern "C" fn(
        &Fid,
        Buffer,
        usize,
        u64,
        u64,
        u64,
        u64,
        Out<Given<Region>>,
        Context,
    ) -> c_int,
    regv: extern "C" fn(
        &Fid,
        Vector,
        usize,
        u64,
        u64,
        u64,
        u64,
        Out<Given<Region>>,
        Context,
    ) -> c_int,
    regattr: extern "C" fn(&Fid, Option<&RegionAttr>, u64, Out<Given<Region>>) -> c_int,
}

pub(crate) static OPS: RegionOps = RegionOps { size: size_of::<RegionOps>(), reg, regv, regattr };

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Region, key) == 32 && std::mem::offset_of!(RegionOps, regattr) == 24
);

static FID_OPS: FidOps = ops::<Region>();

impl Class for Region {
    const CLASS: usize = class::MR;
    const OPS: &'static FidOps = &FID_OPS;

    fn close(&self) -> Result {
        let mut state = self.job.enter();
        if self.is_exposed {
            state.remote.conceal(self.key);
        }
        self.held.release(&mut state);
        Ok(())
    }

    /// Counters count accesses; endpoints need not be told.
    fn bind(&self, other: &Fid, flags: u64) -> Result {
        let Some(counter) = other.object::<Counter>() else { return Ok(()) };
        let mut state = self.job.enter();
        if let Some(region) = state.remote.region_mut(self.key).filter(|_| self.is_exposed) {
            region.counters.bind(counter.id(), flags);
            self.held.add(&mut state, Watched::Counter(counter.id()));
        }
        Ok(())
    }

    /// `fi_mr_enable`: it is from the start.
    fn control(&self, command: c_int, _argument: Argument) -> Result {
        if command == ENABLE { Ok(()) } else { Err(Refusal::UNSUPPORTED) }
    }
}

/// Parameters of a registration, besides the memory.
struct Asked {
    access: u64,
    offset: u64,
    key: u64,
    context: Context,
}

fn register(domain: &Fid, memory: Memory, asked: &Asked) -> Result<Given<Region>> {
    let domain = domain.object::<Domain>().ok_or(Refusal::INVALID)?;
    let Asked { access, offset, key, context } = *asked;
    if offset != 0 {
        return Err(Refusal::INVALID);
    }
    let has = |flag: u64| access & flag != 0;
    let rights = Rights { read: has(flag::REMOTE_READ), write: has(flag::REMOTE_WRITE) };
    let is_exposed = rights.read || rights.write;
    let job = Arc::clone(domain.job());
    let (base, key) = if domain.has_addresses() {
        (memory.start().number(), job.enter().next_key())
    } else {
        (0, key)
    };
    if is_exposed {
        let exposed = Exposed { memory, counters: RemoteCounters::default() };
        let outcome = job.enter().remote.expose(key, base, rights, exposed);
        outcome.map_err(|_| Refusal::NO_KEY)?;
    }
    let fid = Fid::of::<Region>(context);
    let held = Bound::default();
    Ok(give(Region { fid, description: std::ptr::null_mut(), key, job, is_exposed, held }))
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn reg(
    domain: &Fid,
    start: Buffer,
    length: usize,
    access: u64,
    offset: u64,
    key: u64,
    _flags: u64,
    out: Out<Given<Region>>,
    context: Context,
) -> c_int {
    call(|| {
        let asked = Asked { access, offset, key, context };
        register(domain, start.memory(length)?, &asked).map(|region| out.set(region))
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn regv(
    domain: &Fid,
    pieces: Vector,
    count: usize,
    access: u64,
    offset: u64,
    key: u64,
    _flags: u64,
    out: Out<Given<Region>>,
    context: Context,
) -> c_int {
    call(|| {
        let asked = Asked { access, offset, key, context };
        register(domain, pieces.memory(count)?, &asked).map(|region| out.set(region))
    })
}

/// `FI_HMEM_SYSTEM`: memory of the machine, not of a device.
const OF_THE_MACHINE: c_int = 0;

extern "C" fn regattr(
    domain: &Fid,
    attributes: Option<&RegionAttr>,
    _flags: u64,
    out: Out<Given<Region>>,
) -> c_int {
    call(|| {
        let given = attributes.ok_or(Refusal::INVALID)?;
        if given.iface != OF_THE_MACHINE || given.auth_key_size != 0 {
            return Err(Refusal::UNSUPPORTED);
        }
        let RegionAttr { access, offset, requested_key: key, context, .. } = *given;
        let memory = Vector::of(given.iov).memory(given.iov_count)?;
        let asked = Asked { access, offset, key, context };
        register(domain, memory, &asked).map(|region| out.set(region))
    })
}
