//! Recovery channels, as they can be seen on the links (thesis 4.3.2).

use super::Broken;
use std::collections::BTreeSet;
use weft_wire::{Header, Rank, Tag};

/// The links that each recovery channel is on.
#[derive(Default)]
pub(super) struct Channels {
    /// Owner, parent, child: a packet went down and no channel-clear came up.
    open: BTreeSet<(Rank, Rank, Rank)>,
}

impl Channels {
    pub fn transmitted(&mut self, from: Rank, to: Rank, header: &Header) -> Result<(), Broken> {
        let Some(owner) = header.channel.0 else { return Ok(()) };
        let broken = |what| Err(Broken::Channel { owner, from, to, what });
        if header.tag == Tag::ChannelClear {
            // Bottom-up: whoever says that it is clear has no open link below.
            if self.below(owner, from).next().is_some() {
                return broken("is said to be clear and is not clear below");
            }
            if !self.open.remove(&(owner, to, from)) {
                return broken("is said to be clear and was not in use");
            }
            return Ok(());
        }
        if owner == from && self.all(owner).next().is_some() {
            return broken("is used for another recovery before it is clear");
        }
        if !self.open.insert((owner, from, to)) {
            return broken("is used twice");
        }
        Ok(())
    }

    /// All channels must be clear when nothing is under way any more.
    pub fn in_the_end(&self) -> Option<Broken> {
        let &(owner, from, to) = self.open.first()?;
        Some(Broken::Channel { owner, from, to, what: "was never cleared" })
    }

    fn all(&self, owner: Rank) -> impl Iterator<Item = &(Rank, Rank, Rank)> {
        self.open.range((owner, Rank(0), Rank(0))..=(owner, Rank(u16::MAX), Rank(u16::MAX)))
    }

    fn below(&self, owner: Rank, parent: Rank) -> impl Iterator<Item = &(Rank, Rank, Rank)> {
        self.open.range((owner, parent, Rank(0))..=(owner, parent, Rank(u16::MAX)))
    }
}
