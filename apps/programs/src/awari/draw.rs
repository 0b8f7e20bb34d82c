//! Boards as text.

use crate::awari::board::{Board, SIDE};
use std::fmt::Write;

/// Board as it lies before the side that is at the bottom, whose pits are the first. Sowing goes
/// from left to right there, and back above.
pub fn draw(board: &Board, below: &str, above: &str) -> String {
    let (own, theirs) = board.pits().split_at(SIDE);
    let edge = format!("  +{}\n", "----+".repeat(SIDE));
    let mut text = String::new();
    let row = |numbers: &mut dyn Iterator<Item = usize>| -> String {
        numbers.map(|number| format!("{number:>4} ")).collect()
    };
    let stones = |pits: &mut dyn Iterator<Item = &u8>| -> String {
        pits.map(|stones| format!(" {stones:>2} |")).collect()
    };
    // Writing into a string does not fail.
    let _ = writeln!(text, "   {}  {above}", row(&mut (1..=SIDE).rev()).trim_end());
    let _ = write!(text, "{edge}  |{}\n{edge}", stones(&mut theirs.iter().rev()));
    let _ = write!(text, "  |{}\n{edge}", stones(&mut own.iter()));
    let _ = writeln!(text, "   {}  {below}", row(&mut (1..=SIDE)).trim_end());
    text
}
