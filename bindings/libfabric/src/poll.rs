//! `struct fid_poll`: poll sets, which say in one call which of several queues and counters have
//! something. libfabric deprecates them from version 2 on, and has them still.

use crate::abi::class;
use crate::counter::Counter;
use crate::entry::{call, count, table};
use crate::job::Job;
use crate::object::{Class, Fid, Given, give, object};
use crate::pointer::{Context, Room};
use crate::queue::Queue;
use crate::refusal::{Refusal, Result};
use crate::state::{Counts, Watched};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

object! {
    /// The object. A thread that holds the lock of the job may take that of the members, and not
    /// the other way round.
    struct PollSet {
        ops: &'static PollOps,
        job: Arc<Job>,
        members: Mutex<Vec<Member>>,
    }
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

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(size_of::<PollAttr>() == 8 && std::mem::offset_of!(PollOps, poll_del) == 24);

impl Class for PollSet {
    const CLASS: usize = class::POLL;

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
pub(crate) fn open(job: &Arc<Job>, attributes: Option<&PollAttr>) -> Result<Given<PollSet>> {
    if attributes.is_some_and(|attributes| attributes.flags != 0) {
        return Err(Refusal::INVALID);
    }
    let (fid, job) = (Fid::of::<PollSet>(Context::NONE), Arc::clone(job));
    Ok(give(PollSet { fid, ops: &OPS, job, members: Mutex::default() }))
}

impl PollSet {
    /// Makes progress, and gives the contexts of those that have something, as many as there is
    /// room for.
    fn poll(&self, contexts: &Room<Context>, room: usize) -> Result<usize> {
        let mut state = self.job.progress()?;
        let mut given = 0;
        for member in self.members().iter_mut() {
            if given == room {
                break;
            }
            if state.reports.tell_poll(member.what, &mut member.last) {
                contexts.set(given, member.context);
                given += 1;
            }
        }
        if given == 0 {
            drop(state);
            self.job.look_in_vain();
        }
        Ok(given)
    }

    /// Adds a member; one that is in the set stays.
    fn add(&self, (what, context): (Watched, Context)) {
        let mut state = self.job.enter();
        let mut members = self.members();
        if members.iter().all(|member| member.what != what) {
            members.push(Member { what, context, last: Counts::default() });
            state.reports.hold(what);
        }
    }

    /// Removes a member, if it is one.
    fn remove(&self, what: Watched) {
        let mut state = self.job.enter();
        let mut members = self.members();
        if let Some(place) = members.iter().position(|member| member.what == what) {
            members.remove(place);
            state.reports.release(what);
        }
    }
}

table! {
    /// `struct fi_ops_poll`.
    OPS: PollOps of PollSet {
        poll: count |set, contexts: Room<Context>, room: c_int|
            set.poll(&contexts, usize::try_from(room).map_err(|_| Refusal::INVALID)?);
        poll_add: call |set, fid: Option<&Fid>, flags: u64|
            set.member(fid, flags).map(|member| set.add(member));
        poll_del: call |set, fid: Option<&Fid>, flags: u64|
            set.member(fid, flags).map(|(what, _)| set.remove(what));
    }
}
