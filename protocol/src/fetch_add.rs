//! Fetch-and-add: counters that the NI serves without its host (thesis 3.8).
//!
//! A request is a data packet; its credit goes back with the reply. The reply is a control packet,
//! and cannot pile up because a rank asks for one at a time. Where packets are lost, both are
//! numbered.

use weft_wire::Rank;

/// Fetch-and-add variables of each rank, numbered from 0; all start at 0.
pub const VARIABLES: u16 = 64;

/// The variables of this rank, and the one fetch-and-add that it may have outstanding.
#[derive(Debug, Clone)]
pub(crate) struct FetchAdd {
    variables: Vec<u64>,
    fetching: Fetching,
}

/// State of that one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Fetching {
    /// None.
    No,
    /// The request waits for a credit: nobody can have an answer yet.
    Blocked,
    /// The request has left, and only its home may answer.
    Asked(Rank),
}

impl FetchAdd {
    /// All variables at 0, and nothing outstanding.
    pub fn new() -> Self {
        FetchAdd { variables: vec![0; usize::from(VARIABLES)], fetching: Fetching::No }
    }

    /// Adds to a variable of this rank; returns the value before.
    pub fn add(&mut self, variable: u16, amount: u64) -> u64 {
        let variable = &mut self.variables[usize::from(variable)];
        let value = *variable;
        *variable = value.wrapping_add(amount);
        value
    }

    /// Variables that are not 0, with their numbers.
    pub fn used(&self) -> impl Iterator<Item = (usize, &u64)> {
        self.variables.iter().enumerate().filter(|(_, value)| **value != 0)
    }

    /// A request is to leave.
    pub fn begin(&mut self) {
        self.fetching = Fetching::Blocked;
    }

    /// The request has left for `home`.
    #[inline]
    pub fn ask(&mut self, home: Rank) {
        self.fetching = Fetching::Asked(home);
    }

    /// The answer has come.
    pub fn end(&mut self) {
        self.fetching = Fetching::No;
    }

    /// True if an answer is outstanding.
    pub fn is_fetching(&self) -> bool {
        self.fetching != Fetching::No
    }

    /// True if `home` has been asked and has not answered.
    pub fn has_asked(&self, home: Rank) -> bool {
        self.fetching == Fetching::Asked(home)
    }
}

impl std::hash::Hash for FetchAdd {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.fetching.hash(state);
        self.used().for_each(|variable| variable.hash(state));
    }
}

#[cfg(test)]
mod tests;
