//! Variables of programs, for atomic operations.

use crate::{Error, Rank, Result};
use weft_wire::atomic::VARIABLES;

/// Number of variables of each rank that are the systems' own: the last ones. Orders of messages
/// count in the first of these, counters of teams in the others.
pub const SYSTEM_VARIABLES: u16 = 1024;

/// Number of variables of each rank that programs may use, from 0 on.
pub const USER_VARIABLES: u16 = (VARIABLES - SYSTEM_VARIABLES as usize) as u16;

/// A variable of 64 bits, 0 at first, on which its home serves [atomic operations](crate::Atomic)
/// without its program (thesis 3.1.5). Those that nobody uses cost nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// Rank that keeps it.
    pub home: Rank,
    /// Index among that rank's variables. Programs have 0 to 64,511; the rest belong to Weft
    /// itself.
    pub index: u16,
}

impl Variable {
    /// The variable number `index` of rank `home`.
    pub const fn new(home: Rank, index: u16) -> Self {
        Variable { home, index }
    }

    /// Checks that programs may use it.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`].
    #[inline]
    pub fn check(self) -> Result<()> {
        if self.index >= USER_VARIABLES {
            return Err(Error::NoSuchVariable(self.index.into()));
        }
        Ok(())
    }
}
