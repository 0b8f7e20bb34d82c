//! The transposition table of one rank: bounds of values that a position has, searched to a depth.
//!
//! Only a search to the same depth is spared by an entry. One to another depth has the best move
//! of it, which is tried first, so that a table changes how long a search takes and nothing else.

use super::Window;
use super::alone::Found;
use crate::table::{Replacement, place};

/// A position that was searched. 16 bytes.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Hash of the position.
    signature: u64,
    depth: u16,
    lower: i16,
    upper: i16,
    best: u8,
    /// [`IS_THERE`], [`HAS_BEST`] and [`IS_CUT`], and the number of the search that noted it last.
    mark: u8,
}

/// Bytes of an entry.
const ENTRY_BYTES: usize = size_of::<Entry>();

const _: () = assert!(ENTRY_BYTES == 16);

/// Mark of an entry.
const IS_THERE: u8 = 1;

/// Mark of an entry with a best move.
const HAS_BEST: u8 = 2;

/// Mark of an entry with bounds in which there is an estimate.
const IS_CUT: u8 = 4;

/// Unit of the number of a search in marks: it takes the other five bits.
const SEARCH: u8 = 8;

/// Knowledge about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    /// Moves that it was searched ahead.
    pub depth: u16,
    /// Its value is no less.
    pub lower: i16,
    /// Its value is no more.
    pub upper: i16,
    /// A move that leads to the lower bound.
    pub best: Option<u8>,
    /// True if there may be an estimate in the bounds.
    pub is_cut: bool,
}

impl Known {
    /// The value that a search with a window would come to, if it is known that well.
    #[inline]
    pub fn answers(&self, window: Window) -> Option<i16> {
        if self.lower >= window.beta || self.lower == self.upper {
            return Some(self.lower);
        }
        (self.upper <= window.alpha).then_some(self.upper)
    }
}

/// Positions that were searched, one for each remainder of their hashes. What one search has noted
/// the next ones find; but it gives way to what they note, however deep it is.
pub(crate) struct Values {
    entries: Vec<Entry>,
    replacement: Replacement,
    /// Number of the search, times [`SEARCH`].
    search: u8,
}

impl Values {
    /// A table of so many bytes; if there is room for no entry, one that forgets everything.
    pub fn new(bytes: usize, replacement: Replacement) -> Self {
        Values { entries: vec![Entry::default(); bytes / ENTRY_BYTES], replacement, search: 0 }
    }

    /// Another search begins.
    pub fn begin(&mut self) {
        self.search = self.search.wrapping_add(SEARCH);
    }

    /// Knowledge about the position with this hash.
    #[inline]
    pub fn known(&self, hash: u64) -> Option<Known> {
        let entry = self.entries.get(place(hash, self.entries.len()))?;
        let is_it = entry.signature == hash && entry.mark & IS_THERE != 0;
        let Entry { depth, lower, upper, best, mark, .. } = *entry;
        let best = (mark & HAS_BEST != 0).then_some(best);
        is_it.then_some(Known { depth, lower, upper, best, is_cut: mark & IS_CUT != 0 })
    }

    /// Notes what a search with a window has found.
    pub fn note(&mut self, hash: u64, depth: u16, window: Window, found: Found) {
        let Found { value, best, is_cut } = found;
        let index = place(hash, self.entries.len());
        let Some(entry) = self.entries.get_mut(index) else { return };
        let is_it = entry.signature == hash && entry.mark & IS_THERE != 0;
        if !is_it {
            let stays = self.replacement == Replacement::DepthPreferred
                && entry.mark & IS_THERE != 0
                && entry.mark & !(SEARCH - 1) == self.search
                && entry.depth > depth;
            if stays {
                return;
            }
            *entry = Entry { signature: hash, mark: IS_THERE, ..Entry::default() };
        }
        entry.mark = entry.mark & (SEARCH - 1) | self.search;
        if !is_it || entry.depth != depth {
            (entry.depth, entry.lower, entry.upper) = (depth, -i16::MAX, i16::MAX);
            entry.mark &= !IS_CUT;
        }
        if is_cut {
            entry.mark |= IS_CUT;
        }
        if value > window.alpha && value > entry.lower {
            entry.lower = value;
            if let Some(best) = best {
                (entry.best, entry.mark) = (best, entry.mark | HAS_BEST);
            }
        }
        if value < window.beta {
            entry.upper = entry.upper.min(value);
        }
    }
}

#[cfg(test)]
mod tests;
