//! A stack in one line, for a person who knows the program and not what it stands on.

use crate::Frame;

/// Functions that are said at most.
const SAID_MAX: usize = 6;
/// Beginnings of names of functions of the language's own library and the system's.
const SYSTEM: [&str; 10] = [
    "core::", "std::", "alloc::", "<core::", "<std::", "<alloc::", "__rust_", "__libc_", "__GI_",
    "_start",
];
/// Function with which programs begin.
const MAIN: &str = "main";

/// The stack in a line: `relax (sor.rs:41), sweep (sor.rs:60), main (sor.rs:99)`. Of innermost
/// functions that `is_library` knows only the one that the program called is said, and nothing of
/// what called the program's first. Empty if there are no names.
pub fn in_words(frames: &[Frame], is_library: impl Fn(&str) -> bool) -> String {
    let end = frames.iter().position(|frame| is_main(&frame.function));
    let own = &frames[..end.map_or(frames.len(), |main| main + 1)];
    let own: Vec<_> = own.iter().filter(|frame| !is_system(&frame.function)).collect();
    let inside = own.iter().take_while(|frame| is_library(&frame.function)).count();
    let said = own.iter().skip(inside.saturating_sub(1)).take(SAID_MAX);
    said.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn is_main(function: &str) -> bool {
    function.rsplit("::").next() == Some(MAIN)
}

fn is_system(function: &str) -> bool {
    SYSTEM.iter().any(|beginning| function.starts_with(beginning))
}

#[cfg(test)]
mod tests;
