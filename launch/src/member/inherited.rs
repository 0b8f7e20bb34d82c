//! Taking over the socket that the launcher left open for this process.
//!
//! The one module of this crate with `unsafe` code: the environment cannot be changed without it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::process;

use crate::pmi::inherited::TakeError;

/// The environment variable that makes a process a rank: `NUMBER:INODE` of its socket, or
/// `taken:PROCESS` in what the process `PROCESS` starts after it has joined.
pub(crate) const JOB: &str = "WEFT_JOB";

/// Reason why the socket that the environment names could not be taken over.
#[derive(Debug, thiserror::Error)]
pub enum InheritError {
    /// The variable is not what a launcher writes.
    #[error(
        "WEFT_JOB is {0:?}, which no launcher writes: unset it, or start the program with `weft run`"
    )]
    Variable(String),
    /// This process has joined before.
    #[error("this process has already joined its job, and may do so once")]
    AlreadyJoined,
    /// The socket did not come through.
    #[error(
        "descriptor {0}, the connection to the launcher, is not open: a wrapper between `weft run` and this \
         program closed it (keep it open), or a rank started this program (unset WEFT_JOB for it)"
    )]
    NotOpen(RawFd),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// The socket to the launcher, close-on-exec; `None` if this process is not a rank.
pub(crate) fn take() -> Result<Option<OwnedFd>, InheritError> {
    let Some(value) = env::var_os(JOB) else { return Ok(None) };
    let (number, inode) = match parse(&value)? {
        Variable::Taken { process } if process == process::id() => {
            return Err(InheritError::AlreadyJoined);
        }
        Variable::Taken { .. } => return Ok(None),
        Variable::Socket { number, inode } => (number, inode),
    };
    let socket = take_socket(number, inode)?;
    mark_taken()?;
    Ok(Some(socket))
}

#[derive(Debug, PartialEq, Eq)]
enum Variable {
    Socket { number: RawFd, inode: u64 },
    Taken { process: u32 },
}

fn parse(value: &OsStr) -> Result<Variable, InheritError> {
    let text = value.to_string_lossy();
    let parsed = text.split_once(':').and_then(|(left, right)| match left {
        "taken" => Some(Variable::Taken { process: right.parse().ok()? }),
        _ => {
            let number = left.parse().ok().filter(|&number| number > 2)?;
            Some(Variable::Socket { number, inode: right.parse().ok()? })
        }
    });
    parsed.ok_or_else(|| InheritError::Variable(text.into_owned()))
}

/// True if `value` is one that a launcher or a rank writes. For the fuzz target.
pub(crate) fn parses_as_job_variable(value: &OsStr) -> bool {
    match parse(value) {
        Ok(Variable::Socket { number, .. }) => {
            // 0 to 2 are a program's own streams.
            assert!(number > 2, "no launcher passes the socket as descriptor {number}");
            true
        }
        Ok(Variable::Taken { .. }) => true,
        Err(_) => false,
    }
}

fn take_socket(number: RawFd, inode: u64) -> Result<OwnedFd, InheritError> {
    let wanted = format!("socket:[{inode}]");
    crate::pmi::inherited::take_socket(number, |name| name == wanted).map_err(|error| match error {
        TakeError::NotOpen(number) => InheritError::NotOpen(number),
        TakeError::Taken => InheritError::AlreadyJoined,
        TakeError::System(error) => InheritError::System(error),
    })
}

/// Says in the environment that the socket is taken, so that what this process starts is no rank.
///
/// Left undone in a process that has several threads already: there the program that a rank starts
/// finds the socket closed, and says so.
pub(super) fn mark_taken() -> io::Result<()> {
    if !is_single_threaded()? {
        return Ok(());
    }
    let value = format!("taken:{}", process::id());
    // SAFETY: nobody reads or writes the environment at the same time, because this process has no
    // other thread, and only this one could start another.
    unsafe { env::set_var(JOB, value) };
    Ok(())
}

fn is_single_threaded() -> io::Result<bool> {
    Ok(fs::read_dir("/proc/self/task")?.count() == 1)
}

#[cfg(test)]
mod tests;
