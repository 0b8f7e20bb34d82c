//! `puzzle` as a program of one rank: what it prints, what it refuses, and with which status.

use std::process::{Command, Output};

fn puzzle(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_puzzle"));
    command.args(words).output().expect("puzzle can be started")
}

#[test]
fn a_board_is_solved_and_reported() {
    let output = puzzle(&["4 1 2 3 5 0 6 7 8 9 10 11 12 13 14 15"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "4 1 2 3 5 0 6 7 8 9 10 11 12 13 14 15");
    assert!(lines[1].starts_with("  bound           nodes"), "{text}");
    assert!(lines[2].starts_with("      2 "), "{text}");
    assert!(lines[3].starts_with("2 moves   "), "{text}");
    assert_eq!(lines[4], "5 4");
}

#[test]
fn best_first_finds_as_short_solutions_and_says_when_memory_is_full() {
    let board = crate::puzzle::simulated::EASY;
    let output = puzzle(&[board, "--best-first", "64", "--brief"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\n41 moves   ") && !text.contains("memory"), "{text}");
    let output = puzzle(&[board, "--best-first", "1", "--brief"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\n41 moves   "), "{text}");
    assert!(text.contains("memory was full at bound "), "{text}");
}

#[test]
fn instances_of_a_file_are_compared_with_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boards.csv");
    let board = "1 2 6 3 4 5 0 7 8 9 10 11 12 13 14 15";
    let write = |moves: &str| {
        let text = format!("instance,board,optimal_moves\n7,{board},{moves}\n");
        std::fs::write(&path, text).unwrap();
    };
    let solve = || puzzle(&["--brief", "--file", path.to_str().unwrap()]);
    write("3");
    let (right, said) = (solve(), "3 moves, as is known   ");
    let text = String::from_utf8(right.stdout).unwrap();
    assert!(right.status.success() && text.contains(said), "{text}");
    write("5");
    let wrong = solve();
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text.contains("the shortest solution of instance 7 has 3 moves, and not 5"), "{text}");
}

#[test]
fn mistakes_are_explained_with_a_status() {
    for (words, said) in [
        (vec!["1 2 3"], "a board has 16 numbers, 0 for the blank; these are 3"),
        (vec!["1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"], "this board cannot be solved"),
        (vec!["--korf", "101"], "Korf's instances are 1 to 100"),
        (vec![], "no board is given"),
        (vec!["--korf", "1", "--deadline", "0s"], "no solution within 0s: the shortest has 41"),
    ] {
        let output = puzzle(&words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(said), "{words:?}: {text}");
    }
}
