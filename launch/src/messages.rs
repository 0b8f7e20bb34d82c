//! Messages between launcher, ranks and agents, and answers to whoever asks how a job stands: what
//! they say, and parsing that trusts nobody.
//!
//! ```text
//! every message:  mark "weft" (4) | version (2) | kind (2) | what `postcard` writes of it
//! ```
//!
//! The numbers of this head are little-endian, and stay as they are: by them programs of different
//! releases tell that they are. A message comes in a frame of its own, such as a datagram, so it
//! has no length of its own; bytes beyond its body are refused.
//!
//! | module | what |
//! |---|---|
//! | `format`, `bounds`, `checks`, `parts` | the form of every message, what limits it, and what travels otherwise than its type says |
//! | `options`, `network`, `door`, `ending`, `event`, `launcher_place` | facts, of which messages consist |
//! | `standing`, `rank_state`, `snapshot`, `reached` | facts about ranks |
//! | `rank`, `hosts` | messages between the launcher and a rank, and an agent |
//!
//! Nothing here names anything above: these are the words that all others speak.

mod bounds;
mod checks;
mod door;
mod ending;
mod event;
mod format;
pub(crate) mod hosts;
mod launcher_place;
mod network;
mod options;
pub(crate) mod parts;
mod rank;
mod rank_state;
pub(crate) mod reached;
mod snapshot;
mod standing;

pub use bounds::RANKS_MAX;
pub(crate) use bounds::{
    ANSWER_BYTES_MAX, CANDIDATES_MAX, HOST_MESSAGE_BYTES_MAX, HOSTS_MAX, MESSAGE_BYTES_MAX,
    STACKS_MAX, TEXT_BYTES_MAX,
};
pub(crate) use checks::{at_most, check_protection, ensure};
pub(crate) use door::DoorSecret;
pub use door::{DoorKey, NoDoor};
pub use ending::Ending;
pub(crate) use event::{Event, Visitor};
pub use format::{BadMessage, VERSION as MESSAGES_VERSION};
pub(crate) use format::{Message, open};
pub use launcher_place::LauncherPlace;
pub(crate) use network::draw_job;
pub use network::{EthernetAccess, JobNetwork};
pub use options::Options;
pub(crate) use options::{CORES, ON_LOSS, RANKS, TRACE, check_options};
pub(crate) use rank::{Growth, Start, ToLauncher, ToRank, Welcome};
pub use rank_state::RankState;
pub use snapshot::{RankNow, Snapshot};
pub(crate) use standing::{Doing, SEEN, Standing, check_roll};

#[cfg(test)]
pub(crate) mod tests;
