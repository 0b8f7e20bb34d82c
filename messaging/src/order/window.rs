//! The multicast flow control of an order: what a sender may have under way, and when a member says
//! what it has consumed. No clock, no network, no lock.
//!
//! Numbers of an order are consumed one after the other, so *one* number of a member, how many it
//! has consumed, is an acknowledgement for all senders at once. It travels in every broadcast of
//! that member; only if it has nothing to broadcast, it tells a sender by itself, once it has
//! consumed half a window of that sender's.

use std::collections::VecDeque;

/// Largest number of broadcasts that a sender may have under way in an order: those that some
/// member has not consumed. The same on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderWindow {
    /// Broadcasts.
    pub messages: u64,
    /// Their bytes. A longer message may go as well, beside half a window of others at most.
    pub bytes: u64,
}

impl Default for OrderWindow {
    /// 64 broadcasts and 1 MiB.
    fn default() -> Self {
        OrderWindow { messages: 64, bytes: 1 << 20 }
    }
}

/// Broadcasts of this rank that are under way.
pub(super) struct Outstanding {
    window: OrderWindow,
    /// Numbers and lengths, in order.
    sent: VecDeque<(u64, u64)>,
    messages: u64,
    bytes: u64,
    /// Numbers that each member has consumed, by its last report.
    consumed: Vec<u64>,
}

impl Outstanding {
    /// Nothing, in an order of so many members.
    pub fn new(members: usize, window: OrderWindow) -> Self {
        let consumed = vec![0; members];
        Outstanding { window, sent: VecDeque::new(), messages: 0, bytes: 0, consumed }
    }

    /// Makes room for a message of `bytes` bytes, if there is some.
    #[inline]
    pub fn reserve(&mut self, bytes: u64) -> bool {
        if !self.has_room(bytes) {
            self.settle();
            if !self.has_room(bytes) {
                return false;
            }
        }
        self.overdraw(bytes);
        true
    }

    /// Takes room that may not be there. Returns the number of messages under way now.
    pub fn overdraw(&mut self, bytes: u64) -> u64 {
        self.messages += 1;
        self.bytes += bytes;
        self.messages
    }

    /// Messages under way, as far as was looked.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The message for which room was made has this number. Numbers of several threads may come in
    /// another order than that in which they were handed out.
    #[inline]
    pub fn number(&mut self, number: u64, bytes: u64) {
        let later = self.sent.iter().rev().take_while(|&&(other, _)| other > number).count();
        self.sent.insert(self.sent.len() - later, (number, bytes));
    }

    /// A member has consumed this many numbers.
    #[inline]
    pub fn consumed_by(&mut self, member: usize, numbers: u64) {
        // Several threads of a member may send: what it said first may come last.
        self.consumed[member] = self.consumed[member].max(numbers);
    }

    /// A member is lost: nobody waits for it.
    pub fn lose(&mut self, member: usize) {
        self.consumed[member] = u64::MAX;
    }

    /// Numbers that all members have consumed, by their last reports.
    pub fn least(&self) -> u64 {
        self.consumed.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// The member that has consumed least, by its last report.
    pub fn slowest(&self) -> Option<usize> {
        (0..self.consumed.len()).min_by_key(|member| self.consumed[*member])
    }

    /// Members acknowledge once they have consumed half a window, so a sender cannot count on more
    /// than the other half: with half a window under way there is room for any message.
    fn has_room(&self, bytes: u64) -> bool {
        let OrderWindow { messages, bytes: limit } = self.window;
        self.messages < messages && (self.bytes <= limit / 2 || self.bytes + bytes <= limit)
    }

    /// Gives up the room of what everybody has consumed. Only done once there is no room, so that
    /// an acknowledgement costs its receiver one write.
    fn settle(&mut self) {
        let everybody = self.least();
        while let Some(&(number, bytes)) = self.sent.front()
            && number < everybody
        {
            self.sent.pop_front();
            self.messages -= 1;
            self.bytes -= bytes;
        }
    }
}

/// Messages of each member that this rank has consumed and not reported to it.
pub(super) struct Owed {
    half: OrderWindow,
    members: Vec<Debt>,
    /// Counts this rank's broadcasts: they tell everybody, so that debts from before are void.
    told: u64,
}

#[derive(Clone, Copy, Default)]
struct Debt {
    told: u64,
    messages: u64,
    bytes: u64,
}

impl Owed {
    /// Nothing, to so many members.
    pub fn new(members: usize, window: OrderWindow) -> Self {
        let half = OrderWindow {
            messages: window.messages.div_ceil(2),
            bytes: window.bytes.div_ceil(2).max(1),
        };
        Owed { half, members: vec![Debt::default(); members], told: 0 }
    }

    /// A message of `member` was consumed. True if it is to be told now; then that counts as done.
    #[inline]
    pub fn consume(&mut self, member: usize, bytes: u64) -> bool {
        let told = self.told;
        let debt = &mut self.members[member];
        if debt.told != told {
            *debt = Debt { told, ..Debt::default() };
        }
        debt.messages += 1;
        debt.bytes += bytes;
        let due = debt.messages >= self.half.messages || debt.bytes >= self.half.bytes;
        if due {
            *debt = Debt { told, ..Debt::default() };
        }
        due
    }

    /// Counts a report to all members.
    #[inline]
    pub fn tell_all(&mut self) {
        self.told += 1;
    }
}

#[cfg(test)]
mod tests;
