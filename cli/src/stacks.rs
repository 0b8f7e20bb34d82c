//! Stacks of ranks, in words.

use weft_stack::{Frame, StackError, in_words, stacks_of};

/// Beginnings of names of functions that are Weft's own or stand below it, not the program's.
const LIBRARY: [&str; 21] = [
    "rustix::",
    "weft::",
    "weft_bulk::",
    "weft_channel::",
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
    "weft_seal::",
    "weft_tagged::",
    "weft_udp::",
    "weft_wire::",
    "weft_xdp::",
];

/// Functions that each of these threads is in, or the reason why nobody knows; `None` if it has
/// ended, or has no names.
pub fn of_threads(threads: &[u32]) -> Vec<Option<String>> {
    stacks_of(threads).into_iter().map(words).collect()
}

fn words(stack: Result<Vec<Frame>, StackError>) -> Option<String> {
    match stack {
        Ok(frames) => Some(in_words(&frames, is_library)).filter(|stack| !stack.is_empty()),
        Err(StackError::Gone) => None,
        Err(error) => Some(format!("({error})")),
    }
}

fn is_library(function: &str) -> bool {
    let function = function.trim_start_matches('<');
    LIBRARY.iter().any(|beginning| function.starts_with(beginning))
}

#[cfg(test)]
mod tests;
