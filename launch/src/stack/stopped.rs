//! A thread that is stopped, for as long as this is kept.

use crate::stack::{Registers, StackError};
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time in which a thread has to stop, and between two looks if it has.
const PATIENCE: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_micros(100);
/// Looks at any thread, and not for longer than now.
const ANY_THREAD: WaitPidFlag = WaitPidFlag::__WALL.union(WaitPidFlag::WNOHANG);

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
            match stop_of(thread)? {
                Some(pending) => return Ok(Stopped { thread, memory, pending }),
                None if Instant::now() >= until => return Err(StackError::Busy),
                None => sleep(PAUSE),
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
        Err(StackError::Unsupported)
    }

    /// So many bytes of its memory from an address on, or as many as can be read.
    pub fn bytes(&self, address: u64, count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count as usize];
        let mut read = 0;
        while read < bytes.len() {
            match self.memory.read_at(&mut bytes[read..], address + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The rest is not there.
                Err(_) if read > 0 => break,
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(read);
        Ok(bytes)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have been killed meanwhile.
        let _ = ptrace::detach(self.thread, self.pending);
    }
}

/// Signal that has stopped a thread which this one traces, or none if it was asked to; `None` if it
/// has not stopped.
///
/// # Errors
/// It has ended. Whoever waits for the end of its process is left to see it: that may be another
/// thread of this process, whose child it is.
fn stop_of(thread: Pid) -> Result<Option<Option<Signal>>, StackError> {
    let look = |states| match waitid(Id::Pid(thread), states | ANY_THREAD) {
        Err(Errno::EINTR) => Ok(WaitStatus::StillAlive),
        looked => looked.map_err(refused),
    };
    // Stops of a traced thread are seen by whoever asks for its end.
    let seen = look(WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
    if matches!(seen, WaitStatus::Exited(..) | WaitStatus::Signaled(..)) {
        return Err(StackError::Gone);
    }
    Ok(match look(WaitPidFlag::WSTOPPED)? {
        WaitStatus::StillAlive => None,
        WaitStatus::Stopped(_, signal) | WaitStatus::PtraceEvent(_, signal, 0) => {
            Some(Some(signal))
        }
        _ => Some(None),
    })
}

fn refused(error: Errno) -> StackError {
    match error {
        Errno::EPERM | Errno::EACCES => StackError::Denied,
        Errno::ESRCH | Errno::ECHILD => StackError::Gone,
        other => StackError::System(other as i32),
    }
}

#[cfg(test)]
mod tests;
