//! The coherence protocol: one region at one node (thesis 7.3.2).
//!
//! A [`Region`] is told of calls and of messages, and tells an [`Actions`] which messages to send
//! and which call may go on. Every node that uses a region has one; that of its home also has the
//! directory. It knows no clock, thread, socket or memory, and does not see the region's bytes:
//! where a message carries them ([`MessageKind::carries_data`]), `Actions` sends them as they are
//! at that moment.
//!
//! **What it takes of the network**: messages arrive, and those of one node to another in the order
//! in which they were sent, but for two kinds that may travel by multicast.
//! [`MessageKind::Invalidate`] and [`MessageKind::Update`] may overtake all others and be
//! overtaken, also by one another.
//!
//! **Versions** make that harmless. A region's [`Version`] is how often the only copy changed
//! hands. All valid copies have the same one, what is sent names the version that it is about, and
//! whoever holds another ignores it. So nodes may drop copies that others have too without telling
//! anybody, and no message has to be confirmed but invalidations.
//!
//! | module | what |
//! |---|---|
//! | [`table`] | the rules: events in states |
//! | `region` | the region at a node: its replica, and at the home the directory |
//! | [`replica`] | what a node has of the region |
//! | [`directory`] | what the home knows of the nodes |
//! | [`diagram`] | the rules as pictures |

pub mod diagram;
pub mod directory;
mod message;
mod planted;
mod ranks;
mod region;
pub mod replica;
mod router;
pub mod table;

pub use directory::{Directory, Hint, Policy};
pub use message::{Message, MessageKind, Version};
#[cfg(feature = "planted")]
pub use planted::Planted;
pub use ranks::Ranks;
pub use region::Region;
pub use replica::Replica;

use std::collections::BTreeSet;
use weft_endpoint::Rank;

/// Call of a program at a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Call {
    /// `rgn_start_read`: waits until the copy here is valid. Readers nest.
    StartRead,
    /// `rgn_end_read`.
    EndRead,
    /// `rgn_start_write`: waits until the copy here is the only one.
    StartWrite,
    /// `rgn_end_write`.
    EndWrite,
    /// Asks for a copy to read before it is needed. Never waits.
    Prefetch,
    /// Asks for the only copy before it is needed to write. Never waits.
    PrefetchWrite,
    /// `rgn_flush`: gives the copy up; what was written goes home. Never waits.
    Flush,
    /// `rgn_delete`: ends the region everywhere. Waits for accesses that others have begun.
    Delete,
}

/// Interface to the surroundings of a [`Region`], which it tells what to do, in the order in which
/// it must take effect. None may call back into it.
pub trait Actions {
    /// Sends `message` to another node, after all that was sent there before. If its kind carries
    /// data, the region's bytes go with it, as they are now: they may change as soon as this
    /// returns.
    fn send(&mut self, to: Rank, message: Message);

    /// Sends `message`, an invalidation or an update, to several other nodes, in any order with
    /// other messages.
    fn multicast(&mut self, to: &BTreeSet<Rank>, message: Message) {
        to.iter().for_each(|&to| self.send(to, message));
    }

    /// The bytes that came with the message being received are the region's from here on.
    fn place(&mut self);

    /// A call of [`Call::StartRead`], [`Call::StartWrite`] or [`Call::Delete`] goes on. A hit is
    /// granted within [`Region::call`].
    fn grant(&mut self, call: Call);

    /// Such a call fails: the region was deleted, or is lost ([`Replica::lost_with`]).
    fn refuse(&mut self, call: Call);
}

/// Misuse of a region by the program; nothing has changed then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Misuse {
    /// A read or write that begins inside a write.
    #[error("the region is being written here: end that write first")]
    Writing,
    /// A write, flush or delete inside a read.
    #[error("the region is being read here: end those reads first")]
    Reading,
    /// An end without a start.
    #[error("no access of this kind has been started")]
    NotStarted,
    /// A call while another one waits.
    #[error("another call waits for the region")]
    Waiting,
}

/// Violation of the protocol by a peer: no correct node sends this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Breach {
    /// A message that makes no sense in the state that the region is in.
    #[error("a {kind:?} message cannot come now")]
    Unexpected {
        /// Kind of the message.
        kind: MessageKind,
    },
    /// A message to the home that came elsewhere.
    #[error("a {kind:?} message is for the home of the region")]
    NotHome {
        /// Kind of the message.
        kind: MessageKind,
    },
    /// A message of the home that came from elsewhere.
    #[error("a {kind:?} message comes from the home of the region")]
    NotFromHome {
        /// Kind of the message.
        kind: MessageKind,
    },
}
