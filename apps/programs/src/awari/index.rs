//! Numbers of boards: a bijection between the boards of n stones and the numbers below
//! C(n + 11, 11), in the combinatorial number system.
//!
//! Stones in a row with a bar between one pit and the next are eleven bars among n + 11 places. If
//! bar k (1 to 11) is at place p, then p is the number of stones in the first k pits and k - 1, and
//! the board's number is the sum of C(p, k).

use crate::awari::board::{Board, PITS};

/// Most stones of a database.
pub const MOST_STONES: u32 = 13;

/// Bars between pits.
const BARS: usize = PITS - 1;

/// Places of stones and bars.
const PLACES: usize = MOST_STONES as usize + BARS;

/// C(p, k) by k and p.
const CHOOSE: [[u32; PLACES + 1]; BARS + 1] = choose();

/// Number of boards with exactly so many stones.
///
/// # Panics
/// More than [`MOST_STONES`] stones.
pub fn count(stones: u32) -> u32 {
    CHOOSE[BARS][stones as usize + BARS]
}

/// Number of a board among those with as many stones.
///
/// # Panics
/// The board has more than [`MOST_STONES`] stones.
pub fn index_of(board: &Board) -> u32 {
    let (mut place, mut index) = (0, 0);
    for (choose, stones) in CHOOSE[1..].iter().zip(board.pits()) {
        place += usize::from(*stones);
        index += choose[place];
        place += 1;
    }
    index
}

/// Board of so many stones with this number, which is below [`count`].
///
/// # Panics
/// More than [`MOST_STONES`] stones.
pub fn board_of(stones: u32, index: u32) -> Board {
    let mut pits = [0; PITS];
    let (mut rest, mut above) = (index, stones as usize + BARS);
    for bar in (1..=BARS).rev() {
        let mut place = above - 1;
        while CHOOSE[bar][place] > rest {
            place -= 1;
        }
        rest -= CHOOSE[bar][place];
        pits[bar] = (above - place - 1) as u8;
        above = place;
    }
    pits[0] = above as u8;
    Board::new(pits)
}

const fn choose() -> [[u32; PLACES + 1]; BARS + 1] {
    let mut table = [[0; PLACES + 1]; BARS + 1];
    let mut place = 0;
    while place <= PLACES {
        table[0][place] = 1;
        let mut bar = 1;
        while bar <= BARS && place > 0 {
            table[bar][place] = table[bar - 1][place - 1] + table[bar][place - 1];
            bar += 1;
        }
        place += 1;
    }
    table
}

#[cfg(test)]
mod tests;
