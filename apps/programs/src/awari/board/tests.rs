use super::*;
use crate::awari::index::{board_of, count};
use std::collections::BTreeSet;
use std::convert::Infallible;

fn board(text: &str) -> Board {
    text.parse().unwrap()
}

/// Board that follows, as the mover sees it, and what it captured.
fn after(text: &str, pit: usize) -> Option<(String, u8)> {
    let played = board(text).play(pit)?;
    Some((played.board.turned().to_string(), played.captured))
}

fn becomes(text: &str, pit: usize, expected: &str, captured: u8) {
    assert_eq!(after(text, pit), Some((expected.to_owned(), captured)), "{text}, pit {pit}");
}

#[test]
fn stones_are_sown_one_by_one() {
    becomes("4 4 4 4 4 4 4 4 4 4 4 4", 2, "4 4 0 5 5 5 5 4 4 4 4 4", 0);
    becomes("0 0 0 0 0 3 4 4 4 4 4 4", 5, "0 0 0 0 0 0 5 5 5 4 4 4", 0);
}

#[test]
fn the_pit_of_the_stones_is_left_out_on_every_lap() {
    becomes("12 0 0 0 0 0 0 0 0 0 0 0", 0, "0 2 1 1 1 1 1 1 1 1 1 1", 0);
    becomes("0 0 0 0 0 13 0 0 0 4 4 4", 5, "1 1 1 1 1 0 0 0 1 5 5 5", 4);
    becomes("0 0 0 0 0 23 4 4 4 4 4 4", 5, "2 2 2 2 2 0 7 6 6 6 6 6", 0);
}

#[test]
fn twos_and_threes_are_captured_backwards() {
    becomes("0 0 0 0 0 1 1 0 0 0 0 4", 5, "0 0 0 0 0 0 0 0 0 0 0 4", 2);
    becomes("0 0 0 0 0 1 2 0 0 0 0 4", 5, "0 0 0 0 0 0 0 0 0 0 0 4", 3);
    becomes("0 0 0 0 0 1 3 0 0 0 0 4", 5, "0 0 0 0 0 0 4 0 0 0 0 4", 0);
    becomes("0 0 0 0 0 3 1 1 2 0 0 4", 5, "0 0 0 0 0 0 0 0 0 0 0 4", 7);
    // A pit that holds another number ends it, though one before would do.
    becomes("0 0 0 0 0 3 1 3 2 0 0 4", 5, "0 0 0 0 0 0 2 4 0 0 0 4", 3);
    // So does the mover's own side.
    becomes("0 0 0 0 1 2 1 0 0 0 0 4", 4, "0 0 0 0 0 3 1 0 0 0 0 4", 0);
    becomes("0 0 0 0 2 1 1 0 0 0 0 4", 4, "0 0 0 0 0 2 0 0 0 0 0 4", 2);
}

#[test]
fn a_grand_slam_captures_nothing() {
    becomes("0 0 0 0 0 1 1 0 0 0 0 0", 5, "0 0 0 0 0 0 2 0 0 0 0 0", 0);
    becomes("0 0 0 0 0 3 1 2 1 0 0 0", 5, "0 0 0 0 0 0 2 3 2 0 0 0", 0);
}

#[test]
fn an_opponent_without_stones_is_fed() {
    assert_eq!(after("1 0 0 0 2 0 0 0 0 0 0 0", 0), None);
    becomes("1 0 0 0 2 0 0 0 0 0 0 0", 4, "1 0 0 0 0 1 1 0 0 0 0 0", 0);
}

#[test]
fn the_game_ends_when_nothing_can_be_played() {
    for (text, lead) in [
        ("1 1 0 0 0 0 0 0 0 0 0 0", 2),
        ("0 0 0 0 0 0 0 3 0 0 0 1", -4),
        ("0 0 0 0 0 0 0 0 0 0 0 0", 0),
    ] {
        assert_eq!(board(text).moves().count(), 0, "{text}");
        assert_eq!(board(text).lead(), lead, "{text}");
    }
}

#[test]
fn pits_of_the_opponent_and_empty_ones_are_no_moves() {
    assert_eq!(Board::first().play(6), None);
    assert_eq!(board("0 1 0 0 0 0 0 0 0 1 0 0").play(0), None);
    let pits: Vec<_> = board("0 1 0 0 2 0 0 0 0 1 0 0").moves().map(|(pit, _)| pit).collect();
    assert_eq!(pits, [1, 4]);
}

#[test]
fn unmoves_are_the_inverse_of_moves() {
    for stones in 0..=6 {
        let boards = || (0..count(stones)).map(|index| board_of(stones, index));
        let mut forward = BTreeSet::new();
        for board in boards() {
            let moves = board.moves().filter(|(_, played)| played.captured == 0);
            for (_, played) in moves {
                assert!(forward.insert((board, played.board)), "two moves from {board} are alike");
            }
        }
        let mut back = BTreeSet::new();
        for board in boards() {
            let Ok(()) = board.unmoves(|parent| {
                assert!(back.insert((parent, board)), "{parent} is visited twice from {board}");
                Ok::<_, Infallible>(())
            });
        }
        assert_eq!(forward, back, "{stones}");
    }
}

#[test]
fn unmoves_of_many_stones_are_moves() {
    // Moves of twelve stones and more go round the board.
    for index in (0..count(13)).step_by(997) {
        let board = board_of(13, index);
        let Ok(()) = board.unmoves(|parent| {
            let leads_here = |played: Played| played == Played { board, captured: 0 };
            assert!(parent.moves().any(|(_, played)| leads_here(played)), "{parent} to {board}");
            Ok::<_, Infallible>(())
        });
        for (_, played) in board.moves().filter(|(_, played)| played.captured == 0) {
            let mut is_found = false;
            let Ok(()) = played.board.unmoves(|parent| {
                is_found |= parent == board;
                Ok::<_, Infallible>(())
            });
            assert!(is_found, "{board} from {}", played.board);
        }
    }
}

#[test]
fn boards_are_read_and_written() {
    assert_eq!(board("0,0,1,0,2,1,0,0,0,1,0,2").to_string(), "0 0 1 0 2 1 0 0 0 1 0 2");
    assert_eq!(board(&Board::first().to_string()), Board::first());
    for text in ["", "1 2 3", "0 0 0 0 0 0 0 0 0 0 0 49", "a b", "0 0 0 0 0 0 0 0 0 0 0 -1"] {
        let error = text.parse::<Board>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("'{text}' is no board: write 12 numbers")), "{error}");
    }
}
