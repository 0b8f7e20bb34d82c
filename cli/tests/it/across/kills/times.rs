//! Times after a kill: until survivors were told, which they say themselves, and until the last
//! process was gone.

use super::Job;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Longest time until a survivor is told: less than the silence after which a host would be lost,
/// and enough for a machine that has other things to do.
const TOLD_LIMIT: Duration = Duration::from_secs(5);

/// Time after which a job that still has a process is worth a line.
const SLOW: Duration = Duration::from_secs(2);

/// Time by the clock that all processes of a machine share.
pub fn now() -> Duration {
    clock_gettime(ClockId::Monotonic).try_into().unwrap()
}

/// Times of all kills, on one host and on several.
#[derive(Default)]
pub struct Times {
    told: [Vec<Duration>; 2],
    gone: [Vec<Duration>; 2],
}

impl Times {
    /// Adds those of a job of which somebody was killed at this time, and judges them.
    pub fn add(&mut self, job: &Job, killed: Duration, gone: Duration, out: &str, what: &str) {
        let place = usize::from(!job.is_on_one_host());
        for line in out.lines().filter(|line| line.contains(" heard: ")) {
            let told = said_at(line).saturating_sub(killed);
            assert!(told < TOLD_LIMIT, "{what}: told after {told:?}: {line}");
            self.told[place].push(told);
        }
        if gone > SLOW {
            println!("{what}: the last process was gone after {gone:?}");
        }
        self.gone[place].push(gone);
    }

    /// Prints how they are distributed; returns how many survivors were told.
    pub fn print(mut self) -> [usize; 2] {
        for (place, words) in ["on one host", "between hosts"].into_iter().enumerate() {
            print_one(&format!("survivors {words} were told"), &mut self.told[place]);
            print_one(&format!("the last process {words} was gone"), &mut self.gone[place]);
        }
        self.told.map(|told| told.len())
    }
}

/// Time at the end of a survivor's line: "rank 1 heard: ..., at 5 ns".
fn said_at(line: &str) -> Duration {
    let nanoseconds = line.rsplit_once(", at ").and_then(|(_, at)| at.strip_suffix(" ns"));
    Duration::from_nanos(nanoseconds.and_then(|text| text.parse().ok()).unwrap())
}

fn print_one(what: &str, times: &mut [Duration]) {
    times.sort();
    let part = |part: usize| times[(times.len() - 1) * part / 1000];
    if !times.is_empty() {
        let [half, most, all] = [500, 990, 1000].map(part);
        println!("{what} within {half:?} at the median, {most:?} in 99 of 100, {all:?} at most");
        println!("  {} times", times.len());
    }
}
