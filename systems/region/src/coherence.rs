//! The coherence protocol: one region at one node (thesis 7.3.2).
//!
//! A [`Region`] is told of calls and of messages, and tells an [`Actions`] which messages to send
//! and which call may go on. Every node that uses a region has one; that of its home also has the
//! directory. It knows no clock, thread, socket or memory, and does not see the region's bytes:
//! where a message carries them ([`Kind::carries_data`]), `Actions` sends them as they are at that
//! moment.
//!
//! **What it takes of the network**: messages arrive, and those of one node to another in the order
//! in which they were sent, but for two kinds that may travel by multicast. [`Kind::Invalidate`]
//! and [`Kind::Update`] may overtake all others and be overtaken, also by one another.
//!
//! **Versions** make that harmless. A region's [`Version`] is how often the only copy changed
//! hands. All valid copies have the same one, what is sent names the version that it is about, and
//! whoever holds another ignores it. So nodes may drop copies that others have too without telling
//! anybody, and no message has to be confirmed but invalidations.
//!
//! | module | what |
//! |---|---|
//! | [`table`] | the rules: events in states |
//! | [`replica`] | what a node has of the region |
//! | [`directory`] | what the home knows of the nodes |
//! | [`diagram`] | the rules as pictures |

pub mod diagram;
pub mod directory;
mod message;
mod planted;
mod ranks;
pub mod replica;
mod router;
pub mod table;

pub use directory::{Directory, Hint, Policy};
pub use message::{Kind, Message, Version};
#[cfg(feature = "planted")]
pub use planted::Planted;
pub use ranks::Ranks;
pub use replica::Replica;

use crate::invariants::{r3_home_knows_itself, r4_none_asks_twice, r5_demands_are_met};
use planted::Rules;
use router::Router;
use std::collections::BTreeSet;
use weft_endpoint::{Broken, Rank};

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

    /// Such a call fails: the region was deleted.
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
        kind: Kind,
    },
    /// A message to the home that came elsewhere.
    #[error("a {kind:?} message is for the home of the region")]
    NotHome {
        /// Kind of the message.
        kind: Kind,
    },
    /// A message of the home that came from elsewhere.
    #[error("a {kind:?} message comes from the home of the region")]
    NotFromHome {
        /// Kind of the message.
        kind: Kind,
    },
}

/// A region at a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    me: Rank,
    home: Rank,
    rules: Rules,
    replica: Replica,
    /// At the home.
    directory: Option<Box<Directory>>,
}

impl Region {
    /// A region that `me` creates, of which it is the home.
    pub fn at_home(me: Rank, policy: Policy) -> Self {
        let directory = Some(Box::new(Directory::new(me, policy)));
        Region { me, home: me, rules: Rules::default(), replica: Replica::default(), directory }
    }

    /// A region of another node that `me` has no copy of. `version` is one that the home had since
    /// `me` last forgot the region; the first is [`Version::default`].
    pub fn elsewhere(me: Rank, home: Rank, version: Version) -> Self {
        let replica = Replica::since(version);
        Region { me, home, rules: Rules::default(), replica, directory: None }
    }

    /// The node that created it.
    pub fn home(&self) -> Rank {
        self.home
    }

    /// Replica of this node.
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Directory of the home, at the home.
    pub fn directory(&self) -> Option<&Directory> {
        self.directory.as_deref()
    }

    /// The program does something that takes no message and does not wait, if this is such a call:
    /// what [`Self::call`] would do, with [`Actions::grant`] at once. False if it is not, and
    /// nothing has changed.
    #[inline]
    pub fn hit(&mut self, call: Call) -> bool {
        self.replica.hit(call, &self.rules)
    }

    /// The program does something.
    ///
    /// # Errors
    /// [`Misuse`].
    #[inline]
    pub fn call(&mut self, call: Call, actions: &mut impl Actions) -> Result<(), Misuse> {
        let mut router = Router::new(self.me, self.home, actions);
        self.replica.call(call, &self.rules, &mut router)?;
        if router.has_local() {
            // What a node tells itself, it may.
            let told = self.deliver_local(&mut router);
            debug_assert_eq!(told, Ok(()), "{self:?}");
        }
        Ok(())
    }

    /// A message of another node has come, with its bytes if it carries data.
    ///
    /// # Errors
    /// [`Breach`]. The region is as it was, unless what the peer brought about is seen late.
    pub fn receive(
        &mut self,
        from: Rank,
        message: Message,
        actions: &mut impl Actions,
    ) -> Result<(), Breach> {
        let mut router = Router::new(self.me, self.home, actions);
        router.brings_data = message.kind.carries_data();
        self.dispatch(from, message, &mut router)?;
        router.brings_data = false;
        self.deliver_local(&mut router)?;
        r5_demands_are_met(&self.replica);
        Ok(())
    }

    /// Checks what must hold between two messages, as far as this node sees it: of others it knows
    /// only at their home.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let Some(directory) = &self.directory else { return Ok(()) };
        r3_home_knows_itself(self.home, &self.replica, directory)?;
        r4_none_asks_twice(directory)
    }

    /// True if the bytes of a message of this kind from `from` are waited for, so that they may be
    /// placed as they come.
    pub fn expects(&self, from: Rank, kind: Kind) -> bool {
        match &self.directory {
            Some(directory) if kind.is_for_home() => {
                directory.owner() == Some(from) || directory.is_early(from)
            }
            _ => !kind.is_for_home() && self.replica.expects_data(),
        }
    }

    fn deliver_local(&mut self, router: &mut Router<'_, impl Actions>) -> Result<(), Breach> {
        while let Some(message) = router.next_local() {
            self.dispatch(self.me, message, router)?;
        }
        Ok(())
    }

    fn dispatch(
        &mut self,
        from: Rank,
        message: Message,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Breach> {
        let kind = message.kind;
        if !kind.is_for_home() {
            // At home, everything comes from there.
            if from != self.home && (kind.is_from_home() || self.me == self.home) {
                return Err(Breach::NotFromHome { kind });
            }
            if kind.is_fetch() && message.party == self.me && self.me != self.home {
                return Err(Breach::Unexpected { kind });
            }
            return self.replica.receive(message, &self.rules, router);
        }
        let directory = self.directory.as_mut().ok_or(Breach::NotHome { kind })?;
        directory.receive(from, message, &self.rules, router)
    }
}
