//! Presence: every order of what may happen in a small room, and mistakes that are found.

use crate::room::{Do, Happens, Room, RoomOptions};
use crate::seeded;
use std::fmt;
use weft_endpoint::presence::planted::Bug;
use weft_model::explore::{Counterexample, Explored, Model, digest, explore};

/// Work of programs that send and look.
const TALKS: [Do; 4] = [Do::Launch, Do::Launch, Do::Compute, Do::Poll];
/// Packets that are held back, and then leave with a look.
const HOLDS: [Do; 4] = [Do::Launch, Do::Launch, Do::Poll, Do::Compute];

fn options(programs: &[&[Do]], arrivals: u32, ticks: u32) -> RoomOptions {
    let programs = programs.iter().map(|program| program.to_vec()).collect();
    RoomOptions { programs, arrivals, ticks, timer_is_dear: false, bug: None }
}

/// Reason for which a room cannot go on.
#[derive(Clone, Debug)]
struct Stuck;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody goes on")
    }
}

struct SmallRoom(RoomOptions);

impl Model for SmallRoom {
    type State = Room;
    type Step = Happens;
    type Deadlock = Stuck;

    fn start(&self) -> Room {
        Room::new(&self.0)
    }

    fn steps(&self, room: &Room) -> Vec<Happens> {
        if room.is_done() { vec![] } else { room.possible() }
    }

    fn take(&self, room: &mut Room, step: &Happens) {
        room.take(*step);
    }

    fn check(&self, _: &Room) {}

    fn digest(&self, room: &Room) -> u64 {
        digest(room)
    }

    fn is_done(&self, room: &Room) -> bool {
        room.is_done() || room.is_over()
    }

    fn deadlock(&self, room: &Room) -> Option<Stuck> {
        let is_stuck = !self.is_done(room) && room.possible().is_empty();
        is_stuck.then_some(Stuck)
    }
}

type Outcome = Result<Explored, Counterexample<Happens, Stuck>>;

fn explored(options: RoomOptions) -> Outcome {
    explore(&SmallRoom(options), 3_000_000)
}

/// Number of states of a room in which nothing goes wrong.
fn states(options: RoomOptions) -> usize {
    let case = format!("{options:?}");
    explored(options).unwrap_or_else(|found| panic!("{case}\n{found}")).states
}

#[test]
fn one_thread_that_talks_and_computes_is_seen_to() {
    for timer_is_dear in [false, true] {
        for program in [&TALKS[..], &HOLDS] {
            let options = RoomOptions { timer_is_dear, ..options(&[program], 2, 5) };
            assert!(states(options) > 1_000);
        }
    }
}

#[test]
fn one_thread_that_waits_is_woken() {
    for timer_is_dear in [false, true] {
        let program = [Do::Launch, Do::Await(1), Do::Compute, Do::Await(2)];
        let options = RoomOptions { timer_is_dear, ..options(&[&program], 2, 4) };
        assert!(states(options) > 1_000);
    }
}

#[test]
fn two_threads_that_wait_are_both_woken() {
    let programs: [&[Do]; 2] = [&[Do::Await(2)], &[Do::Launch, Do::Await(1)]];
    assert!(states(options(&programs, 2, 3)) > 1_000);
}

#[test]
fn a_thread_that_waits_is_woken_beside_one_that_computes() {
    let programs: [&[Do]; 2] = [&[Do::Await(2)], &[Do::Compute, Do::Poll]];
    assert!(states(options(&programs, 2, 3)) > 1_000);
}

/// The shortest way to see each mistake, and what it breaks.
#[test]
fn each_planted_bug_is_found_in_a_small_room() {
    let waits: [&[Do]; 2] = [&[Do::Await(1)], &[Do::Await(2)]];
    let held = RoomOptions { timer_is_dear: true, ..options(&[&TALKS], 1, 6) };
    for (bug, options, says) in [
        (Bug::LeaveHeld, held, "P2 flushed"),
        (Bug::TrustEarlyTimer, options(&[&HOLDS], 2, 8), "P1 seen"),
        (Bug::LoseRing, options(&waits, 2, 4), "P1 seen"),
    ] {
        let found = explored(RoomOptions { bug: Some(bug), ..options }).expect_err("a mistake");
        assert!(found.to_string().contains(says), "{bug:?}: {found}");
    }
}

/// Large rooms: threads with dozens of things to do, at a time that nobody chose. A mistake of the
/// machines is found in them as well.
#[test]
fn nothing_is_missed_in_large_rooms() {
    let seeds = if cfg!(feature = "soak") { 100_000 } else { 2_000 };
    for seed in 0..seeds {
        wander(&large(seed), seed);
    }
}

#[test]
#[should_panic(expected = "P2 flushed")]
fn what_is_left_held_is_found_in_a_large_room() {
    (0..2_000)
        .for_each(|seed| wander(&RoomOptions { bug: Some(Bug::LeaveHeld), ..large(seed) }, seed));
}

/// One to three threads, which all wait in the end until everything that arrives was processed.
fn large(seed: u64) -> RoomOptions {
    let mut choose = seeded(seed);
    let arrivals = choose(20);
    let mut program = || {
        let works = (0..choose(40)).map(|_| match choose(8) {
            0..3 => Do::Launch,
            3..6 => Do::Poll,
            _ => Do::Compute,
        });
        let mut program: Vec<Do> = works.collect();
        program.push(Do::Await(arrivals as u64));
        program
    };
    let programs = (0..1 + seed % 3).map(|_| program()).collect();
    let timer_is_dear = seed % 2 == 1;
    RoomOptions { programs, arrivals: arrivals as u32, timer_is_dear, ticks: 400, bug: None }
}

/// Takes a room through one order of what may happen, until all is done; the judge looks at it on
/// the way.
fn wander(options: &RoomOptions, seed: u64) {
    let _named = NamedOnPanic(seed);
    let (mut room, mut choose) = (Room::new(options), seeded(seed));
    while !room.is_done() && !room.is_over() {
        let possible = room.possible();
        assert!(!possible.is_empty(), "nobody goes on");
        room.take(possible[choose(possible.len())]);
    }
}

/// A seed that is printed when the judge panics.
struct NamedOnPanic(u64);

impl Drop for NamedOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}
