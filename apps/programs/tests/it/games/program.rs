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
fn positions_are_solved() {
    for (words, said) in [
        // The first player has three in the bottom row, and both ends are free.
        ("solve connect-four-5x4 2 2 3 3 4", "X wins in 2 moves\nbest "),
        ("solve connect-four 4 4 5 5 3 3", "X wins in 1 move\nbest 2   line 2\n"),
        ("solve connect-four-5x4 1 1 2 2 3 3 4", "X wins\nthe game is over\n"),
        ("solve connect-four.rules 38 31 39 32 37 30", "to move, sees it; moves "),
        ("solve connect-four.rules 38 31 39 32 37 30", "X wins\nbest "),
        ("solve fifteen", "\n0 moves   \n"),
        ("solve fifteen 1 3", "\n2 moves   "),
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(said), "{words}: {text}");
    }
}

#[test]
fn a_game_by_rules_is_played_to_its_end() {
    let output = weft_game("play othello.rules --self --depth 1");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.contains(" wins by ") || last == "a draw", "{last}");
}

#[test]
fn fixed_positions_are_searched() {
    for words in [
        "bench connect-four.rules --depth 4",
        "bench othello --depth 3",
        "bench connect-four --depth 4 --strategy alpha-beta",
    ] {
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
        (
            "perft chess 3",
            "games are awari, checkers, connect-four, connect-four-5x4, fifteen, othello, solitaire, and",
        ),
        ("perft ./chess.so 3", "./chess.so cannot be read: No such file"),
        ("rules chess.txt", "chess.txt is no rules: a text ends in .rules"),
        ("perft othello", "<DEPTH>"),
        ("perft othello 9 --deadline 0s", "not counted within 0s"),
        ("solve connect-four --deadline 0s", "not solved within 0s: nothing is known by then"),
        ("solve connect-four 4 8", "'8' is no move here: a move is the number of a column"),
        ("play othello --self --second", "cannot be used with"),
        ("bench othello --depth 0", "it is 1 to 60"),
        ("bench fifteen", "fifteen is a puzzle, which is solved"),
        ("solve fifteen 9", "'9' is no move here: a move is its number by the rules; there are"),
        (
            "solve fifteen --position zero",
            "'zero' is no position by these rules, whose first one is",
        ),
        ("solve othello --position zero", "--position is for games by rules"),
    ] {
        let output = weft_game(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(said), "{text}");
    }
}
