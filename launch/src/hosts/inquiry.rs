//! Question to the agents of all hosts of a job. Sans-IO: who has answered, and until when the
//! others are waited for.

use std::collections::BTreeSet;
use std::time::Duration;

/// The question that was asked last, and what was answered.
#[derive(Debug)]
pub(super) struct Inquiry<T> {
    number: u32,
    /// Hosts that have not answered; none if nobody is waited for.
    missing: BTreeSet<u16>,
    until: Duration,
    answers: Vec<T>,
}

impl<T> Default for Inquiry<T> {
    fn default() -> Self {
        let (missing, answers) = (BTreeSet::new(), Vec::new());
        Inquiry { number: 0, missing, until: Duration::ZERO, answers }
    }
}

impl<T> Inquiry<T> {
    /// Asks these hosts, and waits for them until then at the longest. Returns the number of the
    /// question, for the agents.
    pub fn begin(&mut self, hosts: impl IntoIterator<Item = u16>, until: Duration) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.missing = hosts.into_iter().collect();
        self.until = until;
        self.answers.clear();
        self.number
    }

    /// A host has answered. An answer to an earlier question is late.
    pub fn answered(&mut self, host: u16, number: u32, answer: Vec<T>) {
        if number == self.number && self.missing.remove(&host) {
            self.answers.extend(answer);
        }
    }

    /// A host is gone, and is waited for no more.
    pub fn lost(&mut self, host: u16) {
        self.missing.remove(&host);
    }

    /// True while it waits for answers.
    pub fn is_open(&self, now: Duration) -> bool {
        !self.missing.is_empty() && now < self.until
    }

    /// Answers so far, in the order in which they have come.
    pub fn answers(&self) -> &[T] {
        &self.answers
    }
}

#[cfg(test)]
mod tests;
