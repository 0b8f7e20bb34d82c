use super::*;
use crate::awari::index::{board_of, count};
use crate::awari::tests::known;

/// Stones that the first mover takes more than the other one in a line from `board`.
fn taken(board: &Board, line: &[Choice], end: End) -> i8 {
    let sign = |number: usize| if number.is_multiple_of(2) { 1 } else { -1 };
    let captured =
        line.iter().enumerate().map(|(n, choice)| sign(n) * choice.played.captured as i8);
    let last = line.last().map_or(*board, |choice| choice.played.board);
    let rest = if end == End::Over { sign(line.len()) * last.lead() } else { 0 };
    captured.sum::<i8>() + rest
}

#[test]
fn the_best_line_of_every_board_is_worth_its_value() {
    let mut adviser = Adviser::new(known());
    for stones in 0..=4 {
        for index in 0..count(stones) {
            let board = board_of(stones, index);
            let (line, end) = adviser.line(&board);
            let value = known().value(&board).unwrap();
            assert_eq!(taken(&board, &line, end), value, "{board}: {line:?}, {end:?}");
        }
    }
}

#[test]
fn every_line_ends_and_some_go_round() {
    let mut adviser = Adviser::new(known());
    let mut lines = (0..count(6)).step_by(101).map(|index| adviser.line(&board_of(6, index)).1);
    let ends: Vec<_> = lines.by_ref().collect();
    assert!(ends.contains(&End::Over) && ends.contains(&End::Round), "{ends:?}");
}

#[test]
fn choices_are_the_legal_moves() {
    let adviser = Adviser::new(known());
    let board = "0 0 1 0 2 0 0 0 0 1 0 1".parse().unwrap();
    let choices = adviser.choices(&board);
    assert_eq!(choices.iter().map(|choice| choice.pit).collect::<Vec<_>>(), [2, 4]);
    let best = choices.iter().map(|choice| choice.value).max();
    assert_eq!(best, known().value(&board));
    assert!(adviser.knows(&board) && !adviser.knows(&Board::first()));
}
