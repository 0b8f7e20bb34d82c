//! `struct fid_poll`: poll sets, which say in one call which of several queues and counters have
//! something. libfabric deprecates them from version 2 on, and has them still.

use crate::abi::class;
use crate::counter::Counter;
use crate::domain::Domain;
use crate::job::Job;
use crate::object::{Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, Room};
use crate::queue::Queue;
use crate::refusal::{Refusal, Result, call, sized};
use crate::state::{Counts, Watched};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The object. Whoever holds the lock of the job may take that of the members, and not the other
/// way round.
#[repr(C)]
pub(crate) struct PollSet {
    pub(crate) fid: Fid,
    ops: &'static PollOps,
    job: Arc<Job>,
    members: Mutex<Vec<Member>>,
}

struct Member {
    what: Watched,
    /// The program's name for it.
    context: Context,
    /// Of a counter, what the program was told last.
    last: Counts,
}

/// `struct fi_poll_attr`.
#[repr(C)]
pub(crate) struct PollAttr {
    flags: u64,
}

#[repr(C)]
struct PollOps {
    size: usize,
    poll: extern "C" fn(&PollSet, Room<Context>, c_int) -> c_int,
    poll_add: extern "C" fn(&PollSet, Option<&Fid>, u64) -> c_int,
    poll_del: extern "C" fn(&PollSet, Option<&Fid>, u64) -> c_int,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(size_of::<PollAttr>() == 8 && std::mem::offset_of!(PollOps, poll_del) == 24);

static OPS: PollOps = PollOps { size: size_of::<PollOps>(), poll, poll_add, poll_del };

static FID_OPS: FidOps = ops::<PollSet>();

impl Class for PollSet {
    const CLASS: usize = class::POLL;
    const OPS: &'static FidOps = &FID_OPS;

    fn close(&self) -> Result {
        if self.members().is_empty() { Ok(()) } else { Err(Refusal::BUSY) }
    }
}

impl PollSet {
    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that an object can be a member: a queue or counter of the same job. No flags are
    /// known.
    fn member(&self, fid: Option<&Fid>, flags: u64) -> Result<(Watched, Context)> {
        let fid = fid.ok_or(Refusal::INVALID)?;
        let (job, what) = match (fid.object::<Queue>(), fid.object::<Counter>()) {
            (Some(queue), _) => (queue.job(), Watched::Queue(queue.id())),
            (_, Some(counter)) => (counter.job(), Watched::Counter(counter.id())),
            (None, None) => return Err(Refusal::INVALID),
        };
        if flags != 0 || !Arc::ptr_eq(job, &self.job) {
            return Err(Refusal::INVALID);
        }
        Ok((what, fid.context()))
    }
}

/// `fi_poll_open`.
pub(crate) fn open(domain: &Domain, attributes: Option<&PollAttr>) -> Result<Given<PollSet>> {
    if attributes.is_some_and(|attributes| attributes.flags != 0) {
        return Err(Refusal::INVALID);
    }
    let (fid, job) = (Fid::of::<PollSet>(Context::NONE), Arc::clone(domain.job()));
    Ok(give(PollSet { fid, ops: &OPS, job, members: Mutex::default() }))
}

/// Makes progress, and gives the contexts of those that have something, as many as there is room
/// for.
extern "C" fn poll(set: &PollSet, contexts: Room<Context>, count: c_int) -> c_int {
    sized(|| {
        let count = usize::try_from(count).map_err(|_| Refusal::INVALID)?;
        let mut state = set.job.progress()?;
        let mut given = 0;
        for member in set.members().iter_mut() {
            if given == count {
                break;
            }
            if state.reports.tell_poll(member.what, &mut member.last) {
                contexts.set(given, member.context);
                given += 1;
            }
        }
        if given == 0 {
            drop(state);
            set.job.look_in_vain();
        }
        Ok(given)
    }) as c_int
}

/// Adds a member; one that is in the set stays.
extern "C" fn poll_add(set: &PollSet, fid: Option<&Fid>, flags: u64) -> c_int {
    call(|| {
        let (what, context) = set.member(fid, flags)?;
        let mut state = set.job.enter();
        let mut members = set.members();
        if members.iter().all(|member| member.what != what) {
            members.push(Member { what, context, last: Counts::default() });
            state.reports.hold(what);
        }
        Ok(())
    })
}

/// Removes a member, if it is one.
extern "C" fn poll_del(set: &PollSet, fid: Option<&Fid>, flags: u64) -> c_int {
    call(|| {
        let (what, _) = set.member(fid, flags)?;
        let mut state = set.job.enter();
        let mut members = set.members();
        if let Some(place) = members.iter().position(|member| member.what == what) {
            members.remove(place);
            state.reports.release(what);
        }
        Ok(())
    })
}
