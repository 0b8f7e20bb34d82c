//! `water` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn water(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_water"));
    command.args(arguments.split_whitespace()).output().expect("water can be started")
}

#[test]
fn a_drop_is_verified() {
    let output = water("--molecules 27 --steps 5 --verify");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("27 molecules   5 steps of 0.2 fs   "), "{text}");
    assert!(text.contains("verified against one rank\n"), "{text}");
    assert!(text.contains("1 rank, "), "{text}");
}

#[test]
fn help_has_examples_and_mistakes_are_explained() {
    let output = water("--help");
    assert!(String::from_utf8(output.stdout).expect("text").contains("weft run -n 4 -- water"));
    for (arguments, expected) in [
        ("--molecules 0", "'0' for '--molecules"),
        ("--molecules 8 --cutoff 1", "more than half the side of the space that 8 molecules take"),
        ("--temperature cold", "a number greater than 0"),
    ] {
        let output = water(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(expected), "{text}");
    }
}
