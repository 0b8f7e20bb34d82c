//! `struct fid_cntr`: counters of completions. A read makes progress.

use crate::abi::{WAIT_NONE, class};
use crate::entry::call;
use crate::job::{Job, limit};
use crate::object::{Argument, Class, Fid, Given, give, object};
use crate::pointer::{Context, List};
use crate::refusal::{Refusal, Result};
use crate::slots::CounterId;
use crate::state::{Counts, Watched};
use crate::wait;
use crate::watch::Watch;
use std::ffi::c_int;
use std::sync::Arc;

object! {
    /// The object.
    struct Counter {
        ops: &'static CounterOps,
        job: Arc<Job>,
        id: CounterId,
        /// Watch by which its program waits.
        watch: Arc<Watch>,
    }
}

/// `struct fi_cntr_attr`, as far as it is read.
#[repr(C)]
pub(crate) struct CounterAttr {
    events: c_int,
    wait_obj: c_int,
    wait_set: List<'static, Fid>,
}

#[repr(C)]
struct CounterOps {
    size: usize,
    read: extern "C" fn(&Counter) -> u64,
    readerr: extern "C" fn(&Counter) -> u64,
    add: extern "C" fn(&Counter, u64) -> c_int,
    set: extern "C" fn(&Counter, u64) -> c_int,
    wait: extern "C" fn(&Counter, u64, c_int) -> c_int,
    adderr: extern "C" fn(&Counter, u64) -> c_int,
    seterr: extern "C" fn(&Counter, u64) -> c_int,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(CounterAttr, wait_obj) == 4
        && std::mem::offset_of!(CounterAttr, wait_set) == 8
        && std::mem::offset_of!(CounterOps, seterr) == 56
);

static OPS: CounterOps =
    CounterOps { size: size_of::<CounterOps>(), read, readerr, add, set, wait, adderr, seterr };

impl Class for Counter {
    const CLASS: usize = class::CNTR;

    fn close(&self) -> Result {
        self.job.enter().reports.close_counter(self.id)?;
        self.watch.remove(Watched::Counter(self.id));
        Ok(())
    }

    fn control(&self, command: c_int, argument: Argument) -> Result {
        self.watch.control(command, &argument)
    }
}

impl Counter {
    /// Number of the counter in its job.
    pub fn id(&self) -> CounterId {
        self.id
    }

    /// Job that it belongs to.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// Watch by which its program waits.
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }
}

/// `fi_cntr_open`.
pub(crate) fn open(
    job: &Arc<Job>,
    attributes: Option<&CounterAttr>,
    context: Context,
) -> Result<Given<Counter>> {
    let watch = match attributes {
        Some(given) if given.events != 0 => return Err(Refusal::UNSUPPORTED),
        Some(given) => wait::wanted(given.wait_obj, &given.wait_set)?,
        None => Watch::new(WAIT_NONE)?,
    };
    watch.admits(job)?;
    let id = job.enter().reports.open_counter(watch.descriptor())?;
    watch.add(job, Watched::Counter(id));
    let job = Arc::clone(job);
    Ok(give(Counter { fid: Fid::of::<Counter>(context), ops: &OPS, job, id, watch }))
}

/// The counts after progress, or what they were.
fn counts(counter: &Counter) -> Counts {
    let mut seen = Counts::default();
    let _ = call(|| {
        let made = counter.job.progress().map(drop);
        seen = counter.job.enter().reports.counts(counter.id);
        made
    });
    seen
}

fn change(counter: &Counter, change: impl FnOnce(&mut Counts)) -> c_int {
    call(|| {
        counter.job.enter().reports.change_counts(counter.id, change);
        counter.job.nudge();
        Ok(())
    })
}

extern "C" fn read(counter: &Counter) -> u64 {
    counts(counter).successes
}

extern "C" fn readerr(counter: &Counter) -> u64 {
    counts(counter).errors
}

extern "C" fn add(counter: &Counter, amount: u64) -> c_int {
    change(counter, |counts| counts.successes = counts.successes.wrapping_add(amount))
}

extern "C" fn set(counter: &Counter, value: u64) -> c_int {
    change(counter, |counts| counts.successes = value)
}

extern "C" fn adderr(counter: &Counter, amount: u64) -> c_int {
    change(counter, |counts| counts.errors = counts.errors.wrapping_add(amount))
}

extern "C" fn seterr(counter: &Counter, value: u64) -> c_int {
    change(counter, |counts| counts.errors = value)
}

extern "C" fn wait(counter: &Counter, threshold: u64, timeout_ms: c_int) -> c_int {
    call(|| {
        let errors = counter.job.enter().reports.counts(counter.id).errors;
        counter.job.wait_in_time(limit(timeout_ms), |state| {
            let counts = state.reports.counts(counter.id);
            match (counts.successes >= threshold, counts.errors > errors) {
                (true, _) => Some(Ok(())),
                (false, true) => Some(Err(Refusal::ERROR_WAITS)),
                (false, false) => None,
            }
        })?
    })
}
