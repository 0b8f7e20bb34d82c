//! Messages between a node's replica and a directory that may be at the same node.

use super::message::{Message, MessageKind, Version};
use super::{Actions, Call};
use std::collections::{BTreeSet, VecDeque};
use weft_endpoint::Rank;

/// Sends what is for others, and keeps what is for this node itself until the event that caused it
/// is over.
pub struct Router<'a, A> {
    me: Rank,
    home: Rank,
    actions: &'a mut A,
    /// Messages for this node: nearly always one, and those after it.
    local: Option<Message>,
    more: VecDeque<Message>,
    /// The message being received came with bytes.
    pub(super) brings_data: bool,
}

impl<'a, A: Actions> Router<'a, A> {
    #[inline]
    pub(super) fn new(me: Rank, home: Rank, actions: &'a mut A) -> Self {
        Router { me, home, actions, local: None, more: VecDeque::new(), brings_data: false }
    }

    #[inline]
    pub(super) fn has_local(&self) -> bool {
        self.local.is_some()
    }

    pub(super) fn next_local(&mut self) -> Option<Message> {
        std::mem::replace(&mut self.local, self.more.pop_front())
    }

    pub(super) fn send(&mut self, to: Rank, kind: MessageKind, version: Version) {
        self.send_about(to, kind, version, self.home);
    }

    /// Sends a message that names another node.
    pub(super) fn send_about(
        &mut self,
        to: Rank,
        kind: MessageKind,
        version: Version,
        party: Rank,
    ) {
        let message = Message { kind, version, party };
        if to == self.me {
            match self.local {
                None => self.local = Some(message),
                Some(_) => self.more.push_back(message),
            }
        } else {
            self.actions.send(to, message);
        }
    }

    pub(super) fn tell_home(&mut self, kind: MessageKind, version: Version) {
        self.send(self.home, kind, version);
    }

    pub(super) fn multicast(
        &mut self,
        mut to: BTreeSet<Rank>,
        kind: MessageKind,
        version: Version,
    ) {
        if to.remove(&self.me) {
            self.send(self.me, kind, version);
        }
        if !to.is_empty() {
            self.actions.multicast(&to, Message { kind, version, party: self.home });
        }
    }

    /// At the home, a replica and its directory share their bytes: only what came from elsewhere is
    /// placed.
    pub(super) fn place(&mut self) {
        if std::mem::take(&mut self.brings_data) {
            self.actions.place();
        }
    }

    #[inline]
    pub(super) fn grant(&mut self, call: Call) {
        self.actions.grant(call);
    }

    pub(super) fn refuse(&mut self, call: Call) {
        self.actions.refuse(call);
    }

    pub(super) fn home(&self) -> Rank {
        self.home
    }
}
