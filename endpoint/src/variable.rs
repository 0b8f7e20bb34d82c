//! Fetch-and-add variables of programs.

use crate::Rank;
use weft_protocol::VARIABLES;

/// Fetch-and-add variables of each rank that programs may use; the rest are the systems'.
pub const USER_VARIABLES: u16 = VARIABLES / 2;

/// A fetch-and-add variable: a counter that its home serves without its program (thesis 3.1.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Rank that keeps it.
    pub home: Rank,
    /// Index among that rank's variables. Programs have 0 to 31; the rest belong to Weft itself.
    pub index: u16,
}
