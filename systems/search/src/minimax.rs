//! Minimax values of positions of games of two players, by all ranks.
//!
//! A *request* is a position to be searched to a depth with a window; it goes to the owner of the
//! position, whose table knows most about it. One with more moves left than the grain becomes a
//! *record* there, which requests the positions below, takes their *answers*, and answers in turn.
//! One with fewer is searched by its rank alone. A record that is answered before all below it
//! are *cuts* the rest (after A. Kishimoto and J. Schaeffer, *Distributed game-tree search using
//! transposition table driven work scheduling*, 2002).
//!
//! | module | what |
//! |---|---|
//! | `drive` | depths, one after the other; MTD(f); the line of best play. At rank 0 |
//! | `member` | one rank: messages and requests, in turn |
//! | `asked` | requests that wait at a rank, and what peers owe each other; their bounds |
//! | `records` | positions whose answers are awaited |
//! | `alone` | alpha-beta by one rank |
//! | `values` | the transposition table of a rank |
//! | `items` | requests, answers and cuts, byte by byte |
//!
//! Invariants: the value is that of minimax to the same depth, since a table entry of another
//! depth orders moves and nothing else. It is exact if no position counts by an estimate at which
//! games go on. A request is answered once, cut or not; so what a rank has
//! requested and not been answered (I9: `i9_asked`) bounds all that is under way and all that
//! waits, and an answer needs no room that is not there.

mod alone;
mod drive;
pub(crate) mod items;
mod member;
mod records;
mod request_table;
mod values;

pub(crate) use drive::{Until, deepen};
pub(crate) use member::Member;
pub(crate) use values::Values;

/// Values that a search tells apart: those above `alpha` and below `beta`. One that is outside is
/// known to be so, and no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub alpha: i16,
    pub beta: i16,
}

impl Window {
    /// A window that asks whether a value is `bound` or more.
    pub fn at_least(bound: i16) -> Self {
        Window { alpha: bound - 1, beta: bound }
    }

    /// The window as the other player sees it.
    #[inline]
    pub fn turned(self) -> Self {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// True if the result of a search with this window is one of a search with the other.
    pub fn covers(self, other: Self) -> bool {
        self.alpha <= other.alpha && other.beta <= self.beta
    }

    /// True if it has no value in it.
    #[inline]
    pub fn is_null(self) -> bool {
        self.alpha + 1 == self.beta
    }

    /// The window in which all values up to `most` are.
    pub fn all(most: i16) -> Self {
        Window { alpha: -most - 1, beta: most + 1 }
    }

    /// True of what searches of values up to `most` use.
    pub fn is_sound(self, most: i16) -> bool {
        -most - 1 <= self.alpha && self.alpha < self.beta && self.beta <= most + 1
    }
}
