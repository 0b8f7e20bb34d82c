//! Collective operations: one engine for messages, regions and MPI (thesis 7.4.2, 7.5.2).
//!
//! An operation is a [`OperationCall`]: what is done, its root, how many elements. All members of a
//! team begin the same calls in the same order, so that the team and a count name an operation; its
//! signature stands in every packet. Each member makes a schedule of it ([`schedule`]), and a
//! [`RunningOperation`] carries that out. Nothing here knows a clock, a thread, a socket or a lock:
//!
//! ```text
//!                   ┌─────────────────── Teams ───────────────────┐
//! begin(call) ────▶ │ numbers, signatures, what came early        │ ──▶ Refused
//! arrive(packet) ─▶ │   Run: steps of one operation at one member │ ──▶ Transport::send, multicast
//!                   └──────────────────────┬──────────────────────┘
//!                                          ▼
//!                Stage: Waiting, Combine (by whoever drives it), Done
//! ```
//! | module | what |
//! |---|---|
//! | [`schedule`] | the algorithms, and which is taken for how many members and bytes |
//! | [`run`] | one operation under way at one member |
//! | [`teams`] | all operations of one rank |
//! | [`inbox`] | packets of operations that are not that far here |
//! | [`signature`] | what members have to agree about |
//! | [`format`](mod@format) | packets as bytes |
//! | [`agreement`] | what the survivors of a team agree about, one value at each rank |
//! | [`shrinking`] | the team that they are then |
//! | [`growing`] | a team that grows, and ranks that come to it |
//! | [`counting`] | a counter that a team shares, and its move to a new home |
//! | [`arena`] | barriers, short reductions and short broadcasts in shared memory, without packets |
//!
//! **Transports** ([`Transport`]): `weft-messaging` sends each packet as a message of its own;
//! `weft-region` and `weft-tagged` put them among their own packets. All drive the same [`Teams`].
//! Messaging and regions take a job out, so that no lock is held while they send. Messaging may
//! have any number of operations of a team under way; of regions one thread drives the one
//! operation of all ranks. Tagged has a lock around all it does, and the program's thread waits for
//! the one operation of its team.
//!
//! **Memory** ([`OperationMemory`]): a member's contribution, and the room for its result. Packets
//! are placed there as they come; blocks that wait to be combined are the run's own. Combining is
//! the driver's, in the order of members: the same bits at all members and in every run.
//!
//! **Long transfers.** The first 64 KiB leave at once. The rest waits until its receiver has begun
//! the operation and says that it is ready, and is placed where it belongs:
//!
//! ```text
//!   up to 64 KiB:  pieces ───────▶ placed, or stored until the receive is open
//!   the rest:             ◀─────── ready, as soon as it is open
//!                  pieces ───────▶ placed
//! ```
//! **Bounds** (I9). An operation may start once its member knows that all have begun the one
//! [`AHEAD`] before it. The end of an operation that nobody can end before all have begun it, such
//! as a barrier, tells it so. If there has been none for [`AHEAD`] operations,
//! [`Teams::needs_fence`] has all members begin a barrier, at the same place because they count
//! alike. So a member stores at most [`AHEAD`] operations of each other one.
//!
//! **Varied lengths.** Where members choose how much they bring, every packet of a transfer says
//! how long all of it is. Such numbers of peers bound nothing that is allocated.
//!
//! **Teams of teams.** A team that is a part of another has a name that its first member gives it,
//! and tells the others in the operation that splits the whole, which nobody ends before all have
//! begun it. So of the parts that a member has not opened yet it is told only in that operation.
//!
//! **Faults.** Members that begin different operations find a [`Disagreement`] in the first packet
//! or in the arena's count; a packet that no member sends is a violation; both end the team. Lost
//! ranks are the transport's to report.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod arena;
mod awaited;
#[cfg(not(loom))]
pub mod counting;
pub mod format;
pub mod growing;
pub mod inbox;
mod members;
mod mistake;
pub mod run;
pub mod schedule;
pub mod shrinking;
pub mod signature;
pub mod teams;

pub use awaited::awaited;
pub use inbox::ArrivedPacket;
pub use members::Members;
pub use run::{
    Job, OperationMemory, RunFailure, RunningOperation, Stage, TransferBody, Transport,
    combine_elements,
};
pub use schedule::{BARRIER, LEAVING, OperationCall, Tuning};
pub use signature::{Abort, Disagreement, Operation, Signature};
pub use teams::{PacketEffect, Parked, Refused, Teams};

use weft_endpoint::Rank;

/// Operations that a member ends at most without knowing that all others have begun the first of
/// them.
pub const AHEAD: u32 = 64;
/// Bytes of a transfer that leave before its receiver is ready.
pub const EAGER_BYTES: usize = 64 * 1024;

/// Violation that a member reports if it hears of another operation than its own.
pub const DISAGREES: &str = "a part of another collective operation than this rank has begun: members call different ones, or with different sizes or roots";

/// The name of a team, which no two teams of a rank have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TeamId {
    /// The rank that named it.
    pub leader: Rank,
    /// Number of the team among those that it named.
    pub count: u32,
}

impl TeamId {
    /// A bit in the numbers of teams that are parts of split ones: their leaders count these alone,
    /// without other ranks, and apart from teams that all ranks count.
    pub const SPLIT: u32 = 1 << 31;

    /// Encodes it.
    pub fn emit(self) -> [u8; 6] {
        let [l0, l1] = self.leader.0.to_le_bytes();
        let [c0, c1, c2, c3] = self.count.to_le_bytes();
        [l0, l1, c0, c1, c2, c3]
    }

    /// Decodes one, and returns what follows; `None` if that is too short.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&[l0, l1, c0, c1, c2, c3], rest) = bytes.split_first_chunk()?;
        let (leader, count) = (u16::from_le_bytes([l0, l1]), u32::from_le_bytes([c0, c1, c2, c3]));
        Some((TeamId { leader: Rank(leader), count }, rest))
    }
}

#[cfg(all(test, not(loom)))]
mod golden;
#[cfg(test)]
mod tests;
