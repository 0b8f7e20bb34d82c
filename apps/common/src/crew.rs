//! Threads that share memory and nothing else: what programs on Weft are compared with.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// A thread of a crew.
pub struct Crewmate<'a> {
    rank: usize,
    size: usize,
    barrier: &'a Barrier,
}

/// Runs `program` on so many threads, which share what it borrows, and returns what they returned,
/// in order.
pub fn crew<T: Send>(threads: usize, program: impl Fn(&Crewmate<'_>) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let mate = |rank| Crewmate { rank, size: threads, barrier: &barrier };
    thread::scope(|scope| {
        let started: Vec<_> = (1..threads)
            .map(|rank| {
                let (program, mate) = (&program, mate(rank));
                scope.spawn(move || program(&mate))
            })
            .collect();
        let mut all = vec![program(&mate(0))];
        all.extend(
            started.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }),
        );
        all
    })
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
