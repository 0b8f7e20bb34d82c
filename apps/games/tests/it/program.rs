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
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.starts_with(said), "{text}");
    }
}

#[test]
fn positions_are_solved() {
    for (words, said) in [
        // The first player has three in the bottom row, and both ends are free.
        ("solve connect-four-5x4 2 2 3 3 4", "X wins in 2 moves\nbest "),
        ("solve connect-four 4 4 5 5 3 3", "X wins in 1 move\nbest 2   line 2\n"),
        ("solve connect-four-5x4 1 1 2 2 3 3 4", "X wins\nthe game is over\n"),
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(said), "{words}: {text}");
    }
}

#[test]
fn fixed_positions_are_searched() {
    for words in ["bench othello --depth 3", "bench connect-four --depth 4 --strategy alpha-beta"] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{words}: {text}");
        assert_eq!(text.matches("  value ").count(), 6, "{text}");
        assert!(text.ends_with(" million nodes a second\n"), "{text}");
    }
}

#[test]
fn mistakes_are_explained_with_a_status() {
    for (words, said) in [
        ("perft chess 3", "invalid value 'chess'"),
        ("perft othello", "<DEPTH>"),
        ("perft othello 9 --deadline 0s", "not counted within 0s"),
        ("solve connect-four --deadline 0s", "not solved within 0s: nothing is known by then"),
        ("solve connect-four 4 8", "'8' is no move here: a move is the number of a column"),
        ("play othello --self --second", "cannot be used with"),
        ("bench othello --depth 0", "0 is not in 1..=60"),
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(said), "{text}");
    }
}
