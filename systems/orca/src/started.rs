//! A program that orcac starts, and the signals that end both.

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::process::{Child, Command, ExitStatus};

/// Signals that end a program which does not catch them.
pub struct Ends(Signals);

impl Ends {
    /// Catches them from here on, so that what is there is removed before orcac ends.
    ///
    /// # Errors
    /// Refusal of the system to have them caught.
    pub fn catch() -> io::Result<Self> {
        Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]).map(Ends)
    }

    /// Runs a command until it ends. It is sent what orcac is sent, but for Ctrl-C, which a
    /// terminal sends both.
    ///
    /// # Errors
    /// Refusal of the system to start it; [`io::ErrorKind::Interrupted`] if orcac was to end
    /// before.
    pub fn run(mut self, command: &mut Command) -> io::Result<ExitStatus> {
        if self.0.pending().any(|signal| signal != SIGCHLD) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut child = command.spawn()?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            for signal in self.0.wait() {
                if let SIGHUP | SIGTERM = signal {
                    pass_on(&child);
                }
            }
        }
    }
}

/// Asks a program to end. It was not waited for, so its number is still its own.
fn pass_on(child: &Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may be over.
        let _ = kill_process(pid, Signal::TERM);
    }
}
