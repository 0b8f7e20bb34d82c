//! A stack in one line, for a person who knows the program and not what it stands on.

use crate::names::Frame;

/// Functions that are said at most.
const SAID_MAX: usize = 6;
/// Beginnings of names of files of the system's own library.
const SYSTEM: [&str; 2] = ["libc.so", "libc-"];
/// Beginnings of names of functions of languages' own libraries, and of what starts programs.
const LANGUAGE: [&str; 10] = [
    "core::", "std::", "alloc::", "<core::", "<std::", "<alloc::", "__rust_", "__libc_", "__GI_",
    "_start",
];
/// Function with which programs begin.
const MAIN: &str = "main";

/// The stack in a line: `relax (sor.rs:41), sweep (sor.rs:60), main (sor.rs:99)`. Of innermost
/// frames that `is_library` knows only the one that the program called is said, nothing of what
/// they called of the system's, and nothing of what called the program's first. Empty if there are
/// no names.
pub fn in_words(frames: &[Frame], is_library: impl Fn(&Frame) -> bool) -> String {
    let end = frames.iter().position(|frame| is_main(&frame.function));
    let own = &frames[..end.map_or(frames.len(), |main| main + 1)];
    let own: Vec<_> = own.iter().filter(|frame| !is_language(&frame.function)).collect();
    let inner = own.iter().take_while(|frame| is_system(&frame.file)).count();
    let inside = own[inner..].iter().take_while(|frame| is_library(frame)).count();
    let skipped = if inside == 0 { 0 } else { inner + inside - 1 };
    let said = own.iter().skip(skipped).take(SAID_MAX);
    said.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn is_main(function: &str) -> bool {
    function.rsplit("::").next() == Some(MAIN)
}

fn is_language(function: &str) -> bool {
    LANGUAGE.iter().any(|beginning| function.starts_with(beginning))
}

fn is_system(file: &str) -> bool {
    SYSTEM.iter().any(|beginning| file.starts_with(beginning))
}

#[cfg(test)]
mod tests;
