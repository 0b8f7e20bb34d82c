//! Record of the fragments that were received, by event and sender.
//!
//! An event is *whole* when one message has come, or in a crowd event one from every other node. A
//! message is whole when its last fragment and all before it have come, in any order.

use crate::frame::Header;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use weft_endpoint::Rank;

/// Status of what follows a fragment (careful-protocols 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// `MORE`: more fragments of this message have come or will come.
    More,
    /// `NODE_DONE`: this was the last of this node, and other nodes' follow.
    NodeDone,
    /// `EVENT_DONE`: this was the last of the event.
    EventDone,
}

/// Events that have begun and are not consumed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    others: usize,
    /// All events below this are whole.
    done: u32,
    events: BTreeMap<u32, Event>,
}

#[derive(Clone, Debug, Default)]
struct Event {
    crowd: bool,
    messages: BTreeMap<Rank, Message>,
}

/// The fragments of one node in one event.
#[derive(Clone, Debug, Default)]
struct Message {
    /// All below this have come.
    next: u32,
    /// Those that have come before others.
    beyond: BTreeSet<u32>,
    /// Known once the last has come.
    total: Option<u32>,
    consumed: u32,
    /// All below this were asked for eagerly.
    asked: u32,
}

/// Relation of a fragment to those that were received before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Novelty {
    New,
    /// It has come before, or its event is over.
    Known,
}

impl Message {
    fn is_whole(&self) -> bool {
        self.total == Some(self.next)
    }

    fn is_consumed(&self) -> bool {
        self.total == Some(self.consumed)
    }

    fn has(&self, index: u32) -> bool {
        index < self.next || self.beyond.contains(&index)
    }

    fn note(&mut self, index: u32) {
        self.beyond.insert(index);
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }

    /// Gaps in `range`.
    fn missing(&self, range: Range<u32>) -> Vec<Range<u32>> {
        let mut pieces = Vec::new();
        let mut begin = range.start.max(self.next);
        for &there in self.beyond.range(begin..) {
            if there >= range.end {
                break;
            }
            if begin < there {
                pieces.push(begin..there);
            }
            begin = there + 1;
        }
        if begin < range.end {
            pieces.push(begin..range.end);
        }
        pieces
    }
}

impl Event {
    fn is_whole(&self, others: usize) -> bool {
        let whole = self.messages.values().filter(|message| message.is_whole()).count();
        whole >= if self.crowd { others } else { 1 }
    }
}

/// Up to the end of a message whose length is not known.
pub(crate) const REST: u32 = u32::MAX;

impl Ledger {
    pub fn new(ranks: usize) -> Self {
        Ledger { others: ranks - 1, done: 0, events: BTreeMap::new() }
    }

    /// All events below this have arrived whole.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// Relation of a fragment to those before it.
    pub fn novelty(&self, from: Rank, header: &Header) -> Novelty {
        let message = self.events.get(&header.event).map(|event| event.messages.get(&from));
        match message {
            Some(Some(message)) if message.has(header.index) || message.is_whole() => {
                Novelty::Known
            }
            // An event that is not a crowd has one message.
            Some(None) if header.event < self.done => Novelty::Known,
            None if header.event < self.done => Novelty::Known,
            _ => Novelty::New,
        }
    }

    /// A new fragment has come and was accepted.
    pub fn note(&mut self, from: Rank, header: &Header) {
        let event = self.events.entry(header.event).or_default();
        event.crowd |= header.flags.crowd;
        let message = event.messages.entry(from).or_default();
        if header.flags.last {
            message.total = Some(header.index + 1);
        }
        message.note(header.index);
        while self.events.get(&self.done).is_some_and(|event| event.is_whole(self.others)) {
            self.done += 1;
        }
    }

    /// The program has received a fragment. What it is told of what follows.
    pub fn consume(&mut self, from: Rank, event: u32) -> Status {
        let others = self.others;
        let Some(found) = self.events.get_mut(&event) else { return Status::EventDone };
        if let Some(message) = found.messages.get_mut(&from) {
            message.consumed += 1;
            if !message.is_consumed() {
                return Status::More;
            }
        }
        let consumed = found.messages.values().filter(|message| message.is_consumed()).count();
        if consumed < if found.crowd { others } else { 1 } {
            return Status::NodeDone;
        }
        self.events.remove(&event);
        Status::EventDone
    }

    /// True if the program has received all of `event`.
    pub fn is_over(&self, event: u32) -> bool {
        event < self.done && !self.events.contains_key(&event)
    }

    /// Holes in what `from` has sent that a new fragment of its shows and that were not asked for
    /// before: earlier fragments of the event, and of earlier crowd events (careful-protocols 5.2).
    pub fn holes(&mut self, from: Rank, header: &Header) -> Vec<(u32, Range<u32>)> {
        let mut holes = Vec::new();
        // The fragment may have completed its event.
        let oldest = self.done.min(header.event);
        for (&number, event) in self.events.range_mut(oldest..=header.event) {
            let is_this = number == header.event;
            if !(is_this || event.crowd) {
                continue;
            }
            let message = event.messages.entry(from).or_default();
            if message.is_whole() {
                continue;
            }
            let end = if is_this { header.index } else { message.total.unwrap_or(REST) };
            let begin = message.asked;
            holes.extend(message.missing(begin..end.max(begin)).into_iter().map(|r| (number, r)));
            message.asked = message.asked.max(end);
        }
        holes
    }

    /// Missing fragments of `event`: pieces of messages that have begun, or that a crowd event must
    /// have; `None` if nothing at all is known of it.
    pub fn wanting(
        &self,
        event: u32,
        others: impl Iterator<Item = Rank>,
    ) -> Option<Vec<(Rank, Range<u32>)>> {
        let found = self.events.get(&event)?;
        let none = Message::default();
        let mut wanting = Vec::new();
        for rank in others.filter(|rank| found.crowd || found.messages.contains_key(rank)) {
            let message = found.messages.get(&rank).unwrap_or(&none);
            let pieces = message.missing(0..message.total.unwrap_or(REST));
            wanting.extend(pieces.into_iter().map(|piece| (rank, piece)));
        }
        Some(wanting)
    }
}
