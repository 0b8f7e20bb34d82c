//! Packets of collective operations as bytes, little-endian.
//!
//! ```text
//!  0      1                  2      4       8        12       14      20
//! ┌──────┬──────────────────┬──────┬───────┬────────┬────────┬───────┐
//! │ kind │ operation │ step │ root │ count │ number │ leader │ bytes │ data
//! └──────┴──────────────────┴──────┴───────┴────────┴────────┴───────┘
//! ```
//! `leader` and `count` name the team; `number` counts its operations; `operation`, `root` and
//! `bytes` are the sender's signature of it. A transfer takes as many pieces as it needs, in order,
//! and one if it has no bytes. With an element or two a packet fits into one slot of the
//! shared-memory link.

use crate::TeamId;
use crate::schedule::BARRIER;
use crate::signature::{Abort, Operation, Signature};
use weft_endpoint::Rank;

/// Bytes of the header.
pub const SIZE: usize = 20;
/// Length of the longest transfer, plus one.
const BYTES_LIMIT: u64 = 1 << 48;
/// Bits of the number of an operation's kind, beside those of the step.
const OPERATION_BITS: u32 = 4;
const _: () = assert!(Operation::ALL.len() <= 1 << OPERATION_BITS);

/// A part of a transfer between two members.
const PIECE: u8 = 24;
/// Its receiver is ready for all of it.
const READY: u8 = 25;
/// The end of a team.
const ABORT: u8 = 26;

/// The step of a packet that only says what its sender has begun.
pub const DECLARATION: u8 = 15;

/// Kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferKind {
    /// Bytes of a transfer.
    Piece,
    /// The sender is ready to receive the transfer of this step.
    Ready,
    /// The end of all operations of the team; the data is an [`Abort`].
    Abort,
}

/// The first bytes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Kind of the packet.
    pub kind: TransferKind,
    /// Team of the operation.
    pub team: TeamId,
    /// Number of the operation among those of the team. Counts round.
    pub number: u32,
    /// Step of the operation, below 16.
    pub step: u8,
    /// The operation that the sender has begun.
    pub signature: Signature,
}

/// True if a packet claims to belong to a collective operation.
#[inline]
pub fn is_collective(packet: &[u8]) -> bool {
    matches!(packet.first(), Some(&(PIECE | READY)))
}

impl Header {
    /// Encodes the header.
    #[inline]
    pub fn emit(&self) -> [u8; SIZE] {
        let Signature { operation, root, bytes: length } = self.signature;
        let mut bytes = [0; SIZE];
        bytes[0] = match self.kind {
            TransferKind::Piece => PIECE,
            TransferKind::Ready => READY,
            TransferKind::Abort => ABORT,
        };
        bytes[1] = operation as u8 | self.step << OPERATION_BITS;
        bytes[2..4].copy_from_slice(&root.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.team.count.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.number.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.team.leader.0.to_le_bytes());
        bytes[14..].copy_from_slice(&length.to_le_bytes()[..6]);
        bytes
    }

    /// The header of a packet and its data; `None` if no member writes that.
    #[inline]
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (front, data) = packet.split_first_chunk::<SIZE>()?;
        let &[kind, operation, r0, r1, c0, c1, c2, c3, n0, n1, n2, n3, l0, l1, length @ ..] = front;
        let kind = match kind {
            PIECE => TransferKind::Piece,
            READY if data.is_empty() => TransferKind::Ready,
            ABORT => TransferKind::Abort,
            _ => return None,
        };
        let [b0, b1, b2, b3, b4, b5] = length;
        let signature = Signature {
            operation: Signature::operation(operation & ((1 << OPERATION_BITS) - 1))?,
            root: u16::from_le_bytes([r0, r1]),
            bytes: u64::from_le_bytes([b0, b1, b2, b3, b4, b5, 0, 0]),
        };
        let leader = Rank(u16::from_le_bytes([l0, l1]));
        let team = TeamId { leader, count: u32::from_le_bytes([c0, c1, c2, c3]) };
        let number = u32::from_le_bytes([n0, n1, n2, n3]);
        Some((Header { kind, team, number, step: operation >> OPERATION_BITS, signature }, data))
    }
}

/// The packet that ends all operations of a team.
pub fn abort_packet(team: TeamId, abort: &Abort) -> Vec<u8> {
    let signature = BARRIER.signature();
    let header = Header { kind: TransferKind::Abort, team, number: 0, step: 0, signature };
    [&header.emit()[..], &abort.emit()].concat()
}

/// True if transfers of so many bytes can be described.
pub fn is_describable(bytes: u64) -> bool {
    bytes < BYTES_LIMIT
}

#[cfg(test)]
mod tests;
