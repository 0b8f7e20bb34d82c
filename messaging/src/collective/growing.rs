//! Teams that grow by ranks that come later, and the first team of such a rank.
//!
//! ```text
//!   members                first member                       rank that comes
//!   barrier ───────────────── barrier
//!                       has ranks started ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─► joins
//!   broadcast ◄───────────── broadcast: name, ranks
//!   team opens             team opens ──── "weft.growth" ──────► team opens
//! ```
//! The new team's name is one that its first member has given to no other, as that of a
//! [part](super::split) is.
//!
//! **Bounds** (I9). No rank is started before all members are in the call, and none is in a second
//! one meanwhile. So packets for a team that a rank has not opened come only while that is in the
//! call, or before a rank that comes has heard of its first team: there is one such team of each
//! call.
//!
//! **Losses.** In a job that goes on the barrier and the broadcast end well at all members that
//! live or at none. If the broadcast fails, the first member withdraws the ranks that were started;
//! if it is lost itself nobody has heard of them, and they hear of the loss: they end. A rank that
//! is lost before it has come is a lost member of the new team, of which its operations tell.

use super::operations::{Operations, TeamId};
use super::shrink::meet_to_leave;
use super::team::{Team, of_founders, opened};
use crate::engine::Engine;
use crate::poll::Poller;
use crate::wait::Polls as _;
use crate::{Error, Mailbox, Message, Port, Result};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use weft_collective::Members;
use weft_collective::growing::{Coming, Growing, Heard, News};
use weft_endpoint::{Awaited, Rank};

/// Port at which a rank that comes hears of its team.
const PORT: &str = "weft.growth";

/// Outcomes that the first member tells the others, each with a word: the team's name, and how many
/// ranks there is room for.
const GROWN: u32 = 0;
const FULL: u32 = 1;
const NOT_SPAWNED: u32 = 2;
const NO_DOOR: u32 = 3;
/// Words of what it tells them before the ranks.
const HEAD_WORDS: usize = 3;

/// Pauses between looks at the door while nobody is there: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Name and ranks of a team, for a rank that comes: `name (4) | ranks (2 each)`, the first member
/// first.
struct Invitation {
    name: u32,
    members: Vec<Rank>,
}

impl Team {
    /// The team of the members of this one, in their order, and of ranks that come later, behind
    /// them: at least as many as `least` says, and at most as many as `most`. The first member has
    /// them come by `recruit`, which is told how many there may be and returns which they are; it
    /// is asked again as long as they are too few. All members call it, with the same `most`, and
    /// no other ranks; it blocks until all have, and until the ranks are being started. They may
    /// join later: operations of the new team wait for them.
    ///
    /// Like a [part](Self::split) the team has no multicast group and no shared memory of its own.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::JobIsFull`], [`Error::NoDoor`] and [`Error::NotSpawned`], at all
    /// members.
    pub fn grow(
        &self,
        (least, most): (u16, u16),
        recruit: impl FnMut(u16) -> Result<Vec<Rank>>,
    ) -> Result<Self> {
        let operations = &self.shared.operations;
        let splitting = operations.split()?;
        self.barrier()?;
        let (leader, mut growing) = (self.member(0), Growing::default());
        let mut words = vec![0; HEAD_WORDS + usize::from(most)];
        if self.rank() == 0 {
            let mut come = Vec::new();
            let recruited = recruit_all(self, (least.min(most), most), recruit, &mut come);
            growing.started(come.clone());
            fill(&mut words, splitting.name, recruited.map(|()| come));
        }
        let told = self.broadcast(0, &mut words);
        let (come, news) = growing.ended(told.is_ok() && words[0] == GROWN);
        if news == News::Withdrawn {
            // Those that this does not reach are lost themselves.
            let _ = invite(operations.engine(), &come, &[]);
        }
        told?;
        let invitation = match (words[0], words[1], words[2]) {
            (GROWN, name, count) => {
                let come = words[HEAD_WORDS..].get(..count as usize);
                let come = come.ok_or(Error::Stray { from: leader })?;
                Invitation { name, members: with(self, come) }
            }
            (FULL, asked, left) => {
                return Err(Error::JobIsFull { asked: asked as u16, left: left as u16 });
            }
            (NO_DOOR, ..) => return Err(Error::NoDoor),
            _ => return Err(Error::NotSpawned { by: leader }),
        };
        let team = invitation.open(operations)?;
        operations.note_grown(&team);
        invite(operations.engine(), &come, &invitation.emit())?;
        Ok(team)
    }
}

/// Has ranks come until there are at least `least` of them; serves messages while there are too
/// few. Those that have come before it fails are in `come`.
///
/// # Errors
/// Those of `recruit`; the loss of a member.
fn recruit_all(
    team: &Team,
    (least, most): (u16, u16),
    mut recruit: impl FnMut(u16) -> Result<Vec<Rank>>,
    come: &mut Vec<Rank>,
) -> Result<()> {
    let mut pause = PAUSES.0;
    loop {
        come.extend(recruit(most - come.len() as u16)?);
        if come.len() >= least.into() {
            return Ok(());
        }
        serve_for(team, pause)?;
        pause = PAUSES.1.min(pause * 2);
    }
}

/// Serves messages for this time.
///
/// # Errors
/// The loss of a member.
fn serve_for(team: &Team, time: Duration) -> Result<()> {
    let engine = team.shared.operations.engine();
    let (packets, what) = (engine.packets(), || Awaited::of_unknown("somebody at the door"));
    let losses = packets.losses();
    let look = || {
        (0..team.size()).try_for_each(|number| losses.check_lives(team.member(number)))?;
        Ok(None::<()>)
    };
    let until = Some(packets.now() + time);
    Poller::new(&engine.messages).watch_until(&what, until, look).map(drop)
}

/// The members of `team`, and the ranks that come behind them.
fn with(team: &Team, come: &[u32]) -> Vec<Rank> {
    let members = (0..team.size()).map(|number| team.member(number));
    members.chain(come.iter().map(|rank| Rank(*rank as u16))).collect()
}

/// Has these ranks hear of their team, or that there is none, in which case `invitation` is empty.
fn invite(engine: &Arc<Engine>, ranks: &[Rank], invitation: &[u8]) -> Result<()> {
    let port = Port::sender(engine, PORT)?;
    ranks.iter().try_for_each(|rank| match port.send(*rank, invitation) {
        // One that is lost already needs none.
        Err(error) if error.lost_rank() == Some(*rank) => Ok(()),
        sent => sent,
    })
}

/// Writes what the first member tells the others.
fn fill(words: &mut [u32], name: TeamId, come: Result<Vec<Rank>>) {
    match come {
        Ok(ranks) if ranks.len() <= words.len() - HEAD_WORDS => {
            words[..HEAD_WORDS].copy_from_slice(&[GROWN, name.count, ranks.len() as u32]);
            let places = words[HEAD_WORDS..].iter_mut().zip(ranks);
            places.for_each(|(word, rank)| *word = rank.0.into());
        }
        Err(Error::JobIsFull { asked, left }) => {
            words[..HEAD_WORDS].copy_from_slice(&[FULL, asked.into(), left.into()]);
        }
        Err(Error::NoDoor) => words[0] = NO_DOOR,
        _ => words[0] = NOT_SPAWNED,
    }
}

/// The teams in which a rank begins and ends.
pub(crate) struct RankTeams {
    operations: Arc<Operations>,
    first: OnceLock<Team>,
    /// The port at which a rank that comes later hears of its first team.
    arrivals: Option<Mailbox>,
}

impl RankTeams {
    /// Takes part in operations, one a rank, in the team of all ranks that the job has begun with.
    /// A rank that comes later calls [`Self::come`] next.
    ///
    /// # Errors
    /// [`Error::PortTaken`] if it does already.
    pub fn new(engine: &Arc<Engine>) -> Result<Self> {
        let packets = engine.packets();
        let (operations, first) = (Operations::new(engine)?, OnceLock::new());
        if packets.rank().index() >= packets.size() {
            let arrivals = Some(Mailbox::new(engine, PORT)?);
            return Ok(RankTeams { operations, first, arrivals });
        }
        let all = of_founders(&operations)?;
        first.get_or_init(|| all);
        Ok(RankTeams { operations, first, arrivals: None })
    }

    /// Waits for the first team of this rank, if it comes later; `spawner` has had it started.
    ///
    /// # Errors
    /// `spawner` is lost, or says what no rank says.
    pub fn come(&self, spawner: Rank) -> Result<()> {
        let Some(arrivals) = &self.arrivals else { return Ok(()) };
        let message = self.await_invitation(arrivals, spawner)?;
        let from = message.source();
        if from != spawner {
            return Err(Error::Stray { from });
        }
        let team = Invitation::read(message, &self.operations)?.open(&self.operations)?;
        self.first.get_or_init(|| team);
        Ok(())
    }

    /// The first message at the port. Losses of others than `spawner` concern the team, once there
    /// is one. A wait tells of one loss, which need not be the only one.
    fn await_invitation(&self, arrivals: &Mailbox, spawner: Rank) -> Result<Message> {
        let losses = self.operations.engine().packets().losses();
        let coming = Coming::new(spawner);
        loop {
            let received = match losses.check_lives(spawner) {
                Ok(()) => arrivals.receive(),
                Err(lost) => arrivals.try_receive().and_then(|left| Ok(left.ok_or(lost)?)),
            };
            let loss = received.as_ref().err().and_then(Error::lost_rank);
            let ends = |lost: Rank| coming.hear(Heard::Loss(lost)).is_some() || !losses.goes_on();
            if loss.is_none_or(ends) {
                return received;
            }
        }
    }

    /// The first team of this rank.
    pub fn first(&self) -> &Team {
        self.first.wait()
    }

    /// Waits for all members that live of the teams that have grown, and of the first one: so
    /// nobody leaves before the ranks that came.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn meet_to_leave(&self) -> Result<()> {
        self.operations.grown().iter().try_for_each(meet_to_leave)?;
        meet_to_leave(self.first())
    }
}

impl Invitation {
    fn open(&self, operations: &Arc<Operations>) -> Result<Team> {
        let me = operations.engine().packets().rank();
        let members = Members::subset(&self.members, me, None).ok_or(Error::Abandoned)?;
        let id = TeamId { leader: self.members[0], count: self.name | TeamId::SPLIT };
        Ok(opened(operations, operations.open_part(id, members)?))
    }

    fn emit(&self) -> Vec<u8> {
        let ranks = self.members.iter().flat_map(|rank| rank.0.to_le_bytes());
        self.name.to_le_bytes().into_iter().chain(ranks).collect()
    }

    /// # Errors
    /// [`Error::Withdrawn`]; [`Error::Stray`] if it is no team with this rank and its sender, whose
    /// it is.
    fn read(mut message: Message, operations: &Operations) -> Result<Self> {
        let (from, packets) = (message.source(), operations.engine().packets());
        let bytes = message.read_to_vec()?;
        if bytes.is_empty() {
            return Err(Error::Withdrawn);
        }
        Self::parse(&bytes, from, packets.rank(), packets.room()).ok_or(Error::Stray { from })
    }

    fn parse(bytes: &[u8], from: Rank, me: Rank, room: usize) -> Option<Self> {
        let (name, ranks) = bytes.split_first_chunk()?;
        let (ranks, rest) = ranks.as_chunks();
        let members: Vec<Rank> = ranks.iter().map(|rank| Rank(u16::from_le_bytes(*rank))).collect();
        let is_sound = rest.is_empty()
            && members.first() == Some(&from)
            && members.contains(&me)
            && members.iter().all(|rank| rank.index() < room)
            && Members::subset(&members, me, None).is_some();
        is_sound.then(|| Invitation { name: u32::from_le_bytes(*name), members })
    }
}

#[cfg(test)]
pub(super) mod tests;
