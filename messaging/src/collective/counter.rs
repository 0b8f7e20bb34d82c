//! Counters that teams share, which go on after the loss of their home
//! ([`weft_collective::counting`], which says why none of their numbers is handed out twice).

use super::agreeing::Agreeing;
use super::operations::Operations;
use super::team::Team;
use crate::order::ORDER_VARIABLES;
use crate::{Error, Result};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_collective::counting::{Brought, BroughtWords, Gathered, Mark, Mismatch, NewHome};
use weft_endpoint::{Atomic, Rank, SYSTEM_VARIABLES, USER_VARIABLES, Variable};

/// Counters of which a rank is the home in its time, at most.
const COUNTERS_PER_RANK: u16 = SYSTEM_VARIABLES - ORDER_VARIABLES;

/// Variable of each rank for its first counter.
const FIRST_VARIABLE: u16 = USER_VARIABLES + ORDER_VARIABLES;

/// Name of these for those who break their protocol.
const SYSTEM: &str = "counters";

/// A counter that a team shares, at 0 at first. It is a variable of 64 bits at its *home*, the
/// team's first member, which serves it without its program.
///
/// In a job that goes on after a loss, [`Self::move_to`] takes it along to the team of the members
/// that live. Of the additions that have returned to members that live no two overlap then either,
/// and values never go down: an addition has a value at least as high as the end of each that had
/// returned before to a member that lives. Numbers may be left out, those of additions that have
/// failed for example. If the home is lost, and ranks do not share memory, numbers may be handed
/// out again that nobody has heard of but members that are lost, too.
pub struct Counter {
    operations: Arc<Operations>,
    /// Ranks that have it, in their order.
    ranks: Vec<Rank>,
    variable: Variable,
    mark: Mutex<Mark>,
}

impl Counter {
    /// Creates a counter that the members of a team share. All of them call it; it blocks until all
    /// have.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::CountersDiffer`] if others call something else of counters;
    /// [`Error::TooManyCounters`].
    pub fn new(team: &Team) -> Result<Self> {
        settle(team, Brought::Nothing)
    }

    /// Gets a share of the counter that other members of a team move there by [`Self::move_to`]:
    /// for members that have none, such as ranks that came later.
    ///
    /// # Errors
    /// Those of [`Self::move_to`].
    pub fn join(team: &Team) -> Result<Self> {
        settle(team, Brought::Joins)
    }

    /// Adds to the counter and returns its value before. Blocks for a round trip at most.
    ///
    /// # Errors
    /// A lost rank: the home, where ranks do not share memory. This rank has no numbers by it; they
    /// may be left out, or others get them. [`Error::CounterFull`].
    pub fn add(&self, amount: u64) -> Result<u64> {
        let before = self.operations.engine().packets().fetch_and_add(self.variable, amount)?;
        match self.mark().added(before, amount) {
            true => Ok(before),
            false => Err(Error::CounterFull),
        }
    }

    /// Adds 1.
    ///
    /// # Errors
    /// Those of [`Self::add`].
    pub fn next(&self) -> Result<u64> {
        self.add(1)
    }

    /// The rank that keeps the value.
    pub fn home(&self) -> Rank {
        self.variable.home
    }

    /// Moves the counter to `team`, which its own team has been shrunk to or has grown to: the
    /// team's first member is the home then, and its members share the counter. All of them call
    /// it, or [`Self::join`] if they have no share yet; it blocks until all have. It goes well at
    /// all members that live or at none: then the counter is where it was, and may be moved to a
    /// smaller team. It makes no difference whether the home is lost.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::CounterLeavesOut`], [`Error::CountersDiffer`] and
    /// [`Error::TooManyCounters`], at all members.
    pub fn move_to(&mut self, team: &Team) -> Result<()> {
        let brought = match self.ranks.iter().find(|rank| self.leaves_out(**rank, team)) {
            Some(left_out) => Brought::LeavesOut(*left_out),
            None => Brought::Counter {
                variable: self.variable,
                seen: self.mark().seen(),
                holders: self.ranks.iter().filter(|rank| is_in(team, **rank)).count() as u64,
            },
        };
        *self = settle(team, brought)?;
        Ok(())
    }

    /// True if a rank that has it would have it no more, although it is not lost.
    fn leaves_out(&self, rank: Rank, team: &Team) -> bool {
        let is_lost = || {
            let is_agreed = |agreeing: &Agreeing| agreeing.knows_lost(rank);
            self.operations.engine().packets().losses().of(rank).is_some()
                || self.operations.agreeing.as_ref().is_some_and(is_agreed)
        };
        !is_in(team, rank) && !is_lost()
    }

    fn mark(&self) -> MutexGuard<'_, Mark> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Meets all members of `team`, who have a counter there then.
fn settle(team: &Team, brought: Brought) -> Result<Counter> {
    let all = read(team, &team.all_gather(&brought.emit())?)?;
    let gathered = Brought::compare(&all).map_err(|mismatch| match mismatch {
        Mismatch::LeavesOut(rank) => Error::CounterLeavesOut { rank },
        Mismatch::Differs => Error::CountersDiffer,
    })?;
    let home = team.member(0);
    let mut words = match team.rank() {
        0 => open(team, &gathered)?.emit(),
        _ => NewHome::Full.emit(),
    };
    team.broadcast(0, &mut words)?;
    match NewHome::parse(words, home) {
        Some(NewHome::At(variable, value)) if variable.index >= FIRST_VARIABLE => {
            let mut ranks: Vec<Rank> = (0..team.size()).map(|place| team.member(place)).collect();
            ranks.sort_unstable();
            let (operations, mark) = (&team.shared.operations, Mutex::new(Mark::at(value)));
            Ok(Counter { operations: Arc::clone(operations), ranks, variable, mark })
        }
        Some(NewHome::Full) => Err(Error::TooManyCounters { home, limit: COUNTERS_PER_RANK }),
        _ => Err(violation(home, "a variable that is none of a counter's")),
    }
}

/// Contributions of all members.
fn read(team: &Team, words: &[u64]) -> Result<Vec<Brought>> {
    let (all, _): (&[BroughtWords], _) = words.as_chunks();
    let read = |(place, words): (usize, &BroughtWords)| {
        let brought = Brought::parse(*words).filter(|brought| match brought {
            Brought::Counter { variable, .. } => {
                let packets = team.shared.operations.engine().packets();
                variable.index >= FIRST_VARIABLE && variable.home.index() < packets.room()
            }
            _ => true,
        });
        brought.ok_or_else(|| violation(team.member(place), "words that are about no counter"))
    };
    all.iter().enumerate().map(read).collect()
}

/// Opens a variable of this rank at which the counter goes on. Nobody is adding to the old one, or
/// hears what that gives.
fn open(team: &Team, gathered: &Gathered) -> Result<NewHome> {
    let operations = &team.shared.operations;
    let packets = operations.engine().packets();
    let old = match gathered.from.map(|from| packets.fetch_and_add(from, 0)) {
        None | Some(Err(weft_endpoint::Error::RankLost(_))) => None,
        Some(read) => Some(read?),
    };
    let next = |kept: u16| (kept < COUNTERS_PER_RANK).then_some(kept + 1);
    let Ok(number) = operations.counters_kept.fetch_update(Relaxed, Relaxed, next) else {
        return Ok(NewHome::Full);
    };
    let variable = Variable { home: packets.rank(), index: FIRST_VARIABLE + number };
    let value = gathered.value(old);
    packets.atomic(variable, Atomic::Swap(value))?;
    Ok(NewHome::At(variable, value))
}

fn is_in(team: &Team, rank: Rank) -> bool {
    team.member(team.rank()) == rank || team.shared.members.place(rank).is_some()
}

fn violation(from: Rank, what: &'static str) -> Error {
    Error::Violation { from, system: SYSTEM, what }
}
