//! Costs of the machine, as times: what waiting is measured against.
//!
//! A pause takes 10 to 60 ns by processor, and a line of memory crosses from one core to another in
//! 40 to 250 ns, by where the host has put two virtual cores. Neither is known before a program
//! runs, so both are measured.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Pauses of a measurement, and measurements of which the shortest counts: in others the core was
/// taken away, or its other thread was busy. It takes some 10 us in all.
const PAUSES: u32 = 64;
const PAUSE_SAMPLES: u32 = 5;

/// Round trips of a line in a sample, samples, and the longest time that all of them take: where
/// both threads have to share a core a round trip takes milliseconds.
const TRIPS: u64 = 200;
const LINE_SAMPLES: usize = 21;
const LINE_TIME: Duration = Duration::from_millis(20);

/// Instructions that one pause stands for. A build with `--cfg weft_pauses="3"` shows what another
/// processor does, on this one (`docs/internals/waiting.md`).
const INSTRUCTIONS: u32 = if cfg!(weft_pauses = "3") { 3 } else { 1 };

/// Pauses once, for the sake of the other thread of this physical core.
#[inline(always)]
pub fn pause() {
    (0..INSTRUCTIONS).for_each(|_| std::hint::spin_loop());
}

/// Time of a pause on this processor, in nanoseconds, as it was measured once in this process.
pub fn pause_ns() -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let sample = || {
            let start = Instant::now();
            (0..PAUSES).for_each(|_| pause());
            start.elapsed().as_nanos() as f64 / f64::from(PAUSES)
        };
        (0..PAUSE_SAMPLES).map(|_| sample()).fold(f64::INFINITY, f64::min)
    })
}

/// The first two cores that this process may use.
pub fn two_cores() -> Option<[usize; 2]> {
    let allowed = sched_getaffinity(None).ok()?;
    let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
    Some([cores.next()?, cores.next()?])
}

/// Time of a line's way from one of these cores to the other, in nanoseconds: half a round trip,
/// the median of some samples. Two threads take 20 ms for it at most, and change no other. `None`
/// if they could not be put there, or did not run side by side for as long as one sample takes.
pub fn line_ns(cores: [usize; 2]) -> Option<f64> {
    let (ping, pong, is_over) = (Line::default(), Line::default(), AtomicBool::new(false));
    let mut samples = thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let is_there = stay_on(cores[1]);
            answer(&ping, &pong, &is_over);
            is_there
        });
        let asking = scope.spawn(|| {
            let is_there = stay_on(cores[0]);
            let samples = if is_there { ask(&ping, &pong) } else { Vec::new() };
            is_over.store(true, Ordering::Relaxed);
            samples
        });
        let samples = asking.join().ok()?;
        answering.join().ok()?.then_some(samples)
    })?;
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}

/// A number in a line of its own, and none in the next, which processors tend to fetch as well.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

fn ask(ping: &Line, pong: &Line) -> Vec<f64> {
    let (began, mut number, mut samples) = (Instant::now(), 0, Vec::new());
    while samples.len() < LINE_SAMPLES {
        let start = Instant::now();
        for _ in 0..TRIPS {
            number += 1;
            ping.0.store(number, Ordering::Release);
            let mut looks = 0u32;
            while pong.0.load(Ordering::Acquire) != number {
                pause();
                looks += 1;
                if looks.is_multiple_of(256) && began.elapsed() > LINE_TIME {
                    return samples;
                }
            }
        }
        samples.push(start.elapsed().as_nanos() as f64 / (2 * TRIPS) as f64);
    }
    samples
}

fn answer(ping: &Line, pong: &Line, is_over: &AtomicBool) {
    let mut number = 0;
    while !is_over.load(Ordering::Relaxed) {
        let next = ping.0.load(Ordering::Acquire);
        if next == number {
            pause();
            continue;
        }
        number = next;
        pong.0.store(number, Ordering::Release);
    }
}

/// Puts this thread on one core; false if it may not run there, and stays where it was.
pub fn stay_on(core: usize) -> bool {
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).is_ok()
}

#[cfg(test)]
mod tests;
