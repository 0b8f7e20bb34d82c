//! Values against those of the slow solver, which shares nothing with the fast one.

use crate::awari::common::known;
use crate::awari::slow::{Values, all_values, moves_of};
use proptest::prelude::*;
use weft_apps::awari::{Board, Databases, PITS, board_of, count};

/// Stones of the largest boards that the slow solver is given; `AWARI_SLOW` sets another number.
const SLOW: u8 = 8;

fn compare(known: &Databases, slow: &[Values]) {
    for (stones, values) in (0..).zip(slow) {
        assert_eq!(values.len(), count(stones) as usize);
        for index in 0..count(stones) {
            let board = board_of(stones, index);
            let (value, expected) = (known.value(&board).unwrap(), values[board.pits()]);
            assert_eq!(i32::from(value), expected, "{board}");
        }
    }
}

#[test]
fn all_values_are_those_of_the_definition() {
    let stones = std::env::var("AWARI_SLOW").map_or(SLOW, |stones| stones.parse().unwrap());
    compare(&known(stones.into()), &all_values(stones));
}

#[test]
fn values_are_the_best_of_the_moves_and_come_in_all_sizes() {
    let known = known(8);
    let mut seen = [false; 17];
    for index in 0..count(8) {
        let board = board_of(8, index);
        let value = known.value(&board).unwrap();
        seen[(value + 8) as usize] = true;
        let worth = |played: weft_apps::awari::Played| {
            played.captured as i8 - known.value(&played.board).unwrap()
        };
        let best = board.moves().map(|(_, played)| worth(played)).max();
        assert_eq!(value, best.unwrap_or_else(|| board.lead()), "{board}");
    }
    // Odd ones are those of draws with fewer stones.
    assert!(seen.iter().step_by(2).all(|seen| *seen), "{seen:?}");
}

#[test]
fn outcomes_are_counted() {
    let known = known(4);
    let outcomes = known.of(4).unwrap().outcomes();
    assert_eq!((outcomes.won, outcomes.drawn, outcomes.lost), (577, 143, 645));
}

/// Moves of a board, as the slow solver has them.
fn moves(board: &Board) -> Vec<(i32, [u8; PITS])> {
    let moves = board.moves();
    moves.map(|(_, played)| (i32::from(played.captured), *played.board.pits())).collect()
}

proptest! {
    #[test]
    fn moves_of_any_board_are_those_of_the_slow_solver(
        first in 0..=24_u8,
        few in prop::collection::vec(0..=3_u8, PITS - 1),
        turn in 0..PITS,
    ) {
        let mut pits = [0; PITS];
        pits[0] = first;
        pits[1..].copy_from_slice(&few);
        pits.rotate_right(turn);
        prop_assert_eq!(moves(&Board::new(pits)), moves_of(pits));
    }
}
