//! `struct fid_mr`: memory that other ranks may access. Messages need none of it: what is
//! registered without a right for others is a key and nothing else.

use crate::abi::{ENABLE, class, flag};
use crate::counter::Counter;
use crate::job::Job;
use crate::memory::Memory;
use crate::object::{Argument, Class, Fid, Given, give, object};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result};
use crate::state::{Bound, Watched};
use crate::transfer::{Exposed, RemoteCounters};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use weft_tagged::remote::AccessRights;

object! {
    /// The object.
    struct Region {
        description: *mut c_void,
        key: u64,
        job: Arc<Job>,
        /// True if others have a right to it.
        is_exposed: bool,
        held: Bound,
    }
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(Region, key) == 32);

impl Class for Region {
    const CLASS: usize = class::MR;

    fn close(&self) -> Result {
        let mut state = self.job.enter();
        if self.is_exposed {
            state.remote.conceal(self.key);
        }
        self.held.release(&mut state.reports);
        Ok(())
    }

    /// Counters count accesses; endpoints need not be told.
    fn bind(&self, other: &Fid, flags: u64) -> Result {
        let Some(counter) = other.object::<Counter>() else { return Ok(()) };
        let mut state = self.job.enter();
        if let Some(region) = state.remote.region_mut(self.key).filter(|_| self.is_exposed) {
            region.counters.bind(counter.id(), flags);
            self.held.add(&mut state.reports, Watched::Counter(counter.id()));
        }
        Ok(())
    }

    /// `fi_mr_enable`: it is from the start.
    fn control(&self, command: c_int, _argument: Argument) -> Result {
        if command == ENABLE { Ok(()) } else { Err(Refusal::UNSUPPORTED) }
    }
}

/// Parameters of a registration, besides the memory.
pub(crate) struct Registration {
    pub access: u64,
    pub offset: u64,
    pub key: u64,
    pub context: Context,
}

impl Registration {
    /// Registers memory: under its key, whose offsets begin at 0; or, if regions are named by
    /// addresses, under one of the provider's.
    pub fn of(self, job: &Arc<Job>, by_address: bool, memory: Memory) -> Result<Given<Region>> {
        let Registration { access, offset, key, context } = self;
        if offset != 0 {
            return Err(Refusal::INVALID);
        }
        let has = |flag: u64| access & flag != 0;
        let rights = AccessRights { read: has(flag::REMOTE_READ), write: has(flag::REMOTE_WRITE) };
        let is_exposed = rights.read || rights.write;
        let (base, key) = match by_address {
            true => (memory.start().number(), job.enter().next_key()),
            false => (0, key),
        };
        if is_exposed {
            let exposed = Exposed { memory, counters: RemoteCounters::default() };
            let outcome = job.enter().remote.expose(key, base, rights, exposed);
            outcome.map_err(|_| Refusal::NO_KEY)?;
        }
        let (fid, held, job) = (Fid::of::<Region>(context), Bound::default(), Arc::clone(job));
        Ok(give(Region { fid, description: std::ptr::null_mut(), key, job, is_exposed, held }))
    }
}
