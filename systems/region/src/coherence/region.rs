//! One region at one node: its replica, and at its home the directory.

use super::directory::{Directory, Policy};
use super::message::{Message, MessageKind, Version};
#[cfg(feature = "planted")]
use super::planted::Planted;
use super::planted::Rules;
use super::replica::Replica;
use super::router::Router;
use super::{Actions, Breach, Call, Misuse};
use crate::invariants::{r3_home_knows_itself, r4_none_asks_twice, r5_demands_are_met};
use weft_endpoint::{Broken, Rank};

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

    /// Follows another rule than the table's from here on.
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, planted: Planted) {
        self.rules = Rules::with(planted);
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

    /// A rank is lost, of which nothing comes any more, in a job that goes on. The region is lost
    /// with its home, and with the owner of its only copy: calls that wait are refused, and
    /// accesses that have begun are the last. Else it goes on without that rank.
    pub fn lose(&mut self, rank: Rank, actions: &mut impl Actions) {
        let mut router = Router::new(self.me, self.home, actions);
        if let Some(directory) = &mut self.directory {
            directory.lose(rank, &self.rules, &mut router);
        } else if rank == self.home {
            let version = self.replica.version().unwrap_or_default();
            let message = Message { kind: MessageKind::Lost, version, party: rank };
            let told = self.replica.receive(message, &self.rules, &mut router);
            debug_assert_eq!(told, Ok(()), "{self:?}");
        }
        // What a node tells itself, it may.
        let told = self.deliver_local(&mut router);
        debug_assert_eq!(told, Ok(()), "{self:?}");
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
    pub fn expects(&self, from: Rank, kind: MessageKind) -> bool {
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
