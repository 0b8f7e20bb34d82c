//! Atomic operations on variables that the NI serves without its host (thesis 3.8): fetch-and-add,
//! compare-and-swap, and so on.
//!
//! A request is a data packet; its credit goes back with the reply. The reply is a control packet,
//! and cannot pile up because a rank asks for one at a time. Where packets are lost, both are
//! numbered, so that an operation takes place once.

use std::collections::BTreeMap;
use weft_wire::{Atomic, Rank};

/// The variables of this rank, and the one operation that it may have outstanding.
#[derive(Debug, Clone)]
pub(crate) struct Atomics {
    /// Those that were used: no more than there are [numbers](weft_wire::atomic::VARIABLES).
    variables: BTreeMap<u16, u64>,
    outstanding: Outstanding,
}

/// State of the one operation that may be outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Outstanding {
    /// None.
    Nothing,
    /// The request waits for a credit: nobody can have an answer yet.
    Blocked,
    /// The request has left, and only its home may answer.
    Requested(Rank),
}

impl Atomics {
    /// All variables at 0, and nothing outstanding.
    pub fn new() -> Self {
        Atomics { variables: BTreeMap::new(), outstanding: Outstanding::Nothing }
    }

    /// Does `operation` on a variable of this rank; returns the value before.
    pub fn apply(&mut self, variable: u16, operation: Atomic) -> u64 {
        let variable = self.variables.entry(variable).or_default();
        let value = *variable;
        *variable = operation.apply(value);
        value
    }

    /// Variables that are not 0, with their numbers.
    pub fn used(&self) -> impl Iterator<Item = (u16, u64)> {
        let all = self.variables.iter().map(|(&variable, &value)| (variable, value));
        all.filter(|(_, value)| *value != 0)
    }

    /// A request is to leave.
    pub fn begin(&mut self) {
        self.outstanding = Outstanding::Blocked;
    }

    /// The request has left for `home`.
    #[inline]
    pub fn ask(&mut self, home: Rank) {
        self.outstanding = Outstanding::Requested(home);
    }

    /// The answer has come.
    pub fn end(&mut self) {
        self.outstanding = Outstanding::Nothing;
    }

    /// True if an answer is outstanding.
    pub fn is_asking(&self) -> bool {
        self.outstanding != Outstanding::Nothing
    }

    /// True if `home` has been asked and has not answered.
    pub fn has_asked(&self, home: Rank) -> bool {
        self.outstanding == Outstanding::Requested(home)
    }
}

impl std::hash::Hash for Atomics {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.outstanding.hash(state);
        self.used().for_each(|variable| variable.hash(state));
    }
}

#[cfg(test)]
mod tests;
