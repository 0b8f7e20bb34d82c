//! The ports that a rank knows: their slots, and their windows.

use super::by_rank::ByRank;
use super::windows::{ReceiveWindows, SendWindows};
use std::collections::{BTreeMap, BTreeSet};
use weft_endpoint::Rank;

/// Largest number of ports that a peer has sent messages to and that this rank has not created.
/// A program may create that many at one rank before the others come to it.
pub const UNMADE_LIMIT: usize = 1 << 16;

/// The ports that this rank has created, sends to, or got messages for. Their slots stay what they
/// are: windows outlive a port that is dropped and created again.
#[derive(Clone, Hash)]
pub struct Ports<W> {
    slots: Vec<Port<W>>,
    by_number: BTreeMap<u32, usize>,
    /// Numbers that were asked for and their slots, by the last digit of the number.
    recent: [(u32, usize); 16],
    /// Number of ports that this rank has not created, by the first sender of a message for them.
    unmade: ByRank<usize>,
}

/// The flow control of a port.
#[derive(Clone, Hash)]
pub struct Port<W> {
    /// Sender of the first message, as long as this rank has neither created the port nor sent
    /// there.
    unmade_for: Option<Rank>,
    pub(super) outgoing: SendWindows,
    pub(super) incoming: ReceiveWindows,
    /// Waiters for room at this port elsewhere, or for an answer about it.
    pub(super) senders: Vec<W>,
    /// Ranks that have no such port.
    pub(super) refused: BTreeSet<Rank>,
}

impl<W> Default for Ports<W> {
    fn default() -> Self {
        let (by_number, recent, unmade) = Default::default();
        Ports { slots: Vec::new(), by_number, recent, unmade }
    }
}

impl<W> Ports<W> {
    /// The slot of the port with this number, for a message of `from`; `None` if that has sent to
    /// too many that nobody has created.
    #[inline]
    pub fn find(&mut self, number: u32, from: Rank) -> Option<usize> {
        let (recent, slot) = self.recent[number as usize % 16];
        // Where nothing is remembered yet there is number 0, which may have another slot, or none.
        if recent == number && number != 0 { Some(slot) } else { self.find_slowly(number, from) }
    }

    #[cold]
    fn find_slowly(&mut self, number: u32, from: Rank) -> Option<usize> {
        let slot = match self.known(number) {
            Some(slot) => slot,
            None => {
                let unmade = self.unmade.entry(from);
                if *unmade >= UNMADE_LIMIT {
                    return None;
                }
                *unmade += 1;
                self.add(number, Some(from))
            }
        };
        self.recent[number as usize % 16] = (number, slot);
        Some(slot)
    }

    /// The slot of the port with this number, if there is one.
    pub fn known(&self, number: u32) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// The slot of the port with this number, which this rank has created or sends to.
    pub fn own(&mut self, number: u32) -> usize {
        let slot = self.known(number).unwrap_or_else(|| self.add(number, None));
        if let Some(from) = self.slots[slot].unmade_for.take() {
            *self.unmade.entry(from) -= 1;
        }
        slot
    }

    fn add(&mut self, number: u32, unmade_for: Option<Rank>) -> usize {
        let slot = self.slots.len();
        self.by_number.insert(number, slot);
        let (outgoing, incoming, senders, refused) = Default::default();
        self.slots.push(Port { unmade_for, outgoing, incoming, senders, refused });
        slot
    }

    #[inline]
    pub(super) fn at(&mut self, slot: usize) -> &mut Port<W> {
        &mut self.slots[slot]
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Port<W>> {
        self.slots.iter_mut()
    }
}
