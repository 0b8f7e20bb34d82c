//! The judge of a run: one for all ranks, asked about everything that any of them sees.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use weft_endpoint::Rank;
use weft_model::packets::{Disagreement, Missing, Reference};

/// Judge of what the ranks of one run see, beside what they should.
#[derive(Debug)]
pub struct Judge {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    reference: Reference,
    first: Option<Disagreement>,
}

/// Verdict of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All that was sent was shown, once, in order and unchanged.
    Clean {
        /// Packets shown to programs.
        packets: u64,
    },
    /// Something wrong was shown.
    Wrong(Disagreement),
    /// Something was never shown; up to ten of those things.
    Incomplete(Vec<Missing>),
}

impl Judge {
    /// The judge of a job that has sent nothing.
    pub fn new(reference: Reference) -> Self {
        Judge { state: Mutex::new(State { reference, first: None }) }
    }

    /// Tells the reference something, or asks it.
    pub fn with<T>(&self, what: impl FnOnce(&mut Reference) -> T) -> T {
        what(&mut self.state().reference)
    }

    /// Asks the reference whether what a rank saw is right. The first disagreement is kept.
    pub fn ask<T>(
        &self,
        what: impl FnOnce(&mut Reference) -> Result<T, Disagreement>,
    ) -> Option<T> {
        let mut state = self.state();
        match what(&mut state.reference) {
            Ok(answer) => Some(answer),
            Err(disagreement) => {
                state.first.get_or_insert(disagreement);
                None
            }
        }
    }

    /// True if anything wrong was seen so far.
    pub fn objects(&self) -> bool {
        self.state().first.is_some()
    }

    /// Packets that `at` was shown.
    pub fn verdict(&self) -> Verdict {
        let state = self.state();
        if let Some(wrong) = state.first {
            return Verdict::Wrong(wrong);
        }
        let missing: Vec<Missing> = state.reference.missing().take(10).collect();
        if missing.is_empty() {
            Verdict::Clean { packets: state.reference.packets_shown() }
        } else {
            Verdict::Incomplete(missing)
        }
    }

    /// A panic of one rank must not hide what the others saw.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Verdict {
    /// True if nothing was wrong.
    pub fn is_clean(&self) -> bool {
        matches!(self, Verdict::Clean { .. })
    }

    /// The ranks that this verdict concerns.
    pub fn ranks(&self) -> Vec<Rank> {
        match self {
            Verdict::Clean { .. } => vec![],
            Verdict::Wrong(disagreement) => match *disagreement {
                Disagreement::Misdelivered { at, name }
                | Disagreement::Invented { at, name }
                | Disagreement::Twice { at, name }
                | Disagreement::Overtook { at, name, .. }
                | Disagreement::Altered { at, name, .. } => vec![name.origin, at],
                Disagreement::Unasked { by, .. } => vec![by],
                Disagreement::Fetched { by, home, .. } => vec![by, home],
            },
            Verdict::Incomplete(missing) => missing
                .iter()
                .flat_map(|missing| match *missing {
                    Missing::Packets { at, origin, .. } => [origin, at],
                    Missing::Answer { by, home, .. } => [by, home],
                })
                .collect(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Clean { packets } => {
                write!(f, "{packets} packets, each once, in order and unchanged")
            }
            Verdict::Wrong(disagreement) => disagreement.fmt(f),
            Verdict::Incomplete(missing) => {
                for (i, one) in missing.iter().enumerate() {
                    write!(f, "{}{one}", if i == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}
