//! The traditional protocol (careful-protocols 5.2): whatever is sent is kept until all have it.
//!
//! Acknowledgements are implicit: every frame says which events have arrived whole at its sender.
//! Explicit ones are asked for only where so much is kept that send buffers run short. Receivers
//! ask for what they miss: eagerly, once, when a later fragment shows a hole; and then when whoever
//! waits for an event has waited too long. There is no flow control: a fragment that finds no
//! buffer is dropped.

use crate::frame::{Header, Kind};
use crate::invariants::{buffers_bounded, retained_for_someone};
use std::collections::{BTreeMap, BTreeSet};
use weft_endpoint::Rank;

/// Room that a node has for fragments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Fragments that may fill receive buffers, and how many of one sender.
    pub receive: usize,
    pub receive_of_one: usize,
    /// Fragments that may be copied out of them.
    pub memory: usize,
    /// Fragments sent that are kept where they are.
    pub send: usize,
    /// Fragments sent that are kept at all, a copy of those beyond.
    pub kept: usize,
}

/// Fragments that one node keeps of what it sent, and holds of what it received.
#[derive(Clone, Debug)]
pub(crate) struct Traditional<B> {
    room: Room,
    others: BTreeSet<Rank>,
    retained: BTreeMap<Key, Retained<B>>,
    held: BTreeMap<Rank, usize>,
    held_in_all: usize,
    in_memory: usize,
}

/// A fragment sent: its event, to whom, its place in the message.
type Key = (u32, Option<Rank>, u32);

#[derive(Clone, Debug)]
struct Retained<B> {
    header: Header,
    body: B,
    /// Nodes that are not known to have it.
    waiting: BTreeSet<Rank>,
}

/// Storage of a fragment that was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Storage {
    /// In the buffer that it came in.
    Buffer,
    /// Out of it.
    Memory,
    /// Nowhere.
    Nowhere,
}

impl<B: Clone> Traditional<B> {
    pub fn new(local: Rank, ranks: usize, room: Room) -> Self {
        Traditional {
            room,
            others: (0..ranks as u16).map(Rank).filter(|&rank| rank != local).collect(),
            retained: BTreeMap::new(),
            held: BTreeMap::new(),
            held_in_all: 0,
            in_memory: 0,
        }
    }

    /// True if there is room to keep one more fragment.
    pub fn may_send(&self) -> bool {
        self.retained.len() < self.room.kept
    }

    /// True if the next fragment is kept as a copy, because those before it fill the send buffers.
    pub fn copies(&self) -> bool {
        self.retained.len() >= self.room.send
    }

    /// True if fragments should ask to be acknowledged: half of what may be kept is, or for large
    /// events a quarter.
    pub fn asks(&self, large: bool) -> bool {
        self.retained.len() >= self.room.kept / if large { 4 } else { 2 }
    }

    /// A fragment was sent, and is kept until all of its receivers have it.
    pub fn sent(&mut self, to: Option<Rank>, header: Header, body: B) {
        let waiting = to.map_or_else(|| self.others.clone(), |to| [to].into());
        retained_for_someone(waiting.len(), self.others.len());
        let key = (header.event, to, header.index);
        self.retained.insert(key, Retained { header, body, waiting });
    }

    /// `from` has everything of the events below `done`.
    pub fn acknowledged_below(&mut self, from: Rank, done: u32) {
        let old: Vec<Key> = self.retained.range(..(done, None, 0)).map(|(&key, _)| key).collect();
        old.into_iter().for_each(|key| self.acknowledged(from, key));
    }

    /// `from` has the fragment `index` of `event`, which it was sent alone or with all others.
    pub fn acknowledged_one(&mut self, from: Rank, event: u32, index: u32) {
        self.acknowledged(from, (event, None, index));
        self.acknowledged(from, (event, Some(from), index));
    }

    fn acknowledged(&mut self, from: Rank, key: Key) {
        let Some(retained) = self.retained.get_mut(&key) else { return };
        retained.waiting.remove(&from);
        if retained.waiting.is_empty() {
            self.retained.remove(&key);
        } else {
            retained_for_someone(retained.waiting.len(), self.others.len());
        }
    }

    /// Fragments that `from` asks for, to be sent again: `count` fragments of `event` from `first`
    /// on, or all if 0.
    pub fn requested(&self, from: Rank, event: u32, first: u32, count: u16) -> Vec<(Header, B)> {
        let end = if count == 0 { u32::MAX } else { first.saturating_add(count.into()) };
        let to = |to| (event, to, first)..(event, to, end);
        let (all, alone) = (self.retained.range(to(None)), self.retained.range(to(Some(from))));
        all.chain(alone)
            .filter(|(_, retained)| retained.waiting.contains(&from))
            .map(|(_, retained)| (retained.header, retained.body.clone()))
            .collect()
    }

    /// The oldest fragment that somebody may not have: whoever cannot send asks about it.
    pub fn oldest(&self) -> Option<(Rank, Header, B)> {
        let retained = self.retained.values().next()?;
        let to = retained.waiting.first()?;
        Some((*to, Header { asks: true, ..retained.header }, retained.body.clone()))
    }

    /// Storage for a new fragment from there: there may be none for it.
    pub fn storage(&mut self, from: Rank) -> Storage {
        let held = self.held.entry(from).or_default();
        if self.held_in_all < self.room.receive && *held < self.room.receive_of_one {
            *held += 1;
            self.held_in_all += 1;
            buffers_bounded(self.held_in_all, self.room.receive);
            Storage::Buffer
        } else if self.in_memory < self.room.memory {
            self.in_memory += 1;
            buffers_bounded(self.in_memory, self.room.memory);
            Storage::Memory
        } else {
            Storage::Nowhere
        }
    }

    /// The program is done with a fragment from there.
    pub fn released(&mut self, from: Rank, storage: Storage) {
        match storage {
            Storage::Buffer => {
                self.held_in_all -= 1;
                *self.held.entry(from).or_default() -= 1;
            }
            Storage::Memory => self.in_memory -= 1,
            Storage::Nowhere => {}
        }
    }

    /// Fragments that are kept.
    #[cfg(test)]
    pub fn retained(&self) -> usize {
        self.retained.len()
    }

    /// A request for a piece of a message; one that is too long for its field asks for the rest.
    pub fn request(event: u32, piece: &std::ops::Range<u32>) -> Header {
        let frames = u16::try_from(piece.end - piece.start).unwrap_or(0);
        Header { frames, ..Header::new(Kind::Request, event, piece.start) }
    }
}
