//! `sor` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn sor(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sor")).args(arguments).output().expect("sor can be started")
}

#[test]
fn a_small_problem_converges_and_is_verified() {
    let size = ["--rows", "30", "--columns", "21", "--iterations", "999", "--tolerance", "1e-10"];
    let output = sor(&size);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("30 x 21 points   "), "{text}");
    assert!(text.contains("iterations   verified bit for bit against one rank\n"), "{text}");
    assert!(text.contains("(tolerance 1e-10 reached), from the exact solution "), "{text}");
    assert!(text.contains("1 rank, "), "{text}");
}

#[test]
fn mistakes_are_explained() {
    for (arguments, expected) in [
        (["--rows", "0"], "'0' for '--rows <ROWS>'"),
        (["--omega", "2.5"], "between 0 and 2"),
        (["--tolerance", "much"], "'much' for '--tolerance"),
    ] {
        let output = sor(&arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(expected), "{text}");
    }
}
