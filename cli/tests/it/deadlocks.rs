//! `weft why` of MPI programs that hang, under a stock Open MPI: `testing/zoo/deadlocks.c`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::common::mpi::{compile, mpirun, open_mpis, weft};

/// Longest wait for the answer that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs, the number of their ranks, and parts of the first verdict.
const ALL: [(&str, u16, &[&str]); 10] = [
    (
        "receive-first",
        2,
        &[
            "deadlock: rank 0 waits for a message of rank 1 with tag 7",
            "rank 1 waits for a message of rank 0 with tag 7",
        ],
    ),
    (
        "send-first",
        2,
        &[
            "deadlock: rank 0 waits for rank 1 to receive a message",
            "rank 1 waits for rank 0 to receive a message",
        ],
    ),
    (
        "wrong-tag",
        2,
        &[
            "deadlock: ",
            "rank 1 waits for a message of rank 0 with tag 7; \
             unexpected: a message of rank 0 with tag 8",
        ],
    ),
    (
        "ring",
        3,
        &[
            "deadlock: rank 0 waits for a message of rank 2 with tag 7",
            "rank 1 waits for a message of rank 0",
            "rank 2 waits for a message of rank 1",
        ],
    ),
    ("to-itself", 2, &["deadlock with itself: rank 0 waits for a message of rank 0 with tag 7"]),
    ("missing-member", 3, &["rank 1 sleeps, outside of Weft", "others wait for it: rank 0"]),
    (
        "collective-and-receive",
        2,
        &["deadlock: rank 0 waits for a message of rank 1 with tag 7", "the library's tag -"],
    ),
    ("any-source", 3, &["deadlock: ranks 0 to 2 wait for a message of any rank with tag 7"]),
    (
        "two-communicators",
        2,
        &[
            "deadlock: rank 0 waits for a message of rank 1 with tag 7 (context ",
            "rank 1 waits for a message of rank 0 with tag 7 (context ",
        ],
    ),
    (
        "stopped-receiver",
        2,
        &["rank 1 was stopped by a signal", "rank 0 waits for it: rank 1 to receive a message"],
    ),
];

/// A program that hangs, until this is dropped.
struct Cage {
    launcher: Child,
    /// The process by which the job is asked for.
    job: String,
}

impl Cage {
    fn of(program: &Path, name: &str, ranks: u16, folder: &TempDir) -> Self {
        let mut launcher = mpirun(&format!("-n {ranks} --oversubscribe"), folder);
        launcher.arg(program).arg(name).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut launcher = launcher.spawn().unwrap();
        let mut out = BufReader::new(launcher.stdout.take().unwrap());
        let mut job = String::new();
        out.read_line(&mut job).unwrap();
        Cage { launcher, job: job.trim().into() }
    }

    /// The answer of `weft why`.
    fn why(&self) -> String {
        let answer = weft("why").arg(&self.job).output().unwrap();
        String::from_utf8([answer.stdout, answer.stderr].concat()).unwrap()
    }

    /// Asks until it says something that is `wanted`, which has to come.
    fn ask_until(&mut self, name: &str, wanted: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let said = self.why();
            if wanted(&said) {
                return;
            }
            let ended = self.launcher.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < until, "{name}: {ended:?}: {said}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        let launcher = Pid::from_raw(self.launcher.id().cast_signed()).unwrap();
        let _ = kill_process(launcher, Signal::TERM);
        let _ = self.launcher.wait();
    }
}

fn deadlocks(folder: &TempDir) -> PathBuf {
    let program = folder.path().join("deadlocks");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testing/zoo/deadlocks.c");
    compile(&open_mpis("mpicc"), &[source], &[], &program);
    program
}

#[test]
fn ten_deadlocks_are_seen_through() {
    let folder = tempfile::tempdir().unwrap();
    let program = deadlocks(&folder);
    for (name, ranks, verdict) in ALL {
        let mut cage = Cage::of(&program, name, ranks, &folder);
        cage.ask_until(name, |said| {
            // What the job is, and the first verdict.
            let first: Vec<_> = said.lines().take(2).collect();
            verdict.iter().all(|part| first.iter().any(|line| line.contains(part)))
        });
    }
}

#[test]
fn stacks_begin_where_the_program_called_mpi() {
    let folder = tempfile::tempdir().unwrap();
    let name = "receive-first";
    let mut cage = Cage::of(&deadlocks(&folder), name, 2, &folder);
    // Where the system lets only ancestors look, one line says so.
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let may_be_refused = scope.is_ok_and(|scope| scope.trim() != "0");
    cage.ask_until(name, |said| {
        let is_told = |rank: u16| {
            let begins = format!("rank {rank} waits for a message of rank {} ", 1 - rank);
            let mut lines = said.lines().filter(|line| line.starts_with(&begins));
            lines.any(|line| {
                let stack = line.split_once("; its stack: ").map(|(_, stack)| stack);
                stack.is_some_and(|it| {
                    it.contains("MPI_Recv, ") && it.ends_with("receive_first, main")
                })
            })
        };
        let refused = "/proc/sys/kernel/yama/ptrace_scope)";
        (is_told(0) && is_told(1)) || (may_be_refused && said.matches(refused).count() == 1)
    });
}

#[test]
fn a_look_at_an_mpi_program_shows_its_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let mut cage = Cage::of(&deadlocks(&folder), "receive-first", 2, &folder);
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = weft("top --once").arg(&cage.job).output().unwrap();
        let said = String::from_utf8([shown.stdout, shown.stderr].concat()).unwrap();
        let lines: Vec<_> = said.lines().collect();
        if let [first, _, zero, one] = lines[..]
            && zero.contains("waits for a message of rank 1 with tag 7")
            && one.contains("waits for a message of rank 0 with tag 7")
        {
            assert!(first.starts_with("2 ranks of ") && zero.contains(" Mi  "), "{said}");
            break;
        }
        let ended = cage.launcher.try_wait().unwrap();
        assert!(ended.is_none() && Instant::now() < until, "{ended:?}: {said}");
    }
}

#[test]
fn a_deadlock_ends_the_job_if_it_is_to() {
    let folder = tempfile::tempdir().unwrap();
    let program = deadlocks(&folder);
    let mut job = mpirun("--progress-limit 0.1 --on-deadlock end -n 2 --oversubscribe", &folder);
    let output = job.arg(program).arg("receive-first").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(35), "{errors}");
    let deadlock = "weft: deadlock: rank 0 waits for a message of rank 1 with tag 7";
    assert!(errors.contains(deadlock), "{errors}");
    assert!(errors.contains("its ranks waited for one another"), "{errors}");
}

#[test]
fn a_deadlock_is_said_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = mpirun("--progress-limit 0.1 -n 2 --oversubscribe", &folder);
    job.arg(deadlocks(&folder)).arg("receive-first").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut launcher = job.spawn().unwrap();
    let errors = BufReader::new(launcher.stderr.take().unwrap());
    let _cage = Cage { launcher, job: String::new() };
    let said = errors.lines().map(Result::unwrap).any(|line| line.contains("weft: deadlock: "));
    assert!(said, "it has ended, and said nothing");
}

#[test]
fn a_reaction_that_does_not_exist_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = mpirun("--on-deadlock kill -n 2 true", &folder).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("\"kill\" is neither report nor end"), "{errors}");
    assert!(!output.status.success());
}
