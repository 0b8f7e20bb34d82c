//! Operations of a team in shared memory, without packets: barriers, and others to which each
//! member brings up to a line; short broadcasts and scatters.
//!
//! An arena is an area of its leader's shared memory, which all ranks of the host write. In lines
//! of 64 bytes, for `n` members:
//!
//! ```text
//!      1         n                2 n                     2                32 x 17
//! ┌─────────┬──────────┬────────────────────────┬────────────────┬───────────────────────────┐
//! │ arrived │ finished │ contributions: two     │ results: a     │ broadcasts: head, bytes   │
//! │ left    │ of each  │ sets of a line of each │ line of each   │ (in arenas that have      │
//! │ results │          │                        │ set            │ slots)                    │
//! └─────────┴──────────┴────────────────────────┴────────────────┴───────────────────────────┘
//! ```
//! **Rounds.** A member puts its contribution into its line of a set, and adds to the `arrived`
//! word of that set: one, and above that a number that stands for the operation it has begun. The
//! word is never put back. The round is over when all have arrived; if the sum is not the one that
//! each expects, they began different operations. The two sets take turns, and a member arrives
//! only when the round before is over. By then all have left the one before that, so that a set
//! does not change from the last arrival until the last member has read it.
//!
//! Where one result is made of all contributions, the last to arrive makes it, and the others read
//! one line instead of everybody's. They wait until the number of the last result is that of the
//! round.
//!
//! **Broadcasts**, and scatters, of which each takes its part. The root of broadcast number `k`
//! puts it into slot `k mod 32`, the head last, which names it. Its receivers copy it, and each
//! says how many it has finished. At every 16th number a root waits until all have finished those
//! up to 16 numbers back. Then nobody reads what it overwrites, and it looks at their lines for
//! every 16th broadcast only. Where more ranks than cores take turns, a root that is so far ahead
//! does not wait for the others' turns each time.

mod meeting;

pub use meeting::{ArenaOperation, Met};

use crate::{DISAGREES, Operation};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_endpoint::sync::{AtomicU64, Ordering, fence};
use weft_endpoint::{Rank, SharedWords};

/// Bytes of the largest contribution of one member to a round: one cache line.
pub const CONTRIBUTION_BYTES: usize = 64;
/// Bytes of the longest broadcast.
pub const SLOT_BYTES: usize = if cfg!(loom) { 16 } else { 1024 };

/// Words of a line.
const LINE: usize = 8;
/// Words of a slot, which begins with a line: what is short is in one with its head.
const SLOT: usize = LINE + SLOT_BYTES / 8;
/// Slots; few in models, which go round all of them.
const SLOTS: u64 = if cfg!(loom) { 4 } else { 32 };
/// Words of the first line: arrivals of each set, members that have left, number of the last round
/// that has a result.
const ARRIVED: [usize; 2] = [0, 3];
const LEFT: usize = 1;
const RESULTS: usize = 2;
/// Broadcasts between two looks of a root at what all have finished.
const EPOCH: u64 = SLOTS / 2;

/// Words of the area of a team with `members`; `None` if that overflows.
fn words_of(members: usize, slots: bool) -> Option<usize> {
    let lines = members.checked_mul(3)?.checked_add(3)?;
    lines.checked_mul(LINE)?.checked_add(if slots { SLOTS as usize * SLOT } else { 0 })
}

/// Areas without slots in the second half of a leader's shared memory. All ranks take all of them
/// in the same order, so that nobody has to be told where they are, and none is given back.
#[derive(Debug, Default)]
pub struct AgreedAreas {
    /// Words taken of the shared memory of each leader, from its end.
    taken: BTreeMap<Rank, usize>,
}

impl AgreedAreas {
    /// Takes an area for a team of so many members, and returns where it begins; `None` if there is
    /// no room, at all ranks alike.
    pub fn take(&mut self, memory: &[AtomicU64], leader: Rank, members: usize) -> Option<usize> {
        let taken = self.taken.entry(leader).or_default();
        let all = taken.checked_add(words_of(members, false)?)?;
        if all > memory.len() / 2 {
            return None;
        }
        *taken = all;
        Some(memory.len() - all)
    }
}

/// Areas with slots in the first half of a rank's shared memory: their leader says where they are.
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
    /// Takes an area for a team of so many members, fills it with zeros, and returns where it
    /// begins; `None` if there is no room.
    pub fn take(&mut self, memory: &[AtomicU64], members: usize) -> Option<usize> {
        self.taken.retain(|area| !(area.closed && area.all_have_left(memory)));
        let words = words_of(members, true)?;
        let ends =
            self.taken.iter().map(|area| area.first + words_of(area.members, true).unwrap_or(0));
        let starts = self.taken.iter().map(|area| area.first).chain([memory.len() / 2]);
        let mut gaps = std::iter::once(0).chain(ends).zip(starts).enumerate();
        let (place, (first, _)) = gaps.find(|(_, (end, start))| start - end >= words)?;
        memory[first..first + words].iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.taken.insert(place, Area { first, members, closed: false });
        Some(first)
    }

    /// Gives an area back: at once if none has used it, else as soon as all members have
    /// [left](Arena::detach).
    pub fn give_back(&mut self, first: usize, used: bool) {
        let Some(place) = self.taken.iter().position(|area| area.first == first) else { return };
        match used {
            true => self.taken[place].closed = true,
            false => drop(self.taken.remove(place)),
        }
    }
}

impl Area {
    fn all_have_left(&self, memory: &[AtomicU64]) -> bool {
        memory[self.first + LEFT].load(Ordering::Acquire) == self.members as u64
    }
}

/// A team's area, as one of its members uses it. One thread at a time does.
pub struct Arena {
    words: Arc<dyn SharedWords>,
    leader: Rank,
    first: usize,
    size: usize,
    me: usize,
    /// Rounds at which this member has arrived.
    arrivals: AtomicU64,
    /// The `arrived` word of each set once all have arrived.
    full: [AtomicU64; 2],
    /// Broadcasts that this member has finished.
    finished: AtomicU64,
}

/// One round of all members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    number: u64,
    /// Sum of all arrivals.
    full: u64,
    /// Sum of those up to this member's.
    sum: u64,
}

impl Round {
    /// True if this member was the last to arrive: the round is over, and it makes the result of
    /// all contributions, if there is one.
    #[inline]
    pub fn is_last(self) -> bool {
        arrivals(self.sum) == arrivals(self.full)
    }

    fn set(self) -> usize {
        (self.number % 2) as usize
    }
}

/// The part of an `arrived` word that says how many have arrived.
#[inline]
fn arrivals(sum: u64) -> u32 {
    sum as u32
}

impl Arena {
    /// The area that begins at word `first`, of a team of `size` members, of which this is member
    /// `me`. `None` if it does not fit.
    pub fn new(
        words: &Arc<dyn SharedWords>,
        leader: Rank,
        first: usize,
        slots: bool,
        (size, me): (usize, usize),
    ) -> Option<Self> {
        let end = words_of(size, slots)?.checked_add(first)?;
        let fits = end <= words.arena(leader).len() && first.is_multiple_of(LINE);
        fits.then(|| Arena {
            words: Arc::clone(words),
            leader,
            first,
            size,
            me,
            arrivals: AtomicU64::new(0),
            full: Default::default(),
            finished: AtomicU64::new(0),
        })
    }

    /// The area, for as long as somebody looks at it.
    #[inline]
    pub fn view(&self) -> ArenaView<'_> {
        ArenaView { arena: self, memory: &self.words.arena(self.leader)[self.first..] }
    }
}

/// An [`Arena`], with its memory at hand.
#[derive(Clone, Copy)]
pub struct ArenaView<'a> {
    arena: &'a Arena,
    memory: &'a [AtomicU64],
}

impl<'a> ArenaView<'a> {
    /// True if the round before is over, so that this member may arrive at the next one.
    #[inline]
    pub fn may_arrive(&self) -> bool {
        let set = (self.arena.arrivals.load(Ordering::Relaxed) % 2) as usize;
        let full = self.arena.full[set].load(Ordering::Relaxed);
        arrivals(self.arrived(set).load(Ordering::Acquire)) == arrivals(full)
    }

    /// Arrives with a contribution of up to [`CONTRIBUTION_BYTES`] bytes; `begun` stands for the
    /// operation. Only a member that [may](Self::may_arrive) calls this. With `wakes` the last to
    /// arrive wakes sleepers; if all await a result, [`Self::put_result`] does so instead.
    #[inline]
    pub fn arrive(&self, begun: u32, bytes: &[u8], wakes: bool) -> Round {
        let number = self.arena.arrivals.load(Ordering::Relaxed) + 1;
        self.arena.arrivals.store(number, Ordering::Relaxed);
        let set = (number % 2) as usize;
        let one = 1 | u64::from(begun) << 32;
        let before = self.arena.full[set].load(Ordering::Relaxed);
        let full = before.wrapping_add(one.wrapping_mul(self.arena.size as u64));
        self.arena.full[set].store(full, Ordering::Relaxed);
        let mut round = Round { number, full, sum: 0 };
        if !bytes.is_empty() {
            put(self.contribution_of(round, self.arena.me), bytes);
        }
        round.sum = self.arrived(set).fetch_add(one, Ordering::SeqCst).wrapping_add(one);
        if round.is_last() && wakes {
            self.arena.words.wake_sleepers();
        }
        round
    }

    /// Tells all a result of up to [`CONTRIBUTION_BYTES`] bytes. The [last](Round::is_last) to
    /// arrive calls this.
    pub fn put_result(&self, round: Round, bytes: &[u8]) {
        put(self.result_of(round), bytes);
        self.line(0)[RESULTS].store(round.number, Ordering::Release);
        fence(Ordering::SeqCst);
        self.arena.words.wake_sleepers();
    }

    /// Copies the result of this round, once it is there. True if it was.
    #[inline]
    pub fn result(&self, round: Round, into: &mut [u8]) -> bool {
        // Before the next one is made this member has to arrive there.
        let is_made = self.line(0)[RESULTS].load(Ordering::Acquire) >= round.number;
        if is_made {
            get(self.result_of(round), into);
        }
        is_made
    }

    /// Once all have arrived, true if they have begun the same.
    #[inline]
    pub fn outcome(&self, round: Round) -> Option<bool> {
        let sum = match round.is_last() {
            true => round.sum,
            false => self.arrived(round.set()).load(Ordering::Acquire),
        };
        (arrivals(sum) == arrivals(round.full)).then_some(sum == round.full)
    }

    /// Copies a member's contribution to a round that is over: as many bytes as there is room for.
    pub fn contribution(&self, round: Round, member: usize, into: &mut [u8]) {
        get(self.contribution_of(round, member), into);
    }

    /// True if this member may post the next broadcast.
    pub fn may_post(&self) -> bool {
        let finished = self.arena.finished.load(Ordering::Relaxed);
        let back = (finished / EPOCH * EPOCH).saturating_sub(EPOCH);
        let is_first = finished.is_multiple_of(EPOCH);
        let has_finished = |member| self.line(1 + member)[0].load(Ordering::Acquire) >= back;
        // A member that has posted in this epoch before has looked; others have seen a root that
        // had.
        !is_first || (0..self.arena.size).all(has_finished)
    }

    /// Posts the next broadcast, of up to [`SLOT_BYTES`] bytes: they may be parts of a scatter. It
    /// [may](Self::may_post).
    pub fn post(&self, operation: Operation, bytes: &[u8]) {
        let slot = self.slot();
        put(&slot[1..], bytes);
        slot[0].store(self.head(operation, self.arena.me, bytes.len()), Ordering::Release);
        fence(Ordering::SeqCst);
        self.arena.words.wake_sleepers();
        self.finish();
    }

    /// Copies the next broadcast, which `root` posts, once it is there. True if it was.
    ///
    /// # Errors
    /// Another operation, root or length than its own.
    #[inline]
    pub fn posted(
        &self,
        operation: Operation,
        root: usize,
        into: &mut [u8],
    ) -> Result<bool, &'static str> {
        let (slot, wanted) = (self.slot(), self.head(operation, root, into.len()));
        let head = slot[0].load(Ordering::Acquire);
        if head != wanted {
            // The value that was there before has a lower number.
            return if head >> 32 == wanted >> 32 { Err(DISAGREES) } else { Ok(false) };
        }
        get(&slot[1..], into);
        self.finish();
        Ok(true)
    }

    /// Ends this member's use of the area, for good.
    pub fn detach(&self) {
        self.line(0)[LEFT].fetch_add(1, Ordering::AcqRel);
    }

    fn finish(&self) {
        let finished = self.arena.finished.load(Ordering::Relaxed) + 1;
        self.arena.finished.store(finished, Ordering::Relaxed);
        self.line(1 + self.arena.me)[0].store(finished, Ordering::Release);
        if finished.is_multiple_of(EPOCH) {
            // A root may wait for this.
            fence(Ordering::SeqCst);
            self.arena.words.wake_sleepers();
        }
    }

    #[inline]
    fn arrived(&self, set: usize) -> &'a AtomicU64 {
        &self.line(0)[ARRIVED[set]]
    }

    /// Head of the next broadcast: its number, its root, whether it is a scatter, its length.
    fn head(&self, operation: Operation, root: usize, length: usize) -> u64 {
        u64::from(self.arena.finished.load(Ordering::Relaxed) as u32 + 1) << 32
            | (root as u64) << 16
            | u64::from(operation == Operation::Scatter) << 15
            | length as u64
    }

    fn slot(&self) -> &'a [AtomicU64] {
        let at = (3 + 3 * self.arena.size) * LINE
            + (self.arena.finished.load(Ordering::Relaxed) % SLOTS) as usize * SLOT;
        self.at(at, SLOT)
    }

    fn contribution_of(&self, round: Round, member: usize) -> &'a [AtomicU64] {
        self.line(1 + self.arena.size + round.set() * self.arena.size + member)
    }

    fn result_of(&self, round: Round) -> &'a [AtomicU64] {
        self.line(1 + 3 * self.arena.size + round.set())
    }

    #[inline]
    fn line(&self, line: usize) -> &'a [AtomicU64] {
        self.at(line * LINE, LINE)
    }

    #[inline]
    fn at(&self, at: usize, length: usize) -> &'a [AtomicU64] {
        &self.memory[at..][..length]
    }
}

#[inline]
fn put(words: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks();
    for (word, &bytes) in words.iter().zip(whole) {
        word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
    }
    if let (Some(word), false) = (words.get(whole.len()), rest.is_empty()) {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
    }
}

#[inline]
fn get(words: &[AtomicU64], into: &mut [u8]) {
    let (whole, rest) = into.as_chunks_mut();
    let places = whole.len();
    for (word, into) in words.iter().zip(whole) {
        *into = word.load(Ordering::Relaxed).to_le_bytes();
    }
    if let (Some(word), false) = (words.get(places), rest.is_empty()) {
        rest.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()[..rest.len()]);
    }
}

#[cfg(test)]
mod tests;
