//! Settings of a search.

use crate::error::{Error, Result};
use crate::table::Replacement;
use std::time::Duration;

/// Most jobs of a message.
pub const MOST_JOBS_PER_MESSAGE: usize = 1024;

/// Settings of a search, the same on all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Jobs that are combined in a message at most, from 1 to [`MOST_JOBS_PER_MESSAGE`].
    pub jobs_per_message: usize,
    /// Time after which jobs leave whose message is not full. They leave earlier if their rank has
    /// nothing else to do.
    pub delay: Duration,
    /// Bytes of each rank's transposition table; 0 for none.
    pub table_bytes: usize,
    /// Rule by which entries of the table give way.
    pub replacement: Replacement,
    /// Moves left, down to which jobs go to the owners of their positions. One with fewer, or as
    /// many, is searched whole by the rank that has it. `None`: as the game says.
    pub grain: Option<u16>,
    /// Jobs on a rank's stack from which on it searches whole what it takes up, and tells nobody
    /// that it has room.
    pub stack_jobs: usize,
    /// Nodes that a rank searches between two looks for messages.
    pub poll_nodes: u64,
    /// Time after which the search ends without an answer.
    pub deadline: Option<Duration>,
    /// Longest solution that is searched for; if all are longer, the search ends without an answer.
    pub most_moves: Option<u16>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            jobs_per_message: 64,
            delay: Duration::from_micros(100),
            table_bytes: 0,
            replacement: Replacement::default(),
            grain: None,
            stack_jobs: 16 << 10,
            poll_nodes: 4096,
            deadline: None,
            most_moves: None,
        }
    }
}

impl Settings {
    /// Checks them.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |what, value, why| Err(Error::Setting { what, value, why });
        match self {
            Settings { jobs_per_message: 0, .. } => {
                refuse("jobs per message", 0, "a message has one job at least")
            }
            Settings { jobs_per_message: many @ MOST_JOBS_PER_MESSAGE.., .. }
                if *many > MOST_JOBS_PER_MESSAGE =>
            {
                refuse("jobs per message", *many, "1,024 are the most")
            }
            Settings { poll_nodes: 0, .. } => {
                refuse("nodes between two polls", 0, "a search gets on")
            }
            _ => Ok(()),
        }
    }
}
