//! The steps as they are, without callgrind: each does what its name says, or fails.

use std::process::Command;

fn steps(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_weft-count")).args(arguments).output();
    let output = output.expect("the program runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The names that are said, in order.
fn names(said: &str) -> Vec<&str> {
    said.lines().filter_map(|line| line.split(' ').next()).collect()
}

#[test]
fn all_steps_are_played() {
    let (success, said) = steps(&["--steps"]);
    assert!(success, "{said}");
    let file = include_str!("../../instructions.toml");
    let figures = file.lines().skip_while(|line| *line != "[figures]").skip(1);
    let wanted = figures.filter_map(|line| line.split(' ').next());
    // The provider's have a program of their own.
    let mut wanted: Vec<_> = wanted.filter(|name| !name.starts_with("fi_")).collect();
    let mut played = names(&said);
    assert_eq!(played.remove(0), "empty");
    wanted.sort_unstable();
    played.sort_unstable();
    assert_eq!(played, wanted);
}

#[test]
fn one_step_is_played_alone() {
    let (success, said) = steps(&["--steps", "call"]);
    assert!(success, "{said}");
    assert_eq!(names(&said), ["empty", "call"]);
}
