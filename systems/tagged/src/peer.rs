//! Flow control between two ranks: the messages that one may send to the other unasked.
//!
//! A message that goes *eagerly* costs its bytes and [`MESSAGE_COST`] of the window that its
//! receiver keeps for each sender. The receiver reports what it has consumed, that is, copied to
//! where a receive wants it. A message that finds no window, or is long, asks first: of it the
//! receiver keeps the envelope. So what a receiver stores for a peer is bounded, whatever the peer
//! sends and whatever is received (I9).

use crate::answers::Outstanding;

/// Least number of bytes of a sender's messages that a receiver keeps: 1 MiB. As large as a window
/// of the messaging layer.
pub const LEAST_WINDOW: u64 = 1 << 20;
/// Most of them: 16 MiB. About what TCP keeps of a sender, in both kernels.
const MOST_WINDOW: u64 = 16 << 20;
/// Number of bytes of all senders' messages that a receiver keeps, 64 MiB, unless there are so many
/// senders that each of them has the least window.
const ALL_WINDOWS: u64 = 64 << 20;
/// Cost of a message beside its bytes: 64 bytes of the window.
pub const MESSAGE_COST: u64 = 64;
/// Messages up to this many bytes go eagerly. One whose receive is there already is copied no more
/// often than one that asks, and one whose receive is not costs a copy more: at this length that is
/// about what the question and the answer take between two hosts. It is beyond a power of two, as
/// programs that divide data send about as much, and a little more.
pub const EAGER_BYTES: u64 = 160 * 1024;
/// Messages up to this many bytes go eagerly if they leave from where they lie, and are read where
/// they belong if their receive is there: then nobody copies them, and the question alone would be
/// what they take longer. One whose receive is not there costs its receiver a copy of it.
pub const IN_PLACE_BYTES: u64 = 512 * 1024;
/// Messages that may ask at the same time, from one rank to one other. A program that begins more
/// without receiving any gets no further if its receiver waits for a later one, or has begun as
/// many; so there may be as many as memory lets a program begin.
pub const MOST_REQUESTS: u32 = 1 << 22;
/// Bytes that a receiver reports as consumed at once: a quarter of the least window.
const REPORT: u64 = LEAST_WINDOW / 4;

/// Bytes of each sender's messages that a receiver keeps at most, in a job of so many ranks.
pub fn window_of(ranks: usize) -> u64 {
    (ALL_WINDOWS / ranks.max(1) as u64).clamp(LEAST_WINDOW, MOST_WINDOW)
}

/// Cost of a message of `length` bytes.
#[inline]
pub fn cost(length: u64) -> u64 {
    length + MESSAGE_COST
}

/// The right of this rank to send to one other.
#[derive(Debug)]
pub struct Window {
    /// Bytes that a receiver keeps of a sender's, in this job.
    most: u64,
    /// Bytes that may be sent eagerly now.
    left: u64,
    /// Requests that were not answered.
    pub requests: Outstanding<MOST_REQUESTS>,
}

impl Window {
    /// The window of a receiver that keeps at most so many [bytes](window_of) of a sender's
    /// messages.
    pub fn new(most: u64) -> Self {
        Window { most, left: most, requests: Outstanding::default() }
    }

    /// True if a message of this length may be sent eagerly.
    #[inline]
    pub fn may_send(&self, length: u64) -> bool {
        length <= EAGER_BYTES && cost(length) <= self.left
    }

    /// True if a message of this length may be sent eagerly that leaves from where it lies.
    #[inline]
    pub fn may_send_in_place(&self, length: u64) -> bool {
        length <= IN_PLACE_BYTES && cost(length) <= self.left
    }

    /// Takes its cost from the window: a message was sent eagerly.
    #[inline]
    pub fn sent(&mut self, length: u64) {
        self.left -= cost(length);
    }

    /// Gives `amount` back, which the peer has consumed. False if that was never sent.
    #[must_use]
    pub fn reported(&mut self, amount: u64) -> bool {
        let fits = amount <= self.most - self.left;
        self.left += if fits { amount } else { 0 };
        fits
    }
}

/// The room that this rank keeps for messages of one other, or of its own to itself.
#[derive(Debug)]
pub struct Intake {
    /// Bytes that are kept of a sender's, in this job.
    most: u64,
    /// Bytes that the peer has sent eagerly and that are not consumed, or whose report waits for
    /// room.
    unconsumed: u64,
    /// Bytes that are consumed and of which there is no report.
    consumed: u64,
    /// Requests whose answers have not left.
    pub requests: Outstanding<MOST_REQUESTS>,
}

impl Intake {
    /// That of a receiver which keeps at most so many [bytes](window_of) of a sender's messages.
    pub fn new(most: u64) -> Self {
        Intake { most, unconsumed: 0, consumed: 0, requests: Outstanding::default() }
    }

    /// The bytes consumed once a message of this length is that comes now; `None` if it should not
    /// come.
    #[inline(always)]
    pub fn may_consume(&self, length: u64) -> Option<u64> {
        let consumed = self.consumed + cost(length);
        (length <= EAGER_BYTES && self.unconsumed + consumed <= self.most).then_some(consumed)
    }

    /// Counts a message that was received eagerly. False if there was no window for it.
    #[inline(always)]
    #[must_use]
    pub fn received(&mut self, length: u64) -> bool {
        if length > IN_PLACE_BYTES {
            return false;
        }
        self.unconsumed += cost(length);
        self.unconsumed + self.consumed <= self.most
    }

    /// Counts a message that was received eagerly as consumed. Returns the amount to report now, if
    /// any.
    #[inline]
    pub fn consumed(&mut self, length: u64) -> Option<u64> {
        self.unconsumed -= cost(length);
        self.consumed += cost(length);
        self.to_report()
    }

    /// Counts a message that was received and consumed at once, with which
    /// [so much](Self::may_consume) is consumed. True if there is something to report now.
    #[inline(always)]
    pub fn received_and_consumed(&mut self, consumed: u64) -> bool {
        self.consumed = consumed;
        consumed >= REPORT
    }

    /// The amount to report now, if any: the peer may send so much more once the report
    /// [has left](Self::has_reported).
    pub fn to_report(&mut self) -> Option<u64> {
        if self.consumed < REPORT {
            return None;
        }
        self.unconsumed += self.consumed;
        Some(std::mem::take(&mut self.consumed))
    }

    /// Frees so much: a report of it has left, or it was this rank's own message to itself, of
    /// which nobody has to hear.
    pub fn has_reported(&mut self, amount: u64) {
        self.unconsumed -= amount;
    }
}

#[cfg(test)]
mod tests;
