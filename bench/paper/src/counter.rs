//! Counter-experiments: what is suspected of a miss is turned, and the experiment run again. If
//! the figure moves, the suspicion was right, as far as it goes; if it stays, it was wrong, and the
//! page says so.

use crate::conditions::Conditions;
use crate::report::{Measured, Row};
use std::fmt;

/// An experiment under other conditions than its paper's, about rows that miss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counter {
    /// The rows.
    pub ids: &'static [&'static str],
    /// Text for a reader: what is turned.
    pub turned: &'static str,
    /// The conditions.
    pub conditions: Conditions,
}

/// Part of the way to the paper's figure that is no move yet.
const NOTHING: f64 = 0.05;

/// Outcome of a counter-experiment for a row; the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    /// It comes true.
    True,
    /// It moves so many percent of the way to the paper's figure.
    Towards(u32),
    /// It moves to the other side of the paper's figure, and too far.
    Beyond,
    /// It is what it was, or near, or still does not hold.
    Stays,
    /// It moves away.
    Away,
}

impl Outcome {
    pub fn new(stated: &Row<'_>, turned: &Row<'_>) -> Self {
        match (&stated.seen, &turned.seen) {
            _ if turned.verdict.is_good() => Outcome::True,
            (Measured::Figure { weft, paper }, &Measured::Figure { weft: then, .. }) => {
                Outcome::moved((then - weft) / (paper - weft))
            }
            _ => Outcome::Stays,
        }
    }

    /// A move by a part of the way to the paper's figure.
    fn moved(part: f64) -> Self {
        match part {
            part if part.abs() < NOTHING => Outcome::Stays,
            part if part < 0.0 => Outcome::Away,
            part if part > 1.0 => Outcome::Beyond,
            part => Outcome::Towards((part * 100.0).round() as u32),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::True => f.write_str("comes true"),
            Outcome::Towards(percent) => write!(f, "moves {percent} % of the way"),
            Outcome::Beyond => f.write_str("moves beyond"),
            Outcome::Stays => f.write_str("stays"),
            Outcome::Away => f.write_str("moves away"),
        }
    }
}

#[cfg(test)]
mod tests;
