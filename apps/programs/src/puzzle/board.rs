//! Boards: the rules of the puzzle.
//!
//! A board is 16 digits of four bits, with the place of the blank and the Manhattan distance beside
//! it, in 16 bytes. A move changes two digits, and the distance by a table.

use std::fmt;
use std::str::FromStr;
use weft_search::Puzzle;

/// Places of a board.
const PLACES: usize = 16;

/// Places of a row, and of a column.
const SIDE: usize = 4;

/// Moves of the blank, each beside its inverse: up, down, left, right.
const STEPS: [i8; 4] = [-4, 4, -1, 1];

/// Moves of the blank from each place, a bit for each.
const LEGAL: [u8; PLACES] = legal();

/// Difference that a move makes to the distance, by the tile that slides, the place that it slides
/// from, and the move.
const CHANGES: [i8; PLACES * PLACES * 4] = changes();

/// A board of the 15-puzzle.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// Digit i, from the low end, is the tile at place i; 0 is the blank.
    tiles: u64,
    blank: u8,
    /// Sum over the tiles of rows and columns from where they belong.
    distance: u8,
}

const _: () = assert!(size_of::<Board>() == 16);

/// Text that is no board that can be solved.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoBoard {
    /// A word that is no number from 0 to 15.
    #[error("'{0}' is no tile: write 16 numbers from 0 to 15, 0 for the blank")]
    Tile(String),
    /// Too few or too many numbers.
    #[error("a board has 16 numbers, 0 for the blank; these are {0}")]
    Count(usize),
    /// A number twice, so that another one is missing.
    #[error("{0} is there twice: a board has each number from 0 to 15 once")]
    Twice(u8),
    /// The other half of all permutations.
    #[error(
        "this board cannot be solved: an odd number of swaps separates it from the solution, which \
         is 0 1 2 3 ... 15 with the blank first"
    )]
    Parity,
}

/// Moves of the blank, a bit for each.
#[derive(Clone, Copy)]
pub struct Moves(u8);

impl Iterator for Moves {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        let by = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(by)
    }
}

impl Board {
    /// The solved board.
    pub const SOLVED: Board = Board { tiles: 0xfedc_ba98_7654_3210, blank: 0, distance: 0 };

    /// The board with these tiles, if it can be solved.
    ///
    /// # Errors
    /// [`NoBoard`].
    pub fn new(tiles: [u8; PLACES]) -> Result<Self, NoBoard> {
        let mut digits = 0;
        for (place, tile) in tiles.into_iter().enumerate() {
            if usize::from(tile) >= PLACES {
                return Err(NoBoard::Tile(tile.to_string()));
            }
            if tiles[..place].contains(&tile) {
                return Err(NoBoard::Twice(tile));
            }
            digits |= u64::from(tile) << (4 * place);
        }
        let board = Self::of(digits).unwrap_or_else(|| unreachable!("it is a permutation"));
        if board.is_even() { Ok(board) } else { Err(NoBoard::Parity) }
    }

    /// Tiles, row by row.
    pub fn tiles(&self) -> [u8; PLACES] {
        std::array::from_fn(|place| self.tile(place))
    }

    /// The tile that a move of the blank slides.
    pub fn slid(&self, by: u8) -> u8 {
        self.tile(usize::from(self.target(by)))
    }

    #[inline(always)]
    fn tile(&self, place: usize) -> u8 {
        (self.tiles >> (4 * place)) as u8 & 15
    }

    #[inline(always)]
    fn target(&self, by: u8) -> u8 {
        (self.blank as i8 + STEPS[usize::from(by & 3)]) as u8 & 15
    }

    /// A board with these digits, if they are a permutation.
    fn of(tiles: u64) -> Option<Self> {
        let (mut there, mut blank, mut distance) = (0_u16, 0, 0);
        for place in 0..PLACES {
            let tile = (tiles >> (4 * place)) as usize & 15;
            there |= 1 << tile;
            if tile == 0 {
                blank = place as u8;
            } else {
                distance += apart(tile, place);
            }
        }
        (there == u16::MAX).then_some(Board { tiles, blank, distance })
    }

    /// True if a board can be solved. A move up or down takes a tile past three others and the
    /// blank to another row; one to a side does neither.
    fn is_even(&self) -> bool {
        let tiles: Vec<u8> = self.tiles().into_iter().filter(|tile| *tile > 0).collect();
        let tiles = &tiles;
        let before = |place: usize| tiles[..place].iter().filter(move |tile| **tile > tiles[place]);
        let inversions: usize = (0..tiles.len()).map(|place| before(place).count()).sum();
        (inversions + usize::from(self.blank) / SIDE).is_multiple_of(2)
    }
}

impl Puzzle for Board {
    type Moves = Moves;

    const BYTES: usize = 8;
    const MOVE_BITS: usize = 2;
    const GRAIN: u16 = 40;

    #[inline(always)]
    fn moves(&self, last: Option<u8>) -> Moves {
        let back = last.map_or(0, |by| 1 << (by ^ 1));
        Moves(LEGAL[usize::from(self.blank & 15)] & !back)
    }

    #[inline(always)]
    fn play(&self, by: u8) -> Self {
        let place = self.target(by);
        let tile = self.tile(place.into());
        let both = (u64::from(tile) << (4 * place)) | (u64::from(tile) << (4 * self.blank));
        let change =
            CHANGES[usize::from(tile) << 6 | usize::from(place) << 2 | usize::from(by & 3)];
        let distance = self.distance.wrapping_add_signed(change);
        Board { tiles: self.tiles ^ both, blank: place, distance }
    }

    #[inline(always)]
    fn lower_bound(&self) -> u16 {
        self.distance.into()
    }

    #[inline(always)]
    fn is_goal(&self) -> bool {
        self.distance == 0
    }

    /// A permutation of the digits (the finalizer of MurmurHash3), so that no two boards share one.
    #[inline]
    fn hash(&self) -> u64 {
        let mut hash = self.tiles;
        hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ hash >> 33
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.tiles.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::of(u64::from_le_bytes(bytes.try_into().ok()?))
    }
}

impl FromStr for Board {
    type Err = NoBoard;

    /// A board in 16 numbers, between spaces or commas.
    fn from_str(text: &str) -> Result<Self, NoBoard> {
        let words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
        let tile = |word: &str| {
            let number = word.parse().ok().filter(|tile| usize::from(*tile) < PLACES);
            number.ok_or_else(|| NoBoard::Tile(word.to_owned()))
        };
        let tiles = words.map(tile).collect::<Result<Vec<u8>, _>>()?;
        let tiles = <[u8; PLACES]>::try_from(tiles).map_err(|tiles| NoBoard::Count(tiles.len()))?;
        Board::new(tiles)
    }
}

impl fmt::Display for Board {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tiles = self.tiles().map(|tile| tile.to_string());
        to.write_str(&tiles.join(" "))
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Board({self})")
    }
}

const fn legal() -> [u8; PLACES] {
    let (mut legal, mut place) = ([0; PLACES], 0);
    while place < PLACES {
        let (row, column) = (place / SIDE, place % SIDE);
        legal[place] = (row > 0) as u8
            | ((row < SIDE - 1) as u8) << 1
            | ((column > 0) as u8) << 2
            | ((column < SIDE - 1) as u8) << 3;
        place += 1;
    }
    legal
}

/// Rows and columns between a tile and where it belongs.
const fn apart(tile: usize, place: usize) -> u8 {
    ((tile / SIDE).abs_diff(place / SIDE) + (tile % SIDE).abs_diff(place % SIDE)) as u8
}

const fn changes() -> [i8; PLACES * PLACES * 4] {
    let (mut changes, mut index) = ([0; PLACES * PLACES * 4], 0);
    while index < changes.len() {
        let (tile, from, by) = (index >> 6, index >> 2 & 15, index & 3);
        // The tile goes to where the blank comes from.
        let to = from as i8 - STEPS[by];
        if tile > 0 && to >= 0 && to < PLACES as i8 {
            changes[index] = apart(tile, to as usize) as i8 - apart(tile, from) as i8;
        }
        index += 1;
    }
    changes
}

#[cfg(test)]
mod tests;
