//! Starting the process of a rank, and ending it for certain.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::net::SendFlags;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_send_signal, waitid,
};
use weft_wire::Rank;

use crate::channel;
use crate::door::Visitor;
use crate::messages::{Ending, Message as _, Start, ToRank};
use crate::orphans::{self, KILL_LIMIT};
use crate::refused::pidfd_open;
use crate::spec::{Binding, JobSpec};
use crate::wait::is_ready;

/// The first argument of an executable that is to become a rank's program.
pub(crate) const START_RANK: &str = "start-rank";

/// A rank's process, which is killed with its group when this is dropped before it has ended.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    /// Becomes readable when the process ends.
    pub exit: OwnedFd,
    /// The connection to it; `None` once the other side is closed.
    pub channel: Option<OwnedFd>,
    /// True if it is to be waited for no more.
    released: bool,
    /// True if this process has started it: else it is somebody else's child, of a group of theirs.
    is_child: bool,
}

/// A process that has just been started, and its output.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub process: Process,
    pub out: OwnedFd,
    pub err: OwnedFd,
}

/// A rank's seat on this host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat<'a> {
    /// Its number in the job.
    pub rank: Rank,
    /// Its number on this host.
    pub index: u16,
    /// The ranks that the job begins with.
    pub size: u16,
    /// Standard input; nothing if it has none.
    pub stdin: Option<BorrowedFd<'a>>,
}

/// Starts the process that becomes `program` as this rank.
///
/// The process dies with the thread that calls this.
pub(crate) fn spawn(spec: &JobSpec, program: &Path, seat: Seat<'_>) -> io::Result<Spawned> {
    let (channel, theirs) = channel::pair()?;
    let core = (spec.binding == Binding::Core).then_some(seat.index);
    let start = ToRank::Start(Start { launcher: std::process::id(), core });
    let nothing = File::open("/dev/null")?;
    let stdin = seat.stdin.unwrap_or(nothing.as_fd());
    channel::send(&channel, &start.emit(), &[stdin], SendFlags::empty())?;
    let mut command = Command::new(&spec.starter);
    command.arg(START_RANK).arg(program).args(spec.command_of(seat.rank).1);
    command.envs(spec.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &spec.directory {
        command.current_dir(directory).env("PWD", directory);
    }
    command.env("WEFT_RANK", seat.rank.to_string());
    command.env("WEFT_SIZE", seat.size.to_string());
    let given = |name| spec.options.get(name).map(String::as_str);
    for (name, value) in fabric_environment(given("link"), given("provider")) {
        let is_given = spec.environment.iter().any(|(given, _)| *given == *name);
        if !is_given && std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    // The command has read the variable where it was given no other file.
    if let Some(file) = spec.options.get("libfabric") {
        command.env("WEFT_LIBFABRIC", file);
    }
    if spec.terminal {
        command.env("WEFT_TERMINAL", "1");
    } else {
        command.env_remove("WEFT_TERMINAL");
    }
    command.stdin(theirs).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let pid = Pid::from_child(&child);
    let pipes = (child.stdout.take(), child.stderr.take());
    let exit = pidfd_open(pid).inspect_err(|_| {
        orphans::end(pid, Instant::now() + KILL_LIMIT);
    })?;
    let process = Process { pid, exit, channel: Some(channel), released: false, is_child: true };
    let (Some(out), Some(err)) = pipes else { return Err(io::ErrorKind::BrokenPipe.into()) };
    Ok(Spawned { process, out: out.into(), err: err.into() })
}

/// Settings of libfabric and of what it loads, which are read from the environment alone: for ranks
/// over this link and this provider, if they are named.
pub fn fabric_environment(
    link: Option<&str>,
    provider: Option<&str>,
) -> Vec<(&'static str, &'static str)> {
    if link != Some("fabric") {
        return Vec::new();
    }
    // The libraries of the providers psm and psm2 catch signals once loaded, and a rank that
    // crashes would leave a file of theirs in its directory.
    let mut all = vec![("HFI_NO_BACKTRACE", "1"), ("IPATH_NO_BACKTRACE", "1")];
    // Over TCP the layer of reliable datagrams sends the link's longest ones in one go, instead of
    // in copied segments. Over other providers that length is tied to the layer's own buffers.
    if provider == Some("tcp;ofi_rxm") {
        all.push(("FI_OFI_RXM_EAGER_LIMIT", "65536"));
    }
    all
}

/// Standard input for rank 0: the launcher's own.
///
/// From a terminal nobody reads: a rank is not in the group that may, and would be stopped.
pub(crate) fn stdin_of_first() -> io::Result<OwnedFd> {
    let own = io::stdin();
    if own.is_terminal() {
        Ok(File::open("/dev/null")?.into())
    } else {
        own.as_fd().try_clone_to_owned()
    }
}

impl Process {
    /// The process of a visitor that was let in.
    pub fn admitted(visitor: Visitor) -> Self {
        let Visitor { process, exit, channel, .. } = visitor;
        Process { pid: process, exit, channel: Some(channel), released: false, is_child: false }
    }

    /// The process identifier.
    pub fn id(&self) -> u32 {
        self.pid.as_raw_pid().cast_unsigned()
    }

    /// True if it may still run.
    pub fn is_running(&self) -> bool {
        !self.released
    }

    /// Sends a signal to the process, and if it is a child to all that it started in its group.
    pub fn signal(&self, signal: Signal) {
        if !self.is_running() {
            return;
        }
        // It has ended, or its group, if this fails, which the descriptor will tell.
        let _ = match self.is_child {
            true => kill_process_group(self.pid, signal),
            false => pidfd_send_signal(&self.exit, signal),
        };
    }

    /// Ending of the process; `None` if it still runs.
    ///
    /// What is left of its group is killed while the process, not yet reaped, still keeps the
    /// group's number from being given to others.
    pub fn collect(&mut self) -> io::Result<Option<Ending>> {
        if !self.is_child {
            self.released = is_ready(&self.exit, PollFlags::IN, Duration::ZERO)?;
            return Ok(self.released.then_some(Ending::Unseen));
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let pidfd = || WaitId::PidFd(self.exit.as_fd());
        let Some(status) = waitid(pidfd(), options | WaitIdOptions::NOWAIT)? else {
            return Ok(None);
        };
        self.signal(Signal::KILL);
        waitid(pidfd(), options)?;
        self.released = true;
        let killed = status.terminating_signal().map(Ending::Killed);
        let exited = status.exit_status().map(Ending::Exited);
        Ok(killed.or(exited))
    }

    /// Kills the process, if it has not ended, and waits until then at the longest.
    pub fn end(&mut self, by: Instant) {
        if self.is_running() {
            self.signal(Signal::KILL);
            if self.is_child {
                orphans::end(self.pid, by);
            } else {
                let left = by.saturating_duration_since(Instant::now());
                // Whose child it is sees to it that it disappears.
                let _ = is_ready(&self.exit, PollFlags::IN, left);
            }
            self.released = true;
        }
    }

    /// Waits for this process no more: it was killed and does not disappear.
    pub fn give_up(&mut self) {
        self.released = true;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(Instant::now() + KILL_LIMIT);
    }
}
