//! Stacks in words.

use super::*;
use crate::names::Line;

/// A function of the program, or of the system's library if it is written `libc.so.6:poll`.
fn frame(function: &str) -> Frame {
    let (file, function) = function.split_once(".6:").unwrap_or(("app", function));
    Frame { function: function.into(), line: None, file: file.into() }
}

fn said(functions: &[&str]) -> String {
    let frames: Vec<_> = functions.iter().map(|function| frame(function)).collect();
    in_words(&frames, |frame| frame.function.starts_with("weft"))
}

#[test]
fn what_the_program_stands_on_is_left_out() {
    let stack = [
        "core::ptr::read",
        "weft_endpoint::ni::wait",
        "weft::Port::receive",
        "app::rows",
        "core::ops::function::FnOnce::call_once",
        "app::main",
        "std::rt::lang_start",
        "main",
        "__libc_start_call_main",
        "_start",
    ];
    assert_eq!(said(&stack), "weft::Port::receive, app::rows, app::main");
    assert_eq!(said(&["work", "main", "__libc_start_main"]), "work, main");
    assert_eq!(
        said(&["libc.so.6:poll", "weft_endpoint::sleep", "weft::call", "main"]),
        "weft::call, main"
    );
}

#[test]
fn what_the_program_calls_of_the_system_is_said() {
    assert_eq!(
        said(&["libc.so.6:sleep", "work", "weft::run", "main"]),
        "sleep, work, weft::run, main"
    );
}

#[test]
fn a_thread_without_main_is_said_too() {
    assert_eq!(
        said(&["work", "thread", "start_thread", "__GI___clone3"]),
        "work, thread, start_thread"
    );
    assert_eq!(said(&[]), "");
}

#[test]
fn a_deep_stack_is_said_to_its_sixth_function() {
    let functions = ["a", "b", "c", "d", "e", "f", "g", "main"];
    assert_eq!(said(&functions), "a, b, c, d, e, f");
}

#[test]
fn lines_are_said_where_they_are_known() {
    let line = Some(Line { file: "sor.rs".into(), number: 41 });
    let frame = Frame { line, ..frame("relax") };
    assert_eq!(in_words(&[frame], |_| false), "relax (sor.rs:41)");
}
