//! Positions of a rank whose answers are awaited.
//!
//! The first move is searched before the others if it is likely to decide (young brothers wait),
//! and all at once where no move is likely to: where a search with a null window is expected to
//! fail, all of them have to be searched anyway.

use super::Window;
use super::alone::{Found, Move};
use super::items::{RecordId, Requester};
use std::collections::BTreeMap;
use weft_endpoint::Rank;

/// A position, and what is known of the positions below.
pub(crate) struct Record<G> {
    pub hash: u64,
    pub depth: u16,
    pub window: Window,
    /// Requesters, of whom the first has said what is searched; empty if none waits any more.
    pub requesters: Vec<Requester>,
    pub moves: Vec<Move<G>>,
    /// Moves that were requested: the first ones.
    pub next: usize,
    /// True if all moves are to be requested at once.
    pub is_wide: bool,
    /// The best value so far, and the move to it.
    best: Option<(i16, u8)>,
    /// True if there is an estimate in what was answered.
    is_cut: bool,
    /// Ranks that were asked and have not answered, by move.
    asked: Vec<Option<Rank>>,
    /// Number of them.
    pub pending: usize,
    /// Positions made below it.
    pub nodes: u64,
}

impl<G: Copy> Record<G> {
    /// A position with these moves, none of which was requested.
    pub fn new(
        hash: u64,
        depth: u16,
        window: Window,
        requester: Requester,
        moves: Vec<Move<G>>,
    ) -> Self {
        let (asked, nodes) = (vec![None; moves.len()], moves.len() as u64);
        Record {
            hash,
            depth,
            window,
            requesters: vec![requester],
            moves,
            next: 0,
            is_wide: false,
            best: None,
            is_cut: false,
            asked,
            pending: 0,
            nodes,
        }
    }

    /// The window as it is by now.
    pub fn now(&self) -> Window {
        let alpha = self.best.map_or(self.window.alpha, |(value, _)| value.max(self.window.alpha));
        Window { alpha, beta: self.window.beta }
    }

    /// Notes that a rank is asked for a move.
    pub fn ask(&mut self, index: usize, rank: Rank) {
        self.asked[index] = Some(rank);
        self.pending += 1;
    }

    /// True if this rank was asked for this move, and has not answered.
    pub fn awaits(&self, index: usize, rank: Rank) -> bool {
        self.asked.get(index) == Some(&Some(rank))
    }

    /// Takes the value of a move for the other player; `is_cut` if there is an estimate in it.
    pub fn take(&mut self, index: usize, (value, is_cut): (i16, bool), nodes: u64) {
        self.is_cut |= is_cut;
        self.asked[index] = None;
        self.pending -= 1;
        self.nodes += nodes;
        if self.best.is_none_or(|(best, _)| -value > best) {
            self.best = Some((-value, self.moves[index].by));
        }
    }

    /// The result, if no answer that is missing can change it.
    pub fn found(&self) -> Option<Found> {
        let (value, by) = self.best?;
        let all = self.pending == 0 && self.next == self.moves.len();
        let best = (value > self.window.alpha).then_some(by);
        (all || value >= self.window.beta).then_some(Found { value, best, is_cut: self.is_cut })
    }

    /// Ranks that have not answered, each once, in order.
    pub fn missing(&self) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = self.asked.iter().flatten().copied().collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

/// A place for a record, and the number of records that were there.
struct Slot<G> {
    turn: u32,
    record: Option<Record<G>>,
}

/// Records of a rank, up to a number.
pub(crate) struct Records<G> {
    slots: Vec<Slot<G>>,
    free: Vec<u16>,
    most: usize,
    /// The latest record of each position and depth.
    latest: BTreeMap<(u64, u16), RecordId>,
}

impl<G> Records<G> {
    /// No records; there may be `most`.
    pub fn new(most: usize) -> Self {
        let most = most.min(usize::from(u16::MAX));
        Records { slots: Vec::new(), free: Vec::new(), most, latest: BTreeMap::new() }
    }

    /// True if there is no room for another.
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() >= self.most
    }

    /// Puts a record into a free place.
    ///
    /// # Panics
    /// There is none: see [`Self::is_full`].
    pub fn insert(&mut self, record: Record<G>) -> RecordId {
        assert!(!self.is_full(), "I9: {} records at most", self.most);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { turn: 0, record: None });
            (self.slots.len() - 1) as u16
        });
        let place = &mut self.slots[usize::from(slot)];
        place.turn = place.turn.wrapping_add(1);
        let id = RecordId { slot, turn: place.turn };
        self.latest.insert((record.hash, record.depth), id);
        place.record = Some(record);
        id
    }

    /// The record of a position that is being searched as deep, with a window whose result answers
    /// a search with this one.
    pub fn covering(&mut self, hash: u64, depth: u16, window: Window) -> Option<&mut Record<G>> {
        let id = *self.latest.get(&(hash, depth))?;
        self.get(id).filter(|record| record.window.covers(window))
    }

    /// A record, unless it is over.
    pub fn get(&mut self, id: RecordId) -> Option<&mut Record<G>> {
        let slot = self.slots.get_mut(usize::from(id.slot))?;
        slot.record.as_mut().filter(|_| slot.turn == id.turn)
    }

    /// Takes a record out.
    pub fn remove(&mut self, id: RecordId) -> Option<Record<G>> {
        let slot = self.slots.get_mut(usize::from(id.slot)).filter(|slot| slot.turn == id.turn)?;
        let record = slot.record.take()?;
        self.free.push(id.slot);
        let position = (record.hash, record.depth);
        if self.latest.get(&position) == Some(&id) {
            self.latest.remove(&position);
        }
        Some(record)
    }

    /// True if there is, or was, such a record.
    pub fn was_there(&self, id: RecordId) -> bool {
        let slot = self.slots.get(usize::from(id.slot));
        slot.is_some_and(|slot| slot.turn.wrapping_sub(id.turn) <= u32::MAX / 2)
    }

    /// Takes such requesters from all records. Returns them, and the records that have none left.
    pub fn drop_requesters(
        &mut self,
        is_such: impl Fn(&Requester) -> bool,
    ) -> (Vec<Requester>, Vec<RecordId>) {
        let (mut requesters, mut unwanted) = (Vec::new(), Vec::new());
        for (number, slot) in self.slots.iter_mut().enumerate() {
            let Some(record) = &mut slot.record else { continue };
            let before = requesters.len();
            requesters.extend(record.requesters.extract_if(.., |requester| is_such(requester)));
            if requesters.len() > before && record.requesters.is_empty() {
                unwanted.push(RecordId { slot: number as u16, turn: slot.turn });
            }
        }
        (requesters, unwanted)
    }
}

#[cfg(test)]
mod tests;
