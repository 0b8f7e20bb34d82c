//! Jobs of as many ranks as large machines have cores, on one host: they start, exchange, and end,
//! and nothing is left when one of them is killed.

use std::process::{Command, Stdio};

use crate::common::{Running, assert_one_line, text};
use rustix::process::{Signal, kill_process, test_kill_process};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");
const TESTEE: &str = env!("CARGO_BIN_EXE_weft-testee");

fn job(ranks: usize, mode: &str) -> Command {
    let mut command = Command::new(WEFT);
    command.args(["run", "-n", &ranks.to_string(), "--join-limit", "300", "--", TESTEE, mode]);
    command.stdin(Stdio::null());
    command
}

/// The ranks end, and each has heard from those that it should have, which it checks itself.
fn exchange(ranks: usize) {
    let output = job(ranks, "exchange").output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let sum = ranks * (ranks - 1) / 2;
    let said = format!("{ranks} ranks have heard of 9, the sum is {sum}\n");
    assert!(text.contains(&said), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains(" is process ")).count(), ranks);
}

#[test]
fn there_are_256_ranks_on_a_host() {
    exchange(256);
}

#[test]
fn there_are_1024_ranks_on_a_host() {
    exchange(1024);
}

#[test]
fn nothing_is_left_of_256_ranks_of_which_one_is_killed() {
    const RANKS: usize = 256;
    let mut running = Running::start_this(job(RANKS, "sit"), RANKS);
    let have_met = |line: &String| line == "all have met\n";
    while !running.passed_over.iter().any(have_met) && !have_met(&running.line()) {}
    let (victim, pid, _) = running.ranks[200];
    let processes: Vec<_> = running.ranks.iter().map(|(_, pid, _)| *pid).collect();
    kill_process(pid, Signal::KILL).unwrap();
    let (errors, status) = running.finish();
    assert_eq!(status, Some(128 + 9), "{errors}");
    let said = format!("weft: rank {victim} of {RANKS} (pid {pid}, host ");
    assert_one_line(&errors, &[said.as_str(), ") was killed by signal 9"]);
    for process in processes {
        assert!(test_kill_process(process).is_err(), "process {process} is left");
    }
}
