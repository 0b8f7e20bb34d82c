use super::*;
use crate::awari::index::{board_of, count};
use crate::awari::tests::known;

/// Value without bounds, of all moves to this depth.
fn slow(board: &Board, depth: u32, known: &Databases) -> i16 {
    if let Some(value) = known.value(board) {
        return value.into();
    }
    let worth = |played: Played| i16::from(played.captured) - slow(&played.board, depth - 1, known);
    match board.moves().next() {
        None => board.lead().into(),
        Some(_) if depth == 0 => 0,
        Some(_) => board.moves().map(|(_, played)| worth(played)).max().unwrap(),
    }
}

#[test]
fn bounds_change_no_value() {
    for board in (0..count(11)).step_by(7919).map(|index| board_of(11, index)) {
        for depth in 1..=5 {
            let found = search(&board, depth, known());
            assert_eq!(found.is_some(), board.moves().next().is_some());
            if let Some((pit, value)) = found {
                assert_eq!(value, slow(&board, depth, known()), "{board}, depth {depth}");
                assert!(board.play(pit).is_some(), "{board}, {pit}");
            }
        }
    }
}

#[test]
fn databases_are_believed() {
    for board in (0..count(6)).step_by(31).map(|index| board_of(6, index)) {
        let value = known().value(&board).unwrap();
        if let Some((_, found)) = search(&board, 1, known()) {
            assert_eq!(found, i16::from(value), "{board}");
        }
    }
}

#[test]
fn a_capture_is_found() {
    // Both captures are seen at once; the better one is of five.
    let board = "9 9 0 0 0 2 1 2 4 4 4 4".parse().unwrap();
    assert_eq!(search(&board, 1, known()), Some((5, 5)));
}
