//! `weft-game play`: what is typed, and what comes of it.

use std::io::Write;
use std::process::{Command, Stdio};

/// Text that the program prints if somebody types this.
fn play(words: &str, typed: &str) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft-game"));
    command.args(words.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut game = command.spawn().unwrap();
    game.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = game.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_person_plays_until_the_game_is_over() {
    // The person lets it win, if it can: in the first column.
    let words = "play connect-four-5x4 --depth 4 --table 1";
    let (text, code) = play(words, "1\n1\n1\n1\n2\n2\n2\n2\n3\n3\n4\n4\n5\n5\n");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("X, your move: ") && text.contains("\nO plays "), "{text}");
    let ending = text.lines().last().unwrap();
    assert!(["X wins", "O wins", "a draw"].contains(&ending), "{text}");
}

#[test]
fn what_is_no_move_is_explained_and_asked_again() {
    let words = "play othello --depth 2 --table 1";
    let (text, code) = play(words, "e5\nd3\nquit\n");
    assert_eq!(code, Some(0), "{text}");
    let said =
        "'e5' is no move here: a move is a square such as d3, or 'pass'; there are d3 c4 f5 e6";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("  a b c d e f g h\n1 . . . . . . . .\n"), "{text}");
    assert!(text.contains("O plays ") && text.ends_with("the game is not over\n"), "{text}");
    let (text, code) = play(words, "");
    assert_eq!((code, text.ends_with("the game is not over\n")), (Some(0), true), "{text}");
}

#[test]
fn it_plays_both_sides_and_second() {
    let (text, code) = play("play connect-four --self --depth 3 --table 1", "");
    assert_eq!(code, Some(0), "{text}");
    let ending = text.lines().last().unwrap();
    assert!(["X wins", "O wins", "a draw"].contains(&ending), "{text}");
    let (text, _) = play("play connect-four-5x4 3 --second --depth 3 --table 1", "1\n");
    assert!(
        text.starts_with("\n. . . . .\n. . . . .\n. . . . .\n. . X . .\n1 2 3 4 5\nO, your"),
        "{text}"
    );
}
