//! Ten thousand operations that wait for a guard, in a process of their own, whose memory is
//! measured.

#![allow(clippy::unwrap_used)]

#[path = "it/common.rs"]
#[allow(dead_code)]
mod common;
#[path = "it/types.rs"]
#[allow(dead_code)]
mod types;

use common::run;
use types::Int;
use weft_endpoint::Rank;
use weft_object::{Pending, Placement, marshal};

const BLOCKED: u64 = 10_000;
/// Bytes for all of them, at both ends.
const MOST: u64 = 4 << 20;
/// Number of [`Int`]'s operation that waits.
const AWAIT: u16 = 1;

/// A number of this process that Linux tells: `RssAnon`, in KiB, or `Threads`.
fn told(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A continuation takes little memory and no thread (thesis 7.1.4), and one write lets all of them
/// go, each evaluated once.
#[test]
fn ten_thousand_that_wait_for_a_guard_take_little() {
    run(2, |member| {
        let counter = member.object("counter", &Int(0), Placement::Single(Rank(0)));
        let is_home = member.rank() == 0;
        let one = marshal::values(&(1_u64,)).unwrap();
        // Pools and tables grow once.
        let wave = || -> Vec<Pending<Int>> {
            let count = if is_home { 0 } else { BLOCKED };
            (0..count).map(|_| counter.begin(AWAIT, &one[..]).unwrap()).collect()
        };
        let before = (told("RssAnon"), told("Threads"));
        member.barrier.wait().unwrap();
        let waiting = wave();
        if is_home {
            while counter.statistics().unwrap().blocked < BLOCKED {
                member.engine.progress().unwrap();
                std::thread::yield_now();
            }
            let after = (told("RssAnon"), told("Threads"));
            let bytes = (after.0.saturating_sub(before.0)) << 10;
            println!("{BLOCKED} blocked operations take {bytes} bytes at both ends");
            assert!(bytes <= MOST, "{bytes} bytes");
            assert_eq!(after.1, before.1, "none has a thread");
            counter.invoke(0, &marshal::values(&()).unwrap()[..]).unwrap();
            assert_eq!(counter.statistics().unwrap().evaluated, BLOCKED);
        }
        waiting.into_iter().for_each(|waiting| drop(waiting.wait().unwrap()));
        member.barrier.wait().unwrap();
    });
}
