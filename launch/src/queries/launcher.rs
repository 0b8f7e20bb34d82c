//! The process that runs a job, to be sent signals.

use super::{Question, connect_to};
use crate::refused::pidfd_open;
use crate::wait::is_ready;
use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, pidfd_send_signal};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The process that runs a job of this user on this host. It stays that one: another process that
/// gets its number later is not meant.
#[derive(Debug)]
pub struct Launcher {
    /// Becomes readable when the process ends.
    exit: OwnedFd,
    process: u32,
}

impl Launcher {
    /// The process that runs this job.
    ///
    /// # Errors
    /// There is no such job (`ConnectionRefused`), it is another user's, or its process is in a
    /// container that is not seen from here (`NotFound`).
    pub fn of(job: u32) -> io::Result<Self> {
        let process = || Ok::<_, io::Error>(connect_to(job, Question::Snapshot)?.1);
        let found = process()?.ok_or(io::ErrorKind::NotFound)?;
        let pid = Pid::from_raw(found.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
        let exit = pidfd_open(pid)?;
        // Its socket is still there, so it has not ended before the descriptor was opened.
        match process()? == Some(found) {
            true => Ok(Launcher { exit, process: found }),
            false => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }

    /// Its number, as this process sees it.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// Those of the system; `ESRCH` if it has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.exit, signal)?)
    }

    /// True if it has ended, or ends before the time is over. Blocks for so long at most.
    ///
    /// # Errors
    /// The system cannot wait.
    pub fn ends_within(&self, limit: Duration) -> io::Result<bool> {
        is_ready(&self.exit, PollFlags::IN, limit)
    }
}
