//! `tsp` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn tsp(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tsp"));
    command.args(arguments.split_whitespace()).output().expect("tsp can be started")
}

#[test]
fn the_published_optimum_is_found_and_verified() {
    let output = tsp("--verify");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    let first = "shortest tour of 14 towns: 3,323   verified by dynamic programming\n1 2 ";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("1 rank, ") && text.contains("\nrank 0: 1,716 jobs, "), "{text}");
}

#[test]
fn files_are_read_and_mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("towns.tsp");
    std::fs::write(&path, "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 3 0\nEOF\n").unwrap();
    let output = tsp(&format!("--file {} --verify", path.display()));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("shortest tour of 3 towns: 12   verified"), "{text}");
    std::fs::write(&path, "NODE_COORD_SECTION\n1 0 north\n").unwrap();
    for (arguments, expected) in [
        (format!("--file {}", path.display()), "towns.tsp:2: expected the number of a town"),
        ("--file nowhere.tsp".into(), "nowhere.tsp: No such file"),
        ("--random 30 --verify".into(), "--verify is for 20 towns at most, these are 30"),
    ] {
        let output = tsp(&arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains(expected), "{text}");
    }
}
