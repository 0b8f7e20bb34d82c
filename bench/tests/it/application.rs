//! `weft-application` as people and launchers run it.

use std::process::{Command, Output, Stdio};

fn application(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft-application"));
    command.args(words.split_whitespace()).stdin(Stdio::null()).env("WEFT_QUIET", "1");
    command.output().unwrap()
}

fn succeeds(words: &str) -> String {
    let output = application(words);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words}: {text}{errors}");
    text
}

#[test]
fn all_ten_are_right_on_one_rank() {
    let text = succeeds("all --size small");
    assert_eq!(text.matches("   verified\n1 rank, ").count(), 10, "{text}");
}

#[test]
fn all_ten_are_right_with_bare_threads() {
    for threads in ["1", "3"] {
        let text = succeeds(&format!("all --size small --bare {threads} --json"));
        assert_eq!(text.lines().count(), 10, "{text}");
        assert_eq!(text.matches(&format!("\"ranks\":{threads},")).count(), 10, "{text}");
    }
}

#[test]
fn the_list_names_them() {
    let text = succeeds("--list");
    assert_eq!(text.lines().count(), 11, "{text}");
    assert!(text.contains("1,024 x 1,024 matrix"), "{text}");
}

#[test]
fn mistakes_are_explained() {
    for (words, expected) in [
        ("ludo", "there is no application 'ludo'"),
        ("fft --bare 65 --size small", "65 ranks for a matrix of 64 x 64 points"),
        ("sor -- --rows many", "'many'"),
    ] {
        let output = application(words);
        assert!(!output.status.success(), "{words}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(expected), "{words}: {text}");
    }
}
