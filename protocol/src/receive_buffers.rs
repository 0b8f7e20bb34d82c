//! Receive buffers of pairs whose packets have numbers (Pupa 2.1): each sender has some *primary*
//! ones for itself; beyond them its packets fill *secondary* ones, which all senders share.

use crate::sequence::Receiving;
use crate::settings::Settings;
use std::collections::VecDeque;
use weft_wire::Rank;

/// Buffers in use, and senders that were refused one.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct ReceiveBuffers {
    /// Buffers in use.
    used: usize,
    /// Of these, those that all senders share.
    shared: usize,
    /// Peers to be told when a buffer is free, the first to be refused first.
    pub refused: VecDeque<Rank>,
}

impl ReceiveBuffers {
    /// Buffers in use.
    pub fn used(&self) -> usize {
        self.used
    }

    /// True if a packet of the sender of which that much is known finds a buffer.
    pub fn has_any(&self, receiving: Option<&Receiving>, settings: &Settings) -> bool {
        own_room(receiving, settings) > 0 || self.shared_room(settings) > 0
    }

    /// A packet of a sender takes the buffer that there is for it.
    pub fn fill(&mut self, receiving: &mut Receiving, settings: &Settings) {
        receiving.buffered += 1;
        self.used += 1;
        self.shared += usize::from(receiving.buffered > settings.primary_buffers());
    }

    /// A packet takes one of its sender's own buffers.
    #[inline]
    pub fn fill_primary(&mut self, receiving: &mut Receiving) {
        receiving.buffered += 1;
        self.used += 1;
    }

    /// A buffer that a packet of a sender filled is free. True if it is one that all share.
    pub fn vacate(&mut self, receiving: &mut Receiving, settings: &Settings) -> bool {
        assert!(receiving.buffered > 0, "I4 one owner: a buffer was released twice");
        let is_shared = receiving.buffered > settings.primary_buffers();
        receiving.buffered -= 1;
        self.used -= 1;
        self.shared -= usize::from(is_shared);
        is_shared
    }

    /// Buffers that packets of a sender may fill: its own, and a share of those for all. None if as
    /// many packets of its as may wait for their groups do.
    pub fn room(&self, receiving: &Receiving, settings: &Settings) -> usize {
        if receiving.has_all_early(settings) {
            return 0;
        }
        let shared = self.shared_room(settings);
        let share = shared / (1 + self.refused.len());
        own_room(Some(receiving), settings) + share.max(usize::from(shared > 0))
    }

    fn shared_room(&self, settings: &Settings) -> usize {
        settings.receive_buffers - self.shared
    }
}

/// Room from which on a sender may send without limit again.
pub(crate) fn room_mark(settings: &Settings) -> usize {
    let senders = usize::from(settings.ranks).saturating_sub(1).max(1);
    let share = settings.receive_buffers.div_ceil(senders);
    let all = settings.primary_buffers() + share;
    (all * usize::from(settings.pupa.high_water_percent)).div_ceil(100).max(1)
}

fn own_room(receiving: Option<&Receiving>, settings: &Settings) -> usize {
    let buffered = receiving.map_or(0, |receiving| receiving.buffered);
    settings.primary_buffers().saturating_sub(buffered)
}

#[cfg(test)]
mod tests;
