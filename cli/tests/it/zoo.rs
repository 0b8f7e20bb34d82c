//! `weft why` of programs that hang: its first verdict names the culprit and the reason.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use weft_zoo::{ALL, Animal, named};

/// Longest wait for the answer that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// `weft run` with these words, of this program.
fn launcher(words: &[&str], name: &str) -> Command {
    let zoo = Path::new(env!("CARGO_BIN_EXE_weft")).with_file_name("weft-zoo");
    assert!(zoo.exists(), "{} is not built: cargo build -p weft-zoo", zoo.display());
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"));
    launcher.arg("run").args(words).arg("--").arg(zoo).arg(name).stdin(Stdio::null());
    launcher
}

/// A program that hangs, until this is dropped.
struct Cage(Child);

impl Cage {
    fn of(animal: Animal, words: &[&str], stderr: Stdio) -> Self {
        let ranks = animal.ranks.to_string();
        let mut launcher = launcher(&[&["-n", &ranks], words].concat(), animal.name);
        Cage(launcher.stdout(Stdio::null()).stderr(stderr).spawn().unwrap())
    }

    /// The answer of `weft why`.
    fn why(&self) -> String {
        let mut asked = Command::new(env!("CARGO_BIN_EXE_weft"));
        let answer = asked.args(["why", &self.0.id().to_string()]).output().unwrap();
        String::from_utf8([answer.stdout, answer.stderr].concat()).unwrap()
    }

    /// Asks until it says something that is `wanted`, which has to come.
    fn ask_until(&mut self, wanted: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let said = self.why();
            if wanted(&said) {
                return;
            }
            let ended = self.0.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < until, "{ended:?}: {said}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        let launcher = Pid::from_raw(self.0.id().cast_signed()).unwrap();
        let _ = kill_process(launcher, Signal::TERM);
        let _ = self.0.wait();
    }
}

fn is_seen_through(name: &str) {
    let animal = named(name).unwrap();
    let mut cage = Cage::of(animal, &[], Stdio::null());
    cage.ask_until(|said| {
        // What the job is, and the first verdict.
        let first: Vec<_> = said.lines().take(2).collect();
        animal.verdict.iter().all(|part| first.iter().any(|line| line.contains(part)))
    });
}

#[test]
fn stacks_are_told() {
    let mut cage = Cage::of(named("loop").unwrap(), &[], Stdio::null());
    let stacks = [
        "rank 1 computes or polls; its stack: weft_zoo::outside::computes (outside.rs:",
        "; the stack of rank 0: weft::weft::Weft::barrier (weft.rs:",
        "), weft_zoo::main (main.rs:",
    ];
    cage.ask_until(|said| stacks.iter().all(|part| said.contains(part)));
}

macro_rules! zoo {
    ($($test:ident: $name:literal,)*) => {
        $(#[test]
        fn $test() {
            is_seen_through($name);
        })*

        #[test]
        fn all_are_seen_through() {
            let all: Vec<_> = ALL.iter().copied().flatten().map(|animal| animal.name).collect();
            let mut tested = [$($name),*];
            tested.sort_by_key(|name| all.iter().position(|other| other == name));
            assert_eq!(all, tested);
        }
    };
}

zoo! {
    a_root_that_is_missing: "missing-root",
    a_member_that_is_missing: "missing-part",
    two_teams_in_two_orders: "teams",
    a_receive_before_a_barrier: "receive-first",
    two_that_wait_for_each_other: "cross",
    a_port_to_which_nobody_sends: "silence",
    a_flag_that_no_handler_sets: "flag",
    a_message_to_another_port: "other-port",
    a_rank_that_calls_itself: "to-itself",
    a_handler_that_waits_for_its_own_port: "own-port",
    a_ring_of_calls: "ring",
    a_reader_that_is_away: "absent-reader",
    a_member_that_reads_no_multicasts: "slow-member",
    a_long_message_that_nobody_wants: "long-for-nobody",
    an_order_with_a_silent_member: "order",
    a_rank_that_has_returned: "returned",
    an_endless_loop: "loop",
    a_sleeper: "sleeper",
    a_rank_that_is_stopped: "stopped",
    a_handler_that_never_ends: "busy-handler",
    a_handler_that_never_ends_in_a_wait: "late-handler",
    two_that_are_away: "two-away",
    a_writer_that_never_ends: "writer",
    a_barrier_of_regions: "region-barrier",
    a_guard_that_is_never_true: "guard",
    a_tuple_that_nobody_puts: "tuple",
    an_event_that_nobody_sends: "event",
}

#[test]
fn a_deadlock_ends_the_job_if_it_is_to() {
    let words = ["-n", "2", "--progress-limit", "1", "--on-deadlock", "end"];
    let output = launcher(&words, "cross").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(output.status.code(), Some(35), "{said}");
    assert_eq!(lines[0], "weft: the job was ended: its ranks waited for one another", "{said}");
    assert!(lines[1].starts_with("weft: deadlock: rank 0 waits for a message"), "{said}");
}

#[test]
fn a_deadlock_is_reported_while_the_job_goes_on() {
    let animal = named("cross").unwrap();
    let mut cage = Cage::of(animal, &["--progress-limit", "1"], Stdio::piped());
    let mut said = String::new();
    BufReader::new(cage.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("weft: deadlock: rank 0 waits for a message"), "{said}");
    assert!(cage.0.try_wait().unwrap().is_none());
}
