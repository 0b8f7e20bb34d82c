//! Inputs of the study that no figure of the thesis fixes, and that were changed after a look at
//! what came out: as they were stated before any run, and as they are.
//!
//! `targets/inputs.csv` has them with the reasons, for the page and for a test. It changes in a
//! commit of its own, before a run; rows that come out otherwise by a change are no predictions
//! ([`crate::Role::Tuned`]).

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

const TEXT: &str = include_str!("../../targets/inputs.csv");

/// Choice of the inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// Those that were stated before the first run.
    Stated,
    /// Those that were chosen after it.
    #[default]
    Changed,
}

/// An input.
#[derive(Clone, Debug, Deserialize)]
pub struct Input {
    /// Name.
    pub input: String,
    /// Value that was stated.
    pub stated: String,
    /// Value that it was changed to.
    pub changed: String,
    /// Words of the thesis, and the reason why it was changed.
    pub why: String,
}

impl Inputs {
    /// Both, the stated one first.
    pub const ALL: [Inputs; 2] = [Inputs::Stated, Inputs::Changed];

    /// Moves up to which Puzzle's iterations go.
    pub fn most_moves(self) -> &'static str {
        match self {
            Inputs::Stated => "52",
            Inputs::Changed => "54",
        }
    }

    /// Nanoseconds that an acknowledgement waits for a packet that takes it along.
    pub fn acknowledge_after_ns(self) -> u64 {
        match self {
            Inputs::Stated => 5_000_000,
            Inputs::Changed => 500_000,
        }
    }

    /// Packets, and bytes, that a rank receives a second from which on a rate is high; without
    /// them a rate is high beside that of the other applications.
    pub fn high_rates(self) -> Option<(f64, f64)> {
        match self {
            Inputs::Stated => Some((2_000.0, 1e6)),
            Inputs::Changed => None,
        }
    }
}

/// All inputs.
///
/// # Errors
/// The file is broken.
pub fn all() -> Result<Vec<Input>> {
    let rows: Result<_, _> = csv::Reader::from_reader(TEXT.as_bytes()).deserialize().collect();
    rows.context("targets/inputs.csv")
}
