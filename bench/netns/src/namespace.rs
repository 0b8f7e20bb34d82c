//! One namespace of network and host name, held by its descriptors.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Output, Stdio};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::sethostname;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Reason why a cluster could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The system refused a namespace.
    #[error(
        "cannot make a network namespace: {0} (it needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN)"
    )]
    Namespace(#[from] io::Error),
    /// A command is missing.
    #[error("cannot run {command}: {error} (make setup installs it)")]
    Missing {
        /// The command.
        command: &'static str,
        /// Error of the system.
        error: io::Error,
    },
    /// A command refused.
    #[error("{command} failed: {said}")]
    Refused {
        /// The command.
        command: &'static str,
        /// Output on standard error.
        said: String,
    },
}

/// Longest time that a killed process has to disappear.
const KILL_LIMIT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A network and a host name of their own. Processes in them are killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Namespace {
    net: OwnedFd,
    uts: OwnedFd,
}

impl Namespace {
    /// A namespace with nothing in it, on a host named `name`.
    pub fn new(name: &str) -> Result<Self, SetupError> {
        let made = thread::scope(|scope| scope.spawn(|| make(name)).join());
        Ok(made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)
    }

    /// A path by which others find the network, as long as this process has it.
    pub fn net_path(&self) -> String {
        path_of(&self.net)
    }

    /// Words that, put before a command, run it in here: it takes this process's place, so that the
    /// process identifier stays.
    pub fn words(&self) -> [String; 3] {
        let (net, uts) = (path_of(&self.net), path_of(&self.uts));
        ["nsenter".into(), format!("--net={net}"), format!("--uts={uts}")]
    }

    /// A command that runs in here and dies with the thread that starts it.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).args(self.words()).arg("--").arg(program);
        command
    }

    /// Runs a closure in here, in a thread of its own.
    pub fn enter<T: Send>(&self, body: impl FnOnce() -> T + Send) -> io::Result<T> {
        let inside = || {
            setns(&self.net, CloneFlags::CLONE_NEWNET)?;
            setns(&self.uts, CloneFlags::CLONE_NEWUTS)?;
            Ok(body())
        };
        let done = thread::scope(|scope| scope.spawn(inside).join());
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Feeds `text` to a command in here that reads its orders from standard input.
    pub fn feed(
        &self,
        name: &'static str,
        arguments: &[&str],
        text: &str,
    ) -> Result<(), SetupError> {
        let missing = |error| SetupError::Missing { command: name, error };
        let mut command = self.command(name);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(missing)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that reads no further says why on standard error.
            let _ = stdin.write_all(text.as_bytes());
        }
        succeeded(name, child.wait_with_output().map_err(missing)?).map(drop)
    }

    /// Output of a command in here.
    pub fn ask(&self, name: &'static str, arguments: &[&str]) -> Result<String, SetupError> {
        let missing = |error| SetupError::Missing { command: name, error };
        let output = self.command(name).args(arguments).output().map_err(missing)?;
        succeeded(name, output)
    }

    /// Kills every process in here, and waits until they are gone.
    fn end_processes(&self) -> io::Result<()> {
        let own = fs::metadata(path_of(&self.net))?.ino();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            let Some(process) = number.and_then(Pid::from_raw) else { continue };
            if process == rustix::process::getpid() {
                continue;
            }
            // The look comes after the descriptor, so that the number cannot have a new owner.
            let Ok(watched) = pidfd_open(process, PidfdFlags::empty()) else { continue };
            let network = fs::metadata(format!("/proc/{process}/ns/net"));
            if network.is_ok_and(|network| network.ino() == own) {
                pidfd_send_signal(&watched, Signal::KILL)?;
                poll(&mut [PollFd::new(&watched, PollFlags::IN)], Some(&KILL_LIMIT))?;
            }
        }
        Ok(())
    }
}

/// Output of a command, if it did what it was told.
fn succeeded(command: &'static str, output: Output) -> Result<String, SetupError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("without a word").to_owned();
    Err(SetupError::Refused { command, said })
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // A process that could not be ended keeps its namespace, and nothing else.
        let _ = self.end_processes();
    }
}

fn make(name: &str) -> io::Result<Namespace> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWUTS)?;
    sethostname(name)?;
    let net = File::open("/proc/thread-self/ns/net")?.into();
    let uts = File::open("/proc/thread-self/ns/uts")?.into();
    Ok(Namespace { net, uts })
}

fn path_of(descriptor: &OwnedFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), descriptor.as_fd().as_raw_fd())
}
