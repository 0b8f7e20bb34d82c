//! Threads of a rank, and words that each of them has to itself.
//!
//! Where ranks are processes, these are threads of the system. In the simulator they are coroutines
//! of one: they take turns on the rank's virtual processor, and each keeps it until it waits.

use std::cell::Cell;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Code of a thread.
pub type ThreadBody = Box<dyn FnOnce() + Send>;

/// Threads of one rank.
pub trait Threads: Send + Sync {
    /// Starts a thread that runs `body`. Returns what is to be joined, if it is a thread of the
    /// system. Never blocks, and runs nothing of `body` itself.
    ///
    /// # Errors
    /// The system has no room for it, or the rank has to stop.
    fn spawn(&self, name: &str, body: ThreadBody) -> io::Result<Option<JoinHandle<()>>>;
}

/// Threads of the system.
#[derive(Debug)]
pub struct SystemThreads;

impl Threads for SystemThreads {
    fn spawn(&self, name: &str, body: ThreadBody) -> io::Result<Option<JoinHandle<()>>> {
        Builder::new().name(name.into()).spawn(body).map(Some)
    }
}

/// Number of words of each thread.
const WORDS: usize = 3;

thread_local! {
    /// The words of the thread that runs, or of the coroutine that runs on it.
    static OWN: [Cell<u64>; WORDS] = const { [const { Cell::new(0) }; WORDS] };
}

/// A word that each thread has to itself, and each coroutine: a thread-local for code that runs on
/// either. It is 0 at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word(usize);

impl Word {
    /// Number of a coroutine among those of its rank; 0 for a thread, and for the first coroutine.
    pub const COROUTINE: Word = Word(0);
    /// The process of shared objects that runs.
    pub const PROCESS: Word = Word(1);
    /// The simulated rank that runs, as a program in another language has it.
    pub const PROGRAM: Word = Word(2);

    /// The running thread's.
    #[inline]
    pub fn get(self) -> u64 {
        OWN.with(|own| own[self.0].get())
    }

    /// Replaces the running thread's.
    #[inline]
    pub fn replace(self, value: u64) -> u64 {
        OWN.with(|own| own[self.0].replace(value))
    }
}

/// All words of a coroutine that does not run, kept by the scheduler of coroutines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoroutineWords([u64; WORDS]);

impl CoroutineWords {
    /// Words of a new coroutine: those of the running one, but for its number.
    pub fn inherited(coroutine: u64) -> Self {
        let mut words = OWN.with(|own| CoroutineWords(std::array::from_fn(|word| own[word].get())));
        words.0[Word::COROUTINE.0] = coroutine;
        words
    }

    /// Exchanges these for those of the running thread.
    pub fn exchange(&mut self) {
        OWN.with(|own| {
            for (kept, running) in self.0.iter_mut().zip(own) {
                *kept = running.replace(*kept);
            }
        });
    }
}
