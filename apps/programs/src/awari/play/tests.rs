use super::*;
use crate::awari::index::{board_of, count};
use crate::awari::search;
use crate::awari::tests::known;

/// A game from `board` whose person writes `input`: all that is said.
fn played(board: &str, is_persons: bool, input: &str) -> String {
    let mut output = Vec::new();
    let mut game = Game {
        known: known(),
        adviser: Adviser::new(known()),
        depth: 4,
        board: board.parse().unwrap(),
        is_persons,
        taken: [0; 2],
        seen: BTreeSet::new(),
        input: input.as_bytes(),
        output: &mut output,
    };
    game.run().unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn a_game_is_played_to_its_end() {
    let said = played("0 0 0 0 0 1 1 0 0 0 0 1", true, "6\n");
    assert!(said.contains("You play 6, and capture 2.\n"), "{said}");
    assert!(said.contains("I know this board: it is worth -1 to me.\nI play 6.\n"), "{said}");
    assert!(said.ends_with("You win: you have 3 stones, I have 0.\n"), "{said}");
}

#[test]
fn what_is_no_move_is_asked_again() {
    let said = played("0 0 1 0 0 1 1 0 0 0 0 1", true, "1\n7\n0\n\nx\nquit\n");
    for word in ["1", "7", "0", "", "x"] {
        let asked = format!("'{word}' is no legal move: write 3, 6, or quit.\n");
        assert!(said.contains(&asked), "{said}");
    }
    assert!(said.ends_with("The game is not over.\n"), "{said}");
}

#[test]
fn the_end_of_the_input_ends_the_game() {
    let said = played(&Board::first().to_string(), false, "");
    assert!(said.contains("I play "), "{said}");
    assert!(said.ends_with("Your move: \nThe game is not over.\n"), "{said}");
}

#[test]
fn a_board_that_comes_back_ends_the_game() {
    let boards = (0..count(3)).map(|index| board_of(3, index));
    let draw = boards.filter(|board| known().value(board) == Some(0));
    // The person takes its best moves, too, by the same databases.
    let said: Vec<_> = draw.take(5).map(|board| best_replies(&board, &mut 0)).collect();
    let round = said.iter().filter(|said| said.0.contains("go to nobody.\nNobody wins"));
    assert!(round.count() > 0, "{said:?}");
}

/// Plays a game from `board`, which the program begins, and replies by a number that is different
/// each time, or 0 for best moves: all that is said, and the program's lead in the end.
fn best_replies(board: &Board, random: &mut u64) -> (String, i32) {
    let mut adviser = Adviser::new(known());
    let mut game = Game {
        known: known(),
        adviser: Adviser::new(known()),
        depth: 1,
        board: *board,
        is_persons: false,
        taken: [0; 2],
        seen: BTreeSet::new(),
        input: &b""[..],
        output: Vec::new(),
    };
    while game.seen.insert((game.board, game.is_persons)) {
        let moves: Vec<_> = game.board.moves().collect();
        if moves.is_empty() {
            game.end().unwrap();
            break;
        }
        let (_, played) = match (game.is_persons, *random) {
            (false, _) => game.answer().unwrap(),
            (true, 0) => adviser.best(&game.board).map(|c| (c.pit, c.played)).unwrap(),
            (true, _) => {
                *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                moves[(*random >> 33) as usize % moves.len()]
            }
        };
        game.taken[usize::from(game.is_persons)] += u32::from(played.captured);
        (game.board, game.is_persons) = (played.board, !game.is_persons);
    }
    if game.board.moves().next().is_some() {
        game.say("go to nobody.\n").unwrap();
        game.judge().unwrap();
    }
    let [program, person] = game.taken.map(|taken| taken as i32);
    (String::from_utf8(game.output).unwrap(), program - person)
}

#[test]
fn the_program_takes_what_its_board_is_worth_or_more() {
    let mut random = 1;
    for index in (0..count(6)).step_by(61) {
        let board = board_of(6, index);
        let value = i32::from(known().value(&board).unwrap());
        let (said, lead) = best_replies(&board, &mut random);
        assert!(lead >= value, "{board} is worth {value}, and came to {lead}:\n{said}");
    }
}

#[test]
fn above_the_databases_moves_are_searched() {
    let board: Board = "9 9 0 0 0 2 1 2 4 4 4 4".parse().unwrap();
    let said = played(&board.to_string(), false, "");
    let (pit, _) = search::search(&board, 4, known()).unwrap();
    assert!(said.contains(&format!("I play {}", pit + 1)), "{said}");
    assert!(!said.contains("I know this board"), "{said}");
}
