//! Boards: moves, distances, and which can be solved.

use super::*;
use crate::puzzle::korf::KORF;
use std::collections::{BTreeMap, VecDeque};

#[test]
fn published_boards_are_read_and_written() {
    for (text, moves) in KORF {
        let board: Board = text.parse().unwrap();
        assert_eq!(board.to_string(), text);
        let least = board.lower_bound();
        assert!(least <= moves && (moves - least).is_multiple_of(2), "{text}");
    }
    assert_eq!(Board::SOLVED.to_string(), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    assert_eq!(Board::SOLVED.to_string().parse(), Ok(Board::SOLVED));
    assert_eq!("1,0, 2 3 4 5 6 7 8 9 10 11 12 13 14 15".parse(), Ok(Board::SOLVED.play(3)));
}

#[test]
fn what_is_no_board_is_refused_with_the_reason() {
    let said = |text: &str| text.parse::<Board>().unwrap_err();
    assert_eq!(said("0 1 2"), NoBoard::Count(3));
    assert_eq!(said("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 16"), NoBoard::Tile("16".into()));
    assert_eq!(said("a"), NoBoard::Tile("a".into()));
    assert_eq!(said("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 14"), NoBoard::Twice(14));
    assert_eq!(said("0 1 2 3 4 5 6 7 8 9 10 11 12 13 15 14"), NoBoard::Parity);
    // The blank last, as many draw it: solved for them, and an odd permutation here.
    assert_eq!(said("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"), NoBoard::Parity);
    assert_eq!(Board::new([16; 16]), Err(NoBoard::Tile("16".into())));
}

/// All boards within 12 moves: moves are undone by their inverses, what a move does to the distance
/// is what counting again says, and the distance is never more than the moves.
#[test]
fn boards_near_the_solution_are_what_they_should_be() {
    let mut depths = BTreeMap::from([(Board::SOLVED.tiles, 0_u16)]);
    let mut open = VecDeque::from([Board::SOLVED]);
    while let Some(board) = open.pop_front() {
        let depth = depths[&board.tiles];
        assert_eq!(Board::of(board.tiles), Some(board), "{board}");
        assert!(board.is_even() && board.lower_bound() <= depth, "{board}");
        assert_eq!(board.is_goal(), depth == 0);
        let moves: Vec<u8> = board.moves(None).collect();
        for by in &moves {
            let next = board.play(*by);
            assert_eq!(next.play(by ^ 1), board);
            assert_eq!(next.slid(by ^ 1), board.slid(*by));
            let onward: Vec<u8> = next.moves(Some(*by)).collect();
            let all: Vec<u8> = next.moves(None).filter(|on| *on != by ^ 1).collect();
            assert_eq!(onward, all, "all moves but back");
            if depth < 12 && !depths.contains_key(&next.tiles) {
                depths.insert(next.tiles, depth + 1);
                open.push_back(next);
            }
        }
    }
    // Positions by their distance from a corner: sequence A089473 of the On-Line Encyclopedia of
    // Integer Sequences.
    let published = [1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1948, 3938, 7808];
    let mut counted = [0; 13];
    depths.values().for_each(|depth| counted[usize::from(*depth)] += 1);
    assert_eq!(counted, published);
}

#[test]
fn boards_come_out_of_bytes_as_they_went_in() {
    let board: Board = KORF[0].0.parse().unwrap();
    let mut bytes = [0; 8];
    board.encode(&mut bytes);
    assert_eq!(Board::decode(&bytes), Some(board));
    assert_eq!(Board::decode(&[0; 8]), None, "no permutation");
    assert_ne!(board.hash(), board.play(0).hash());
}
