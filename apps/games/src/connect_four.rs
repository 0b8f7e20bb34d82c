//! Connect Four: players drop discs into seven columns of six places in turn. Who has four in a
//! row, in a column or in a diagonal has won, and the game is over.

use crate::bits::{self, Bits};
use weft_search::Game;

/// Columns.
const COLUMNS: u32 = 7;

/// Bits of a column: its places from the bottom up, and one above that stays empty, so that no line
/// goes on in the next column.
const COLUMN_BITS: u32 = 7;

/// Lowest place of each column.
const BOTTOM: u64 = columns(1);

/// All places.
const PLACES: u64 = columns(0x3f);

/// Steps along a column, a row and both diagonals.
const STEPS: [u32; 4] = [1, COLUMN_BITS - 1, COLUMN_BITS, COLUMN_BITS + 1];

/// Value of a win without a disc on the board: each disc makes it one less, so that quick wins are
/// the better ones. More than estimates, of which a line adds 4 at most.
const WIN: i16 = 1000;

/// A position of Connect Four.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ConnectFour {
    own: u64,
    other: u64,
}

/// Moves of a position: columns, by the lowest bits of those that have room.
#[derive(Clone, Copy)]
pub struct Moves(Bits);

impl Iterator for Moves {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        self.0.next().map(|bit| bit / COLUMN_BITS as u8)
    }
}

impl ConnectFour {
    /// The position with which a game begins.
    pub const FIRST: ConnectFour = ConnectFour { own: 0, other: 0 };

    /// Lowest bits of columns with room, unless the game is won.
    #[inline]
    fn open(&self) -> u64 {
        if has_four(self.other) {
            return 0;
        }
        let top = BOTTOM << (COLUMN_BITS - 2);
        (!(self.own | self.other) & top) >> (COLUMN_BITS - 2)
    }
}

impl Game for ConnectFour {
    type Moves = Moves;

    const BYTES: usize = bits::PAIR_BYTES;
    const GRAIN: u16 = 6;
    const MOST: i16 = WIN;

    fn moves(&self) -> Moves {
        Moves(Bits(self.open()))
    }

    fn count_moves(&self) -> u64 {
        self.open().count_ones().into()
    }

    fn play(&self, by: u8) -> Self {
        let bottom = 1 << (u32::from(by) * COLUMN_BITS);
        let column = 0x7f * bottom;
        // The sum carries to the lowest place that is empty.
        let disc = ((self.own | self.other) & column) + bottom;
        ConnectFour { own: self.other, other: self.own | disc }
    }

    fn value(&self) -> i16 {
        if has_four(self.other) {
            return (self.own | self.other).count_ones() as i16 - WIN;
        }
        if (self.own | self.other) == PLACES {
            return 0;
        }
        chances(self.own, self.other) - chances(self.other, self.own)
    }

    fn longest(&self) -> u16 {
        (PLACES & !(self.own | self.other)).count_ones() as u16
    }

    fn hash(&self) -> u64 {
        bits::hash(self.own, self.other)
    }

    fn encode(&self, into: &mut [u8]) {
        bits::encode(self.own, self.other, into);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (own, other) = bits::decode(bytes)?;
        let all = own | other;
        // In a column that is filled from below, one more carries through all of it.
        let stands = own & other == 0 && all & !PLACES == 0 && (all + BOTTOM) & all == 0;
        stands.then_some(ConnectFour { own, other })
    }
}

/// True if four of these are in a line.
#[inline]
fn has_four(discs: u64) -> bool {
    let line = |step: u32| {
        let pairs = discs & discs >> step;
        pairs & pairs >> (2 * step) != 0
    };
    STEPS.into_iter().any(line)
}

/// Discs of one player in lines of four places of which the other player has none: a disc counts as
/// often as there are such lines through it.
fn chances(own: u64, other: u64) -> i16 {
    let open = PLACES & !other;
    let of_step = |step: u32| {
        let pairs = open & open >> step;
        let lines = pairs & pairs >> (2 * step);
        (0..4).map(|place| (lines & own >> (place * step)).count_ones()).sum::<u32>()
    };
    STEPS.into_iter().map(of_step).sum::<u32>() as i16
}

const fn columns(column: u64) -> u64 {
    let (mut all, mut number) = (0, 0);
    while number < COLUMNS {
        all |= column << (number * COLUMN_BITS);
        number += 1;
    }
    all
}

#[cfg(test)]
mod tests;
