//! Objects that a program waits for at once: the members of a wait set, or one queue or counter
//! alone, which is a set of its own.

use crate::abi::{GETWAIT, GETWAITOBJ};
use crate::descriptor::Descriptor;
use crate::job::Job;
use crate::object::Argument;
use crate::refusal::{Refusal, Result};
use crate::state::{State, Watched};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Several things that have news for a program, and how it hears of them. A thread that holds the
/// lock of the job may take that of the members, and not the other way round.
pub(crate) struct Watch {
    /// `enum fi_wait_obj`.
    object: c_int,
    descriptor: Option<Arc<Descriptor>>,
    /// True if the next that waits, or waits already, is to come back (`fi_cq_signal`).
    is_signaled: AtomicBool,
    members: Mutex<Members>,
}

#[derive(Default)]
struct Members {
    /// Of queues and counters, if there are any.
    job: Option<Arc<Job>>,
    all: Vec<Watched>,
}

impl Watch {
    /// Of nothing yet.
    pub fn new(object: c_int) -> Result<Arc<Self>> {
        let descriptor = Descriptor::wanted(object)?;
        let (is_signaled, members) = (AtomicBool::new(false), Mutex::default());
        Ok(Arc::new(Watch { object, descriptor, is_signaled, members }))
    }

    /// Checks that it may watch objects of this job: all that it watches are of one.
    pub fn admits(&self, job: &Arc<Job>) -> Result {
        match self.job() {
            Some(known) if !Arc::ptr_eq(&known, job) => Err(Refusal::INVALID),
            _ => Ok(()),
        }
    }

    /// Has it watch a queue or counter of this job, too.
    pub fn add(&self, job: &Arc<Job>, what: Watched) {
        let mut members = self.members();
        members.job = Some(Arc::clone(job));
        members.all.push(what);
    }

    /// Has it watch an event queue, too.
    pub fn add_events(&self) {
        self.members().all.push(Watched::Events);
    }

    /// Has it watch this no more.
    pub fn remove(&self, what: Watched) {
        let mut members = self.members();
        if let Some(place) = members.all.iter().position(|known| *known == what) {
            members.all.swap_remove(place);
        }
        if members.all.iter().all(|left| *left == Watched::Events) {
            members.job = None;
        }
    }

    /// True if it watches nothing.
    pub fn is_empty(&self) -> bool {
        self.members().all.is_empty()
    }

    /// Descriptor that rings when there is something.
    pub fn descriptor(&self) -> Option<Arc<Descriptor>> {
        self.descriptor.clone()
    }

    /// Has one that waits come back, now or when it comes (`fi_cq_signal`).
    pub fn signal(&self, job: &Job) {
        self.is_signaled.store(true, Ordering::Release);
        if let Some(descriptor) = &self.descriptor {
            // The thread that clears the descriptor has seen the signal, or is done.
            let _state = job.enter();
            descriptor.ring();
        }
        job.nudge();
    }

    /// True if it was signaled; once for each time.
    pub fn is_signaled(&self) -> bool {
        self.is_signaled.load(Ordering::Relaxed) && self.is_signaled.swap(false, Ordering::Acquire)
    }

    /// Before the program waits for the descriptor: whether it may, because there is nothing for
    /// it.
    pub fn prepare_to_wait(&self) -> Result<bool> {
        match self.job() {
            Some(job) => job.prepare_to_wait(|state| {
                let may_wait = !self.is_signaled() && !self.has_news(state);
                if may_wait {
                    self.quiet();
                }
                may_wait
            }),
            None => {
                self.quiet();
                Ok(true)
            }
        }
    }

    /// Waits until there may be something for the program. A wait for ever that nothing can end is
    /// refused.
    pub fn wait(&self, limit: Option<Duration>) -> Result {
        match (self.job(), limit) {
            (Some(job), limit) => job.wait_in_time(limit, |state| {
                (self.has_news(state) || self.is_signaled()).then_some(())
            }),
            (None, Some(limit)) => {
                std::thread::sleep(limit);
                Err(Refusal::TIMED_OUT)
            }
            (None, None) => Err(Refusal::INVALID),
        }
    }

    /// `fi_control` of what it watches, and of a set: `FI_GETWAIT` and `FI_GETWAITOBJ`.
    pub fn control(&self, command: c_int, argument: &Argument) -> Result {
        match (command, &self.descriptor) {
            (GETWAIT, Some(descriptor)) => argument.out().set(descriptor.number()),
            (GETWAITOBJ, _) => argument.out().set(self.object),
            _ => return Err(Refusal::UNSUPPORTED),
        }
        Ok(())
    }

    /// True if any member has something that its program has not read.
    fn has_news(&self, state: &State) -> bool {
        self.members().all.iter().any(|what| state.reports.has_news(*what))
    }

    fn quiet(&self) {
        if let Some(descriptor) = &self.descriptor {
            descriptor.quiet();
        }
    }

    fn job(&self) -> Option<Arc<Job>> {
        self.members().job.clone()
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
