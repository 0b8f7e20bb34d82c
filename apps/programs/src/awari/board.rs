//! The rules of the game. The crate's page states them.

use std::fmt;
use std::str::FromStr;

/// Pits of a board.
pub const PITS: usize = 12;

/// Pits of a side.
pub(crate) const SIDE: usize = PITS / 2;

/// Stones with which a game begins, the most of any board.
const MOST: u32 = 48;

/// A position: stones in each pit, those of the side to move first, counter-clockwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Board([u8; PITS]);

/// Result of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// Position that follows, as its mover sees it.
    pub board: Board,
    /// Stones captured.
    pub captured: u8,
}

/// Text that is no board.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is no board: write 12 numbers, the mover's pits first, of {MOST} stones at most")]
pub struct NoBoard(String);

impl Board {
    /// A board with these stones.
    pub const fn new(pits: [u8; PITS]) -> Self {
        Board(pits)
    }

    /// Position with which a game begins.
    pub const fn first() -> Self {
        Board([4; PITS])
    }

    /// Stones in each pit.
    pub const fn pits(&self) -> &[u8; PITS] {
        &self.0
    }

    /// Number of stones.
    pub fn stones(&self) -> u32 {
        self.0.iter().map(|&stones| u32::from(stones)).sum()
    }

    /// The board as the opponent sees it.
    #[must_use]
    pub fn turned(&self) -> Self {
        let mut pits = self.0;
        pits.rotate_left(SIDE);
        Board(pits)
    }

    /// Stones that the mover gets more than its opponent if the game ends here: each side takes
    /// those in its pits.
    pub fn lead(&self) -> i8 {
        self.stones() as i8 - 2 * self.theirs() as i8
    }

    /// Legal moves: pits, and what follows.
    pub fn moves(&self) -> impl Iterator<Item = (usize, Played)> + use<'_> {
        (0..SIDE).filter_map(|pit| Some((pit, self.play(pit)?)))
    }

    /// Position after sowing from `pit`; `None` if that is no legal move.
    pub fn play(&self, pit: usize) -> Option<Played> {
        if pit >= SIDE || self.0[pit] == 0 {
            return None;
        }
        let (mut sown, last) = self.sow(pit);
        // A player whose opponent has no stones has to give it some.
        if sown.theirs() == 0 {
            return None;
        }
        let captures = sown.captures(last);
        let captured = sown.0[captures.clone()].iter().sum();
        sown.0[captures].fill(0);
        Some(Played { board: sown.turned(), captured })
    }

    /// Calls `visit` with each position from which a move without a capture leads here. It has as
    /// many stones, and each is visited once. Ends with the first error.
    pub fn unmoves<E>(&self, mut visit: impl FnMut(Board) -> Result<(), E>) -> Result<(), E> {
        let sown = self.turned();
        if sown.theirs() == 0 {
            return Ok(());
        }
        // No move leaves anything in the pit that it begins with.
        for pit in (0..SIDE).filter(|&pit| sown.0[pit] == 0) {
            let (mut before, mut last) = (sown, next(pit, pit));
            while before.0[last] > 0 {
                before.0[last] -= 1;
                before.0[pit] += 1;
                if sown.captures(last).is_empty() {
                    visit(before)?;
                }
                last = next(last, pit);
            }
        }
        Ok(())
    }

    /// Board with the stones of `pit` sown, and the pit of the last one.
    fn sow(mut self, pit: usize) -> (Self, usize) {
        let mut last = pit;
        for _ in 0..std::mem::take(&mut self.0[pit]) {
            last = next(last, pit);
            self.0[last] += 1;
        }
        (self, last)
    }

    /// Pits of the opponent that the mover captures whose last stone is in `last`. All that the
    /// opponent has is never captured.
    fn captures(&self, last: usize) -> std::ops::Range<usize> {
        let end = last + 1;
        let mut first = end;
        while first > SIDE && matches!(self.0[first - 1], 2 | 3) {
            first -= 1;
        }
        let captured: u32 = self.0[first..end].iter().map(|&stones| u32::from(stones)).sum();
        if captured == self.theirs() { end..end } else { first..end }
    }

    /// Stones of the opponent.
    fn theirs(&self) -> u32 {
        self.0[SIDE..].iter().map(|&stones| u32::from(stones)).sum()
    }
}

/// The pit that follows in a move from `start`, which is left out.
fn next(pit: usize, start: usize) -> usize {
    let follows = (pit + 1) % PITS;
    if follows == start { (start + 1) % PITS } else { follows }
}

impl fmt::Display for Board {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pits = self.0.map(|stones| stones.to_string());
        to.write_str(&pits.join(" "))
    }
}

impl FromStr for Board {
    type Err = NoBoard;

    /// A board in 12 numbers, between spaces or commas.
    fn from_str(text: &str) -> Result<Self, NoBoard> {
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        let pits: Result<Vec<u8>, _> = words.map(str::parse).collect();
        let pits = pits.ok().and_then(|pits| <[u8; PITS]>::try_from(pits).ok());
        let board = pits.map(Board).filter(|board| board.stones() <= MOST);
        board.ok_or_else(|| NoBoard(text.into()))
    }
}

#[cfg(test)]
mod tests;
