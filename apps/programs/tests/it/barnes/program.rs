//! `barnes` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn barnes(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barnes"));
    command.args(arguments.split_whitespace()).output().expect("barnes can be started")
}

#[test]
fn a_small_cluster_is_verified() {
    let output = barnes("--bodies 150 --steps 3 --verify");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("150 bodies   3 steps of 0.025   "), "{text}");
    assert!(text.contains("verified bit for bit against one rank\nforces on 150 bodies"), "{text}");
    assert!(text.contains("1 rank, "), "{text}");
}

#[test]
fn help_has_examples_and_mistakes_are_explained() {
    let output = barnes("--help");
    assert!(String::from_utf8(output.stdout).expect("text").contains("weft run -n 4 -- barnes"));
    for (arguments, expected) in [
        ("--bodies 1", "'1' for '--bodies"),
        ("--theta 3", "angles from 0 to 1.5"),
        ("--step 0", "'0' for '--step <"),
        ("--softening 0", "a number greater than 0"),
        ("--hint often", "possible values: invalidate, update, migratory"),
    ] {
        let output = barnes(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(expected), "{text}");
    }
}
