//! Outcome of a job, in words and as an exit status.

use std::fmt;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Signal;
use weft_trace::Recorded;
use weft_wire::Rank;

use crate::error::advice;
use crate::last_words::signal_name;

/// Exit status of a rank that ends because another one was lost: a victim, never the cause.
pub const PEER_LOST: u8 = 77;

/// Exit status of a job that was ended because of a deadlock: the system's number for one.
pub(crate) const DEADLOCKED: u8 = Errno::DEADLK.raw_os_error() as u8;

/// Exit status of a job that took longer than it may: that of `timeout`.
const OUT_OF_TIME: u8 = 124;

/// Fault of a rank that ended the job, or that the job went on without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A signal killed it.
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// The system killed it, as far as can be told, because memory was full.
    OutOfMemory,
    /// It ended without leaving, and how only its parent knows: it had joined by the job's door.
    Ended,
    /// It exited with a status other than 0.
    Exited {
        /// That status.
        status: i32,
    },
    /// It exited with 0 after it had joined, without having said that it leaves.
    LeftEarly,
    /// It exited with 0 without joining a job that others have joined.
    NeverJoined,
    /// It was still running when all should have joined, and had not.
    LateJoin {
        /// Time that it had.
        limit: Duration,
    },
    /// Its program could not be executed.
    CannotStart {
        /// The system's reason.
        errno: i32,
    },
    /// It asked for another reaction to losses than a rank that joined before.
    AsksOtherwise,
    /// It sent the launcher what is no message.
    BadMessage(String),
    /// Its host is gone, with all ranks there.
    HostLost {
        /// Observation of it.
        why: String,
    },
}

/// A rank that ended the job, or that the job went on without, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The rank.
    pub rank: Rank,
    /// Number of ranks of the job.
    pub ranks: u16,
    /// The process that was this rank.
    pub process: u32,
    /// The host it ran on.
    pub host: String,
    /// The program it ran.
    pub program: String,
    /// Its fault.
    pub fault: Fault,
    /// Its report, or its last line on standard error.
    pub last_words: Option<String>,
}

/// Verdict on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every rank left cleanly.
    Completed,
    /// Every rank exited with 0 and none joined: not a program that uses Weft.
    NotWeft {
        /// The program.
        program: String,
    },
    /// A rank ended the job.
    Failed(Box<Failure>),
    /// The launcher was told to end the job, by the signal of this number.
    Interrupted {
        /// That signal.
        signal: i32,
    },
    /// All ranks waited for one another, and the job was to end then.
    Deadlocked,
    /// The job took longer than it may.
    OutOfTime {
        /// Time that it had.
        limit: Duration,
    },
    /// The reader of the job's output has stopped.
    OutputClosed,
}

/// Outcome of a job: the verdict, the ranks that it went on without, and what could not be cleaned
/// up.
///
/// Displayed, it is one line for people, without the name of the launcher before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// Verdict on the job.
    pub verdict: Verdict,
    /// Ranks without which the job went on, in the order of their losses: each has been told to the
    /// user. The one that ended the job is in the verdict.
    pub lost: Vec<Failure>,
    /// Processes that did not disappear though they were killed; the system holds them.
    pub stuck: Vec<u32>,
    /// True if output was lost, which the launcher has said: it could not be written.
    pub output_lost: bool,
    /// Doings of the ranks when the launcher was told to end the job, or found that it is in a
    /// deadlock or out of time, in lines; none otherwise.
    pub roll_call: Vec<String>,
    /// Trace of the job, if it was wanted.
    pub recorded: Option<Recorded>,
}

impl JobOutcome {
    /// The outcome of a job of which nothing is known but this verdict.
    pub(crate) fn of(verdict: Verdict) -> Self {
        let (lost, stuck, roll_call) = (Vec::new(), Vec::new(), Vec::new());
        JobOutcome { verdict, lost, stuck, output_lost: false, roll_call, recorded: None }
    }

    /// The exit status that says so: that of the rank that ended the job, 128 and the signal for
    /// signals.
    pub fn status(&self) -> u8 {
        match &self.verdict {
            Verdict::Completed => u8::from(!self.stuck.is_empty() || self.output_lost),
            Verdict::NotWeft { .. } => 1,
            Verdict::Failed(failure) => failure.fault.status(),
            Verdict::Interrupted { signal } => of_signal(*signal),
            Verdict::Deadlocked => DEADLOCKED,
            Verdict::OutOfTime { .. } => OUT_OF_TIME,
            Verdict::OutputClosed => of_signal(Signal::PIPE.as_raw()),
        }
    }

    /// True if there is nothing to tell: all went well, or whoever asks knows already.
    pub fn is_silent(&self) -> bool {
        let quiet = matches!(self.verdict, Verdict::Completed | Verdict::OutputClosed);
        quiet && self.stuck.is_empty()
    }

    /// The exit status of the command that started the job. Writes to standard error how the job
    /// came out, if that needs saying.
    pub fn exit_code(&self) -> ExitCode {
        if !self.is_silent() {
            eprintln!("weft: {self}");
            self.roll_call.iter().for_each(|line| eprintln!("weft: {line}"));
        }
        if let Some(recorded) = &self.recorded {
            eprintln!("weft: {recorded}");
        }
        ExitCode::from(self.status())
    }
}

impl Fault {
    fn status(&self) -> u8 {
        match self {
            Fault::Killed { signal } => of_signal(*signal),
            Fault::OutOfMemory => of_signal(Signal::KILL.as_raw()),
            Fault::Exited { status } => u8::try_from(*status).unwrap_or(1),
            Fault::CannotStart { .. } => 126,
            Fault::Ended
            | Fault::LeftEarly
            | Fault::NeverJoined
            | Fault::LateJoin { .. }
            | Fault::AsksOtherwise
            | Fault::BadMessage(_)
            | Fault::HostLost { .. } => 1,
        }
    }
}

fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(1)
}

impl fmt::Display for JobOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Completed if self.lost.is_empty() => f.write_str("every rank left cleanly")?,
            Verdict::Completed => {
                let rank = |loss: &Failure| format!("rank {}", loss.rank);
                let lost: Vec<_> = self.lost.iter().map(rank).collect();
                write!(f, "every rank left cleanly but those that were lost: {}", lost.join(", "))?;
            }
            Verdict::NotWeft { program } => {
                write!(f, "{program} exited without joining the job: is it a Weft program?")?;
            }
            Verdict::Failed(failure) => failure.fmt(f)?,
            Verdict::Interrupted { signal } => {
                write!(f, "the job was ended by signal {signal} ({})", signal_name(*signal))?;
            }
            Verdict::Deadlocked => {
                write!(f, "the job was ended: its ranks waited for one another")?;
            }
            Verdict::OutOfTime { limit } => {
                let limit = humantime::format_duration(*limit);
                write!(f, "the job was ended: it ran for {limit}, its --time-limit")?;
            }
            Verdict::OutputClosed => write!(f, "the job was ended: nobody reads its output")?,
        }
        if !self.stuck.is_empty() {
            let list: Vec<_> = self.stuck.iter().map(u32::to_string).collect();
            let list = list.join(", ");
            write!(f, "; killed but not gone, because the system holds them: process {list}")?;
        }
        Ok(())
    }
}

impl Failure {
    /// The line about a rank without which the job goes on, with so many others.
    pub(crate) fn borne_by(&self, left: u16) -> String {
        match left {
            0 => format!("{}; no other rank runs", Account(self)),
            _ => format!("{}; the job goes on with {left}", Account(self)),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Account(self).fmt(f)?;
        match self.ranks - 1 {
            _ if matches!(self.fault, Fault::CannotStart { .. }) => Ok(()),
            0 => Ok(()),
            1 => write!(f, "; the other rank ended"),
            others => write!(f, "; the other {others} ranks ended"),
        }
    }
}

/// Account of a failure, without what became of the other ranks.
struct Account<'a>(&'a Failure);

impl fmt::Display for Account<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { rank, ranks, process, host, program, .. } = self.0;
        if let Fault::CannotStart { errno } = self.0.fault {
            let reason = io::Error::from_raw_os_error(errno);
            return write!(f, "cannot start {program} on {host}: {reason}{}", advice(&reason));
        }
        write!(f, "rank {rank} of {ranks} (pid {process}, host {host}) ")?;
        match &self.0.fault {
            Fault::Killed { signal } => {
                write!(f, "was killed by signal {signal} ({})", signal_name(*signal))?;
                if *signal == Signal::BUS.as_raw() {
                    f.write_str(
                        ", as when memory that it has mapped cannot be had: memory or a disk is full, \
                         or a file became shorter",
                    )?;
                }
            }
            Fault::OutOfMemory => f.write_str(
                "was killed by signal 9 (SIGKILL) when memory was full, the machine's or what the \
                 job's cgroup may have: allow it more, or run fewer ranks here",
            )?,
            Fault::Ended => f.write_str(
                "ended without leaving; how it ended is said where it was started, since it had joined by the door",
            )?,
            Fault::Exited { status } => write!(f, "exited with status {status}")?,
            Fault::LeftEarly => f.write_str(
                "exited with status 0 before the job ended (it left without saying so: a program in C \
                 calls weft_leave, which returns WEFT_OK, before it ends; one in Rust returns from main \
                 instead of calling exit)",
            )?,
            Fault::NeverJoined => f.write_str(
                "exited with status 0 without joining the job, which other ranks have joined",
            )?,
            Fault::LateJoin { limit } => write!(
                f,
                "has not joined the job within {} s: is {program} a Weft program? (--join-limit gives it longer)",
                limit.as_secs_f64(),
            )?,
            Fault::AsksOtherwise => f.write_str(
                "and a rank before it do not agree whether the job goes on after a loss: all programs of a \
                 job ask for that when they join, or none, or say weft run --on-loss continue",
            )?,
            Fault::BadMessage(what) => {
                write!(f, "sent the launcher a message that is unusable: {what}")?;
            }
            Fault::HostLost { why } => write!(f, "was lost with its host: {why}")?,
            Fault::CannotStart { .. } => unreachable!("said above"),
        }
        if let Some(words) = &self.0.last_words {
            write!(f, "; its last words: {words:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
