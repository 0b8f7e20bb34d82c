//! A thread that is stopped, for as long as this is kept.

use crate::StackError;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time in which a thread has to stop, and between two looks if it has.
const PATIENCE: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_micros(100);

/// Registers by which a stack is unwound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    pub instruction: u64,
    pub stack: u64,
    pub frame: u64,
}

/// The thread.
pub(crate) struct Stopped {
    thread: Pid,
    memory: File,
    /// Signal that came while it was being stopped, which it is to have.
    pending: Option<Signal>,
}

impl Stopped {
    /// Stops a thread, from a thread that does nothing else: if it does not stop in time, it goes
    /// on when that one ends.
    pub fn new(thread: u32) -> Result<Self, StackError> {
        let memory = File::open(format!("/proc/{thread}/mem"))?;
        let thread = Pid::from_raw(thread.cast_signed());
        ptrace::seize(thread, ptrace::Options::empty()).map_err(refused)?;
        ptrace::interrupt(thread).map_err(refused)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match waitpid(thread, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) if Instant::now() >= until => {
                    return Err(StackError::Busy);
                }
                Ok(WaitStatus::StillAlive) => sleep(PAUSE),
                Ok(WaitStatus::Stopped(_, signal)) => {
                    return Ok(Stopped { thread, memory, pending: Some(signal) });
                }
                Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => {
                    return Err(StackError::Gone);
                }
                Ok(_) => return Ok(Stopped { thread, memory, pending: None }),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(refused(error)),
            }
        }
    }

    /// Registers of the thread.
    #[cfg(target_arch = "x86_64")]
    pub fn registers(&self) -> Result<Registers, StackError> {
        let all = ptrace::getregs(self.thread).map_err(refused)?;
        Ok(Registers { instruction: all.rip, stack: all.rsp, frame: all.rbp })
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub fn registers(&self) -> Result<Registers, StackError> {
        Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into())
    }

    /// Word at an address of its memory.
    pub fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.read_exact_at(&mut bytes, address).ok()?;
        Some(u64::from_ne_bytes(bytes))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have been killed meanwhile.
        let _ = ptrace::detach(self.thread, self.pending);
    }
}

fn refused(error: Errno) -> StackError {
    match error {
        Errno::EPERM | Errno::EACCES => StackError::Denied,
        Errno::ESRCH | Errno::ECHILD => StackError::Gone,
        other => StackError::System(other.into()),
    }
}
