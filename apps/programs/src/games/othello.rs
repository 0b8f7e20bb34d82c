//! Othello. A move puts a disc on an empty square such that between it and another disc of its
//! player, in a row, a column or a diagonal, there are discs of the other player and nothing else:
//! these change hands. A player that has no move passes; if no player has one, the game is over.

use crate::games::bits::{self, Bits};
use crate::games::board::{Board, draw, grid};
use weft_search::Game;

/// The move of a player that has to pass.
const PASS: u8 = 64;

/// Squares from which a step to the left, or to the right, leaves no row.
const INNER: u64 = 0x7e7e_7e7e_7e7e_7e7e;

/// Steps to the neighbours of a square, towards higher numbers, and the discs that may be enclosed
/// along them: not those at the edges to the sides.
const STEPS: [(u32, u64); 4] = [(1, INNER), (7, INNER), (8, u64::MAX), (9, INNER)];

/// Values: of a disc at the end of a game; before, of a corner, of a square beside an empty corner,
/// diagonally, and of a move.
const DISC: i16 = 100;
const CORNER: i16 = 200;
const BESIDE: i16 = 60;
const MOVE: i16 = 12;

/// Squares that never change hands again.
const CORNERS: u64 = 0x8100_0000_0000_0081;

/// A position of Othello. Bit i is square i, row by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Othello {
    own: u64,
    other: u64,
}

/// Moves of a position.
#[derive(Clone, Copy)]
pub struct Moves {
    squares: Bits,
    passes: bool,
}

impl Iterator for Moves {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        self.squares.next().or_else(|| std::mem::take(&mut self.passes).then_some(PASS))
    }
}

impl Othello {
    /// The position with which a game begins.
    pub const FIRST: Othello = Othello { own: 1 << 28 | 1 << 35, other: 1 << 27 | 1 << 36 };

    /// A position with discs of the player to move, and of the other; `None` if a square is in
    /// both.
    pub fn new(own: u64, other: u64) -> Option<Self> {
        (own & other == 0).then_some(Othello { own, other })
    }

    /// Discs of the player to move, and of the other.
    pub fn discs(&self) -> [u64; 2] {
        [self.own, self.other]
    }

    /// Empty squares on which the first player may put a disc.
    #[inline]
    fn squares(own: u64, other: u64) -> u64 {
        let mut found = 0;
        for (step, inner) in STEPS {
            let between = other & inner;
            let (mut up, mut down) = (own << step & between, own >> step & between);
            for _ in 0..5 {
                up |= up << step & between;
                down |= down >> step & between;
            }
            found |= up << step | down >> step;
        }
        found & !(own | other)
    }

    /// Discs that change hands if the player to move puts one there.
    #[inline]
    fn enclosed(&self, disc: u64) -> u64 {
        let mut all = 0;
        for (step, inner) in STEPS {
            let between = self.other & inner;
            let (mut up, mut down) = (disc << step & between, disc >> step & between);
            for _ in 0..5 {
                up |= up << step & between;
                down |= down >> step & between;
            }
            if up << step & self.own != 0 {
                all |= up;
            }
            if down >> step & self.own != 0 {
                all |= down;
            }
        }
        all
    }

    fn turned(self) -> Self {
        Othello { own: self.other, other: self.own }
    }
}

impl Game for Othello {
    type Moves = Moves;

    const BYTES: usize = bits::PAIR_BYTES;
    const GRAIN: u16 = 5;
    const MOST: i16 = 64 * DISC;

    fn moves(&self) -> Moves {
        let squares = Self::squares(self.own, self.other);
        let passes = squares == 0 && Self::squares(self.other, self.own) != 0;
        Moves { squares: Bits(squares), passes }
    }

    fn count_moves(&self) -> u64 {
        let Moves { squares, passes } = self.moves();
        u64::from(squares.0.count_ones()) + u64::from(passes)
    }

    fn play(&self, by: u8) -> Self {
        if by == PASS {
            return self.turned();
        }
        let disc = 1 << (by & 63);
        let enclosed = self.enclosed(disc);
        Othello { own: self.own | disc | enclosed, other: self.other & !enclosed }.turned()
    }

    /// The difference of discs at the end; before, corners, squares beside empty corners and moves.
    fn value(&self) -> i16 {
        let own = Self::squares(self.own, self.other).count_ones() as i16;
        let other = Self::squares(self.other, self.own).count_ones() as i16;
        let more = |set: u64| {
            (self.own & set).count_ones() as i16 - (self.other & set).count_ones() as i16
        };
        if own == 0 && other == 0 {
            return DISC * more(u64::MAX);
        }
        let empty = CORNERS & !(self.own | self.other);
        CORNER * more(CORNERS) - BESIDE * more(beside(empty)) + MOVE * (own - other)
    }

    /// A pass follows on no pass.
    fn longest(&self) -> u16 {
        2 * (self.own | self.other).count_zeros() as u16
    }

    fn hash(&self) -> u64 {
        bits::hash(self.own, self.other)
    }

    fn encode(&self, into: &mut [u8]) {
        bits::encode(self.own, self.other, into);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (own, other) = bits::decode(bytes)?;
        Othello::new(own, other)
    }
}

impl Board for Othello {
    const MOVES: &'static str = "a square such as d3, or 'pass'";

    fn draw(&self, is_first: bool) -> String {
        let [first, second] =
            if is_first { [self.own, self.other] } else { [self.other, self.own] };
        let rows = grid(8, 8, |row, column| draw(first, second, 1 << (8 * row + column)));
        let numbered = rows.lines().zip(1..).map(|(row, number)| format!("{number} {row}\n"));
        "  a b c d e f g h\n".to_owned() + &numbered.collect::<String>()
    }

    fn write_move(by: u8) -> String {
        match by {
            PASS => "pass".into(),
            square => format!("{}{}", char::from(b'a' + square % 8), square / 8 + 1),
        }
    }

    fn outcome(&self, value: i16, is_exact: bool) -> Option<(i16, String)> {
        is_exact.then(|| (value, format!(" by {} discs", value.abs() / DISC)))
    }
}

/// Diagonal neighbours of corners.
fn beside(corners: u64) -> u64 {
    let (left, right) = (corners & 0x0101_0101_0101_0101, corners & 0x8080_8080_8080_8080);
    left << 9 | left >> 7 | right << 7 | right >> 9
}

#[cfg(test)]
mod tests;
