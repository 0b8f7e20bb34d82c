//! Agreement among the survivors of a team: Buntinas's coordinator agreement (D. Buntinas,
//! "Scalable Distributed Consensus to Support MPI Fault Tolerance", IPDPS 2012, the loose
//! semantics), with contributions gathered flat.
//!
//! Members bring flags and the members that they know to be lost. The coordinator, which is the
//! lowest member that is not known to be lost, waits for all that are not, and decides: all flags
//! combined by AND, all lost members united. If the coordinator is lost, its members turn to the
//! next one:
//!
//! ```text
//!    0           1           2           3
//!    │◀──────────┤           │           │   contributions
//!    │◀──────────┼───────────┤           │
//!    │◀──────────┼───────────┼───────────┤
//!    ├───────────┼──────────▶│           │   0 decides, tells 2 of it,
//!    ✕           │           │           │   and is lost
//!                │◀──────────┤           │   2 tells the next coordinator the decision
//!                │◀──────────┼───────────┤   3 knows none, and contributes again
//!                ├──────────▶│           │   1 adopts the decision, and tells all of it
//!                ├───────────┼──────────▶│
//! ```
//! The rank of the coordinator, which sends or receives a message, is its *ballot*. A coordinator
//! that has decided already answers a contribution with the decision.
//!
//! **Failure detector.** It is perfect: it reports only ranks that are lost ([`Agreement::lost`]),
//! and in the end it reports them to everybody. A message is a report, too: its sender knows those
//! to be lost that it names, and all members below the ballot. What is still under way from a rank
//! that is known to be lost is dropped, so that nothing of a lower ballot is taken from then on.
//!
//! **Why survivors decide alike.** Let `c` decide number `k` by itself, with nobody's decision.
//! - *No rank that lives has decided `k`.* `c` has a contribution to `k` from each of them. When a
//!   member sent that it had not decided `k`, and knew all below `c` to be lost, so that it takes
//!   nothing of theirs any more.
//! - *None is told another decision than that of `c`.* Decisions come from coordinators, and these
//!   are told by members. Coordinators below `c` are lost, and all that live know it. `c` itself
//!   could only be told by a member whose contribution it has not: one that it knows to be lost. A
//!   coordinator above `c` there is only once `c` is lost; who tells it a decision then has lived
//!   when `c` decided, and so had none before; and if it decides by itself, then no rank that
//!   lives has got the decision of `c`, by the first point, and these points hold for it.
//!
//! A member that is lost may have decided otherwise: that is what is loose. So may one that ended:
//! a rank that has decided keeps its [`Agreement`], and hands messages and losses to it, until all
//! members that live have decided, too. [`AgreementViolation::Differs`] is an error, always: the
//! detector was wrong.
//!
//! **Why the last decision is enough.** Nobody decides `k + 1` before every member that lives has
//! contributed to it, and a member contributes to it after it has decided `k`. So a member that
//! lives and has not decided `k` asks only members that have not decided `k + 1`, and the last
//! decision of these is the one of `k`.
//!
//! | invariant | |
//! |---|---|
//! | A1 | no two ranks that live decide a number differently |
//! | A2 | flags are the AND of some contributions, among them those of all ranks that live; lost are only ranks that are lost, among them all that one that lives knew when it began |
//! | A3 | when all have begun, the detector has told everybody and nothing is under way, all have decided |
//! | A4 | a rank keeps one contribution of each other member, and one decision |
//!
//! `tests` explores all states of small teams for these. Here A4 is asserted always, and
//! [`AgreementViolation`] names what a peer breaks.

pub(crate) mod format;
mod planted;

pub use format::AgreementMessage;

use crate::mistake::Mistake;
use format::BallotKind;
use planted::Planted;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_endpoint::Rank;

/// A way to other members.
pub trait Post {
    /// Sends a message. Those to one rank arrive in order, or are lost with one of the two.
    fn send(&mut self, to: Rank, message: &AgreementMessage);
}

/// Values that all members that live have agreed about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Decision {
    /// Number of the agreement among those of the team, counted from 0. Counts round.
    pub number: u32,
    /// Flags of all members that live and of some that do not, combined by AND.
    pub flags: u64,
    /// Members that are lost, in order; others may be, too.
    pub lost: Vec<Rank>,
}

/// Reason why a message is refused: no member sends that, or the failure detector was wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AgreementViolation {
    /// The bytes are no message.
    #[error("bytes that are no message of an agreement")]
    Malformed,
    /// The sender, or a rank that it names, is no other member of the team.
    #[error("a message of an agreement from rank {0} or about it, which is no other member")]
    NotMember(Rank),
    /// The message counts a rank as lost that receives or sends it.
    #[error("a message of an agreement that counts rank {0} as lost, which lives")]
    Lives(Rank),
    /// The ballot is neither of a coordinator that sends it nor of one that receives it.
    #[error("a message of an agreement with the ballot of rank {0}, which it does not concern")]
    Ballot(Rank),
    /// The sender cannot be at this number.
    #[error("a message of agreement {0} from a rank that cannot be there")]
    Number(u32),
    /// The sender has contributed before.
    #[error("a second contribution to agreement {0}")]
    Twice(u32),
    /// A1: the decision is another one than was decided here.
    #[error("A1 agreement: agreement {0} was decided differently by two members")]
    Differs(u32),
}

/// Agreements of one team at one of its members.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Agreement {
    me: Rank,
    /// All members, in order.
    members: Arc<[Rank]>,
    /// Members that are known to be lost, in order.
    lost: Vec<Rank>,
    /// Number of the agreement that is under way, or is begun next.
    next: u32,
    /// Flags of this rank in the agreement that is under way.
    mine: Option<u64>,
    /// Flags of others in that agreement, which may not have begun here.
    contributions: BTreeMap<Rank, u64>,
    last: Option<Decision>,
    /// True if nobody has asked for the last decision.
    is_news: bool,
    mistake: Mistake<Planted>,
}

impl Agreement {
    /// The agreements of a team, none of which has begun.
    ///
    /// # Panics
    /// If `members` are not in order, each once, with `me` among them.
    pub fn new(members: &[Rank], me: Rank) -> Self {
        assert!(members.is_sorted_by(|one, next| one < next), "members are in order");
        assert!(members.binary_search(&me).is_ok(), "rank {me} is a member");
        Agreement {
            me,
            members: members.into(),
            lost: Vec::new(),
            next: 0,
            mine: None,
            contributions: BTreeMap::new(),
            last: None,
            is_news: false,
            mistake: Mistake::default(),
        }
    }

    /// Begins the next agreement.
    ///
    /// # Panics
    /// If the one before is not decided, or its decision was not taken.
    pub fn begin(&mut self, flags: u64, out: &mut impl Post) {
        assert!(self.mine.is_none() && !self.is_news, "agreements follow one another");
        self.mine = Some(flags);
        self.contribute(out);
        self.decide_if_complete(out);
    }

    /// Takes note that a rank is lost, of this team or another; again, too.
    ///
    /// # Panics
    /// If it is this one.
    pub fn lost(&mut self, rank: Rank, out: &mut impl Post) {
        assert_ne!(rank, self.me, "who is lost is not told so");
        if self.is_member(rank) {
            self.learn(&[rank], out);
        }
    }

    /// Takes a message from another member. One from a rank that is known to be lost is dropped.
    ///
    /// # Errors
    /// Messages that no member sends. They change nothing.
    pub fn arrived(
        &mut self,
        from: Rank,
        message: AgreementMessage,
        out: &mut impl Post,
    ) -> Result<(), AgreementViolation> {
        let is_decision = message.kind == BallotKind::Decision;
        if self.is_lost(from) && !(is_decision && self.mistake.is(Planted::TakeFromLost)) {
            return Ok(());
        }
        self.check(from, &message)?;
        match message.kind {
            BallotKind::Contribution => self.take_contribution(from, &message, out),
            BallotKind::Decision => self.take_decision(message, out),
        }
    }

    /// The decision of the agreement that was begun last, once.
    pub fn decided(&mut self) -> Option<Decision> {
        let is_news = std::mem::take(&mut self.is_news);
        self.last.as_ref().filter(|_| is_news).cloned()
    }

    /// Ranks that this one waits for: the coordinator, or as such the members that are to
    /// contribute. None if no agreement is under way.
    pub fn awaited(&self) -> Vec<Rank> {
        match self.coordinator() {
            _ if self.mine.is_none() => Vec::new(),
            coordinator if coordinator == self.me => {
                self.live_others().filter(|rank| !self.contributions.contains_key(rank)).collect()
            }
            coordinator => vec![coordinator],
        }
    }

    /// Members that are known to be lost, in order.
    pub fn known_lost(&self) -> &[Rank] {
        &self.lost
    }
}

/// Members, and what is known of them.
impl Agreement {
    fn is_member(&self, rank: Rank) -> bool {
        self.members.binary_search(&rank).is_ok()
    }

    fn is_lost(&self, rank: Rank) -> bool {
        self.lost.binary_search(&rank).is_ok()
    }

    fn live_others(&self) -> impl Iterator<Item = Rank> {
        let live = self.members.iter().copied().filter(|&rank| !self.is_lost(rank));
        live.filter(|&rank| rank != self.me)
    }

    /// The lowest member that is not known to be lost.
    fn coordinator(&self) -> Rank {
        let mut lost = self.lost.iter();
        let live = self.members.iter().find(|&rank| lost.next() != Some(rank));
        live.copied().unwrap_or(self.me)
    }

    fn is_coordinator(&self) -> bool {
        self.coordinator() == self.me
    }

    /// Adds ranks to those that are known to be lost. True if the coordinator is another now.
    fn note_lost(&mut self, ranks: &[Rank]) -> bool {
        let before = self.coordinator();
        for rank in ranks {
            if let Err(at) = self.lost.binary_search(rank) {
                self.lost.insert(at, *rank);
            }
        }
        self.coordinator() != before
    }

    /// Takes note that these members are lost, and turns to the next coordinator if need be.
    fn learn(&mut self, ranks: &[Rank], out: &mut impl Post) {
        if self.note_lost(ranks) {
            if !self.mistake.is(Planted::KeepDecision) {
                self.tell_coordinator(out);
            }
            if !self.mistake.is(Planted::ContributeOnce) {
                self.contribute(out);
            }
        }
        self.decide_if_complete(out);
    }

    /// All members that the sender of a message knows to be lost, as the message says.
    fn lost_by(&self, message: &AgreementMessage) -> Vec<Rank> {
        let below = self.members.partition_point(|&rank| rank < message.ballot);
        let mut lost = self.members[..below].to_vec();
        if !(self.mistake.is(Planted::KeepLostApart) && message.kind == BallotKind::Contribution) {
            lost.extend(&message.lost);
        }
        lost
    }
}

/// Messages out.
impl Agreement {
    /// Sends the coordinator this rank's contribution, if there is one.
    fn contribute(&self, out: &mut impl Post) {
        let Some(flags) = self.mine.filter(|_| !self.is_coordinator()) else { return };
        let (number, ballot) = (self.next, self.coordinator());
        let lost = self.lost.clone();
        out.send(
            ballot,
            &AgreementMessage { kind: BallotKind::Contribution, number, ballot, flags, lost },
        );
    }

    /// Tells the coordinator the last decision, if there is one.
    fn tell_coordinator(&self, out: &mut impl Post) {
        let coordinator = self.coordinator();
        if coordinator != self.me {
            self.tell(coordinator, coordinator, out);
        }
    }

    fn tell(&self, to: Rank, ballot: Rank, out: &mut impl Post) {
        let Some(Decision { number, flags, lost }) = self.last.clone() else { return };
        let kind = match self.mistake.is(Planted::ContributeDecision) && ballot != self.me {
            true => BallotKind::Contribution,
            false => BallotKind::Decision,
        };
        out.send(to, &AgreementMessage { kind, number, ballot, flags, lost });
    }

    /// Decides as coordinator, if every member that is not known to be lost has contributed.
    fn decide_if_complete(&mut self, out: &mut impl Post) {
        let Some(mine) = self.mine.filter(|_| self.is_coordinator() && self.is_complete()) else {
            return;
        };
        let flags = self.contributions.values().fold(mine, |all, flags| all & flags);
        self.end(Decision { number: self.next, flags, lost: self.lost.clone() });
        self.announce(out);
    }

    fn is_complete(&self) -> bool {
        let contributed = |rank: &&Rank| self.contributions.contains_key(rank);
        let live = self.contributions.len() - self.lost.iter().filter(contributed).count();
        let awaited = self.members.len() - 1 - self.lost.len();
        live + usize::from(self.mistake.is(Planted::DecideEarly)) >= awaited
    }

    /// Ends the agreement that is under way.
    fn end(&mut self, decision: Decision) {
        self.next = self.next.wrapping_add(1);
        self.mine = None;
        self.contributions.clear();
        self.last = Some(decision);
        self.is_news = true;
    }

    /// Tells all members of the last decision, as coordinator.
    fn announce(&self, out: &mut impl Post) {
        self.live_others().for_each(|rank| self.tell(rank, self.me, out));
    }
}

/// Messages in.
impl Agreement {
    /// Refuses what a message says of its sender, this rank and others.
    fn check(&self, from: Rank, message: &AgreementMessage) -> Result<(), AgreementViolation> {
        let is_other = |rank: Rank| self.is_member(rank) && rank != self.me;
        if !is_other(from) {
            return Err(AgreementViolation::NotMember(from));
        }
        if let Some(&rank) = message.lost.iter().find(|&&rank| !self.is_member(rank)) {
            return Err(AgreementViolation::NotMember(rank));
        }
        let is_senders = message.ballot == from && message.kind == BallotKind::Decision;
        if message.ballot != self.me && !is_senders {
            return Err(AgreementViolation::Ballot(message.ballot));
        }
        let lives = |rank: &Rank| message.lost.contains(rank) || *rank < message.ballot;
        match [self.me, from].into_iter().find(lives) {
            Some(rank) => Err(AgreementViolation::Lives(rank)),
            None => Ok(()),
        }
    }

    /// True if this is the number of the last decision here.
    fn is_last(&self, number: u32) -> bool {
        self.last.as_ref().is_some_and(|last| last.number == number)
    }

    fn take_contribution(
        &mut self,
        from: Rank,
        message: &AgreementMessage,
        out: &mut impl Post,
    ) -> Result<(), AgreementViolation> {
        let AgreementMessage { number, flags, .. } = *message;
        let is_next = number == self.next;
        if !is_next && !self.is_last(number) {
            return Err(AgreementViolation::Number(number));
        }
        if is_next && self.contributions.contains_key(&from) {
            return Err(AgreementViolation::Twice(number));
        }
        let is_early = self.mine.is_none();
        if is_next && !(is_early && self.mistake.is(Planted::ForgetEarly)) {
            self.contributions.insert(from, flags);
        }
        a4_bounded(self.contributions.len(), self.members.len());
        self.learn(&self.lost_by(message), out);
        if !is_next && !self.mistake.is(Planted::AnswerNobody) {
            self.tell(from, self.me, out);
        }
        Ok(())
    }

    fn take_decision(
        &mut self,
        message: AgreementMessage,
        out: &mut impl Post,
    ) -> Result<(), AgreementViolation> {
        let lost = self.lost_by(&message);
        let AgreementMessage { number, flags, lost: decided, .. } = message;
        let decision = Decision { number, flags, lost: decided };
        if number == self.next && self.mine.is_some() {
            // The coordinator is now the one that has sent this, or this rank.
            self.note_lost(&lost);
            self.end(decision);
            if self.is_coordinator() && !self.mistake.is(Planted::AdoptQuietly) {
                self.announce(out);
            }
            return Ok(());
        }
        if self.is_last(number) {
            if self.last.as_ref() != Some(&decision) {
                return Err(AgreementViolation::Differs(number));
            }
        } else if !self.is_last(number.wrapping_add(1)) {
            return Err(AgreementViolation::Number(number));
        }
        self.learn(&lost, out);
        Ok(())
    }
}

/// A4: a rank keeps at most one contribution of each other member.
fn a4_bounded(contributions: usize, members: usize) {
    assert!(contributions < members, "A4 bounded: {contributions} contributions of {members}");
}

#[cfg(test)]
mod tests;
