//! Stack of a thread of another process, with names of functions.
//!
//! The thread is stopped for as long as it takes to copy its registers and what its stack holds,
//! by `ptrace(2)`, of which its program learns nothing: a sleep goes on where it was, and no
//! handler runs. Whoever asks has to be allowed to: the same user, and where
//! `/proc/sys/kernel/yama/ptrace_scope` is 1 an ancestor, such as the launcher or agent of a rank.
//!
//! | module | what |
//! |---|---|
//! | `stopped` | the thread, stopped: its registers, its memory |
//! | `words` | a stack in one line |
//! | `modules` | the files that are mapped to where it runs: how to unwind, what is where |
//!
//! A stack is [taken](Taken::of) at once and gets its names later, which takes longer and needs no
//! thread any more. Return addresses are found by the tables that every compiler writes for
//! exceptions (`framehop`), names by debugging information, or else by the symbols that are left
//! (`addr2line`).

#![forbid(unsafe_code)]

mod modules;
mod stopped;
mod words;

use modules::{Modules, Names, Place};
use std::fmt;
use std::io;
use std::thread;
use std::time::{Duration, Instant};
use stopped::Stopped;
pub use words::in_words;

/// Time for stacks of several threads, after which no further one is stopped: whoever asks may be
/// missed for dead if it is away for long.
const TIME: Duration = Duration::from_millis(200);
/// Frames that are taken at most.
const FRAMES_MAX: usize = 64;

/// Function that a thread is in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Frame {
    /// Name of the function, as its language writes it.
    pub function: String,
    /// Line of its source, if that is known.
    pub line: Option<Line>,
    /// Name of the file that it is in, the program's or a library's, without its folder.
    pub file: String,
}

/// Line of a source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Line {
    /// Name of the file, without its folder.
    pub file: String,
    /// Number of the line, from 1.
    pub number: u32,
}

/// Reason why there is no stack.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The system does not let this process look.
    #[error("not permitted: another debugger has it, or see /proc/sys/kernel/yama/ptrace_scope")]
    Denied,
    /// There is no such thread any more.
    #[error("the thread has ended")]
    Gone,
    /// It did not stop in time: it is deep in the kernel, such as in a wait for a disk, or waits
    /// for a core.
    #[error("the thread does not stop: it waits in the kernel, such as for a disk, or for a core")]
    Busy,
    /// The system refused.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// Stacks of threads, without names yet.
#[derive(Debug)]
pub struct Taken(Vec<Result<Vec<Place>, StackError>>);

impl Taken {
    /// The stack that each of these threads has now, or why there is none. Blocks while a thread is
    /// stopped, for some 0.1 ms, and until the files that it runs in are looked at; for some 0.2 s
    /// at most, after which no further one is stopped.
    pub fn of(threads: &[u32]) -> Self {
        let wanted = threads.to_vec();
        // What a thread has stopped goes on when that thread ends, whatever happens to it.
        let until = Instant::now() + TIME;
        let in_time = move |thread| match Instant::now() < until {
            true => places_of(thread),
            false => Err(StackError::Busy),
        };
        let taken = thread::spawn(move || wanted.into_iter().map(in_time).collect());
        let failed = || Err(io::Error::other("it cannot be unwound").into());
        Taken(taken.join().unwrap_or_else(|_| threads.iter().map(|_| failed()).collect()))
    }

    /// True if a thread did not stop in time: it may do so at another time.
    pub fn is_busy(&self) -> bool {
        self.0.iter().any(|stack| matches!(stack, Err(StackError::Busy)))
    }

    /// The functions that each of the threads was in, the innermost first. Blocks until names are
    /// found, which takes long with much debugging information, once for each file.
    ///
    /// # Errors
    /// Those of [`StackError`], for each thread.
    pub fn name(self) -> Vec<Result<Vec<Frame>, StackError>> {
        let mut names = Names::default();
        let mut frames =
            |places: Vec<Place>| places.iter().filter_map(|place| names.frame_at(place)).collect();
        self.0.into_iter().map(|stack| stack.map(&mut frames)).collect()
    }
}

fn places_of(thread: u32) -> Result<Vec<Place>, StackError> {
    let modules = Modules::of(thread)?;
    let addresses = {
        let stopped = Stopped::new(thread)?;
        modules.unwind(stopped.registers()?, &mut |address| stopped.word(address), FRAMES_MAX)
    };
    Ok(addresses.into_iter().filter_map(|address| modules.place_of(address)).collect())
}

/// `relax (sor.rs:41)`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match &self.line {
            Some(Line { file, number }) => write!(f, " ({file}:{number})"),
            None => Ok(()),
        }
    }
}
