use super::*;
use crate::awari::tests::known;

#[test]
fn whoever_wins_gets_nearer() {
    for (stones, step) in [(1, 1), (2, 1), (3, 1), (4, 3), (5, 31), (6, 311)] {
        for index in (0..count(stones)).step_by(step) {
            let board = board_of(stones, index);
            let value = known().value(&board).unwrap();
            if value != 0 {
                look(&board, value);
            }
        }
    }
}

/// Compares the level of a board with those of its moves that keep the value.
fn look(board: &Board, value: i8) {
    let levels = Levels::around(board, known());
    let level = levels.of(board).expect("it has one");
    let kept = |captures: bool| {
        board.moves().filter(move |(_, played)| {
            let worth = played.captured as i8 - known().value(&played.board).unwrap();
            worth == value && (played.captured > 0) == captures
        })
    };
    let stays: Vec<_> = kept(false).map(|(_, played)| levels.of(&played.board).unwrap()).collect();
    let has_exit = kept(true).next().is_some();
    let expected = match value > 0 {
        true if has_exit || stays.is_empty() => 0,
        true => 1 + stays.iter().min().unwrap(),
        false => stays.iter().max().map_or(0, |most| most + 1),
    };
    assert_eq!(level, expected, "{board}, {value}");
}

#[test]
fn other_boards_have_no_level() {
    let board = "0 0 0 0 0 1 0 1 0 0 0 0".parse().unwrap();
    assert_ne!(known().value(&board), Some(0));
    let levels = Levels::around(&board, known());
    assert_eq!(levels.of(&"1 0 0 0 0 0 0 0 0 0 0 0".parse().unwrap()), None);
    let all = (0..count(2)).filter(|&index| levels.of(&board_of(2, index)).is_some()).count();
    assert!((2..78).contains(&all), "{all}");
}
