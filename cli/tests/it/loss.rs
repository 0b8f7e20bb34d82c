//! A rank is killed at some moment: everybody learns of it, ends, and leaves nothing.
//!
//! Five runs by default; `make soak` does 200 and holds survivors to 100 ms.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::traces::shared_memory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

const RANKS: u64 = 4;

/// A job whose ranks have all said who they are.
struct Running {
    launcher: Child,
    out: BufReader<ChildStdout>,
    processes: BTreeMap<u64, (Pid, OwnedFd)>,
}

impl Running {
    fn start(directory: &std::path::Path) -> Self {
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["run", "-n", &RANKS.to_string()])
            .args(if runs_asked().is_none() { &["--grace", "3"][..] } else { &[] })
            .args(["--", env!("CARGO_BIN_EXE_weft-testee")])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(launcher.stdout.take().unwrap());
        let mut job = Running { launcher, out, processes: BTreeMap::new() };
        while job.processes.len() < RANKS as usize {
            let line = job.line().expect("all ranks say who they are");
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["rank", rank, "is", "process", process] = words[..] {
                let pid = Pid::from_raw(process.parse().unwrap()).unwrap();
                let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
                job.processes.insert(rank.parse().unwrap(), (pid, pidfd));
            }
        }
        job
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.out.read_line(&mut line).unwrap() > 0).then_some(line)
    }
}

/// Number of runs that `WEFT_LOSS_RUNS` asks for. Without it, machines may stand still, and
/// survivors have more time to say what they have heard.
fn runs_asked() -> Option<u64> {
    std::env::var("WEFT_LOSS_RUNS").ok().map(|runs| runs.parse().unwrap())
}

/// Waits until the process behind `pidfd` has ended; fails the test after ten seconds.
fn wait_for_end(pidfd: &OwnedFd) {
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
    assert_eq!(poll(&mut fds, Some(&limit)).unwrap(), 1, "a survivor lives on");
}

/// Kills a rank of a job and returns how long the last survivor lived after that.
fn kill_one(run: u64) -> Duration {
    let directory = tempfile::tempdir().unwrap();
    let names = shared_memory();
    let mut job = Running::start(directory.path());
    // The moment: after some number of lines that the ranks write as they go.
    let scattered = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    for _ in 0..scattered % 40 {
        job.line();
    }
    let victim = scattered / 64 % RANKS;
    let (pid, _) = job.processes[&victim];
    let killed = Instant::now();
    kill_process(pid, Signal::KILL).unwrap();
    for (_, pidfd) in job.processes.values() {
        wait_for_end(pidfd);
    }
    let lived = killed.elapsed();
    check_what_was_said(&mut job, victim, pid);
    assert_eq!(shared_memory(), names, "something is left in /dev/shm");
    let files = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, 0, "files are left");
    lived
}

fn check_what_was_said(job: &mut Running, victim: u64, pid: Pid) {
    let mut heard = Vec::new();
    while let Some(line) = job.line() {
        if line.contains("heard") {
            heard.push(line);
        }
    }
    let mut errors = String::new();
    let mut stderr = job.launcher.stderr.take().unwrap();
    std::io::Read::read_to_string(&mut stderr, &mut errors).unwrap();
    let status = job.launcher.wait().unwrap();
    assert_eq!(status.code(), Some(128 + 9), "{errors}");
    let said = format!("weft: rank {victim} of {RANKS} (pid {pid}", pid = pid.as_raw_nonzero());
    assert!(errors.starts_with(&said), "{errors}");
    assert!(errors.contains("was killed by signal 9 (SIGKILL)"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "one clear line, not: {errors}");
    for line in &heard {
        let named = format!("heard: rank {victim} was killed by signal 9 (SIGKILL)");
        assert!(line.contains(&named), "{line}");
    }
    // Those that were calling Weft said so themselves; rank 3 computes and is ended instead.
    let calling = (0..3).filter(|&rank| rank != victim).count();
    assert_eq!(heard.len(), calling, "{heard:?}");
}

/// Searches that take long, by programs of this repository.
const SEARCHES: [&[&str]; 4] = [
    &["puzzle", "--korf", "1,2,3,5,6,7,8"],
    &["puzzle", "--korf", "1,2,3,5,6,7,8", "--best-first", "16"],
    &["weft-game", "solve", "connect-four", "--table", "4"],
    &["weft-game", "bench", "othello", "--depth", "30", "--table", "4", "--strategy", "alpha-beta"],
];

/// Processes that a process has begun and that run a program of this name.
fn children(of: &Child, name: &str) -> Vec<Pid> {
    let of = of.id();
    let all = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    let is_it = |pid: &&str| {
        let said = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        said.is_ok_and(|said| said.trim_end() == name)
    };
    let pids = all.split_whitespace().filter(is_it);
    pids.map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
}

/// Kills a rank in a search: who was lost is said, and nobody lives on.
fn kill_in_a_search(run: u64) {
    let search = SEARCHES[run as usize % SEARCHES.len()];
    let names = shared_memory();
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["run", "-n", &RANKS.to_string(), "--"])
        .args(search)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ranks = loop {
        let ranks = children(&launcher, search[0]);
        if ranks.len() == RANKS as usize {
            break ranks;
        }
        assert!(launcher.try_wait().unwrap().is_none(), "{search:?} has not begun");
        std::thread::yield_now();
    };
    let ends = ranks.iter().map(|pid| pidfd_open(*pid, PidfdFlags::empty()).unwrap());
    let ends: Vec<OwnedFd> = ends.collect();
    let scattered = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    // The moment is what this is about.
    std::thread::sleep(Duration::from_micros(scattered % 300_000));
    let victim = ranks[(scattered / 64 % RANKS) as usize];
    kill_process(victim, Signal::KILL).unwrap();
    ends.iter().for_each(wait_for_end);
    let output = launcher.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("weft: ")).collect();
    assert_eq!((output.status.code(), lines.len()), (Some(128 + 9), 1), "{search:?}: {errors}");
    let (named, why) = (format!("pid {}", victim.as_raw_nonzero()), "killed by signal 9 (SIGKILL)");
    assert!(lines[0].contains(&named) && lines[0].contains(why), "{search:?}: {errors}");
    assert_eq!(shared_memory(), names, "something is left in /dev/shm");
}

#[test]
fn a_search_whose_rank_is_killed_ends_and_says_who_was_lost() {
    (0..runs_asked().unwrap_or(4)).for_each(kill_in_a_search);
}

#[test]
fn everybody_learns_of_a_killed_rank_and_ends() {
    let long = runs_asked();
    let mut lives: Vec<Duration> = (0..long.unwrap_or(5)).map(kill_one).collect();
    lives.sort();
    let longest = lives[lives.len() - 1];
    println!(
        "{} ranks killed; survivors lived for {:?} at the median, {longest:?} at most",
        lives.len(),
        lives[lives.len() / 2]
    );
    // Time is only judged in the long run, on a machine with nothing else to do.
    assert!(long.is_none() || longest < Duration::from_millis(100), "{longest:?}");
}

#[test]
fn a_reaction_to_a_loss_that_does_not_exist_is_refused() {
    let run = |words: &[&str], variable: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.arg("run").args(words).args(["-n", "1", "true"]).env("WEFT_ON_LOSS", variable);
        command.stdin(Stdio::null()).output().unwrap()
    };
    for (words, variable) in [(&["--on-loss", "kill"][..], "continue"), (&[], "kill")] {
        let output = run(words, variable);
        let errors = String::from_utf8_lossy(&output.stderr);
        let line = "weft: invalid value 'kill' for '--on-loss <REACTION>': \"kill\" is neither end nor continue \
                    (weft run --help shows examples)\n";
        assert_eq!((output.status.code(), &*errors), (Some(2), line));
    }
}

/// Runs programs that ask for a reaction to losses themselves. Returns the status, the lines that
/// were written, sorted, and what went to standard error.
fn ask(words: &[&str]) -> (Option<i32>, Vec<String>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("run").args(words).env_remove("WEFT_ON_LOSS").stdin(Stdio::null());
    let output = command.output().unwrap();
    let mut lines: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    (output.status.code(), lines, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn programs_may_ask_that_their_job_go_on() {
    let (status, lines, errors) =
        ask(&["-n", "3", "--", env!("CARGO_BIN_EXE_weft-testee"), "goes-on"]);
    assert_eq!(lines, [0, 2].map(|rank| format!("rank {rank} went on with 2 of 3")), "{errors}");
    assert!(
        errors.contains("was killed by signal 9 (SIGKILL); the job goes on with 2"),
        "{errors}"
    );
    assert_eq!(status, Some(0), "{errors}");
}

#[test]
fn programs_that_ask_for_different_reactions_are_told() {
    let testee = env!("CARGO_BIN_EXE_weft-testee");
    let (status, _, errors) = ask(&["-n", "1", testee, "goes-on", ":", "-n", "1", testee, "end"]);
    let why = "and a rank before it do not agree whether the job goes on after a loss";
    assert!(errors.contains(why) && status == Some(1), "{status:?}: {errors}");
    // What the user says holds for all.
    let words = ["--on-loss", "continue", "-n", "1", testee, "end", ":", "-n", "1", testee];
    let (_, _, errors) = ask(&[&words[..], &["goes-on"]].concat());
    assert!(errors.contains("the job goes on with 1") && !errors.contains(why), "{errors}");
}
