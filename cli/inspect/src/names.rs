//! Names of the functions in stacks that `weft_launch::stack` has copied.
//!
//! | module | what |
//! |---|---|
//! | `modules` | the files that are mapped to where a thread runs: how to unwind, what is where |
//! | `words` | a stack in one line |
//!
//! Return addresses are found by the tables that every compiler writes for exceptions
//! (`framehop`), names by debugging information, or else by the symbols that are left
//! (`addr2line`). Both take long to build, and `weft-inspect` alone has them.

mod modules;
mod words;

use modules::{Modules, Names};
use std::fmt;
use weft_launch::stack::{Stack, StackError, TakenStacks};
pub use words::in_words;

/// Frames that are found at most.
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

/// The functions that each of the threads was in, the innermost first. Blocks until names are
/// found, which takes long with much debugging information, once for each file.
///
/// # Errors
/// Those of [`StackError`], for each thread.
pub fn name(taken: TakenStacks) -> Vec<Result<Vec<Frame>, StackError>> {
    let mut names = Names::default();
    let mut frames = |stack: Stack| {
        let modules = Modules::of(&stack.files);
        let places = modules.unwind(&stack, FRAMES_MAX);
        places.iter().filter_map(|place| names.frame_at(place)).collect()
    };
    taken.into_iter().map(|stack| stack.map(&mut frames)).collect()
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

#[cfg(test)]
mod tests;
