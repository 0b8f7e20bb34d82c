//! Stacks of some ranks of a roll call: of one of those that do the same.
//!
//! They are taken at once, while ranks are where they were, and get their names later, which may
//! take long.

use crate::messages::{STACKS_MAX, Standing};
use std::collections::BTreeSet;
use weft_wire::Rank;

/// Function that takes the stacks of the threads of these numbers, which stop for a moment.
pub type StacksOf = fn(&[u32]) -> Naming;

/// Function that finds the names in stacks that were taken, and tells them in words; `None` where
/// there is none. It takes long where there is much debugging information.
pub type Naming = Box<dyn FnOnce() -> Vec<Option<String>> + Send>;

/// Stacks that were taken of these ranks.
pub(crate) struct TakenStacks {
    ranks: Vec<Rank>,
    naming: Naming,
}

impl TakenStacks {
    /// Takes the stack of one rank of those that do the same, of as many kinds as people read of
    /// and of none whose stack is known.
    pub fn of(all: &[Standing], stacks_of: StacksOf) -> Self {
        let known = all.iter().filter(|standing| standing.stack.is_some());
        let mut seen: BTreeSet<_> = known.map(|standing| &standing.doing).collect();
        let room = STACKS_MAX.saturating_sub(seen.len());
        let here = all.iter().filter_map(|standing| Some((standing, standing.thread?)));
        let first = here.filter(|(standing, _)| seen.insert(&standing.doing)).take(room);
        let (ranks, threads): (_, Vec<_>) =
            first.map(|(standing, thread)| (standing.rank, thread)).unzip();
        TakenStacks { ranks, naming: stacks_of(&threads) }
    }

    /// The stacks, in words, of the ranks that have one. Blocks until names are found.
    pub fn name(self) -> Vec<(Rank, String)> {
        let stacks = self.ranks.into_iter().zip((self.naming)());
        stacks.filter_map(|(rank, stack)| Some((rank, stack?))).collect()
    }
}

/// Adds stacks to the ranks whose they are: to one of those that do the same, of as many kinds as
/// people read of.
pub(crate) fn add_stacks(all: &mut [Standing], stacks: Vec<(Rank, String)>) {
    for (rank, stack) in stacks {
        let Some(at) = all.iter().position(|standing| standing.rank == rank) else { continue };
        let mut known = all.iter().filter(|standing| standing.stack.is_some());
        let is_known = known.any(|standing| standing.doing == all[at].doing);
        let has_room = all.iter().filter(|standing| standing.stack.is_some()).count() < STACKS_MAX;
        if has_room && !is_known {
            all[at].stack = Some(stack);
        }
    }
}
