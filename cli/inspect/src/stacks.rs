//! Stacks of ranks, in words.

use crate::names::{Frame, in_words, name};
use anyhow::{Context, Result};
use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;
use weft_launch::Naming;
use weft_launch::stack::{StackError, take};

/// Beginnings of names of functions that are Weft's own or stand below it, not the program's.
const LIBRARY: [&str; 21] = [
    "rustix::",
    "weft::",
    "weft_bulk::",
    "weft_collective::",
    "weft_datagram::",
    "weft_endpoint::",
    "weft_events::",
    "weft_fabric",
    "weft_linda::",
    "weft_link",
    "weft_messaging::",
    "weft_mixed::",
    "weft_object",
    "weft_protocol::",
    "weft_region::",
    "weft_rules::",
    "weft_search::",
    "weft_tagged::",
    "weft_udp::",
    "weft_wire::",
    "weft_xdp::",
];

/// Beginnings of names of files of MPI libraries and of what they stand on.
const MPI: [&str; 11] = [
    "libevent",
    "libfabric",
    "libmpi",
    "libmpl",
    "libopal",
    "libopen-",
    "libpmi",
    "libuc",
    "libweft",
    "mca_",
    "mpich",
];

/// Takes the stacks of these threads. Names are found later: functions that each is in, or the
/// reason why nobody knows, which is said once; `None` if it has ended, or has no names.
pub fn of_threads(threads: &[u32]) -> Naming {
    let taken = take(threads);
    Box::new(|| all_in_words(name(taken)))
}

/// Says in words the stacks that are given on standard input.
pub fn name_given() -> Result<ExitCode> {
    let mut given = Vec::new();
    stdin().read_to_end(&mut given).context("cannot read the stacks")?;
    let taken = postcard::from_bytes(&given).context("these are no stacks")?;
    let words = postcard::to_stdvec(&all_in_words(name(taken)))?;
    stdout().write_all(&words).context("cannot write the names")?;
    Ok(ExitCode::SUCCESS)
}

fn all_in_words(stacks: Vec<Result<Vec<Frame>, StackError>>) -> Vec<Option<String>> {
    let mut is_refused = false;
    let words = |stack: Result<Vec<Frame>, StackError>| match stack {
        Ok(frames) => Some(in_words(&frames, is_library)).filter(|stack| !stack.is_empty()),
        Err(StackError::Gone) => None,
        // It is so of all others, too.
        Err(StackError::Denied) if std::mem::replace(&mut is_refused, true) => None,
        Err(error) => Some(format!("({error})")),
    };
    stacks.into_iter().map(words).collect()
}

fn is_library(frame: &Frame) -> bool {
    let function = frame.function.trim_start_matches('<');
    LIBRARY.iter().any(|beginning| function.starts_with(beginning))
        || MPI.iter().any(|beginning| frame.file.starts_with(beginning))
}

#[cfg(test)]
mod tests;
