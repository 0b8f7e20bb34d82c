//! `qr` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn qr(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_qr")).args(arguments).output().expect("qr can be started")
}

#[test]
fn a_small_matrix_is_factorized_and_verified() {
    let output = qr(&["30", "--rows", "50", "--of-rank", "12"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("50 x 30 matrix of rank 12   "), "{text}");
    assert!(text.contains("verified: |AP - QR| / |A| "), "{text}");
    assert!(text.contains("1 rank, "), "{text}");
}

#[test]
fn mistakes_are_explained() {
    for (arguments, expected) in [
        (["0", "--speedup"], "'0' for '[COLUMNS]'"),
        (["--rows", "many"], "'many' for '--rows <ROWS>'"),
        (["--of-rank", "0"], "'0' for '--of-rank <RANK>'"),
    ] {
        let output = qr(&arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(expected), "{text}");
    }
}
