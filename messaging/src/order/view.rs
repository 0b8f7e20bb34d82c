//! One member's view of an order in a job that goes on after losses: who is left, and what all that
//! are left have in common. No clock, no network, no lock.
//!
//! This is virtual synchrony (Birman and Joseph, Exploiting Virtual Synchrony in Distributed
//! Systems, 1987). An order is a chain of *epochs*, each of which has fewer members than the one
//! before; its number is how many are lost. All members that live go from one to the next at the
//! same number of the order, the *cut*:
//!
//! ```text
//!    0           1           2           3      (has been handed over all before)
//!    5           7           6           ✕
//!    ├─ frozen   ├─ frozen   ├─ frozen          each hears of the loss, and hands nothing over
//!    │◀──────────┤           │                  Report: who is lost, what it waits for
//!    │◀──────────┼───────────┤
//!    ├──────────▶│           │                  Begin: at 7, from which all go on
//!    ├───────────┼──────────▶│
//!    │◀── 5, 6 ──┤── 6 ─────▶│                  Fill: from who has been handed over all of it
//! ```
//! The coordinator is the lowest member that is not lost. It begins an epoch when each member that
//! is not lost has reported the same losses as it knows itself. A loss meanwhile begins all that
//! anew, with one more that is lost.
//!
//! **Why members are handed over the same.** A member that has reported hands nothing over and
//! draws no number until an epoch begins for the losses that it has reported; so the cut is behind
//! all that members which live were handed over, and of what is before it one of them has all.
//! Reports of a member name ever more losses, and each epoch has a report of every member that
//! lives: so the losses of epochs are a chain, and an epoch that some have begun and others have
//! not is before the next for all.
//!
//! **Copies.** What is handed over is kept until all members that live have consumed it, and only
//! then: so a member that has been handed over all before the cut has what any other misses. What
//! one sender has under way has a bound, its window, and what is kept is of so many senders
//! ([`i18_kept_bounded`]).
//!
//! **A member's own messages** that were handed over nowhere get new numbers in the new epoch, in
//! their order. Those that were come back to it as fills. So until it has all fills it does not
//! know which is which, and sends nothing.
//!
//! **Numbers** come from a variable that lives with a member, and have no holes: the coordinator
//! reads it when nobody draws, and an epoch counts from there.
//!
//! | invariant | |
//! |---|---|
//! | V1 | members that live are handed over the same sequence, over all epochs (I10 is its one-rank form), and see each loss between the same two numbers |
//! | V2 | messages of a member that lives are in it once each, in their order |
//! | V3 | of a lost member's there is a beginning, in their order |
//! | V4 | when all are told of all losses and nothing is under way, all messages of members that live are handed over to all of them |
//! | I18 | kept copies are bounded |

mod epochs;
mod format;
mod planted;

pub(super) use format::{Begin, Fill, Message, Report};

use super::sequence::{Disorder, Sequence};
use planted::Planted;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use weft_endpoint::{Rank, Variable};

/// I18, kept copies are bounded: a member keeps no more messages than all members may have under
/// way.
pub(super) fn i18_kept_bounded(kept: usize, limit: u64) {
    assert!(kept as u64 <= limit, "I18 kept copies: {kept} messages are kept, of at most {limit}");
}

/// A way to other members.
pub(super) trait Post {
    /// Sends a message. Those to one rank arrive in order, or are lost with one of the two.
    fn send(&mut self, to: Rank, message: Message);
}

/// Reason why a message is refused: no member sends that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Violation {
    /// The bytes are no message.
    Malformed,
    /// The sender, or a rank that it names, is no other member.
    NotMember,
    /// The message counts a rank as lost that receives or sends it.
    Lives,
    /// The epoch cannot begin so.
    Begin,
    /// A number that is asked for is not kept: its receiver has said that it has consumed it.
    NotKept,
    /// The number of a message is wrong.
    Disorder(Disorder),
}

impl From<Disorder> for Violation {
    fn from(disorder: Disorder) -> Self {
        Violation::Disorder(disorder)
    }
}

impl Violation {
    /// The breach, in words.
    pub fn what(&self) -> &'static str {
        match self {
            Violation::Malformed => "bytes that are no message about its members",
            Violation::NotMember => "a message that names ranks which are no members",
            Violation::Lives => "a message that counts a rank as lost which lives",
            Violation::Begin => "the beginning of an epoch that cannot be",
            Violation::NotKept => "a need of messages that it has consumed",
            Violation::Disorder(_) => "a message with a number that it cannot have",
        }
    }
}

/// A message of the order, all of which is here.
#[cfg_attr(test, derive(Clone, Hash, Debug))]
pub(super) struct Whole<M> {
    /// Place of its sender among the members.
    pub from: usize,
    pub bytes: Arc<[u8]>,
    /// The caller that waits, of this rank's own messages.
    pub own: Option<M>,
}

/// A message of this rank that has a number now.
#[derive(Debug)]
pub(super) struct Numbered {
    pub number: u64,
    pub bytes: Arc<[u8]>,
}

/// A message of this rank that waits for a number.
#[cfg_attr(test, derive(Clone, Hash, Debug))]
struct Pending<M> {
    /// The number that it had in an epoch before, as long as it may come back with it.
    number: Option<u64>,
    bytes: Arc<[u8]>,
    own: M,
}

/// A copy for those who may miss it.
#[cfg_attr(test, derive(Clone, Hash, Debug))]
struct Kept {
    from: usize,
    bytes: Arc<[u8]>,
}

/// Place of a message in the order: an epoch, and a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub epoch: u16,
    pub number: u64,
}

/// Parameters of a new view.
pub(super) struct Founding {
    pub me: Rank,
    /// In ascending order.
    pub members: Arc<[Rank]>,
    pub variable: Variable,
    /// Index of the variable that counts after the home of the first is lost, if there is one.
    pub spare: Option<u16>,
    /// Largest number of messages of one member under way.
    pub limit: u64,
}

/// One member's view.
#[cfg_attr(test, derive(Clone, Hash, Debug))]
pub(super) struct View<M> {
    me: Rank,
    place: usize,
    members: Arc<[Rank]>,
    /// Home of the variable in epoch 0, and its index there.
    first_home: Rank,
    first_index: u16,
    /// Its index at any other home.
    spare: Option<u16>,
    limit: u64,
    /// Ranks that are lost, as this rank knows, each with its cut if that is decided.
    lost: BTreeMap<Rank, Option<u64>>,
    /// Those of which the program was told.
    told: Vec<Rank>,
    epoch: u16,
    /// Number with which the epoch has begun.
    first: u64,
    /// Value of the variable then.
    base: u64,
    home: Rank,
    /// True from a loss on until the next epoch begins.
    is_frozen: bool,
    /// Number of messages for which numbers are drawn.
    drawing: usize,
    has_reported: bool,
    /// Last report of each member, for the coordinator.
    reports: BTreeMap<Rank, Report>,
    sequence: Sequence<Whole<M>>,
    kept: BTreeMap<u64, Kept>,
    /// Messages of the epoch that is to begin.
    newer: Vec<(u64, Whole<M>)>,
    /// Number of fills that are to come.
    missing: u64,
    /// Messages of this rank without valid numbers, in order.
    pending: VecDeque<Pending<M>>,
    #[cfg(test)]
    planted: Option<Planted>,
}

/// Handing over.
impl<M> View<M> {
    /// The view of a member that has heard of no loss; `None` for a rank that is none.
    pub fn new(founding: Founding) -> Option<Self> {
        let Founding { me, members, variable, spare, limit } = founding;
        Some(View {
            me,
            place: members.binary_search(&me).ok()?,
            first_home: variable.home,
            first_index: variable.index,
            spare,
            limit,
            lost: BTreeMap::new(),
            told: Vec::new(),
            epoch: 0,
            first: 0,
            base: 0,
            home: variable.home,
            is_frozen: false,
            drawing: 0,
            has_reported: false,
            reports: BTreeMap::new(),
            sequence: Sequence::new(members.len(), limit),
            kept: BTreeMap::new(),
            newer: Vec::new(),
            missing: 0,
            pending: VecDeque::new(),
            members,
            #[cfg(test)]
            planted: None,
        })
    }

    /// The message that is due, with its number, if it is there and no epoch is about to begin.
    pub fn take(&mut self) -> Option<(u64, Whole<M>)> {
        if self.is_frozen && !self.has(Planted::HandOverFrozen) {
            None
        } else {
            self.sequence.take()
        }
    }

    /// Number of the message that is due.
    pub fn next(&self) -> u64 {
        self.sequence.next()
    }

    /// The next rank whose loss all members see before the message that is due; each once.
    pub fn next_loss(&mut self) -> Option<Rank> {
        let next = self.next();
        let is_due = |(rank, cut): &(&Rank, &Option<u64>)| {
            cut.is_some_and(|cut| cut <= next) && !self.told.contains(rank)
        };
        let due = self.lost.iter().filter(is_due).min_by_key(|(rank, cut)| (**cut, **rank));
        let rank = *due?.0;
        self.told.push(rank);
        Some(rank)
    }

    /// Members that live, as of the message that is due.
    pub fn members(&self) -> Vec<Rank> {
        let is_lost = |rank: &Rank| {
            self.lost.get(rank).is_some_and(|cut| cut.is_some_and(|cut| cut <= self.next()))
        };
        self.members.iter().copied().filter(|rank| !is_lost(rank)).collect()
    }

    /// Everything that waits and will never be handed over: what this rank has with its own.
    pub fn abandon(&mut self) -> Vec<M> {
        self.drawing = 0;
        let early = self.sequence.abandon().filter_map(|whole| whole.own);
        let pending = std::mem::take(&mut self.pending).into_iter().map(|pending| pending.own);
        early.chain(pending).collect()
    }

    /// All members that live have consumed so many numbers.
    pub fn all_have_consumed(&mut self, numbers: u64) {
        let numbers = if self.has(Planted::ForgetEarly) { self.next() } else { numbers };
        while let Some(first) = self.kept.first_entry()
            && *first.key() < numbers
        {
            first.remove();
        }
    }
}

/// Own messages.
impl<M> View<M> {
    /// The number that the next message of this rank gets if nobody else sends one.
    pub fn likely(&self) -> u64 {
        self.next() + self.pending.len() as u64
    }

    /// True if a number can be drawn now.
    pub fn may_draw(&self) -> bool {
        let is_settled = self.missing == 0 || self.has(Planted::SendBeforeFills);
        !self.is_frozen && self.drawing == 0 && is_settled
    }

    /// True if messages of this rank wait for numbers.
    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Adds a message of this rank.
    pub fn queue(&mut self, bytes: Arc<[u8]>, own: M) {
        self.pending.push_back(Pending { number: None, bytes, own });
    }

    /// Begins to draw numbers for what waits: the caller adds that many to the variable, and comes
    /// back with its old value.
    pub fn begin_draw(&mut self) -> Option<(Variable, u64)> {
        if !self.may_draw() || self.pending.is_empty() {
            return None;
        }
        self.drawing = self.pending.len();
        Some((self.variable(), self.drawing as u64))
    }

    /// The variable had this value, if its home lives. Returns the messages that have numbers now;
    /// none if the numbers are void, because of a loss meanwhile.
    ///
    /// # Errors
    /// A value that cannot be.
    pub fn end_draw(
        &mut self,
        value: Option<u64>,
        out: &mut impl Post,
    ) -> Result<Vec<Numbered>, Disorder> {
        let count = std::mem::take(&mut self.drawing);
        if self.is_frozen {
            self.report(out);
            return Ok(Vec::new());
        }
        let Some(value) = value else { return Ok(Vec::new()) };
        let most = self.limit * self.members.len() as u64;
        if (self.kept.len() + count) as u64 > most {
            return Err(Disorder::TooMany);
        }
        let first = self.number_of(value);
        let mut numbered = Vec::with_capacity(count);
        let drawn = self.pending.drain(..count);
        for (offset, Pending { bytes, own, .. }) in (0..).zip(drawn) {
            // Its home may say anything.
            let number = first.wrapping_add(offset);
            let whole = Whole { from: self.place, bytes: Arc::clone(&bytes), own: Some(own) };
            self.sequence.arrive(self.place, number, whole, false).map_err(|(what, _)| what)?;
            let kept = Kept { from: self.place, bytes: Arc::clone(&bytes) };
            self.kept.insert(number, kept);
            numbered.push(Numbered { number, bytes });
        }
        i18_kept_bounded(self.kept.len(), most);
        Ok(numbered)
    }

    /// The number that a value of the variable stands for in this epoch.
    pub fn number_of(&self, value: u64) -> u64 {
        self.first.wrapping_add(value.wrapping_sub(self.base))
    }

    /// The place in the order of a number that was drawn in this epoch.
    pub fn placed(&self, number: u64) -> Place {
        Place { epoch: self.epoch, number }
    }

    fn variable(&self) -> Variable {
        self.variable_at(self.home)
    }

    fn variable_at(&self, home: Rank) -> Variable {
        let spare = self.spare.filter(|_| home != self.first_home);
        Variable { home, index: spare.unwrap_or(self.first_index) }
    }
}

/// Messages of the order, in.
impl<M> View<M> {
    /// A message of a member has arrived, from itself or as a fill.
    ///
    /// # Errors
    /// A number that it cannot have.
    pub fn arrived(&mut self, place: Place, from: usize, bytes: Arc<[u8]>) -> Result<(), Disorder> {
        let awaited = self.lost.len() as u16;
        let is_old = place.epoch < self.epoch || self.is_frozen && place.epoch < awaited;
        let takes_old = self.has(Planted::TakeOld) && !self.is_frozen;
        if is_old && !takes_old {
            return Ok(());
        }
        if place.epoch > awaited {
            return Err(Disorder::Foreign);
        }
        let whole = Whole { from, bytes, own: None };
        if !self.is_frozen {
            return self.insert(place.number, whole);
        }
        let of_member = self.newer.iter().filter(|(_, other)| other.from == from).count();
        if of_member as u64 >= self.limit {
            return Err(Disorder::TooMany);
        }
        self.newer.push((place.number, whole));
        Ok(())
    }

    /// A message that this member misses has come.
    ///
    /// # Errors
    /// One that nobody sends.
    pub fn filled(&mut self, fill: Fill) -> Result<(), Violation> {
        let Fill { epoch, number, from, bytes } = fill;
        let from = self.place_of(from).ok_or(Violation::NotMember)?;
        Ok(self.arrived(Place { epoch, number }, from, bytes)?)
    }

    /// A message of this epoch is here.
    fn insert(&mut self, number: u64, mut whole: Whole<M>) -> Result<(), Disorder> {
        let Whole { from, ref bytes, .. } = whole;
        let most = self.limit * self.members.len() as u64;
        if self.kept.len() as u64 >= most {
            return Err(Disorder::TooMany);
        }
        let kept = Kept { from, bytes: Arc::clone(bytes) };
        if from == self.place {
            whole.own = Some(self.come_back(number)?);
        }
        let is_fill = number < self.first && number >= self.next();
        self.sequence.arrive(from, number, whole, false).map_err(|(disorder, _)| disorder)?;
        self.kept.insert(number, kept);
        i18_kept_bounded(self.kept.len(), most);
        if is_fill {
            self.missing = self.missing.saturating_sub(1);
            self.settle();
        }
        Ok(())
    }

    /// This rank's own message was handed over elsewhere, with the number that it had.
    fn come_back(&mut self, number: u64) -> Result<M, Disorder> {
        let is_it = self.pending.front().is_some_and(|first| first.number == Some(number));
        let found = if is_it { self.pending.pop_front() } else { None };
        found.map(|pending| pending.own).ok_or(Disorder::Foreign)
    }

    /// Once all fills are here: own messages that have not come back were handed over nowhere.
    fn settle(&mut self) {
        if self.missing == 0 {
            self.pending.iter_mut().for_each(|pending| pending.number = None);
        }
    }
}

/// Members, and checks of what they say.
impl<M> View<M> {
    /// The place of a rank among the members.
    pub fn place_of(&self, rank: Rank) -> Option<usize> {
        self.members.binary_search(&rank).ok()
    }

    /// The member at a place.
    pub fn rank_of(&self, place: usize) -> Rank {
        self.members[place]
    }

    /// The last number that any member can wait for.
    fn most(&self) -> u64 {
        self.next().saturating_add(self.limit * self.members.len() as u64)
    }

    fn is_member(&self, rank: Rank) -> bool {
        self.place_of(rank).is_some()
    }

    fn live(&self) -> impl Iterator<Item = Rank> {
        self.members.iter().copied().filter(|rank| !self.lost.contains_key(rank))
    }

    /// The lowest member that is not known to be lost.
    fn coordinator(&self) -> Rank {
        self.live().next().unwrap_or(self.me)
    }

    /// The home of the variable in the next epoch: the one that it has if that is a member and
    /// lives. All members that live have drawn their last numbers before they report.
    fn next_home(&self) -> Rank {
        let stays = self.is_member(self.home) && !self.lost.contains_key(&self.home);
        if stays { self.home } else { self.coordinator() }
    }
}

/// Mistakes, in tests.
impl<M> View<M> {
    #[cfg(test)]
    fn has(&self, bug: Planted) -> bool {
        self.planted == Some(bug)
    }

    #[cfg(not(test))]
    #[inline(always)]
    fn has(&self, _: Planted) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
