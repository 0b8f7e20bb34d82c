//! Operations of all members of a team (thesis 7.4.2): the engine of [`weft_collective`], with its
//! packets among those of messages and accesses.
//!
//! A [`Collectives`] is one rank's. Its owner has a lock around all its calls and
//! [drives](Teams::drive) its operations; a packet that is [one of theirs](is_collective) it is
//! [given](arrive). Operations in which no thread waits are [`StartedOperations`].

mod started;

use crate::network::{Broadcast, SendSource};
use crate::{Error, Result};
use weft_collective::{
    ArrivedPacket, Members, OperationMemory, PacketEffect, Refused, RunFailure, TeamId, Teams,
    TransferBody, Transport, Tuning,
};
use weft_endpoint::{Group, Rank};

pub use started::{CombineInside, OperationId, StartedOperations};
pub use weft_collective::DISAGREES;
pub use weft_collective::format::is_collective;

/// Packets that leave before the next look at what has arrived.
const PACKETS_AT_ONCE: usize = 8;

/// The teams of one rank, and their operations on memory `M`; `K` are packets that are kept.
pub type Collectives<M, K> = Teams<M, K>;

/// Limits between algorithms. Up to four members each tells all others at once; one who hears of
/// all of up to 32 hears of them sooner than up a tree.
pub const TUNING: Tuning = Tuning {
    exchange_members: 4,
    flat_members: 32,
    shared_out_bytes: 8 * 1024,
    round_bytes: usize::MAX,
    round_packets: usize::MAX,
    synchronous_broadcasts: false,
};

/// Packets of operations on a network.
pub struct CollectivePackets<'a, N>(pub &'a mut N);

/// The bytes behind the header of a packet, as the network reads them.
impl SendSource for TransferBody<'_> {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    #[inline]
    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        self.read(offset as usize, length, take);
    }
}

impl<N: Broadcast> Transport for CollectivePackets<'_, N> {
    type Error = Error;

    fn payload(&self) -> usize {
        self.0.payload()
    }

    fn multicast_payload(&self) -> usize {
        self.0.broadcast_payload()
    }

    fn packets_at_once(&self) -> usize {
        PACKETS_AT_ONCE
    }

    #[inline]
    fn send(&mut self, to: Rank, head: &[u8], body: &TransferBody<'_>) -> Result<bool> {
        self.0.send(to, head, Some((body, 0, body.len())))
    }

    #[inline]
    fn multicast(&mut self, _all: Group, head: &[u8], body: &TransferBody<'_>) -> Result<bool> {
        self.0.broadcast(head, Some((body, 0, body.len())))
    }
}

/// The error of a failed operation.
impl From<RunFailure<Error>> for Error {
    fn from(failure: RunFailure<Error>) -> Self {
        match failure {
            RunFailure::Transport(error) => error,
            RunFailure::Violation { from, what } => Error::Violation { from, what },
        }
    }
}

/// Opens a team, by the name that its first member has [given](Teams::name) it. All members do so,
/// with the same members in the same order. False if it cannot be: not this rank's, a rank twice,
/// another leader, or open already.
///
/// # Errors
/// [`Error::Violation`] if what came for it cannot be its.
pub fn open<M: OperationMemory, K: AsRef<[u8]>>(
    collectives: &mut Collectives<M, K>,
    team: TeamId,
    members: &[Rank],
    (rank, ranks): (Rank, usize),
) -> Result<bool> {
    let is_job = members.len() == ranks;
    let fits = members.first() == Some(&team.leader) && members.iter().all(|it| it.index() < ranks);
    let members = Members::subset(members, rank, is_job.then_some(Group::ALL));
    let Some(members) = members.filter(|_| fits) else { return Ok(false) };
    let what = "a part of a team that it is not in";
    collectives.open(team, members).map_err(|from| Error::Violation { from, what })
}

/// The violation, if a member is known that it is of; `None` if it is this rank's call.
pub fn violation(refused: &Refused, me: Rank) -> Option<Error> {
    let Refused::Disagreement(said) = refused else { return None };
    let from = if said.one.0 == me { said.other.0 } else { said.one.0 };
    Some(Error::Violation { from, what: DISAGREES })
}

/// Takes one packet of `from`. Returns the operation that may go on, if one may.
///
/// # Errors
/// [`Error::Violation`] if no member sends that.
#[inline]
pub fn arrive<M: OperationMemory, K: AsRef<[u8]>>(
    collectives: &mut Collectives<M, K>,
    from: Rank,
    packet: impl ArrivedPacket<Kept = K>,
) -> Result<Option<OperationId>> {
    let what = match collectives.arrive(from, packet) {
        Ok(PacketEffect::None) => return Ok(None),
        Ok(PacketEffect::Resume(team, number)) => return Ok(Some((team, number))),
        // Others end by themselves.
        Ok(PacketEffect::Aborted(..)) => "the end of a team, which is not its to end",
        Err(Refused::Violation(what)) => what,
        Err(Refused::Disagreement(_) | Refused::Failed(_)) => DISAGREES,
        Err(Refused::NotMember | Refused::Missing) => {
            "a part of a collective operation of a team that it is not in"
        }
    };
    Err(Error::Violation { from, what })
}

#[cfg(test)]
mod tests;
