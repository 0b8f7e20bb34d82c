//! Popup threads (thesis 6.2.3): a pool of threads, one for each handler that is blocked.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Threads at most; handlers beyond them wait for one.
const MOST_THREADS: usize = 256;

pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Threads that run handlers. They end with the pool.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    has_threads: bool,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    arrived: Condvar,
}

#[derive(Default)]
struct Work {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: usize,
    closed: bool,
}

impl Pool {
    /// No threads yet. Without `has_threads` there never are: jobs run in place.
    pub fn new(has_threads: bool) -> Self {
        Pool { shared: Arc::default(), has_threads }
    }

    /// Runs `job` on an idle thread, or a new one; does not wait for it.
    pub fn run(&self, job: Job) {
        if !self.has_threads {
            return job();
        }
        let mut work = self.shared.lock();
        work.jobs.push_back(job);
        if work.idle >= work.jobs.len() || work.threads == MOST_THREADS {
            drop(work);
            return self.shared.arrived.notify_one();
        }
        work.threads += 1;
        drop(work);
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("weft-popup".into());
        if thread.spawn(move || shared.serve()).is_err() {
            // The system has no more threads: those that there are go on with it.
            self.without_a_thread();
        }
    }

    /// Ends the threads, each when it is done with what it does.
    pub fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.arrived.notify_all();
    }

    /// Runs what waits in place if there is no thread at all to do so.
    #[cold]
    fn without_a_thread(&self) {
        let mut work = self.shared.lock();
        work.threads -= 1;
        let job = if work.threads == 0 { work.jobs.pop_front() } else { None };
        drop(work);
        if let Some(job) = job {
            job();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn serve(&self) {
        let mut work = self.lock();
        loop {
            if let Some(job) = work.jobs.pop_front() {
                drop(work);
                job();
                work = self.lock();
            } else if work.closed {
                return;
            } else {
                work.idle += 1;
                work = self.arrived.wait(work).unwrap_or_else(PoisonError::into_inner);
                work.idle -= 1;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
