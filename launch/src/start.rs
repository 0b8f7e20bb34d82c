//! The last step before a rank's program: a process that makes itself ready, then becomes it.
//!
//! What must happen between `fork` and `exec` would need `unsafe` in the launcher. So the launcher
//! starts its own executable once more, with its end of the socket as standard input; the new
//! process dies with the launcher from here on, goes to its core, puts standard input back, passes
//! the socket on under a number, and executes the program in its place.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::channel::{self, ReceiveError};
use crate::hosts::HOST_AGENT;
use crate::member::JOB;
use crate::messages::{Message as _, Start, ToLauncher, ToRank};
use crate::privileges::forgo_capabilities;
use crate::roll::StacksOf;
use crate::spawn::START_RANK;

/// The lowest number for the inherited socket: above those that shell scripts pick by hand.
const SOCKET_NUMBER_MIN: i32 = 100;

/// Becomes a rank's program, or the agent of its host, if that is what this process was started
/// for.
///
/// A program that calls [`run`](crate::run) or [`run_on_hosts`](crate::run_on_hosts) calls this
/// first in its `main`. It returns `None` for an ordinary start, an exit code if the program could
/// not be started or the agent is done, and otherwise not at all. Capabilities that the
/// executable's file may have given this process are gone then: nothing that it starts or loads
/// gets any. `stacks_of` is what an agent takes stacks of its ranks by.
pub fn start_if_asked(stacks_of: Option<StacksOf>) -> Option<ExitCode> {
    if let Err(error) = forgo_capabilities() {
        eprintln!("weft: {error}");
        return Some(ExitCode::FAILURE);
    }
    let mut arguments = env::args_os().skip(1);
    match arguments.next()? {
        agent if agent == HOST_AGENT => return Some(crate::hosts::agent::run(stacks_of)),
        rank if rank == START_RANK => {}
        _ => return None,
    }
    let program = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    match become_program(&program, &arguments) {
        // The launcher has been told, or is gone: whoever asks now gets a shell's answer.
        Err(_) => Some(ExitCode::from(126)),
        Ok(never) => match never {},
    }
}

enum Never {}

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Receive(#[from] ReceiveError),
    #[error("the launcher is gone")]
    Orphaned,
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<Errno> for StartError {
    fn from(error: Errno) -> Self {
        StartError::System(error.into())
    }
}

fn become_program(program: &OsStr, arguments: &[OsString]) -> Result<Never, StartError> {
    let channel = io::stdin().as_fd().try_clone_to_owned()?;
    let started = prepare(&channel).and_then(|inherited| {
        let named = format!("{}:{}", inherited.as_raw_fd(), rustix::fs::fstat(&inherited)?.st_ino);
        Err(Command::new(program).args(arguments).env(JOB, named).exec().into())
    });
    if let Err(StartError::System(error)) = &started {
        let errno = error.raw_os_error().unwrap_or_default();
        // If the launcher is gone, nobody needs to know.
        let message = ToLauncher::CannotStart(errno).emit();
        let _ = channel::send(&channel, &message, &[], SendFlags::empty());
    }
    started
}

/// Gets ready for the program, and returns the socket under the number that it inherits.
fn prepare(channel: &OwnedFd) -> Result<OwnedFd, StartError> {
    let (start, stdin) = receive_start(channel)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A launcher that died before that call sends no signal any more; it is no parent any more
    // either.
    let parent = getppid().map_or(0, |parent| parent.as_raw_nonzero().get().cast_unsigned());
    if parent != start.launcher {
        return Err(StartError::Orphaned);
    }
    if let Some(core) = start.core {
        stay_on(core)?;
    }
    rustix::stdio::dup2_stdin(stdin)?;
    // If so many files may not be open, any number will do.
    let inherited = fcntl_dupfd_cloexec(channel, SOCKET_NUMBER_MIN)
        .or_else(|_| fcntl_dupfd_cloexec(channel, 0))?;
    fcntl_setfd(&inherited, FdFlags::empty())?;
    Ok(inherited)
}

fn receive_start(channel: &OwnedFd) -> Result<(Start, OwnedFd), ReceiveError> {
    let received = channel::receive(channel, RecvFlags::empty())?;
    let message = ToRank::parse(&received.bytes)?;
    let (got, needed) = (received.descriptors.len(), message.descriptors());
    match (message, received.descriptors.into_iter().next()) {
        (ToRank::Start(start), Some(stdin)) if got == needed => Ok((start, stdin)),
        _ => Err(crate::BadMessage::Descriptors { got, needed }.into()),
    }
}

/// Keeps this process on the `core`-th of the cores that it may use, counted round and round.
fn stay_on(core: u16) -> Result<(), Errno> {
    let allowed = sched_getaffinity(None)?;
    let count = allowed.count() as usize;
    let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
    let chosen = cores.nth(usize::from(core) % count.max(1)).ok_or(Errno::INVAL)?;
    let mut only = CpuSet::new();
    only.set(chosen);
    sched_setaffinity(None, &only)
}
