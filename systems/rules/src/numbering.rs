//! Numbers of moves. Where places and directions are few, each has its number, whatever the
//! position; otherwise the moves of a position are counted.

use crate::model::{Along, Contents, Move, Rules, Times};

/// Largest number of moves of a position, and of numbers of moves.
pub const MOST_MOVES: usize = 254;

/// Numbering of moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Numbering {
    /// By kind, direction and place.
    Fixed {
        /// First number of each kind of moves, and the number behind all.
        bases: Vec<usize>,
    },
    /// In the order in which they are found.
    Counted,
}

impl Numbering {
    /// The numbering of a game's moves.
    pub fn of(rules: &Rules) -> Self {
        let mut bases = vec![0];
        for made in &rules.moves {
            let sites = if only_place(rules, made) { 1 } else { rules.board.cells() };
            let base = bases.last().copied().unwrap_or_default();
            bases.push(base + sites * ways(made));
        }
        let all = bases.last().copied().unwrap_or_default() + usize::from(rules.passes);
        if all > MOST_MOVES || rules.moves.iter().any(|made| made.again) {
            return Numbering::Counted;
        }
        Numbering::Fixed { bases }
    }

    /// Number behind the largest.
    pub fn numbers(&self, rules: &Rules) -> usize {
        match self {
            Numbering::Fixed { bases } => {
                bases.last().copied().unwrap_or_default() + usize::from(rules.passes)
            }
            Numbering::Counted => MOST_MOVES,
        }
    }
}

/// Directions among which the player of a move chooses.
pub fn ways(made: &Move) -> usize {
    if let Along::One(steps) = &made.along { steps.len() } else { 1 }
}

/// True if a move can only begin in one place: where a number is that is there once.
pub fn only_place(rules: &Rules, made: &Move) -> bool {
    let once = matches!(rules.contents, Contents::Numbers { once: true, .. });
    let first = made.before.0.first();
    once && first.is_some_and(|(set, times)| {
        *times == Times::Once && matches!(set.numbers[..], [(first, last)] if first == last)
    })
}
