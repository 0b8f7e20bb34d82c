//! The bytes of a position.

use crate::model::{Contents, Rules};

/// Most bytes of a position; a job has one more, which says whose position it is.
pub const MOST_BYTES: usize = 29;

/// Division of a position's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Storage {
    /// Sets of cells: own and other pieces, and bits of their kinds. None for numbers.
    pub sets: usize,
    /// Sets among them that are bits of kinds.
    pub kind_bits: usize,
    /// Bytes of a set.
    pub set_bytes: usize,
    /// Bits of a number.
    pub number_bits: usize,
    /// Bytes of counters.
    pub counters: usize,
    /// Bytes of all.
    pub bytes: usize,
}

impl Storage {
    /// The storage of a game's positions.
    pub fn of(rules: &Rules) -> Self {
        let cells = rules.board.cells();
        let counters = rules.counters.iter().map(|counter| 1 + usize::from(counter.each)).sum();
        let mut storage = Storage {
            sets: 0,
            kind_bits: 0,
            set_bytes: 0,
            number_bits: 0,
            counters,
            bytes: counters,
        };
        match &rules.contents {
            Contents::Pieces(kinds) => {
                storage.kind_bits = kinds.len().next_power_of_two().trailing_zeros() as usize;
                storage.sets = usize::from(rules.players) + storage.kind_bits;
                storage.set_bytes = cells.div_ceil(8);
                storage.bytes += storage.sets * storage.set_bytes;
            }
            Contents::Numbers { most, .. } => {
                storage.number_bits = if *most < 16 { 4 } else { 8 };
                storage.bytes += (cells * storage.number_bits).div_ceil(8);
            }
        }
        storage
    }
}
