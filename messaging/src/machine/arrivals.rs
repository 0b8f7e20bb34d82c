//! Messages of which packets are still to come, or wait for their reader. Sans-IO: packets in, what
//! is to be told to senders out.

use super::body::MessageBody;
use super::invariants::{i12_granted_first, i13_one_answer};
use crate::error::{Error, Result};
use crate::format::{PacketHeader, PacketKind};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use weft_endpoint::Rank;

/// Messages of one sender that have begun and not ended, at most. A sender has one for each send
/// that is under way: one a thread, and one for each handler that runs in the middle of another.
pub const UNFINISHED_LIMIT: usize = 4096;

/// All of them, by sender and the sender's number.
#[derive(Clone, Hash)]
pub struct Arrivals<P, W> {
    messages: BTreeMap<(Rank, u32), Arriving<P, W>>,
    /// Number of those that are not all here, by sender.
    unfinished: Tally,
}

#[derive(Clone, Hash)]
struct Arriving<P, W> {
    /// Bytes of the message that were put into `parts`, or thrown away.
    arrived: u64,
    length: u64,
    /// `None` once its reader has dropped it: the rest is thrown away.
    parts: Option<VecDeque<P>>,
    reader: Option<W>,
    port: u32,
    sender: Sender,
}

/// State of the sender of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sender {
    /// It has asked, and waits for an answer.
    Asks,
    /// It sends what is left.
    Sends,
    /// It has ended the message before all of it was sent.
    GaveUp,
}

/// Answer to a reader.
pub enum TakenPart<P> {
    /// The next part.
    Part(P),
    /// Nothing yet.
    Nothing {
        /// Its sender is to be told to send.
        grant: bool,
    },
    /// There never will be: the sender has given the message up after so many bytes.
    GivenUp(u64),
}

/// Remains of a message that its reader or its sender wants no more of.
pub struct EndedMessage<P, W> {
    /// Its parts that are here.
    pub parts: VecDeque<P>,
    /// Its sender waits to be told that nobody wants it.
    pub answer: bool,
    /// The reader that waits for more of it.
    pub reader: Option<W>,
}

impl<P, W> Default for Arrivals<P, W> {
    fn default() -> Self {
        Arrivals { messages: BTreeMap::new(), unfinished: Tally::default() }
    }
}

impl<P, W> Default for EndedMessage<P, W> {
    fn default() -> Self {
        EndedMessage { parts: VecDeque::new(), answer: false, reader: None }
    }
}

impl<P, W: Clone> Arrivals<P, W> {
    /// Checks that a message may begin so: it has no more bytes than its header says, and neither
    /// its number nor its sender is taken up by messages that have not ended.
    pub fn check_first(&self, from: Rank, header: &PacketHeader, bytes: u64) -> Result<()> {
        if bytes == header.bytes {
            return Ok(());
        }
        if bytes > header.bytes || self.messages.contains_key(&(from, header.message)) {
            return Err(Error::Stray { from });
        }
        if self.unfinished.of(from) >= UNFINISHED_LIMIT {
            return Err(Error::Unfinished { from, limit: UNFINISHED_LIMIT });
        }
        Ok(())
    }

    /// A message begins of which more is to come than these bytes: by itself, or when it is
    /// granted.
    pub fn begin(&mut self, body: &MessageBody, bytes: u64, kind: PacketKind) {
        let MessageBody { from, number, length, port, .. } = *body;
        self.unfinished.add(from);
        let (parts, reader) = (Some(VecDeque::new()), None);
        let sender = if kind == PacketKind::Request { Sender::Asks } else { Sender::Sends };
        let arriving = Arriving { arrived: bytes, length, parts, reader, port, sender };
        self.messages.insert((from, number), arriving);
    }

    /// True if a message is all here, or never will be.
    pub fn is_complete(&self, body: &MessageBody) -> bool {
        self.messages.get(&(body.from, body.number)).is_none_or(|message| {
            message.arrived == message.length || message.sender == Sender::GaveUp
        })
    }

    /// True if a packet is the next of a message that has begun.
    pub fn continues(&self, from: Rank, header: &PacketHeader, bytes: u64) -> bool {
        let message = self.messages.get(&(from, header.message));
        message.is_some_and(|message| {
            message.expects(header.bytes, bytes) && message.port == header.port
        })
    }

    /// The next packet of a message is here. Returns it if nobody wants it (any more), and who
    /// waits.
    pub fn arrived(
        &mut self,
        from: Rank,
        number: u32,
        bytes: u64,
        part: P,
    ) -> (Option<P>, Option<W>) {
        let Some(message) = self.messages.get_mut(&(from, number)) else {
            return (Some(part), None);
        };
        i12_granted_first(message.sender != Sender::Asks);
        message.arrived += bytes;
        if message.arrived == message.length {
            self.unfinished.subtract(from);
        }
        let unwanted = match &mut message.parts {
            Some(parts) => {
                parts.push_back(part);
                None
            }
            None => Some(part),
        };
        let reader = message.reader.take();
        if message.is_done() {
            self.messages.remove(&(from, number));
        }
        (unwanted, reader)
    }

    /// The next part of a message, if it is there; else leaves `waker` for it, and who has asked
    /// whether to send is to be told so.
    pub fn take_part(&mut self, from: Rank, number: u32, waker: Option<&W>) -> TakenPart<P> {
        let Some(message) = self.messages.get_mut(&(from, number)) else {
            return TakenPart::Nothing { grant: false };
        };
        if let Some(part) = message.parts.as_mut().and_then(VecDeque::pop_front) {
            if message.is_done() {
                self.messages.remove(&(from, number));
            }
            return TakenPart::Part(part);
        }
        if message.sender == Sender::GaveUp {
            return TakenPart::GivenUp(message.arrived);
        }
        message.reader = waker.cloned();
        TakenPart::Nothing { grant: message.grant() }
    }

    /// True if the sender of a message has asked, and is to be told now that it may send.
    pub fn grant(&mut self, from: Rank, number: u32) -> bool {
        self.messages.get_mut(&(from, number)).is_some_and(Arriving::grant)
    }

    /// True if a reader waits for the next part of a message of `from` to this port.
    pub fn starve(&self, from: Rank, port: u32) -> bool {
        let mut of_sender = self.messages.range((from, 0)..=(from, u32::MAX));
        of_sender.any(|(_, message)| message.port == port && message.reader.is_some())
    }

    /// The reader of a message wants no more of it.
    pub fn abandon(&mut self, from: Rank, number: u32) -> EndedMessage<P, W> {
        let Some(message) = self.messages.get_mut(&(from, number)) else {
            return EndedMessage::default();
        };
        let parts = message.parts.take().unwrap_or_default();
        let answer = message.sender == Sender::Asks;
        if answer {
            self.unfinished.subtract(from);
        }
        if message.is_done() || message.sender != Sender::Sends {
            self.messages.remove(&(from, number));
        }
        EndedMessage { parts, answer, reader: None }
    }

    /// The sender of a message ends it after `sent` bytes; a reader may have it, or it is `queued`,
    /// and then all of it is gone. `None` if that cannot be: it would have sent something else.
    pub fn cancel(
        &mut self,
        from: Rank,
        header: &PacketHeader,
        queued: bool,
    ) -> Option<EndedMessage<P, W>> {
        let Entry::Occupied(mut entry) = self.messages.entry((from, header.message)) else {
            // What its reader did not want before it was granted is known no more.
            return (!queued).then(EndedMessage::default);
        };
        let message = entry.get_mut();
        let is_next = message.arrived == header.bytes && message.arrived < message.length;
        if !is_next || message.port != header.port || message.sender == Sender::GaveUp {
            return None;
        }
        self.unfinished.subtract(from);
        let answer = message.sender == Sender::Asks;
        message.sender = Sender::GaveUp;
        let reader = message.reader.take();
        if !queued && message.parts.is_some() {
            return Some(EndedMessage { parts: VecDeque::new(), answer, reader });
        }
        let parts = entry.remove().parts.unwrap_or_default();
        Some(EndedMessage { parts, answer, reader })
    }

    /// True if no message is arriving.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Those who wait for parts.
    pub fn drain_waiters(&mut self) -> impl Iterator<Item = W> {
        self.messages.values_mut().filter_map(|message| message.reader.take())
    }
}

impl<P, W> Arriving<P, W> {
    /// True if a packet of `bytes` bytes after `before` others is the next one. None is empty: a
    /// peer could send any number of those without ever getting further. Nor does any come that was
    /// not granted.
    fn expects(&self, before: u64, bytes: u64) -> bool {
        self.sender == Sender::Sends
            && self.arrived == before
            && (1..=self.length - self.arrived).contains(&bytes)
    }

    /// True if nothing is to come, and nothing left to be read.
    fn is_done(&self) -> bool {
        self.arrived == self.length && self.parts.as_ref().is_none_or(VecDeque::is_empty)
    }

    /// Grants what was asked; false if it is not asked (any more).
    fn grant(&mut self) -> bool {
        let asks = self.sender == Sender::Asks;
        if asks {
            i13_one_answer(self.arrived == 0);
            self.sender = Sender::Sends;
        }
        asks
    }
}

/// Counts by rank, with nothing for ranks of which there is nothing.
#[derive(Default, Clone, Hash)]
struct Tally(BTreeMap<Rank, usize>);

impl Tally {
    fn of(&self, rank: Rank) -> usize {
        self.0.get(&rank).copied().unwrap_or(0)
    }

    fn add(&mut self, rank: Rank) {
        *self.0.entry(rank).or_default() += 1;
    }

    fn subtract(&mut self, rank: Rank) {
        if let Entry::Occupied(mut count) = self.0.entry(rank) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests;
