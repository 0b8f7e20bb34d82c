//! One host, as the launcher sees it: the remote shell's process, the connection to the agent.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::{read, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use weft_wire::Rank;

use super::BEAT;
use super::layout::{HostsSpec, RemoteShell};
use super::stream::{Stream, make_nonblocking};
use crate::messages::BadMessage;
use crate::messages::hosts::{FromAgent, ToAgent};
use crate::output::pieces::Pieces;
use crate::start::HOST_AGENT;
use crate::wait::wait_for;
use crate::words::LastWords;

/// Longest time that remote shells have to end once their agents have been let go, all together.
const END_LIMIT: Duration = Duration::from_secs(2);
/// Longest time that a remote shell whose connection has ended has to say why. The job's other
/// hosts wait meanwhile.
const EXPLAIN_LIMIT: Duration = Duration::from_millis(300);
/// Longest time that killed remote shells have to disappear, after that.
const KILL_LIMIT: Duration = Duration::from_secs(1);

/// A host of the job.
#[derive(Debug)]
pub(crate) struct Remote {
    /// Its name in the list of hosts.
    pub name: String,
    pub stream: Stream,
    child: Child,
    /// Readable once the remote shell has ended.
    exit: OwnedFd,
    /// Standard error of the remote shell and the agent; `None` once they have closed it.
    pub complaints: Option<OwnedFd>,
    pieces: Pieces,
    words: LastWords,
    weft: OsString,
    /// The first rank here, and how many there are.
    pub first: u16,
    pub count: u16,
    /// The processes of the ranks here, once they have been started.
    pub processes: Vec<u32>,
    /// Time for which nothing has been heard of it.
    pub silent: Duration,
    /// Bytes of output that have arrived and have not been acknowledged.
    pub owed_bytes: u32,
    /// Processes that could not be ended, once the agent has said that it is done.
    pub finished: Option<Vec<u32>>,
    /// True if its end has been noticed.
    pub is_lost: bool,
    /// Time by which the remote shell is to have ended, once its agent has been let go.
    end_by: Option<Instant>,
}

/// The hosts of a job. All are let go at once when this is dropped, so that they have one deadline.
#[derive(Debug, Default)]
pub(crate) struct Remotes(Vec<Remote>);

impl Deref for Remotes {
    type Target = Vec<Remote>;

    fn deref(&self) -> &Vec<Remote> {
        &self.0
    }
}

impl DerefMut for Remotes {
    fn deref_mut(&mut self) -> &mut Vec<Remote> {
        &mut self.0
    }
}

impl Drop for Remotes {
    fn drop(&mut self) {
        let end_by = Instant::now() + END_LIMIT;
        self.iter_mut().for_each(|remote| remote.let_go(end_by));
    }
}

impl Remote {
    /// Starts the agent of a host.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn start(name: &str, spec: &HostsSpec) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| format!("cannot find weft: {error}"))?;
        let weft = spec.remote_weft.clone().unwrap_or_else(|| own.clone().into());
        let mut command;
        if is_here(name) {
            command = Command::new(&own);
            command.arg(HOST_AGENT);
        } else {
            let RemoteShell { program, arguments } = &spec.remote_shell;
            command = Command::new(program);
            command.args(arguments).arg(name).arg(agent_command(&weft));
        }
        // In a group of its own a signal from the terminal does not reach it, but the launcher
        // alone.
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let shell = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| {
            format!("cannot start the remote shell {shell:?}: {error} (--rsh names another)")
        })?;
        let failed = |error: io::Error| format!("cannot talk to the remote shell: {error}");
        let exit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(complaints)) = pipes else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let complaints = OwnedFd::from(complaints);
        make_nonblocking(&complaints).map_err(failed)?;
        Ok(Remote {
            name: name.into(),
            stream: Stream::new(from.into(), to.into()).map_err(failed)?,
            child,
            exit: exit.map_err(|error| failed(error.into()))?,
            complaints: Some(complaints),
            pieces: Pieces::default(),
            words: LastWords::default(),
            weft,
            first: 0,
            count: 0,
            processes: Vec::new(),
            silent: Duration::ZERO,
            owed_bytes: 0,
            finished: None,
            is_lost: false,
            end_by: None,
        })
    }

    /// Sends the agent a message.
    pub fn send(&mut self, message: &ToAgent) {
        self.stream.send(&message.emit());
    }

    /// The next message that has arrived.
    pub fn take(&mut self) -> Option<Result<FromAgent, BadMessage>> {
        self.stream.take().map(|message| FromAgent::parse(&message))
    }

    /// True if this rank is here.
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks().any(|own| own == rank)
    }

    /// The ranks here.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        (self.first..self.first + self.count).map(Rank)
    }

    /// Reads what the remote shell complains of, and remembers the last line.
    pub fn hear_complaints(&mut self) {
        let Some(from) = &self.complaints else { return };
        let mut bytes = [0; 4096];
        let words = &mut self.words;
        match retry_on_intr(|| read(from, &mut bytes)) {
            Err(rustix::io::Errno::AGAIN) => {}
            Ok(0) | Err(_) => {
                self.pieces.finish(|line| words.say(line));
                self.complaints = None;
            }
            Ok(count) => self.pieces.take_in(&bytes[..count], |line| words.say(line)),
        }
    }

    /// Reason why the connection has ended, for a person. Waits for the remote shell's end, for a
    /// moment.
    pub fn explain_end(&mut self) -> String {
        self.let_go(Instant::now() + EXPLAIN_LIMIT);
        let status = self.end();
        while self.complaints.is_some() && self.has_complaints() {
            self.hear_complaints();
        }
        let said = self.words.get().map(|words| format!(": {words}")).unwrap_or_default();
        let weft = self.weft.to_string_lossy();
        match status.and_then(|status| status.code()) {
            Some(126 | 127) => format!(
                "weft cannot be run there as {weft}{said} (install it there, or say where it is with --remote-weft)"
            ),
            Some(255) => format!("the remote shell cannot get there{said}"),
            Some(0) | None => format!("the connection to it has ended{said}"),
            Some(status) => format!("its agent ended with status {status}{said}"),
        }
    }

    fn has_complaints(&self) -> bool {
        let from = self.complaints.iter().map(|from| ((), from.as_fd(), PollFlags::IN));
        wait_for(&from.collect::<Vec<_>>(), Some(Duration::ZERO))
            .is_ok_and(|ready| !ready.is_empty())
    }

    /// Lets the agent go; its remote shell is to have ended by then, unless it was let go before.
    fn let_go(&mut self, end_by: Instant) {
        self.stream.close();
        self.end_by.get_or_insert(end_by);
    }

    /// Waits until the remote shell has ended, after it was [let go](Self::let_go); kills it if it
    /// takes long.
    fn end(&mut self) -> Option<ExitStatus> {
        let end_by = self.end_by.unwrap_or_else(Instant::now);
        if !self.has_ended(end_by) {
            // Not reaped yet, so that the group's number is still its own.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            self.has_ended(end_by + KILL_LIMIT);
        }
        self.child.try_wait().ok().flatten()
    }

    /// True if the remote shell has ended, or does so before that time.
    fn has_ended(&self, by: Instant) -> bool {
        let left = by.saturating_duration_since(Instant::now());
        let ended = wait_for(&[((), self.exit.as_fd(), PollFlags::IN)], Some(left));
        ended.is_ok_and(|ready| !ready.is_empty())
    }

    /// Counts silence: the time since this was asked last, unless this process itself was asleep. A
    /// machine that stood still must not take its peers for dead.
    pub fn has_been_silent(&mut self, elapsed: Duration, limit: Duration) -> bool {
        self.silent += elapsed.min(BEAT);
        self.silent > limit
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.let_go(Instant::now() + END_LIMIT);
        self.end();
    }
}

/// True if a name means this host, which needs no remote shell.
fn is_here(name: &str) -> bool {
    name == "localhost" || rustix::system::uname().nodename().to_string_lossy() == name
}

/// The agent's command for whatever shell there is: one word in quotes.
fn agent_command(weft: &OsStr) -> OsString {
    let mut command = b"'".to_vec();
    for &byte in weft.as_bytes() {
        match byte {
            b'\'' => command.extend(b"'\\''"),
            other => command.push(other),
        }
    }
    command.extend(format!("' {HOST_AGENT}").as_bytes());
    OsStr::from_bytes(&command).to_owned()
}

#[cfg(test)]
mod tests;
