//! Go-back-N between two ranks (thesis 8.2.2): numbers, what is unacknowledged, what is expected.
//!
//! ```text
//!   sender                                   receiver
//!   next ──▶ number, transmit                expected? ──no──▶ drop (a duplicate, or a gap)
//!   unacknowledged: kept to send again        │ yes
//!        ▲                                    ▼
//!        │                             outstanding: what must happen before it may be acknowledged
//!        │                                    │ (nothing; or forwarded: ACK-forward; or the host)
//!        └─── acknowledgement: all before ◀───┘
//!             piggybacked, at half a window, or delayed
//! ```
//! Numbers wrap around; a window is far smaller than half their range.

use crate::ni::Departure;
use crate::timer::Nanoseconds;
use std::collections::VecDeque;

/// Both directions between this NI and one peer.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Flow<B> {
    pub sending: Sending<B>,
    pub receiving: Receiving,
}

impl<B> Default for Flow<B> {
    fn default() -> Self {
        let unacknowledged = VecDeque::new();
        let sending = Sending { next: 0, unacknowledged, deadline: None, attempts: 0 };
        Flow { sending, receiving: Receiving::default() }
    }
}

/// What was sent to the peer and may have to be sent again.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Sending<B> {
    /// The number of the next packet.
    next: u32,
    /// Numbered up to `next`, the oldest first.
    unacknowledged: VecDeque<Departure<B>>,
    /// When the oldest has waited for too long.
    pub deadline: Option<Nanoseconds>,
    /// Times that the timer ran out since the last acknowledgement of anything.
    pub attempts: u8,
}

impl<B: Copy> Sending<B> {
    /// A packet leaves for the first time: its number.
    pub fn number(&mut self, departure: Departure<B>) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.unacknowledged.push_back(departure);
        number
    }

    /// The peer expects `next`: how many packets that acknowledges. 0 if it is old news.
    ///
    /// # Errors
    /// [`Unsent`] if the peer cannot have got what it acknowledges.
    pub fn acknowledged(&self, next: u32) -> Result<u16, Unsent> {
        let ahead = next.wrapping_sub(self.oldest());
        if ahead as usize <= self.unacknowledged.len() {
            return Ok(ahead as u16);
        }
        if (ahead as i32) < 0 { Ok(0) } else { Err(Unsent) }
    }

    /// The oldest packet is acknowledged.
    pub fn pop(&mut self) -> Option<Departure<B>> {
        self.unacknowledged.pop_front()
    }

    /// What is unacknowledged, with its numbers, from `expected` on if that is among it.
    pub fn again(&self, expected: Option<u32>) -> impl Iterator<Item = (u32, Departure<B>)> + '_ {
        let known = expected.map_or(0, |expected| expected.wrapping_sub(self.oldest()) as usize);
        let skipped = if known <= self.unacknowledged.len() { known } else { 0 };
        let numbers = (0..).map(|i| self.oldest().wrapping_add(i));
        numbers.zip(self.unacknowledged.iter().cloned()).skip(skipped)
    }

    /// Packets that are unacknowledged.
    pub fn len(&self) -> usize {
        self.unacknowledged.len()
    }

    fn oldest(&self) -> u32 {
        self.next.wrapping_sub(self.unacknowledged.len() as u32)
    }
}

/// A peer acknowledged what was never sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsent;

/// What came from the peer.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct Receiving {
    /// The number that is accepted next.
    expected: u32,
    /// For each packet accepted and not to be acknowledged yet, the oldest first: how many things
    /// must still happen to it.
    outstanding: VecDeque<u16>,
    /// The last acknowledgement sent.
    told: u32,
    /// When one has to be sent at the latest.
    pub deadline: Option<Nanoseconds>,
    /// The number that was missing when the peer was last told of a gap.
    gap: Option<u32>,
    /// A packet of the peer was dropped for want of a buffer, and it has not been told.
    pub refused: bool,
}

/// What a number says about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the next one.
    Next,
    /// It was accepted before: its acknowledgement may be lost.
    Before,
    /// One before it is missing.
    Beyond,
    /// No sender that keeps to its window sends it.
    Impossible,
}

impl Receiving {
    /// Where `number` stands, from a sender with a window of `window` packets.
    pub fn place(&self, number: u32, window: u16) -> Place {
        match number.wrapping_sub(self.expected) as i32 {
            0 => Place::Next,
            behind if behind < 0 => Place::Before,
            beyond if beyond < i32::from(window) => Place::Beyond,
            _ => Place::Impossible,
        }
    }

    /// The number that is accepted next.
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// A packet came after a gap. Whether that is news: the peer is told once of each.
    pub fn finds_gap(&mut self) -> bool {
        self.gap.replace(self.expected) != Some(self.expected)
    }

    /// The next packet is accepted; `outstanding` things must happen before it is acknowledged.
    pub fn accept(&mut self, outstanding: u16) {
        self.expected = self.expected.wrapping_add(1);
        self.outstanding.push_back(outstanding);
        self.settle();
    }

    /// One of the things that packet `number` waits for has happened.
    pub fn satisfy(&mut self, number: u32) {
        let place = number.wrapping_sub(self.acknowledgeable()) as usize;
        self.outstanding[place] -= 1;
        self.settle();
    }

    /// All packets before this number may be acknowledged.
    pub fn acknowledgeable(&self) -> u32 {
        self.expected.wrapping_sub(self.outstanding.len() as u32)
    }

    /// Packets that may be acknowledged and are not.
    pub fn untold(&self) -> u16 {
        self.acknowledgeable().wrapping_sub(self.told) as u16
    }

    /// An acknowledgement goes out now: what it says.
    pub fn tell(&mut self) -> u32 {
        self.told = self.acknowledgeable();
        self.deadline = None;
        self.told
    }

    /// Packets accepted that may not be acknowledged yet.
    pub fn waiting(&self) -> u16 {
        self.outstanding.len() as u16
    }

    fn settle(&mut self) {
        while self.outstanding.front() == Some(&0) {
            self.outstanding.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
