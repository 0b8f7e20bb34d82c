//! Moves above the databases: alpha-beta search, with the databases at its leaves.

use crate::awari::board::{Board, Played};
use crate::awari::database::Databases;

/// Greater than any value.
const INFINITE: i16 = 1000;

/// The best move of a board and its value, as far as `depth` moves ahead show; `None` at the end of
/// the game. Stones that neither the search nor a database has seen taken count for nobody.
pub fn search(board: &Board, depth: u32, known: &Databases) -> Option<(usize, i16)> {
    let mut best = None;
    let mut most = -INFINITE;
    for (pit, played) in ordered(board) {
        let worth = worth_of(&played, depth, known, (most, INFINITE));
        if best.is_none() || worth > most {
            (best, most) = (Some((pit, worth)), worth);
        }
    }
    best
}

/// Value of a board, exact if it is between the bounds, and else on the same side of them.
fn value_of(board: &Board, depth: u32, known: &Databases, (mut least, most): (i16, i16)) -> i16 {
    if let Some(value) = known.value(board) {
        return value.into();
    }
    let mut moves = ordered(board).peekable();
    if moves.peek().is_none() {
        return board.lead().into();
    }
    if depth == 0 {
        return 0;
    }
    let mut best = -INFINITE;
    for (_, played) in moves {
        best = best.max(worth_of(&played, depth, known, (least, most)));
        least = least.max(best);
        if least >= most {
            break;
        }
    }
    best
}

fn worth_of(played: &Played, depth: u32, known: &Databases, (least, most): (i16, i16)) -> i16 {
    let captured = i16::from(played.captured);
    captured - value_of(&played.board, depth - 1, known, (captured - most, captured - least))
}

/// Moves, those with the most captured first, because they leave the least to search.
fn ordered(board: &Board) -> impl Iterator<Item = (usize, Played)> {
    let mut moves = [const { None }; crate::awari::board::SIDE];
    for (slot, found) in moves.iter_mut().zip(board.moves()) {
        *slot = Some(found);
    }
    moves.sort_by_key(|found| {
        found.map_or(1, |(_, played): (usize, Played)| -i16::from(played.captured))
    });
    moves.into_iter().flatten()
}

#[cfg(test)]
mod tests;
