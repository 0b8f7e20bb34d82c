//! A counter that a team shares: what each member remembers of it, and its move to a new home. No
//! clock, no network, no lock.
//!
//! The value is a variable of one rank, its *home*, and may be lost with that rank. But a counter
//! is only added to. So each member remembers a *mark*, the end of its highest addition: value
//! before, and amount. No member that lives was handed out anything beyond the highest mark of
//! those that live, where the counter goes on:
//!
//! ```text
//!   all members           first member
//!   all-gather ────────── all-gather        marks
//!                         reads the old variable, if it can, and sets a new one to the maximum
//!   broadcast  ◀───────── broadcast         the new variable, and its value
//! ```
//! Both operations end well at all members that live or at none, and so does the move. If it fails
//! all of them have the old variable, and may add to it, if it is there, or move again.
//!
//! **No addition of a member that lives is under way** when the marks are compared: all members are
//! in the all-gather, and none goes into it while it adds. An addition that a lost member has asked
//! for may be executed at any time, but at the old variable: at the new one no counter has ever
//! been. That is set before anybody gets to know it.
//!
//! | invariant | |
//! |---|---|
//! | C1 | no two additions overlap whose callers live |
//! | C2 | none has a value below the end of another that had returned before to one that lives |
//! | C3 | all that live have the counter at the same variable, unless they are in the broadcast |
//! | C4 | while no value is lost, C1 holds of all callers, whether they live or not |
//! | C5 | nobody waits for ever: once nothing is under way, all that live can add |
//!
//! The tests explore it, with ranks that are lost meanwhile.

use crate::mistake::Mistake;
use weft_endpoint::{Rank, Variable};

/// Memory of a member: where the counter has come to at least.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mark {
    seen: u64,
    pub(crate) mistake: Mistake<Planted>,
}

/// Contribution of a member to the all-gather.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Brought {
    /// No counter: all create one.
    Nothing,
    /// No counter: the one that others bring is to be this member's, too.
    Joins,
    /// A counter.
    Counter {
        /// The place of its value, which is its name: no other counter has ever been there.
        variable: Variable,
        /// The member's mark.
        seen: u64,
        /// Number of members of the team that have it, as far as this one knows.
        holders: u64,
    },
    /// A counter that this rank has, too, who is neither lost nor a member of the team.
    LeavesOut(Rank),
}

/// Words of a [`Brought`]: its kind, and up to three numbers.
pub type BroughtWords = [u64; 4];

/// News of the first member in the broadcast.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NewHome {
    /// The new place of the counter, and its value there.
    At(Variable, u64),
    /// That the first member can be the home of no more counters.
    Full,
}

/// Words of a [`NewHome`]: the variable's index, and the value.
pub type HomeWords = [u64; 2];

/// Conclusion of all members of what all have brought: the same at each.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gathered {
    /// The old place of the counter, if there is one.
    pub from: Option<Variable>,
    seen: u64,
    mistake: Mistake<Planted>,
}

/// Contributions that do not go together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mismatch {
    /// This rank has the counter, and would be left behind with it.
    LeavesOut(Rank),
    /// Members do not bring the same counter, or some that have it do not bring it.
    Differs,
}

/// A mistake to plant: a test of the tests, which alone can make it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Planted {
    /// A mark is the value before an addition.
    ForgetAmount,
    /// The old variable is not read.
    LeaveOld,
}

/// Index that stands for [`NewHome::Full`].
const NONE_LEFT: u64 = u64::MAX;

impl Mark {
    /// The mark of a member that knows that the counter has come here.
    pub fn at(value: u64) -> Self {
        Mark { seen: value, mistake: Mistake::default() }
    }

    /// The place that the counter has come to at least.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// An addition of this member has returned. False if the counter went beyond its last number by
    /// it.
    #[must_use]
    pub fn added(&mut self, before: u64, amount: u64) -> bool {
        let amount = if self.mistake.is(Planted::ForgetAmount) { 0 } else { amount };
        let end = before.checked_add(amount);
        self.seen = self.seen.max(end.unwrap_or(u64::MAX));
        end.is_some()
    }
}

impl Brought {
    /// The words of it.
    pub fn emit(self) -> BroughtWords {
        match self {
            Brought::Nothing => [0, 0, 0, 0],
            Brought::Joins => [1, 0, 0, 0],
            Brought::Counter { variable: Variable { home, index }, seen, holders } => {
                [2, u64::from(home.0) << 16 | u64::from(index), seen, holders]
            }
            Brought::LeavesOut(rank) => [3, rank.0.into(), 0, 0],
        }
    }

    /// The contribution that has these words; `None` if none has.
    pub fn parse(words: BroughtWords) -> Option<Self> {
        match words {
            [0, 0, 0, 0] => Some(Brought::Nothing),
            [1, 0, 0, 0] => Some(Brought::Joins),
            [2, name, seen, holders] => {
                let home = Rank(u16::try_from(name >> 16).ok()?);
                let variable = Variable { home, index: name as u16 };
                Some(Brought::Counter { variable, seen, holders })
            }
            [3, rank, 0, 0] => Some(Brought::LeavesOut(Rank(u16::try_from(rank).ok()?))),
            _ => None,
        }
    }

    /// Compares what all members have brought.
    ///
    /// # Errors
    /// Parts that do not go together, the same at all members.
    pub fn compare(all: &[Brought]) -> Result<Gathered, Mismatch> {
        let left_out = |brought: &Brought| match brought {
            Brought::LeavesOut(rank) => Some(*rank),
            _ => None,
        };
        if let Some(rank) = all.iter().find_map(left_out) {
            return Err(Mismatch::LeavesOut(rank));
        }
        let counters = || {
            all.iter().filter_map(|brought| match *brought {
                Brought::Counter { variable, seen, holders } => Some(((variable, holders), seen)),
                _ => None,
            })
        };
        let any = |what| all.contains(&what);
        let Some(((variable, holders), _)) = counters().next() else {
            return match any(Brought::Joins) {
                false => Ok(Gathered { from: None, seen: 0, mistake: Mistake::default() }),
                true => Err(Mismatch::Differs),
            };
        };
        let is_one = counters().all(|(its, _)| its == (variable, holders));
        let all_bring_it = counters().count() as u64 == holders && !any(Brought::Nothing);
        if !(is_one && all_bring_it) {
            return Err(Mismatch::Differs);
        }
        let seen = counters().map(|(_, seen)| seen).max().unwrap_or(0);
        Ok(Gathered { from: Some(variable), seen, mistake: Mistake::default() })
    }
}

impl Gathered {
    /// Value at which the counter goes on. `old` is that of the old variable, where it can be read.
    pub fn value(&self, old: Option<u64>) -> u64 {
        match old.filter(|_| !self.mistake.is(Planted::LeaveOld)) {
            Some(old) => self.seen.max(old),
            None => self.seen,
        }
    }
}

impl NewHome {
    /// The words of it.
    pub fn emit(self) -> HomeWords {
        match self {
            NewHome::At(variable, value) => [variable.index.into(), value],
            NewHome::Full => [NONE_LEFT, 0],
        }
    }

    /// The news that have these words, from the new `home`; `None` if none have.
    pub fn parse([index, value]: HomeWords, home: Rank) -> Option<Self> {
        if index == NONE_LEFT {
            return Some(NewHome::Full);
        }
        let index = u16::try_from(index).ok()?;
        Some(NewHome::At(Variable { home, index }, value))
    }
}

#[cfg(test)]
mod tests;
