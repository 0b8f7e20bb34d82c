//! `weft-game` as a program of one rank.

use std::process::{Command, Output};

fn weft_game(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft-game"));
    command.args(words.split(' ')).output().expect("weft-game can be started")
}

#[test]
fn lines_are_counted() {
    for (words, said) in [
        ("perft othello 8", "390,216 lines of 8 moves   455,220 nodes, "),
        ("perft connect-four 6", "117,649 lines of 6 moves   137,256 nodes, "),
        ("perft othello 0", "1 lines of 0 moves   0 nodes, "),
        ("perft checkers 5", "7,361 lines of 5 moves   9,188 nodes, "),
        ("perft othello.rules 5 --grain 2", "1,396 lines of 5 moves   1,712 nodes, "),
        (
            "rules fifteen",
            "fifteen: for one player; a position has 8 bytes, and the first one 2 moves\n 0  1",
        ),
        ("rules awari --text", "# Awari: the seeds"),
        ("rules awari --emit-c", "// Rules of awari, from a text.\n"),
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.starts_with(said), "{text}");
    }
}

#[test]
fn mistakes_are_explained_with_a_status() {
    for (words, said) in [
        (
            "perft chess 3",
            "games are awari, checkers, connect-four, fifteen, othello, solitaire, and files",
        ),
        ("perft ./chess.so 3", "./chess.so cannot be read: No such file"),
        ("rules chess.txt", "chess.txt is no rules: a text ends in .rules"),
        ("perft othello", "<DEPTH>"),
        ("perft othello 9 --deadline 0s", "not counted within 0s"),
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(said), "{text}");
    }
}
