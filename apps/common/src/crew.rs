//! Threads that share memory and nothing else: what programs on Weft are compared with.

use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A thread of a crew.
pub struct Crewmate<'a> {
    rank: usize,
    size: usize,
    barrier: &'a Barrier,
}

/// Runs `program` on so many threads, which share what it borrows, and returns what they returned,
/// in order. Each stays on one of the cores that this process may use, in turn, as ranks do:
/// threads that sleep and wake often may otherwise all be left on one.
pub fn crew<T: Send>(threads: usize, program: impl Fn(&Crewmate<'_>) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let cores = cores();
    thread::scope(|scope| {
        let start = |rank: usize| {
            let mate = Crewmate { rank, size: threads, barrier: &barrier };
            let (program, core) = (&program, cores.get(rank % cores.len().max(1)).copied());
            scope.spawn(move || {
                if let Some(core) = core {
                    let mut one = CpuSet::new();
                    one.set(core);
                    // Where it cannot be bound it runs all the same.
                    let _ = sched_setaffinity(None, &one);
                }
                program(&mate)
            })
        };
        let started: Vec<_> = (0..threads).map(start).collect();
        let joined = started.into_iter().map(|thread| thread.join());
        joined.map(|of| of.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Cores that this process may use; none if nobody says.
fn cores() -> Vec<usize> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect()
}

/// Contents of a mutex, also where a thread has panicked that held it: a crew panics as a whole.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crewmate<'_> {
    /// Number of this thread.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of threads.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Waits until all threads have called it as often.
    pub fn barrier(&self) {
        self.barrier.wait();
    }

    /// Runs `part` between two barriers. Returns its result, and how long it took until all threads
    /// were through.
    pub fn timed<T>(&self, part: impl FnOnce() -> T) -> (T, Duration) {
        self.barrier();
        let start = Instant::now();
        let value = part();
        self.barrier();
        (value, start.elapsed())
    }
}

#[cfg(test)]
mod tests;
