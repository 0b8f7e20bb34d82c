//! Requests: those that wait at a rank, and how many each rank has under way to each other.
//!
//! A rank has no more than [`RequestTable::each`] requests under way to another one that were not
//! answered. A request beyond that stays with the rank that made it. So no rank waits to send one,
//! and there is room for all that comes back: an answer follows a request, and a cut goes to the
//! rank that has the request.

use super::items::Request;
use crate::format::HEADER_BYTES;

/// Requests that all others have made of one rank, about.
const REQUESTS_TO_ONE: usize = 64 << 10;

/// Most requests of a rank to another.
const MOST_REQUESTS: usize = 1024;

/// Moves of a position at most, as moves are bytes.
const MOST_MOVES: usize = 256;

/// Requests of a rank to others, and those that it has not taken up.
pub(crate) struct RequestTable<G> {
    /// The last one is taken up first: it is the deepest, so that few wait.
    waiting: Vec<Request<G>>,
    high: usize,
    most: usize,
    each: usize,
    /// Requests to each rank that were not answered.
    to: Vec<usize>,
    /// Requests of each rank that were not answered.
    from: Vec<usize>,
}

/// A request or an answer more than there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooMany;

impl<G> RequestTable<G> {
    /// No requests among so many ranks. The waiting ones are high from `high` on; of `records` each
    /// makes one more then, at most.
    pub fn new(ranks: usize, high: usize, records: usize) -> Self {
        let others = ranks - 1;
        let each = (REQUESTS_TO_ONE / others.max(1)).clamp(1, MOST_REQUESTS);
        let most = high + others * each + MOST_MOVES + records;
        RequestTable {
            waiting: Vec::new(),
            high,
            most,
            each,
            to: vec![0; ranks],
            from: vec![0; ranks],
        }
    }

    /// Most bytes of messages between two ranks, if a request has `request_bytes`.
    pub const fn message_bytes(request_bytes: usize) -> usize {
        // A request, an answer and a cut for each, and no answer or cut is longer than a request.
        HEADER_BYTES + 3 * MOST_REQUESTS * request_bytes
    }

    /// Puts a request on top.
    pub fn push(&mut self, request: Request<G>) {
        self.waiting.push(request);
        let waiting = self.waiting.len();
        assert!(waiting <= self.most, "I9: {waiting} requests wait, {} at most", self.most);
    }

    /// The request on top.
    pub fn pop(&mut self) -> Option<Request<G>> {
        self.waiting.pop()
    }

    /// True if a rank should make no more requests than it has to.
    pub fn is_high(&self) -> bool {
        self.waiting.len() >= self.high
    }

    /// Takes out requests, and calls `out` for each.
    pub fn take_out(
        &mut self,
        is_out: impl Fn(&Request<G>) -> bool,
        mut out: impl FnMut(&Request<G>),
    ) {
        self.waiting.retain(|request| {
            let goes = is_out(request);
            if goes {
                out(request);
            }
            !goes
        });
    }

    /// True if one more request may go to a rank; it is counted.
    pub fn ask(&mut self, to: usize) -> bool {
        let may = self.to[to] < self.each;
        self.to[to] += usize::from(may);
        i9_asked(self.to[to], self.each);
        may
    }

    /// An answer of a rank has come.
    pub fn was_answered(&mut self, by: usize) -> Result<(), TooMany> {
        self.to[by] = self.to[by].checked_sub(1).ok_or(TooMany)?;
        Ok(())
    }

    /// A request of a rank has come.
    pub fn was_asked(&mut self, by: usize) -> Result<(), TooMany> {
        if self.from[by] == self.each {
            return Err(TooMany);
        }
        self.from[by] += 1;
        Ok(())
    }

    /// This rank answers a rank.
    pub fn answer(&mut self, to: usize) {
        self.from[to] -= 1;
    }

    /// True if this rank has been answered by all others, and has nothing to take up.
    pub fn is_quiet(&self) -> bool {
        self.waiting.is_empty() && self.to.iter().all(|asked| *asked == 0)
    }
}

/// I9: no more requests are under way to a rank than it has room for.
fn i9_asked(asked: usize, each: usize) {
    assert!(asked <= each, "I9: {asked} requests to a rank, {each} at most");
}
