//! What a team does in shared memory without packets: barriers, what fits into a line of each member, and short broadcasts.
//!
//! A team has an area of its leader's board, which all ranks of the host write. In lines of 64 bytes, for `n` members:
//!
//! ```text
//!      1         n               2 n                  2              8 x 17
//! ┌─────────┬──────────┬─────────────────────┬────────────────┬──────────────────────────┐
//! │ arrived │ finished │ brought: two sets   │ made: a line   │ posted: head, then bytes │
//! │ left    │ of each  │ of a line of each   │ of each set    │                          │
//! │ made    │          │                     │                │                          │
//! └─────────┴──────────┴─────────────────────┴────────────────┴──────────────────────────┘
//! ```
//! **Meetings.** A member puts what it brings into its line of a set and adds one to `arrived`, which is never put back: meeting number `k` is over when it has
//! grown to the size of the team times `k`. The two sets take turns, and a member arrives only when the meeting before is over. So all have
//! left the one before that, and what is in a set does not change from the last arrival until the last member has read it.
//! Where one result is made of what all bring, the last to arrive makes it, and the others read one line instead of everybody's:
//! they wait until the number of the meeting is that of what is `made`.
//!
//! **Broadcasts.** The root of broadcast number `k` puts it into slot `k mod 8`, the head last, which names it. Its receivers copy it, and each says how many it
//! has finished. A root waits, at every fourth number, until all have finished what is four numbers back: then
//! nobody reads what it overwrites, and it looks at their lines for every fourth broadcast only.

use super::team::DISAGREES;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use weft_packet::{Rank, SharedWords};

/// Bytes that a member brings to a meeting at most: a line.
pub const MOST_BROUGHT: usize = 64;
/// Bytes that a root posts at most.
pub const MOST_POSTED: usize = 1024;

/// Words of a line.
const LINE: usize = 8;
/// Words of a slot, which begins with a line: what is short is in one with its head.
const SLOT: usize = LINE + MOST_POSTED / 8;
const SLOTS: u64 = 8;
/// Broadcasts between two looks of a root at what all have finished.
const EPOCH: u64 = SLOTS / 2;

/// Words of the area of so many members; `None` if that cannot be counted.
fn words_of(members: usize) -> Option<usize> {
    let lines = members.checked_mul(3)?.checked_add(3)?;
    lines.checked_mul(LINE)?.checked_add(SLOTS as usize * SLOT)
}

/// The areas of a rank's board that its teams have.
#[derive(Debug, Default)]
pub struct Areas {
    /// In the order of where they begin.
    taken: Vec<Area>,
}

#[derive(Debug)]
struct Area {
    first: usize,
    members: usize,
    /// Free as soon as all members have left: some may still read there.
    closed: bool,
}

impl Areas {
    /// Takes an area for a team of so many members, and puts zeros there. Where it begins; `None` if there is no room.
    pub fn take(&mut self, board: &[AtomicU64], members: usize) -> Option<usize> {
        self.taken.retain(|area| !(area.closed && area.all_have_left(board)));
        let words = words_of(members)?;
        let ends = self.taken.iter().map(|area| area.first + words_of(area.members).unwrap_or(0));
        let starts = self.taken.iter().map(|area| area.first).chain([board.len()]);
        let mut gaps = std::iter::once(0).chain(ends).zip(starts).enumerate();
        let (place, (first, _)) = gaps.find(|(_, (end, start))| start - end >= words)?;
        board[first..first + words].iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.taken.insert(place, Area { first, members, closed: false });
        Some(first)
    }

    /// Gives an area back: at once if none has used it, else as soon as all members have [left](Board::leave).
    pub fn give_back(&mut self, first: usize, used: bool) {
        let Some(place) = self.taken.iter().position(|area| area.first == first) else { return };
        match used {
            true => self.taken[place].closed = true,
            false => drop(self.taken.remove(place)),
        }
    }
}

impl Area {
    fn all_have_left(&self, board: &[AtomicU64]) -> bool {
        board[self.first + 1].load(Ordering::Acquire) == self.members as u64
    }
}

/// A team's area, as one of its members uses it.
pub struct Board {
    words: Arc<dyn SharedWords>,
    leader: Rank,
    first: usize,
    size: usize,
    me: usize,
    /// Meetings at which this member has arrived.
    arrivals: u64,
    /// Broadcasts that it has finished.
    finished: u64,
}

/// One meeting of all members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    number: u64,
    is_last: bool,
}

impl Meeting {
    /// Whether this member was the last to arrive: the meeting is over, and it makes what is made of what all have brought, if
    /// something is.
    pub fn is_last(self) -> bool {
        self.is_last
    }
}

impl Board {
    /// The area that begins there, of a team of `size`, of which this is member `me`. `None` if it cannot be.
    pub fn new(
        words: &Arc<dyn SharedWords>,
        leader: Rank,
        first: usize,
        (size, me): (usize, usize),
    ) -> Option<Self> {
        let end = words_of(size)?.checked_add(first)?;
        let fits = end <= words.board(leader).len() && first.is_multiple_of(LINE);
        let words = Arc::clone(words);
        fits.then_some(Board { words, leader, first, size, me, arrivals: 0, finished: 0 })
    }

    /// Whether the meeting before is over, so that this member may arrive at the next one.
    #[inline]
    pub fn may_arrive(&self) -> bool {
        self.is_over(Meeting { number: self.arrivals, is_last: false })
    }

    /// Arrives, bringing up to [`MOST_BROUGHT`] bytes. It [may](Self::may_arrive).
    pub fn arrive(&mut self, bytes: &[u8]) -> Meeting {
        self.arrivals += 1;
        let mut meeting = Meeting { number: self.arrivals, is_last: false };
        put(self.brought_by(meeting, self.me), bytes);
        let arrived = self.line(0)[0].fetch_add(1, Ordering::SeqCst) + 1;
        meeting.is_last = arrived == self.full(meeting);
        if meeting.is_last {
            self.words.wake_sleepers();
        }
        meeting
    }

    /// Tells all what was made, up to [`MOST_BROUGHT`] bytes. The [last](Meeting::is_last) to arrive does that.
    pub fn make(&self, meeting: Meeting, bytes: &[u8]) {
        put(self.made_at(meeting), bytes);
        self.line(0)[2].store(meeting.number, Ordering::Release);
        fence(Ordering::SeqCst);
        self.words.wake_sleepers();
    }

    /// Copies what was made at this meeting, once it is there. Whether it was.
    #[inline]
    pub fn made(&self, meeting: Meeting, into: &mut [u8]) -> bool {
        // Before the next one is made this member has to arrive there.
        let is_made = self.line(0)[2].load(Ordering::Acquire) >= meeting.number;
        if is_made {
            get(self.made_at(meeting), into);
        }
        is_made
    }

    /// Whether all have arrived. Some may have arrived at the next one already.
    #[inline]
    pub fn is_over(&self, meeting: Meeting) -> bool {
        self.line(0)[0].load(Ordering::Acquire) >= self.full(meeting)
    }

    /// What a member has brought to a meeting that is over: as many bytes as there is room for.
    pub fn brought(&self, meeting: Meeting, member: usize, into: &mut [u8]) {
        get(self.brought_by(meeting, member), into);
    }

    /// Whether this member may post the next broadcast.
    pub fn may_post(&self) -> bool {
        let back = (self.finished / EPOCH * EPOCH).saturating_sub(EPOCH);
        let is_first = self.finished.is_multiple_of(EPOCH);
        let has_finished = |member| self.line(1 + member)[0].load(Ordering::Acquire) >= back;
        // Whoever has posted in this epoch before has looked; others have seen a root that had.
        !is_first || (0..self.size).all(has_finished)
    }

    /// Posts the next broadcast, of up to [`MOST_POSTED`] bytes. It [may](Self::may_post).
    pub fn post(&mut self, bytes: &[u8]) {
        let slot = self.slot();
        put(&slot[1..], bytes);
        slot[0].store(self.head(self.me, bytes.len()), Ordering::Release);
        fence(Ordering::SeqCst);
        self.words.wake_sleepers();
        self.finish();
    }

    /// Copies the next broadcast, which `root` posts, once it is there. Whether it was.
    ///
    /// # Errors
    /// Another root or length than its own.
    #[inline]
    pub fn posted(&mut self, root: usize, into: &mut [u8]) -> Result<bool, &'static str> {
        let (slot, wanted) = (self.slot(), self.head(root, into.len()));
        let head = slot[0].load(Ordering::Acquire);
        if head != wanted {
            // What was there before has a lower number.
            return if head >> 32 == wanted >> 32 { Err(DISAGREES) } else { Ok(false) };
        }
        get(&slot[1..], into);
        self.finish();
        Ok(true)
    }

    /// Leaves for good.
    pub fn leave(self) {
        self.line(0)[1].fetch_add(1, Ordering::AcqRel);
    }

    fn finish(&mut self) {
        self.finished += 1;
        self.line(1 + self.me)[0].store(self.finished, Ordering::Release);
        if self.finished.is_multiple_of(EPOCH) {
            // A root may wait for this.
            fence(Ordering::SeqCst);
            self.words.wake_sleepers();
        }
    }

    fn full(&self, meeting: Meeting) -> u64 {
        meeting.number * self.size as u64
    }

    /// What stands before the next broadcast: its number, its root, its length.
    fn head(&self, root: usize, length: usize) -> u64 {
        u64::from(self.finished as u32 + 1) << 32 | (root as u64) << 16 | length as u64
    }

    fn slot(&self) -> &[AtomicU64] {
        let at = (3 + 3 * self.size) * LINE + (self.finished % SLOTS) as usize * SLOT;
        self.at(at, SLOT)
    }

    fn brought_by(&self, meeting: Meeting, member: usize) -> &[AtomicU64] {
        let set = (meeting.number % 2) as usize;
        self.line(1 + self.size + set * self.size + member)
    }

    fn made_at(&self, meeting: Meeting) -> &[AtomicU64] {
        self.line(1 + 3 * self.size + (meeting.number % 2) as usize)
    }

    #[inline]
    fn line(&self, line: usize) -> &[AtomicU64] {
        self.at(line * LINE, LINE)
    }

    #[inline]
    fn at(&self, at: usize, length: usize) -> &[AtomicU64] {
        &self.words.board(self.leader)[self.first + at..][..length]
    }
}

fn put(words: &[AtomicU64], bytes: &[u8]) {
    for (word, bytes) in words.iter().zip(bytes.chunks(8)) {
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        word.store(u64::from_le_bytes(value), Ordering::Relaxed);
    }
}

fn get(words: &[AtomicU64], into: &mut [u8]) {
    for (word, into) in words.iter().zip(into.chunks_mut(8)) {
        let value = word.load(Ordering::Relaxed).to_le_bytes();
        into.copy_from_slice(&value[..into.len()]);
    }
}

#[cfg(test)]
mod tests;
