use super::*;
use crate::awari::tests::known;

fn said(board: &str) -> String {
    answer(&board.parse().unwrap(), known())
}

#[test]
fn an_answer_has_the_board_its_value_moves_and_line() {
    let expected = "      6    5    4    3    2    1
  +----+----+----+----+----+----+
  |  1 |  0 |  0 |  0 |  0 |  1 |
  +----+----+----+----+----+----+
  |  0 |  0 |  0 |  0 |  0 |  1 |
  +----+----+----+----+----+----+
      1    2    3    4    5    6  to move
value +3: the side to move wins by 3
  pit 6   value +3   captures 2
best line: 6x2 6; then the game is over
";
    let said = said("0 0 0 0 0 1 1 0 0 0 0 1");
    let lines = said.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(lines, expected);
}

#[test]
fn the_end_and_play_without_one_are_said() {
    let over = said("0 0 0 0 0 0 0 0 3 0 0 0");
    assert!(over.contains("value -3: the side to move loses by 3\nthe game is over"), "{over}");
    let draw =
        (0..crate::awari::index::count(3)).map(|index| crate::awari::index::board_of(3, index));
    let mut draws = draw.filter(|board| known().value(board) == Some(0));
    let round = said(&draws.next().unwrap().to_string());
    assert!(round.contains("value 0: a draw\n"), "{round}");
    assert!(round.ends_with(", and so on for ever\n"), "{round}");
}
