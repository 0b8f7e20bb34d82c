//! Connect Four: players drop discs into seven columns of six places in turn. A player that has
//! four in a row, in a column or in a diagonal has won, and the game is over. Other boards have
//! other numbers of columns and places.

use crate::games::bits::{self, Bits};
use crate::games::board::{Board, draw, grid};
use weft_search::Game;

/// The usual board.
pub type ConnectFour = Discs<7, 6>;

/// A board of five columns of four places, which all of a game can be searched on in seconds.
pub type ConnectFour5x4 = Discs<5, 4>;

/// Value of a win without a disc on the board: each disc makes it one less, so that quick wins are
/// the better ones. More than estimates, of which a line adds 4 at most.
const WIN: i16 = 1000;

/// A position on a board of so many columns of so many places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Discs<const COLUMNS: u32, const ROWS: u32> {
    own: u64,
    other: u64,
}

/// Moves of a position: columns, by the lowest bits of those that have room.
#[derive(Clone, Copy)]
pub struct Moves<const ROWS: u32>(Bits);

impl<const ROWS: u32> Iterator for Moves<ROWS> {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        self.0.next().map(|bit| bit / (ROWS + 1) as u8)
    }
}

impl<const COLUMNS: u32, const ROWS: u32> Discs<COLUMNS, ROWS> {
    /// The position with which a game begins.
    pub const FIRST: Self = Self { own: 0, other: 0 };

    /// Bits of a column: its places from the bottom up, and one above that stays empty, so that no
    /// line goes on in the next column.
    const COLUMN_BITS: u32 = ROWS + 1;

    /// Lowest place of each column.
    const BOTTOM: u64 = columns(1, COLUMNS, ROWS + 1);

    /// All places.
    const PLACES: u64 = columns((1 << ROWS) - 1, COLUMNS, ROWS + 1);

    /// Steps along a column, a row and both diagonals.
    const STEPS: [u32; 4] = [1, ROWS, ROWS + 1, ROWS + 2];

    /// Lowest bits of columns with room, unless the game is won.
    #[inline]
    fn open(&self) -> u64 {
        if Self::has_four(self.other) {
            return 0;
        }
        let top = Self::BOTTOM << (ROWS - 1);
        (!(self.own | self.other) & top) >> (ROWS - 1)
    }

    /// True if four of these are in a line.
    #[inline]
    fn has_four(discs: u64) -> bool {
        let line = |step: u32| {
            let pairs = discs & discs >> step;
            pairs & pairs >> (2 * step) != 0
        };
        Self::STEPS.into_iter().any(line)
    }

    /// Discs of one player in lines of four places of which the other player has none: a disc
    /// counts as often as there are such lines through it.
    fn chances(own: u64, other: u64) -> i16 {
        let open = Self::PLACES & !other;
        let of_step = |step: u32| {
            let pairs = open & open >> step;
            let lines = pairs & pairs >> (2 * step);
            (0..4).map(|place| (lines & own >> (place * step)).count_ones()).sum::<u32>()
        };
        Self::STEPS.into_iter().map(of_step).sum::<u32>() as i16
    }

    fn discs(&self) -> u32 {
        (self.own | self.other).count_ones()
    }
}

impl<const COLUMNS: u32, const ROWS: u32> Game for Discs<COLUMNS, ROWS> {
    type Moves = Moves<ROWS>;

    const BYTES: usize = bits::PAIR_BYTES;
    const GRAIN: u16 = 6;
    const VALUE_GRAIN: u16 = 10;
    const MOST: i16 = WIN;

    fn moves(&self) -> Moves<ROWS> {
        Moves(Bits(self.open()))
    }

    fn count_moves(&self) -> u64 {
        self.open().count_ones().into()
    }

    fn play(&self, by: u8) -> Self {
        let bottom = 1 << (u32::from(by) * Self::COLUMN_BITS);
        let column = ((1 << Self::COLUMN_BITS) - 1) * bottom;
        // The sum carries to the lowest place that is empty.
        let disc = ((self.own | self.other) & column) + bottom;
        Self { own: self.other, other: self.own | disc }
    }

    fn value(&self) -> i16 {
        if Self::has_four(self.other) {
            return self.discs() as i16 - WIN;
        }
        if (self.own | self.other) == Self::PLACES {
            return 0;
        }
        Self::chances(self.own, self.other) - Self::chances(self.other, self.own)
    }

    fn longest(&self) -> u16 {
        (COLUMNS * ROWS - self.discs()) as u16
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
        let stands =
            own & other == 0 && all & !Self::PLACES == 0 && (all + Self::BOTTOM) & all == 0;
        stands.then_some(Self { own, other })
    }
}

impl<const COLUMNS: u32, const ROWS: u32> Board for Discs<COLUMNS, ROWS> {
    const MOVES: &'static str = "the number of a column, counted from 1 at the left";

    fn draw(&self, is_first: bool) -> String {
        let place = |row: u32, column: u32| 1 << (column * Self::COLUMN_BITS + ROWS - 1 - row);
        let [first, second] =
            if is_first { [self.own, self.other] } else { [self.other, self.own] };
        let columns: Vec<String> = (1..=COLUMNS).map(|column| column.to_string()).collect();
        grid(ROWS, COLUMNS, |row, column| draw(first, second, place(row, column)))
            + &format!("{}\n", columns.join(" "))
    }

    fn write_move(by: u8) -> String {
        (by + 1).to_string()
    }

    fn outcome(&self, value: i16, _: bool) -> Option<(i16, String)> {
        // More than what lines that are open can add up to.
        if value.abs() < WIN - 64 {
            return None;
        }
        let moves = (WIN - value.abs()) as u32 - self.discs();
        let how = if moves == 0 { String::new() } else { format!(" in {moves} moves") };
        Some((value, how.replace(" 1 moves", " 1 move")))
    }
}

const fn columns(column: u64, count: u32, bits: u32) -> u64 {
    let (mut all, mut number) = (0, 0);
    while number < count {
        all |= column << (number * bits);
        number += 1;
    }
    all
}

#[cfg(test)]
mod tests;
