//! `weft ps` and `weft why`, and what a job says that is ended from outside.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longest wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job of four ranks, of which rank 2 waits for a message that nobody sends.
struct Running(Child);

impl Running {
    fn start() -> Self {
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["run", "-n", "4", "--", env!("CARGO_BIN_EXE_weft-testee")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(launcher.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(line.contains("is process"), "{line}");
        // What else it prints is read, so that it goes on.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Running(launcher)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.0.id().cast_signed()).unwrap(), signal).unwrap();
    }

    /// The answer of `weft why`, once it says that rank 2 waits.
    fn why(&self) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let (code, said) = weft(&["why", &self.0.id().to_string()]);
            if code == Some(0) && said.lines().any(says_that_rank_2_waits) {
                return said;
            }
            assert!(Instant::now() < until, "{said}");
            std::thread::yield_now();
        }
    }

    /// Ends the job by a signal, of which it has the status. Returns what it has said.
    fn end(mut self) -> String {
        self.signal(Signal::TERM);
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(self.0.wait().unwrap().code(), Some(128 + 15), "{said}");
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that fails leaves no job behind.
        if let Ok(None) = self.0.try_wait() {
            self.signal(Signal::CONT);
            self.signal(Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

fn says_that_rank_2_waits(line: &str) -> bool {
    line.contains("rank 2 waits for a message on port 'silence', for ")
}

/// The status of a command, and what it has said on either stream.
fn weft(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_weft")).args(words).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn a_job_says_what_its_ranks_wait_for() {
    let job = Running::start();
    let first = job.why().lines().next().unwrap().to_owned();
    assert!(first.starts_with("4 ranks of "), "{first}");
    let own = job.0.id().to_string();
    let listed = weft(&["ps"]).1;
    let listed: Vec<_> = listed.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(listed.iter().any(|(job, what)| *job == own && what.starts_with("4 ranks of ")));
    let said = job.end();
    assert!(said.starts_with("weft: the job was ended by signal 15 (SIGTERM)\n"), "{said}");
    assert!(said.lines().any(says_that_rank_2_waits), "{said}");
    let (code, said) = weft(&["why", &own]);
    assert_eq!((code, said.contains("is no job of yours on this host")), (Some(1), true), "{said}");
}

#[test]
fn a_look_at_a_job_shows_its_ranks_and_their_packets() {
    let job = Running::start();
    job.why();
    let (code, said) = weft(&["top", "--once", &job.0.id().to_string()]);
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("4 ranks of ") && lines.len() == 6, "{said}");
    let of = |rank: usize| lines[2 + rank].split_whitespace().collect::<Vec<_>>();
    assert!(lines[4].contains("waits for a message on port 'silence', for "), "{said}");
    // The others talk all the time.
    assert!((0..4).all(|rank| of(rank)[0] == rank.to_string()), "{said}");
    assert!(of(0)[2] != "0" && lines[2].contains(" Mi  "), "{said}");
    job.end();
}

#[test]
fn a_launcher_that_is_stopped_does_not_answer() {
    let job = Running::start();
    job.why();
    job.signal(Signal::STOP);
    let (code, said) = weft(&["why", &job.0.id().to_string()]);
    assert_eq!((code, said.contains("does not answer: is it stopped?")), (Some(1), true), "{said}");
    job.signal(Signal::CONT);
    job.end();
}

#[test]
fn what_is_no_job_is_said_to_be_none() {
    for command in ["why", "top"] {
        let (code, said) = weft(&[command, "abc"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("a job is a number, as `weft ps` lists it"), "{said}");
        let (code, said) = weft(&[command, "1"]);
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(said, "weft: 1 is no job of yours on this host: `weft ps` lists them\n");
    }
    let (code, said) = weft(&["top", "--for", "3s"]);
    assert!(code == Some(2) && said.contains("--record <FILE>"), "{said}");
}
