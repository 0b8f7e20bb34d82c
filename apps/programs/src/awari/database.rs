//! Values of positions, a byte for each, in memory.

use crate::awari::board::Board;
use crate::awari::index::{count, index_of};

/// Values of all boards with a number of stones, by their index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Database {
    stones: u32,
    values: Vec<i8>,
}

/// Positions of each outcome, for their movers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcomes {
    /// Positions that are won.
    pub won: u64,
    /// Positions worth 0.
    pub drawn: u64,
    /// Positions that are lost.
    pub lost: u64,
}

/// Databases of 0 stones, of 1, of 2, ..., without a gap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Databases(Vec<Database>);

impl Database {
    /// A database; `None` if there is not a value for each board, or one is no value of a board
    /// with so many stones.
    pub fn new(stones: u32, values: Vec<i8>) -> Option<Self> {
        let is_value = |value: &i8| u32::from(value.unsigned_abs()) <= stones;
        let is_whole = values.len() == count(stones) as usize && values.iter().all(is_value);
        is_whole.then_some(Database { stones, values })
    }

    /// Number of stones.
    pub fn stones(&self) -> u32 {
        self.stones
    }

    /// Values, by index.
    pub fn values(&self) -> &[i8] {
        &self.values
    }

    /// Number by which databases are compared: of the values, each counted from the least that it
    /// could be, as digits to the base 257, modulo the prime 2^31 - 1.
    pub fn checksum(&self) -> u32 {
        let digits = self.values.iter().map(|value| i64::from(*value) + i64::from(self.stones));
        let sum = digits.fold(0, |sum, digit| (sum * 257 + digit) % i64::from(i32::MAX));
        sum as u32
    }

    /// Number of positions of each outcome.
    pub fn outcomes(&self) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for value in &self.values {
            match value.signum() {
                1 => outcomes.won += 1,
                0 => outcomes.drawn += 1,
                _ => outcomes.lost += 1,
            }
        }
        outcomes
    }
}

impl Databases {
    /// Adds the next one, which has a stone more than there were.
    ///
    /// # Panics
    /// It has another number of stones.
    pub fn push(&mut self, next: Database) {
        assert_eq!(next.stones as usize, self.0.len(), "databases follow one another");
        self.0.push(next);
    }

    /// Number of databases, which is also the number of stones of the first that is missing.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Database of so many stones, if it is there.
    pub fn of(&self, stones: u32) -> Option<&Database> {
        self.0.get(stones as usize)
    }

    /// Value of a board, if a database has it.
    pub fn value(&self, board: &Board) -> Option<i8> {
        let database = self.of(board.stones())?;
        Some(database.values[index_of(board) as usize])
    }

    /// Value of a board that is known to have so many stones, which a database has.
    ///
    /// # Panics
    /// None has.
    pub(crate) fn value_of(&self, stones: u32, board: &Board) -> i8 {
        self.0[stones as usize].values[index_of(board) as usize]
    }
}
