//! Value of a board, printed.

use std::fmt::Write;

use crate::awari::advice::{Adviser, Choice, End};
use crate::awari::board::Board;
use crate::awari::database::Databases;
use crate::awari::draw::draw;
use crate::awari::error::Error;
use crate::awari::file::Files;
use crate::awari::index::MOST_STONES;
use crate::awari::options::QueryOptions;

/// Answer to a query: the board, its value, that of each move, and the best line.
///
/// # Errors
/// [`Error::ManyStones`], [`Error::Missing`], [`Error::Damaged`], or a file that cannot be read.
pub fn query(options: &QueryOptions) -> Result<String, Error> {
    let (files, stones) = (Files::new(&options.directory), options.board.stones());
    if stones > MOST_STONES {
        return Err(Error::ManyStones(stones));
    }
    let mut known = Databases::default();
    for stones in 0..=stones {
        known.push(files.need(stones)?);
    }
    Ok(answer(&options.board, &known))
}

/// Answer for a board that databases have.
fn answer(board: &Board, known: &Databases) -> String {
    let mut adviser = Adviser::new(known);
    let value = known.value_of(board.stones(), board);
    let mut text = draw(board, "to move", "");
    // Writing into a string does not fail.
    let _ = writeln!(text, "value {}: {}", signed(value), outcome(value));
    for choice in adviser.choices(board) {
        let captures = match choice.played.captured {
            0 => String::new(),
            captured => format!("   captures {captured}"),
        };
        let _ =
            writeln!(text, "  pit {}   value {}{captures}", choice.pit + 1, signed(choice.value));
    }
    let (line, end) = adviser.line(board);
    let moves: Vec<_> = line.iter().map(notation).collect();
    let _ = match (end, line.is_empty()) {
        (End::Over, true) => {
            writeln!(text, "the game is over: each side takes the stones in its pits")
        }
        (End::Over, false) => {
            writeln!(text, "best line: {}; then the game is over", moves.join(" "))
        }
        (End::Round, _) => writeln!(text, "best line: {}, and so on for ever", moves.join(" ")),
    };
    text
}

/// A value with its sign, unless it is 0.
pub(crate) fn signed(value: i8) -> String {
    if value == 0 { "0".to_owned() } else { format!("{value:+}") }
}

fn outcome(value: i8) -> String {
    match value {
        0 => "a draw".to_owned(),
        1.. => format!("the side to move wins by {value}"),
        _ => format!("the side to move loses by {}", -value),
    }
}

/// Number of a pit, from 1 on, and what was captured.
fn notation(choice: &Choice) -> String {
    let pit = choice.pit + 1;
    match choice.played.captured {
        0 => pit.to_string(),
        captured => format!("{pit}x{captured}"),
    }
}

#[cfg(test)]
mod tests;
