//! Stacks of threads of other processes, copied while the threads are stopped.
//!
//! A thread is stopped for as long as it takes to copy its registers and what its stack holds,
//! by `ptrace(2)`, of which its program learns nothing: a sleep goes on where it was, and no
//! handler runs. Whoever asks has to be allowed to: the same user, and where
//! `/proc/sys/kernel/yama/ptrace_scope` is 1 an ancestor, such as the launcher or agent of a rank.
//!
//! | module | what |
//! |---|---|
//! | `stopped` | the thread, stopped: its registers, its memory |
//! | `files` | the files that are mapped to where it runs |
//!
//! Frames and names are found in a copy later, by `weft-inspect`, which needs no thread any
//! more and may be another process: so a launcher needs nothing of what reads debugging
//! information.

mod files;
mod stopped;

pub use files::{FileMapping, Identity, MappedFile, identity_of};
use serde::{Deserialize, Serialize};
use std::io;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};
use stopped::Stopped;

/// Subcommand of `weft-inspect` that reads [`TakenStacks`] from standard input and writes the words
/// of each stack, `Vec<Option<String>>`, to standard output, both in postcard.
pub const NAMING: &str = "name-stacks";

/// Time for stacks of several threads, after which no further one is stopped: whoever asks may be
/// missed for dead if it is away for long.
const TIME: Duration = Duration::from_millis(200);
/// Bytes of a stack that are copied at most, from where the innermost frame begins.
const STACK_BYTES_MAX: u64 = 1 << 20;

/// Reason why there is no stack.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
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
    /// The system refused, with this number of an error.
    #[error("{}", io::Error::from_raw_os_error(*.0))]
    System(i32),
    /// Registers of this machine's processor are none that a stack is unwound by.
    #[error("stacks are known on x86-64 only")]
    Unsupported,
}

impl From<io::Error> for StackError {
    fn from(error: io::Error) -> Self {
        // Functions that read a file fail with an error of the system.
        StackError::System(error.raw_os_error().unwrap_or_default())
    }
}

/// Registers by which a stack is unwound.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Registers {
    /// Address of the instruction.
    pub instruction: u64,
    /// Address of the end of the stack, its lowest.
    pub stack: u64,
    /// Address of the frame, in functions that keep it.
    pub frame: u64,
}

/// A thread's registers, its stack, and where its files are mapped.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stack {
    /// Registers of the thread.
    pub registers: Registers,
    /// Files that have instructions.
    pub files: Vec<MappedFile>,
    /// Bytes from the end of the stack on.
    bytes: Vec<u8>,
}

impl Stack {
    /// Word at an address of the stack, if that was copied.
    pub fn word(&self, address: u64) -> Option<u64> {
        let start = usize::try_from(address.checked_sub(self.registers.stack)?).ok()?;
        let word = self.bytes.get(start..)?.first_chunk()?;
        Some(u64::from_ne_bytes(*word))
    }

    /// The stack that a thread has now. Blocks while it is stopped, for some 0.1 ms.
    fn of(thread: u32) -> Result<Self, StackError> {
        let (files, writable) = files::mapped(thread)?;
        let stopped = Stopped::new(thread)?;
        let registers = stopped.registers()?;
        let stack = writable.iter().find(|addresses| addresses.contains(&registers.stack));
        let size = stack.map_or(0, |addresses| addresses.end - registers.stack);
        let bytes = stopped.bytes(registers.stack, size.min(STACK_BYTES_MAX))?;
        Ok(Stack { registers, files, bytes })
    }
}

/// Stacks of several threads, or the reason why there is none.
pub type TakenStacks = Vec<Result<Stack, StackError>>;

/// Takes the stack that each of these threads has now. Blocks for some 0.2 s at most, after which
/// no further thread is stopped.
pub fn take(threads: &[u32]) -> TakenStacks {
    let wanted = threads.to_vec();
    let until = Instant::now() + TIME;
    let in_time = move |thread| match Instant::now() < until {
        true => Stack::of(thread),
        false => Err(StackError::Busy),
    };
    // What a thread has stopped goes on when that thread ends, whatever happens to it.
    let taken = thread::spawn(move || wanted.into_iter().map(in_time).collect());
    taken.join().unwrap_or_else(|panic| resume_unwind(panic))
}
