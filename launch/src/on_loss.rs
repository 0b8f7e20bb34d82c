//! Reaction of a job to the loss of a rank.

use std::fmt;
use std::str::FromStr;

/// Reaction of a job to the loss of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// The end of the job, with that rank as the cause.
    #[default]
    End,
    /// News of it for the other ranks, which go on without it.
    Continue,
}

impl fmt::Display for OnLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnLoss::End => "end",
            OnLoss::Continue => "continue",
        })
    }
}

impl FromStr for OnLoss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "end" => Ok(OnLoss::End),
            "continue" => Ok(OnLoss::Continue),
            _ => Err(format!("{text:?} is neither end nor continue")),
        }
    }
}

#[cfg(test)]
mod tests;
