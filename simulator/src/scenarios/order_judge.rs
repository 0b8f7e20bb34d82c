//! The judge of totally-ordered broadcasts: one for all ranks, told what is sent, and asked about
//! everything that anybody is shown. It knows of no numbers but those that senders count
//! themselves.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use weft_endpoint::Rank;

/// Sequence of messages that a rank sends. The messages of its program are one sequence, those
/// that its handlers send in the middle of that are another.
pub type Line = (Rank, u8);

/// Error in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderFault {
    /// Two members saw different messages in the same place.
    Disagree {
        /// The order.
        order: u32,
        /// The place.
        place: usize,
        /// Rank that saw another message there than somebody before.
        at: Rank,
        /// Message that it saw.
        saw: (Line, u64),
        /// Message that the other saw.
        other: (Line, u64),
    },
    /// A message was not the next one of its sender: it came twice, or overtook one.
    NotFifo {
        /// The order.
        order: u32,
        /// Line of the message.
        line: Line,
        /// Its sender's count.
        count: u64,
        /// The one that was next.
        due: u64,
    },
    /// A message that nobody sent, or not so.
    Altered {
        /// The order.
        order: u32,
        /// Rank that saw it.
        at: Rank,
        /// Message that it saw.
        saw: (Line, u64),
    },
    /// A member did not see everything.
    Missing {
        /// The order.
        order: u32,
        /// Rank.
        at: Rank,
        /// Number of messages that it saw.
        saw: usize,
        /// Number of messages that were sent.
        sent: usize,
    },
}

/// Judge of what the members of some orders see, beside what they should.
#[derive(Debug, Default)]
pub struct OrderJudge(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    orders: BTreeMap<u32, Seen>,
    first: Option<OrderFault>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Messages that were sent, each with a hash of its bytes.
    sent: BTreeMap<(Line, u64), u64>,
    /// The one order, as far as the member knows it that has seen most of it.
    order: Vec<(Line, u64)>,
    /// Number of messages of each line in it.
    counts: BTreeMap<Line, u64>,
    /// Position of each member.
    places: BTreeMap<Rank, usize>,
}

impl OrderJudge {
    /// A judge to whom nothing was told.
    pub fn new() -> Self {
        Self::default()
    }

    /// `line` is about to send its message number `count`, counted from 0, whose bytes have this
    /// hash.
    pub fn sends(&self, order: u32, line: Line, count: u64, hash: u64) {
        self.state().orders.entry(order).or_default().sent.insert((line, count), hash);
    }

    /// `at` was shown a message. The first fault is kept.
    pub fn sees(&self, order: u32, at: Rank, line: Line, count: u64, hash: u64) {
        let mut state = self.state();
        if let Err(fault) =
            state.orders.entry(order).or_default().see(order, at, (line, count), hash)
        {
            state.first.get_or_insert(fault);
        }
    }

    /// Checks that nothing was wrong with what was shown so far; that something was not shown is no
    /// fault. What holds when ranks were lost: all saw prefixes of one order.
    ///
    /// # Errors
    /// The first fault.
    pub fn prefixes(&self) -> Result<(), OrderFault> {
        self.state().first.map_or(Ok(()), Err)
    }

    /// Checks that all `members` of `order` saw all that was sent in it. Returns how many messages
    /// that is.
    ///
    /// # Errors
    /// The first fault of any order.
    pub fn complete(&self, order: u32, members: &[Rank]) -> Result<usize, OrderFault> {
        self.prefixes()?;
        let state = self.state();
        let Some(seen) = state.orders.get(&order) else { return Ok(0) };
        let sent = seen.sent.len();
        for &at in members {
            let saw = seen.places.get(&at).copied().unwrap_or(0);
            if saw != sent {
                return Err(OrderFault::Missing { order, at, saw, sent });
            }
        }
        Ok(sent)
    }

    /// Number of messages that `at` saw of `order`.
    pub fn seen_by(&self, order: u32, at: Rank) -> usize {
        let state = self.state();
        state.orders.get(&order).and_then(|seen| seen.places.get(&at)).copied().unwrap_or(0)
    }

    /// A panic of one rank must not hide what the others saw.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn see(&mut self, order: u32, at: Rank, saw: (Line, u64), hash: u64) -> Result<(), OrderFault> {
        if self.sent.get(&saw) != Some(&hash) {
            return Err(OrderFault::Altered { order, at, saw });
        }
        let place = self.places.entry(at).or_default();
        match self.order.get(*place) {
            Some(&other) if other != saw => {
                return Err(OrderFault::Disagree { order, place: *place, at, saw, other });
            }
            Some(_) => {}
            None => {
                let due = self.counts.entry(saw.0).or_default();
                if saw.1 != *due {
                    return Err(OrderFault::NotFifo {
                        order,
                        line: saw.0,
                        count: saw.1,
                        due: *due,
                    });
                }
                *due += 1;
                self.order.push(saw);
            }
        }
        *place += 1;
        Ok(())
    }
}

impl fmt::Display for OrderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderFault::Disagree { order, place, at, saw, other } => write!(
                f,
                "order {order}: message {place} was {saw:?} at rank {at} and {other:?} elsewhere"
            ),
            OrderFault::NotFifo { order, line, count, due } => {
                write!(f, "order {order}: message {count} of {line:?} came when {due} was the next")
            }
            OrderFault::Altered { order, at, saw } => {
                write!(f, "order {order}: rank {at} saw {saw:?}, which nobody sent so")
            }
            OrderFault::Missing { order, at, saw, sent } => {
                write!(f, "order {order}: rank {at} saw {saw} of {sent} messages")
            }
        }
    }
}

impl std::error::Error for OrderFault {}

#[cfg(test)]
mod tests;
