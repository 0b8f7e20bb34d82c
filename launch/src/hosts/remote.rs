//! The remote shell's process that leads to an agent on another host.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::{read, retry_on_intr};
use rustix::process::{Pid, Signal, kill_process_group};

use super::layout::HostsSpec;
use super::stream::Stream;
use crate::last_words::LastWords;
use crate::messages::hosts::{RemoteShell, Subtree};
use crate::output::pieces::Pieces;
use crate::refused::pidfd_open;
use crate::this_host;
use crate::wait::{is_ready, make_nonblocking};

/// The first argument of an executable that is to be the agent of its host.
pub(crate) const HOST_AGENT: &str = "host-agent";

/// Longest time that killed remote shells have to disappear.
const KILL_LIMIT: Duration = Duration::from_secs(1);

/// Means by which agents are started.
#[derive(Clone, Debug)]
pub(crate) struct Means {
    /// The remote shell.
    pub shell: RemoteShell,
    /// The `weft` to run on other hosts.
    pub weft: OsString,
    /// The `weft` of this host, if this one's own names are known to whoever says them.
    own: Option<OsString>,
}

impl Means {
    /// The launcher's.
    ///
    /// # Errors
    /// What the system says about this executable.
    pub fn of_launcher(spec: &HostsSpec) -> io::Result<Self> {
        let own = OsString::from(std::env::current_exe()?);
        Ok(Means {
            shell: spec.remote_shell.clone(),
            weft: spec.remote_weft.clone().unwrap_or_else(|| own.clone()),
            own: Some(own),
        })
    }

    /// An agent's.
    pub fn of_agent(subtree: &Subtree) -> Self {
        Means { shell: subtree.shell.clone(), weft: subtree.weft.clone(), own: None }
    }

    fn command(&self, host: &str) -> Command {
        if let Some(own) = self.own.as_ref().filter(|_| is_here(host)) {
            let mut command = Command::new(own);
            command.arg(HOST_AGENT);
            return command;
        }
        let mut command = Command::new(&self.shell.program);
        command.args(self.shell.arguments_for(host)).args(agent_command(&self.weft));
        command
    }
}

/// A remote shell that runs an agent. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Shell {
    child: Child,
    /// Readable once it has ended.
    exit: OwnedFd,
    /// Standard error of the shell and the agent; `None` once they have closed it.
    stderr: Option<OwnedFd>,
    pieces: Pieces,
    words: LastWords,
    weft: OsString,
    /// Time by which it is to have ended.
    end_by: Instant,
}

impl Shell {
    /// Starts the agent of a host.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn start(host: &str, means: &Means) -> Result<(Self, Stream), String> {
        let mut command = means.command(host);
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
        let exit = pidfd_open(Pid::from_child(&child));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(stderr)) = pipes else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let stderr = OwnedFd::from(stderr);
        make_nonblocking(&stderr).map_err(failed)?;
        let stream = Stream::new(from.into(), to.into()).map_err(failed)?;
        let shell = Shell {
            child,
            exit: exit.map_err(failed)?,
            stderr: Some(stderr),
            pieces: Pieces::default(),
            words: LastWords::default(),
            weft: means.weft.clone(),
            end_by: Instant::now(),
        };
        Ok((shell, stream))
    }

    /// Descriptor that is readable once the shell has ended.
    pub fn exit(&self) -> &OwnedFd {
        &self.exit
    }

    /// Descriptor that is readable when the shell complains.
    pub fn stderr(&self) -> Option<&OwnedFd> {
        self.stderr.as_ref()
    }

    /// Reads what the shell complains of, and remembers the last line.
    pub fn read_stderr(&mut self) {
        let Some(from) = &self.stderr else { return };
        let mut bytes = [0; 4096];
        let words = &mut self.words;
        match retry_on_intr(|| read(from, &mut bytes)) {
            Err(rustix::io::Errno::AGAIN) => {}
            Ok(0) | Err(_) => {
                self.pieces.finish(|line| words.take_in(line));
                self.stderr = None;
            }
            Ok(count) => self.pieces.take_in(&bytes[..count], |line| words.take_in(line)),
        }
    }

    /// Reason why its connection has ended, for a person; of one that still runs not much is known.
    pub fn explain(&mut self) -> String {
        let status = self.child.try_wait().ok().flatten();
        while self.stderr.is_some() && self.has_stderr() {
            self.read_stderr();
        }
        let reported = self.words.get().map(|words| format!(": {words}")).unwrap_or_default();
        let weft = self.weft.to_string_lossy();
        match status.and_then(|status| status.code()) {
            Some(126 | 127) => format!(
                "weft cannot be run there as {weft}{reported} (install it there, or say where it is with --remote-weft)"
            ),
            Some(255) => format!("the remote shell cannot get there{reported}"),
            Some(0) => format!(
                "{weft} has ended there, with status 0{reported}: is it weft? (--remote-weft says where that is)"
            ),
            None => format!("the connection to it has ended{reported}"),
            Some(status) => format!("its agent ended with status {status}{reported}"),
        }
    }

    fn has_stderr(&self) -> bool {
        let ready = |from| is_ready(from, PollFlags::IN, Duration::ZERO).unwrap_or(false);
        self.stderr.as_ref().is_some_and(ready)
    }

    /// Says until when it may run, once its connection was closed.
    pub fn is_to_end_by(&mut self, end_by: Instant) {
        self.end_by = end_by;
    }

    /// Waits until it has ended, and kills it if that takes longer than it may.
    fn end(&mut self) {
        if !self.ends_by(self.end_by) {
            self.kill();
            self.ends_by(self.end_by.max(Instant::now()) + KILL_LIMIT);
        }
        // Reaped, if it has ended; of one that has not nothing more can be done.
        let _ = self.child.try_wait();
    }

    /// True if it has ended.
    pub fn has_ended(&self) -> bool {
        self.ends_by(Instant::now())
    }

    /// Kills it with all that it has started in its group.
    pub fn kill(&self) {
        // Not reaped yet, so that the group's number is still its own.
        if !self.has_ended() {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
    }

    /// True if it has ended, or does so before that time.
    fn ends_by(&self, by: Instant) -> bool {
        let left = by.saturating_duration_since(Instant::now());
        is_ready(&self.exit, PollFlags::IN, left).unwrap_or(false)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.end();
    }
}

/// True if a name means this host, which needs no remote shell.
pub(crate) fn is_here(name: &str) -> bool {
    ["localhost", "127.0.0.1", "::1"].contains(&name) || this_host::name() == name
}

/// The agent's command. Remote shells give it to a shell there, as `ssh` does, or start it as it
/// is, as `docker exec` does: words that mean the same to both, if `weft` is such a word, and else
/// one line with quotes for a shell.
fn agent_command(weft: &OsStr) -> Vec<OsString> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,:@".contains(byte);
    if weft.as_bytes().iter().all(is_plain) {
        return vec![weft.to_owned(), HOST_AGENT.into()];
    }
    let mut command = b"'".to_vec();
    for &byte in weft.as_bytes() {
        match byte {
            b'\'' => command.extend(b"'\\''"),
            other => command.push(other),
        }
    }
    command.extend(format!("' {HOST_AGENT}").as_bytes());
    vec![OsStr::from_bytes(&command).to_owned()]
}

#[cfg(test)]
mod tests;
