//! Notifications: written by the target of puts, read by one thread at a time, without a lock
//! between them.
//!
//! ```text
//!   target                              reader
//!   tail - head < N ?                   tail != head ?
//!   slots[tail] = words                 words = slots[head]
//!   tail += 1 (release) ──────────────▶ (acquire)
//!   (acquire) ◀──────────────────────── head += 1 (release)
//! ```
//! A notification that finds no slot waits with its packet, whose sender then runs out of credits:
//! a reader that falls behind stops its senders, and what it has not read is bounded by its ring
//! and their windows (I9).

use crate::biased::this_thread;
use crate::receive::KeptPacket;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use weft_wire::Rank;

/// Notification of an event at a receive buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The rank at the other end.
    pub from: Rank,
    /// Number of this rank's buffer ([`crate::ReceiveBuffer::connection`]).
    pub connection: u32,
    /// Offset of the event in the buffer, in bytes.
    pub offset: usize,
    /// Kind of the event.
    pub kind: NotificationKind,
}

/// Kind of a [`Notification`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotificationKind {
    /// Bytes were put into the buffer, all of them.
    Put {
        /// Number of the bytes.
        length: usize,
        /// Word that the sender has attached to them.
        word: u32,
    },
    /// The sender closed the connection; nothing of it follows.
    Closed,
}

/// Notifications that wait to be read.
pub(crate) struct Queue {
    slots: Box<[[AtomicU64; 3]]>,
    head: AtomicU64,
    tail: AtomicU64,
    /// True if there is something in `late`.
    is_late: AtomicBool,
    /// Notifications that arrived when no slot was free, in order, with their packets.
    late: Mutex<VecDeque<(Notification, Option<KeptPacket>)>>,
    /// The thread that reads here, if one waits: it need not be woken when it posts itself.
    pub reader: AtomicUsize,
}

impl Queue {
    /// A queue of `slots` notifications; a power of two.
    pub fn new(slots: usize) -> Self {
        let slot = |_| [const { AtomicU64::new(0) }; 3];
        Queue {
            slots: (0..slots.next_power_of_two()).map(slot).collect(),
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            is_late: AtomicBool::new(false),
            late: Mutex::default(),
            reader: AtomicUsize::new(0),
        }
    }

    /// Adds `notification` if there is a slot. One thread at a time.
    #[inline]
    pub fn try_post(&self, notification: Notification) -> Posted {
        let tail = self.tail.load(Ordering::Relaxed);
        let full = tail - self.head.load(Ordering::Acquire) == self.slots.len() as u64;
        if full || self.is_late.load(Ordering::Relaxed) {
            return Posted::Full;
        }
        let slot = &self.slots[tail as usize & (self.slots.len() - 1)];
        for (word, value) in slot.iter().zip(notification.to_words()) {
            word.store(value, Ordering::Relaxed);
        }
        self.tail.store(tail + 1, Ordering::Release);
        match self.reader.load(Ordering::Relaxed) == this_thread() {
            true => Posted::ToThisThread,
            false => Posted::ToAnother,
        }
    }

    /// Adds one that found no slot, with the packet, which costs its sender a credit until it is
    /// read.
    #[cold]
    pub fn post_late(&self, notification: Notification, kept: Option<KeptPacket>) {
        let mut late = self.lock();
        late.push_back((notification, kept));
        self.is_late.store(true, Ordering::Release);
    }

    /// The next notification. One thread at a time.
    #[inline]
    pub fn take(&self) -> Option<Notification> {
        let head = self.head.load(Ordering::Relaxed);
        if self.tail.load(Ordering::Acquire) == head {
            return if self.is_late.load(Ordering::Acquire) { self.take_late() } else { None };
        }
        let slot = &self.slots[head as usize & (self.slots.len() - 1)];
        let words = [0, 1, 2].map(|word: usize| slot[word].load(Ordering::Relaxed));
        self.head.store(head + 1, Ordering::Release);
        Some(Notification::from_words(words))
    }

    #[cold]
    fn take_late(&self) -> Option<Notification> {
        let mut late = self.lock();
        let (notification, kept) = late.pop_front()?;
        if late.is_empty() {
            self.is_late.store(false, Ordering::Release);
        }
        drop(late);
        // Its sender gets the credit back.
        drop(kept);
        Some(notification)
    }

    /// True if there is nothing to take.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tail.load(Ordering::Acquire) == self.head.load(Ordering::Relaxed)
            && !self.is_late.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Notification, Option<KeptPacket>)>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Outcome of posting a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Posted {
    /// Posted; this thread is the one that reads, if one does.
    ToThisThread,
    /// Posted; another thread may sleep until it is woken.
    ToAnother,
    /// No slot was free.
    Full,
}

/// The bit of the length that says that the sender has closed.
const CLOSED: u64 = 1 << 32;

impl Notification {
    fn to_words(self) -> [u64; 3] {
        let (length, word, closed) = match self.kind {
            NotificationKind::Put { length, word } => (length as u64, word, 0),
            NotificationKind::Closed => (0, 0, CLOSED),
        };
        let from = u64::from(self.from.0) << 48;
        [
            from | closed | length,
            self.offset as u64,
            u64::from(self.connection) << 32 | u64::from(word),
        ]
    }

    fn from_words([first, offset, last]: [u64; 3]) -> Self {
        let kind = match first & CLOSED {
            0 => NotificationKind::Put { length: first as u32 as usize, word: last as u32 },
            _ => NotificationKind::Closed,
        };
        Notification {
            from: Rank((first >> 48) as u16),
            connection: (last >> 32) as u32,
            offset: offset as usize,
            kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(number: usize) -> Notification {
        let kind = match number % 3 {
            0 => NotificationKind::Closed,
            _ => NotificationKind::Put { length: u32::MAX as usize - number, word: number as u32 },
        };
        Notification { from: Rank(u16::MAX), connection: 0xABCD_0123, offset: number << 40, kind }
    }

    fn post(queue: &Queue, notification: Notification) {
        if queue.try_post(notification) == Posted::Full {
            queue.post_late(notification, None);
        }
    }

    #[test]
    fn notifications_come_in_order_also_when_there_is_no_room() {
        let queue = Queue::new(4);
        let (mut posted, mut taken) = (0, 0);
        for (posts, takes) in [(3, 1), (9, 4), (0, 7), (4, 4), (20, 20)] {
            for _ in 0..posts {
                post(&queue, numbered(posted));
                posted += 1;
            }
            for _ in 0..takes {
                assert_eq!(queue.take(), Some(numbered(taken)));
                taken += 1;
            }
            assert_eq!(queue.is_empty(), posted == taken);
        }
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn a_reader_beside_the_poster_misses_none() {
        let queue = Queue::new(8);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10_000).for_each(|number| post(&queue, numbered(number))));
            for number in 0..10_000 {
                let notification = loop {
                    match queue.take() {
                        Some(found) => break found,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(notification, numbered(number));
            }
        });
    }
}
