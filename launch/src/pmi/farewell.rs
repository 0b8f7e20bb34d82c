//! Last message to a process manager when a process ends, unless somebody else in it has sent one.
//!
//! A library in a program that may speak with the process manager itself cannot say for it that it
//! is done: hydra ends the connection then, and the program would be killed by its next word. Nor
//! can it be silent, if the program says nothing: hydra takes that for a failure, and kills the
//! others. The last speaker is known when the process ends.
//!
//! A module with `unsafe` code: what runs then is named in a section of the library.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, send};
use rustix::process::{Pid, getpid};

/// Called when the process ends, after all that was registered by `atexit`, which is where MPI
/// libraries speak last.
// SAFETY: the section holds functions that take nothing and return nothing, and are called once.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = say;

/// Last message, if there is one to say when the process ends.
static LAST: Mutex<Option<Farewell>> = Mutex::new(None);

/// A place that was given up, of which its process manager has not been told.
#[derive(Debug)]
pub struct Farewell {
    /// Process whose place it was: one that it forks has the connection, too, and is not to say for
    /// it that it is done.
    pub of: Pid,
    /// The connection.
    pub stream: UnixStream,
    /// The last message.
    pub words: Vec<u8>,
    /// Rank, and number of ranks.
    pub place: (u32, u32),
}

/// Longest wait for the answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// Says it when the process ends, if the connection is still there then.
pub fn at_exit(farewell: Farewell) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(farewell);
}

/// Takes back what was to be said, because the process takes its place again.
pub fn take_back() -> Option<Farewell> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

extern "C" fn say() {
    // In a child whose parent held the lock when it forked nobody lets go of it.
    if let Ok(mut last) = LAST.try_lock()
        && let Some(last) = last.take()
    {
        say_as(getpid(), last);
    }
}

fn say_as(process: Pid, Farewell { of, stream, words, .. }: Farewell) {
    if process == of {
        say_on(stream, &words);
    }
}

fn say_on(mut stream: UnixStream, words: &[u8]) {
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut ends = [PollFd::new(&stream, PollFlags::RDHUP)];
    // A flag is there: the other end is closed.
    if poll(&mut ends, Some(&none)) != Ok(0) {
        return;
    }
    let said = send(&stream, words, SendFlags::NOSIGNAL);
    if said == Ok(words.len()) && stream.set_read_timeout(Some(ANSWER_LIMIT)).is_ok() {
        // The answer makes no difference, but it is not left unread.
        let _ = stream.read(&mut [0; 256]);
    }
}

#[cfg(test)]
mod tests;
