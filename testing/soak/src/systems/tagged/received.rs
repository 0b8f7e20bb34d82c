//! The judge of tagged messages: each comes once, unchanged, and none overtakes another (MPI 3.5).
//!
//! Of two messages of one sender with the same tag, whatever receive wants the second wants the
//! first. So the first goes to the receive that was posted earlier, whichever ends earlier.

use super::memory::Room;
use std::collections::BTreeMap;
use weft_endpoint::Rank;
use weft_tagged::peer::EAGER_BYTES;
use weft_tagged::{Address, MessageEnvelope, ReceivePattern, Receiver};

/// Messages that a rank has received.
#[derive(Debug)]
pub struct Received {
    me: Rank,
    sum: u64,
    /// By sender and tag: the number of the message that each receive got, by the number of that.
    messages: BTreeMap<(Rank, u64), BTreeMap<u64, u64>>,
    /// Number of the next receive.
    next: u64,
    /// Receives for anything that are posted.
    posted_for_all: usize,
}

impl Received {
    pub fn new(me: Rank) -> Self {
        Received { me, sum: 0, messages: BTreeMap::new(), next: 0, posted_for_all: 0 }
    }

    /// The rank that has received them.
    pub fn me(&self) -> Rank {
        self.me
    }

    /// Sum of their amounts.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Memory of the next receive.
    pub fn room(&mut self, capacity: u64) -> Room {
        self.next += 1;
        Room::new(self.next, capacity)
    }

    /// Memory of the next receive, which is for anything that comes.
    pub fn room_for_all(&mut self) -> Room {
        self.posted_for_all += 1;
        let mut room = self.room(3 * EAGER_BYTES);
        room.for_all = true;
        room
    }

    /// Receives for anything that are posted.
    pub fn posted_for_all(&self) -> usize {
        self.posted_for_all
    }

    /// Counts a message that was received.
    pub fn judge(&mut self, into: Room, envelope: &MessageEnvelope) {
        let MessageEnvelope { source, tag, data, length, .. } = *envelope;
        let Some(data) = data else { panic!("rank {} sent no data beside a message", source.rank) };
        assert!(into.has(data, length), "a message of rank {} was changed", source.rank);
        self.posted_for_all -= usize::from(into.for_all);
        self.sum += data & AMOUNT;
        let messages = self.messages.entry((source.rank, tag)).or_default();
        let before = messages.insert(into.number, data >> AMOUNT_BITS);
        assert_eq!(before, None, "receive {} got two messages", into.number);
    }

    /// Judges the order, when all there is has come.
    pub fn judge_order(&self) {
        for ((from, tag), messages) in &self.messages {
            let in_order = messages.values().copied().eq(0..messages.len() as u64);
            assert!(in_order, "of rank {from} with tag {tag}, by receive: {messages:?}");
        }
    }
}

impl Receiver<Room> for Received {
    fn wants(&self, into: &Room, length: u64) -> bool {
        length <= weft_tagged::Sink::capacity(into)
    }

    fn receive(&mut self, mut into: Room, envelope: &MessageEnvelope, bytes: &[u8]) {
        weft_tagged::Sink::place(&mut into, 0, bytes);
        self.judge(into, envelope);
    }
}

const AMOUNT_BITS: u32 = 24;
const AMOUNT: u64 = (1 << AMOUNT_BITS) - 1;

/// Data beside a message: its number among those with its tag to its receiver, and its amount.
pub fn data(number: u64, amount: u64) -> u64 {
    assert!(amount <= AMOUNT, "amounts are small");
    number << AMOUNT_BITS | amount
}

/// Pattern of messages from there, or from anybody, with this tag, or with any.
pub fn pattern(from: Option<Rank>, tag: Option<u64>) -> ReceivePattern {
    let source = from.map(|rank| Address { rank, endpoint: 0 });
    let ignore = if tag.is_some() { 0 } else { u64::MAX };
    ReceivePattern { source, tag: tag.unwrap_or(0), ignore }
}
