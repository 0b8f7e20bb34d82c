//! A team that shrinks after losses: [agreements](crate::agreement) in a row, until two of them
//! name the same losses. No clock, no network, no lock.
//!
//! All that live have to get the same team, and one of them has to name it, as a number that no
//! other team of that rank has. Who is the first that lives they know by an agreement; so it names
//! the team in the next one, to which all others bring ones. If that decides the same losses, then
//! the first of the members has brought its number, and that is the name. Else somebody was lost
//! meanwhile, it may be the first, and there is another round:
//!
//! ```text
//!    agree  ──▶ lost: 0           1 is the first, and knows it
//!    agree  ──▶ lost: 0, 1        it brought a name, but was lost, or nobody brought one
//!    agree  ──▶ lost: 0, 1        2 has named it: the team is 2, 3, ...
//! ```
//! Ranks that are lost and that no agreement has named are members of the new team, which its
//! operations tell.
//!
//! | invariant | |
//! |---|---|
//! | S1 | all that live get the same team, and all of them are in it |
//! | S2 | its name is the one that the first of its members brought |
//! | S3 | all that live get a team, once the detector has told everybody and nothing is under way |
//!
//! The tests of agreements explore it, with ranks that are lost meanwhile.

use crate::mistake::Mistake;
use weft_endpoint::Rank;

/// One member's part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shrinking {
    members: Vec<Rank>,
    me: Rank,
    /// Name that this member would give.
    name: u32,
    /// Losses that the last agreement has named.
    known: Option<Vec<Rank>>,
    pub(crate) mistake: Mistake<Planted>,
}

/// The team that is left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shrunk {
    /// Its members, in the order that they had; the first has named it.
    pub members: Vec<Rank>,
    /// The name that it has brought.
    pub name: u32,
}

/// A mistake to plant: a test of the tests, which alone can make it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Planted {
    /// The first member names the team at once, in the only agreement.
    NameAtOnce,
    /// The second agreement is the last, whatever it names.
    StopAtTwo,
}

impl Shrinking {
    /// Nothing is agreed yet. `name` has a bit that is 0.
    pub fn new(members: Vec<Rank>, me: Rank, name: u32) -> Self {
        Shrinking { members, me, name, known: None, mistake: Mistake::default() }
    }

    /// Flags that this member brings to the next agreement: ones, unless it names the team.
    pub fn flags(&self) -> u32 {
        let names = self.known.is_some() || self.mistake.is(Planted::NameAtOnce);
        if names && self.live().next() == Some(self.me) { self.name } else { u32::MAX }
    }

    /// An agreement has decided these flags, and that these are lost. Returns the team if all have
    /// one now; else there is another agreement.
    pub fn decided(&mut self, flags: u32, lost: Vec<Rank>) -> Option<Shrunk> {
        let stops = match self.known {
            None => self.mistake.is(Planted::NameAtOnce),
            Some(_) => self.mistake.is(Planted::StopAtTwo),
        };
        let is_last = self.known.as_ref() == Some(&lost) || stops;
        self.known = Some(lost);
        is_last.then(|| Shrunk { members: self.live().collect(), name: flags })
    }

    fn live(&self) -> impl Iterator<Item = Rank> {
        let known = self.known.as_deref().unwrap_or_default();
        self.members.iter().copied().filter(|rank| !known.contains(rank))
    }
}
