//! Ten thousand operations that wait for a guard, and many objects that are made and deleted, in a
//! process of their own, whose memory is measured.

#![allow(clippy::unwrap_used)]

#[path = "it/common.rs"]
#[allow(dead_code)]
mod common;
#[path = "it/types.rs"]
#[allow(dead_code)]
mod types;

use common::{placements, run, run_job};
use std::time::Duration;
use types::{Int, IntOperations};
use weft_endpoint::Rank;
use weft_object::{Pending, Placement, Types, marshal};
use weft_threads::Job;

const BLOCKED: u64 = 10_000;
/// Bytes for all of them, at both ends.
const MOST: u64 = 4 << 20;
/// Number of [`Int`]'s operation that waits.
const AWAIT: u16 = 1;

/// Objects that are made and deleted, unless the environment says how many.
const MADE: u64 = 30_000;
/// The variable of the environment that says it.
const MADE_VARIABLE: &str = "WEFT_OBJECTS_MADE";
/// Bytes by which both ranks may grow meanwhile: pools and tables of nodes, and no object.
const GROWTH: u64 = 1 << 20;

/// A number of this process that Linux tells: `RssAnon`, in KiB, or `Threads`.
fn told(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The process has one test, so that its memory and its threads are those of one job at a time.
#[test]
fn memory_is_that_of_what_there_is() {
    ten_thousand_that_wait_for_a_guard_take_little();
    objects_that_are_made_and_deleted_leave_nothing();
}

/// A continuation takes little memory and no thread (thesis 7.1.4), and one write lets all of them
/// go, each evaluated once.
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
        // All ranks' threads are there.
        member.barrier.wait().unwrap();
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

/// Both ranks are as large after the last object as they were after a third of them.
fn objects_that_are_made_and_deleted_leave_nothing() {
    let made = std::env::var(MADE_VARIABLE).map_or(MADE, |made| made.parse().unwrap());
    // Ten million take minutes.
    let limit = Duration::from_secs(300 + made / 10_000);
    let job = Job { limit, ..Job::new(2) };
    run_job(
        job,
        || Types::default().with::<Int>(),
        |member| {
            let is_first = member.rank() == 0;
            let all = member.object("all", &Int(0), Placement::Replicated);
            let mut before = 0;
            for number in 0..made {
                // Pools and tables grow first.
                if number == made / 3 {
                    before = told("RssAnon");
                }
                if is_first {
                    let placement = placements(2)[(number % 3) as usize];
                    let int =
                        member.objects.create_unnamed("int", &Int(number), placement).unwrap();
                    assert_eq!(int.inc().unwrap(), number + 1);
                    int.delete().unwrap();
                    if number % 64 == 0 {
                        all.inc().unwrap();
                    }
                } else if number % 64 == 0 {
                    all.await_value(number / 64 + 1).unwrap();
                }
            }
            member.barrier.wait().unwrap();
            let grown = told("RssAnon").saturating_sub(before) << 10;
            println!("{made} objects later the process has {grown} bytes more");
            assert!(grown <= GROWTH, "{grown} bytes");
            member.barrier.wait().unwrap();
        },
    );
}
