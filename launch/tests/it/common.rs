//! Running the test program as a launcher, and looking for what it left behind.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, pidfd_send_signal,
    waitid,
};

/// Output of a job that has ended.
#[derive(Debug)]
pub struct Finished {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Finished {
    /// The numbers of the processes that have named themselves.
    pub fn processes(&self) -> Vec<i32> {
        processes_in(&self.out)
    }

    /// Asserts that all of `count` named processes are gone, without any wait: nothing is left
    /// behind.
    pub fn assert_gone(&self, count: usize) {
        let processes = self.processes();
        assert_eq!(processes.len(), count, "{self:?}");
        for process in processes {
            assert!(!runs_testee(process), "process {process} is left: {self:?}");
        }
    }
}

/// Takes `(pid 123, host name)` out of a line, so that it can be compared.
pub fn without_process(line: &str) -> String {
    let Some((before, rest)) = line.split_once("(pid ") else { return line.to_owned() };
    let (_, after) = rest.split_once(") ").unwrap();
    format!("{before}{after}")
}

/// The test program.
pub fn testee() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft-launch-testee"));
    command.stdin(Stdio::null());
    command
}

/// Runs a job to its end.
pub fn launch<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> Finished {
    finish(testee().arg("launch").args(arguments))
}

/// Has what is started from here on heed Ctrl-C and the like, even if whoever started the tests has
/// them ignore it, as shells do with jobs in the background, and `nohup`: what has a handler is set
/// back for a new program.
fn heed_signals() {
    static ALWAYS: LazyLock<()> = LazyLock::new(|| {
        let always = Arc::new(AtomicBool::new(true));
        for signal in [Signal::INT, Signal::QUIT, Signal::HUP].map(Signal::as_raw) {
            let always = Arc::clone(&always);
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, always).unwrap();
        }
    });
    *ALWAYS;
}

/// Runs a launcher to its end.
pub fn finish(launcher: &mut Command) -> Finished {
    let output = launcher.output().unwrap();
    Finished {
        status: output.status.code().or(output.status.signal().map(|signal| -signal)).unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs a job given as words.
pub fn launch_words(words: &str) -> Finished {
    launch(words.split_whitespace())
}

/// A job that runs until the test ends it, whose ranks have named themselves.
pub struct Running {
    pub launcher: Child,
    /// Its standard output; `None` once nobody reads it any more.
    pub out: Option<BufReader<ChildStdout>>,
    errors: BufReader<ChildStderr>,
    /// Readable once the process has ended.
    ranks: Vec<(i32, OwnedFd)>,
}

impl Running {
    /// Starts a job, and waits until `count` processes have named themselves.
    pub fn start(words: &str, count: usize) -> Self {
        Self::start_with(words.split_whitespace(), count)
    }

    /// Starts a job with these arguments, and waits until `count` processes have named themselves.
    pub fn start_with<'a>(arguments: impl IntoIterator<Item = &'a str>, count: usize) -> Self {
        let mut command = testee();
        Self::start_command(command.arg("launch").args(arguments), count)
    }

    /// Starts a launcher, and waits until `count` processes have named themselves.
    pub fn start_command(command: &mut Command, count: usize) -> Self {
        Self::try_start(command, count)
            .unwrap_or_else(|early| panic!("the job ended early: {early}"))
    }

    /// Does so, unless the job ends before that: then it has said this on standard error.
    pub fn try_start(command: &mut Command, count: usize) -> Result<Self, String> {
        heed_signals();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut launcher = command.spawn().unwrap();
        let mut out = BufReader::new(launcher.stdout.take().unwrap());
        let mut errors = BufReader::new(launcher.stderr.take().unwrap());
        let mut ranks = Vec::new();
        while ranks.len() < count {
            let mut line = String::new();
            let has_ended = out.read_line(&mut line).unwrap() == 0;
            let process = process_in(&line);
            let watched = process.map(watch);
            if has_ended || watched.as_ref().is_some_and(Result::is_err) {
                drop(out);
                let errors = std::io::read_to_string(&mut errors).unwrap();
                launcher.wait().unwrap();
                return Err(errors);
            }
            ranks.extend(process.zip(watched.map(Result::unwrap)));
        }
        Ok(Running { launcher, out: Some(out), errors, ranks })
    }

    /// The next line that the job writes.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    /// The next line of the launcher, or of a rank, on standard error.
    pub fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        line
    }

    /// Waits until the launcher has stopped itself.
    pub fn wait_until_stopped(&self) {
        let launcher = WaitId::Pid(Pid::from_child(&self.launcher));
        let stopped = waitid(launcher, WaitIdOptions::STOPPED).unwrap().unwrap();
        assert_eq!(stopped.stopping_signal(), Some(Signal::STOP.as_raw()));
    }

    /// Sends the launcher a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.launcher), signal).unwrap();
    }

    /// Waits for the launcher's end; its status, or the signal that killed it as a negative number,
    /// and what it wrote to standard error since the last line that was read.
    pub fn wait(&mut self) -> (i32, String) {
        let mut err = String::new();
        while self.errors.read_line(&mut err).unwrap() > 0 {}
        let status = self.launcher.wait().unwrap();
        (status.code().or(status.signal().map(|signal| -signal)).unwrap(), err)
    }

    /// Kills the rank that named itself as the `number`-th.
    pub fn kill_rank(&self, number: usize) {
        pidfd_send_signal(&self.ranks[number].1, Signal::KILL).unwrap();
    }

    /// Waits until every rank is stopped.
    pub fn wait_until_ranks_stopped(&self) {
        for (process, _) in &self.ranks {
            let stat = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            while !stat().contains(") T ") {
                std::thread::yield_now();
            }
        }
    }

    /// Asserts that the job stops with all its ranks when it is told to, goes on after that, and
    /// ends by a signal.
    pub fn assert_goes_on_after_a_stop(mut self) {
        self.signal(Signal::TSTP);
        self.wait_until_stopped();
        self.wait_until_ranks_stopped();
        self.signal(Signal::CONT);
        self.signal(Signal::TERM);
        let (status, err) = self.wait();
        assert_eq!(status, 128 + 15, "{err}");
        self.assert_ranks_gone();
    }

    /// Asserts that every rank that has named itself has ended already.
    pub fn assert_ranks_gone(&self) {
        assert!(self.ranks.iter().all(|(_, rank)| has_ended(rank, 0)));
    }

    /// Waits until every rank that has named itself has ended.
    pub fn wait_for_ranks(&self) {
        assert!(self.ranks.iter().all(|(_, rank)| has_ended(rank, 60)));
    }
}

/// The processes of ranks that have named themselves.
pub fn processes_of(job: &Running) -> Vec<i32> {
    job.ranks.iter().map(|(process, _)| *process).collect()
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already in most tests.
        let _ = self.launcher.kill();
        let _ = self.launcher.wait();
    }
}

/// The numbers of the processes that have named themselves in this text.
pub fn processes_in(text: &str) -> Vec<i32> {
    text.lines().filter_map(process_in).collect()
}

/// Waits until a process that may be nobody's child has ended.
pub fn wait_until_gone(process: i32) {
    match pidfd_open(Pid::from_raw(process).unwrap(), PidfdFlags::empty()) {
        Ok(process) => assert!(has_ended(&process, 60)),
        Err(error) => assert_eq!(error, Errno::SRCH),
    }
}

fn process_in(line: &str) -> Option<i32> {
    line.rsplit_once("pid ")?.1.trim().parse().ok()
}

fn watch(process: i32) -> Result<OwnedFd, Errno> {
    pidfd_open(Pid::from_raw(process).unwrap(), PidfdFlags::empty())
}

/// True if a process has ended, or does so before a limit that only a broken launcher reaches.
fn has_ended(process: &OwnedFd, limit_s: i64) -> bool {
    let limit = Timespec { tv_sec: limit_s, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)).unwrap() == 1
}

fn runs_testee(process: i32) -> bool {
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).contains("weft-launch-testee")
}
