//! Costs of waiting and waking here, measured for a fraction of a second.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{MembarrierCommand, futex, membarrier, sched_yield};

use super::finding::Cost;
use weft_endpoint::machine::{self, stay_on};

/// Each measurement ends after as many rounds, or after this time.
const ROUNDS_MAX: usize = 2000;
const TIME_MAX: Duration = Duration::from_millis(150);

/// All that can be measured here.
pub(super) fn measure() -> Vec<Cost> {
    let barrier = membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok();
    let barrier = barrier.then(|| {
        timed("membarrier (global)", || membarrier(MembarrierCommand::GlobalExpedited).is_ok())
    });
    let yielding = timed("sched_yield", || {
        sched_yield();
        true
    });
    let [pause, line] = [pause(), line()];
    [pause, line, wake_up(), barrier.flatten(), yielding].into_iter().flatten().collect()
}

/// A pause between two looks, by which waits are measured out.
fn pause() -> Option<Cost> {
    let p50 = machine::pause_ns().round() as u64;
    Some(Cost { name: "pause of a look", unit: "ns", p50, rounds: 1 })
}

/// The way of a line of memory from one core to another, which is the floor of a message's.
fn line() -> Option<Cost> {
    let p50 = machine::line_ns(machine::two_cores()?)?.round() as u64;
    Some(Cost { name: "cache line across cores", unit: "ns", p50, rounds: 1 })
}

/// The median time of an action, which says whether it worked.
fn timed(name: &'static str, action: impl Fn() -> bool) -> Option<Cost> {
    let began = Instant::now();
    let mut samples = Vec::new();
    while samples.len() < ROUNDS_MAX && began.elapsed() < TIME_MAX {
        let before = Instant::now();
        if !action() {
            return None;
        }
        samples.push(before.elapsed());
    }
    median(name, samples)
}

fn median(name: &'static str, mut samples: Vec<Duration>) -> Option<Cost> {
    samples.sort_unstable();
    let p50 = samples.get(samples.len() / 2)?;
    let p50 = u64::try_from(p50.as_nanos()).unwrap_or(u64::MAX);
    Some(Cost { name, unit: "ns", p50, rounds: samples.len() })
}

/// Two threads on two cores that wake each other in turn, each asleep meanwhile; half a turn is a
/// wake-up. `None` on a single core. A core that they cannot be put on makes it less sharp, no
/// more.
fn wake_up() -> Option<Cost> {
    let [first, second] = machine::two_cores()?;
    let (ping, pong) = (Bell::default(), Bell::default());
    let samples = thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(second);
            let mut turn = 1;
            while ping.wait_for(turn) {
                pong.ring(turn);
                turn += 1;
            }
        });
        let asker = scope.spawn(|| {
            stay_on(first);
            let samples = ask(&ping, &pong);
            ping.ring(Bell::OVER);
            samples
        });
        asker.join()
    });
    median("futex wake-up across cores", samples.ok()?)
}

fn ask(ping: &Bell, pong: &Bell) -> Vec<Duration> {
    let began = Instant::now();
    let mut samples = Vec::new();
    for turn in 1..=ROUNDS_MAX as u32 {
        let before = Instant::now();
        ping.ring(turn);
        pong.wait_for(turn);
        samples.push(before.elapsed() / 2);
        if began.elapsed() >= TIME_MAX {
            break;
        }
    }
    samples
}

/// A counter that can be slept on.
#[derive(Default)]
struct Bell(AtomicU32);

impl Bell {
    const OVER: u32 = u32::MAX;

    fn ring(&self, turn: u32) {
        self.0.store(turn, Ordering::Release);
        // It fails for bad addresses only.
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
    }

    /// Sleeps until `turn` has been rung; false if it is all over.
    fn wait_for(&self, turn: u32) -> bool {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now >= turn {
                return now != Self::OVER;
            }
            // Interrupted or rung meanwhile: the load tells.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, now, None);
        }
    }
}

#[cfg(test)]
mod tests;
