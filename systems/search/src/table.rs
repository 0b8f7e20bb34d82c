//! The transposition table of one rank.
//!
//! An entry says how deep a position has been searched, or is being searched: with so many moves
//! left. A position that comes again with no more moves left is not searched again. No shortest
//! solution is lost by that. Let the search of an iteration reach position n of a shortest solution
//! by as few moves as there are to n. An entry that cuts it off was made with as many moves left,
//! or more. If it is of this iteration it was reached by as few moves, too, and is searched in its
//! stead. An entry of an earlier iteration, with a lower bound, had n reached by fewer moves, and
//! there are none. So of each shortest solution some first position beyond the bound is seen, and
//! the next bound is never too large.
//!
//! Positions belong to ranks by their hashes, and a job is looked up by its owner. What is below
//! the grain is looked up where it is searched.

/// Position with the moves left that it was searched with. 16 bytes.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Hash of the position.
    signature: u64,
    /// Moves left, and one more; 0 for no entry.
    depth: u16,
    iteration: u16,
}

/// Bytes of an entry.
const ENTRY_BYTES: usize = size_of::<Entry>();

const _: () = assert!(ENTRY_BYTES == 16);

/// Rule by which an entry gives way to another position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Replacement {
    /// Always: in a depth-first search what comes again comes soon. Saves most nodes and time of
    /// the 15-puzzle.
    #[default]
    Always,
    /// To one with as many moves left or more, and to any once its iteration is over: what an
    /// earlier iteration knew cuts off little, as the next one reaches positions with more moves
    /// left.
    DepthPreferred,
}

/// Positions that were searched, one for each remainder of their hashes.
pub(crate) struct Table {
    entries: Vec<Entry>,
    replacement: Replacement,
}

impl Table {
    /// A table of so many bytes; `None` if there is room for no entry.
    pub fn new(bytes: usize, replacement: Replacement) -> Option<Self> {
        let entries = vec![Entry::default(); bytes / ENTRY_BYTES];
        (!entries.is_empty()).then_some(Table { entries, replacement })
    }

    /// True if the position with this hash was searched with so many moves left, or more. If not,
    /// it is noted as one that now is.
    #[inline]
    pub fn covers(&mut self, hash: u64, left: u16, iteration: u32) -> bool {
        let place = place(hash, self.entries.len());
        let (entry, depth) = (&mut self.entries[place], left.saturating_add(1));
        let iteration = iteration as u16;
        if entry.signature == hash && entry.depth >= depth {
            return true;
        }
        let stays = self.replacement == Replacement::DepthPreferred
            && entry.iteration == iteration
            && entry.signature != hash
            && entry.depth > depth;
        if !stays {
            *entry = Entry { signature: hash, depth, iteration };
        }
        false
    }
}

/// Place of a hash in a table of `places`.
#[inline]
pub(crate) fn place(hash: u64, places: usize) -> usize {
    ((u128::from(hash) * places as u128) >> 64) as usize
}

#[cfg(test)]
mod tests;
