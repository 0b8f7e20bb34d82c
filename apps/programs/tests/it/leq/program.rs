//! `leq` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn leq(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leq"));
    command.args(arguments.split_whitespace()).output().expect("leq can be started")
}

#[test]
fn a_small_system_is_solved_and_verified() {
    let output = leq("--unknowns 50 --verify");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("50 unknowns   "), "{text}");
    assert!(text.contains("   verified bit for bit against one rank\nlargest change "), "{text}");
    assert!(text.contains("(tolerance 1e-10 reached), from the exact solution "), "{text}");
    assert!(text.contains("1 rank, "), "{text}");
}

#[test]
fn mistakes_are_explained() {
    for (argument, expected) in [
        ("--unknowns=0", "'0' for '--unknowns <UNKNOWNS>'"),
        ("--dominance=0.5", "greater than 1"),
        ("--tolerance=much", "'much' for '--tolerance"),
    ] {
        let output = leq(argument);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(expected), "{text}");
    }
}
