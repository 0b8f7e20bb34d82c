//! Packets of operations of all members of a team as bytes, little-endian.
//!
//! ```text
//!             0      1           2        4      8        14       16      24
//!            ┌──────┬───────────┬────────┬──────┬────────┬────────┬───────┬───────
//! piece      │ kind │ operation │ detail │ team │ number │ leader │ bytes │ bytes of the program
//! ready      │ kind │ operation │ detail │ team │ number │ leader │ bytes │
//!            └──────┴───────────┴────────┴──────┴────────┴────────┴───────┘
//! ```
//! `leader` and `team` name the team; `number` counts its operations; what all members must have begun alike stands beside it: which operation, its root or the
//! size of its elements, how many bytes there are altogether. What goes from one member to another takes as many `piece`s as it needs, in order,
//! and one if it has no bytes. `ready` says that a long one may come.

use super::TeamId;
use crate::format::{Head, word};
use weft_packet::Rank;

/// Bytes before those of a piece.
pub const PIECE: usize = 24;

/// Bits of the number of an operation.
const NUMBER_BITS: u32 = 48;
/// As many operations a team may have: some forty years of them.
const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;

const PIECES: u8 = 24;
const READY: u8 = 25;

/// What all members must have begun alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Which operation.
    pub operation: Operation,
    /// Its root, or the size of its elements as far as it fits.
    pub detail: u16,
    /// How many bytes there are altogether.
    pub bytes: u64,
}

/// Which bytes go where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Those of one member to all.
    Broadcast,
    /// A share of each member to one.
    Gather,
    /// A share of each member to all.
    Spread,
    /// To each member its share of what each has.
    Swap,
}

/// What a packet says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Says<'a> {
    /// Of which team.
    pub team: TeamId,
    /// Of which of its operations: 48 bits of the count.
    pub number: u64,
    /// What that is.
    pub signature: Signature,
    /// Some bytes of it; `None` if its sender is ready for more.
    pub piece: Option<&'a [u8]>,
}

/// Whether a packet belongs to an operation of a team, or claims to.
#[inline]
pub fn is_together(packet: &[u8]) -> bool {
    matches!(packet.first(), Some(&(PIECES | READY)))
}

impl Says<'_> {
    /// The packet, or what stands before its bytes.
    #[inline]
    pub fn head(&self) -> Head {
        let Signature { operation, detail, bytes } = self.signature;
        let mut head = Head::new(if self.piece.is_some() { PIECES } else { READY });
        head = head.octet(1, operation as u8 + 1);
        for (at, octet) in detail.to_le_bytes().into_iter().enumerate() {
            head = head.octet(2 + at, octet);
        }
        for (at, octet) in self.team.count.to_le_bytes().into_iter().enumerate() {
            head = head.octet(4 + at, octet);
        }
        let leader = u64::from(self.team.leader.0) << NUMBER_BITS;
        head.word(self.number & NUMBERS | leader).word(bytes)
    }
}

/// What a packet says; `None` if no member says that.
#[inline]
pub fn parse(packet: &[u8]) -> Option<Says<'_>> {
    let (start, rest) = packet.split_first_chunk::<8>()?;
    let [kind, operation, detail @ .., t0, t1, t2, t3] = *start;
    let operation = match operation {
        1 => Operation::Broadcast,
        2 => Operation::Gather,
        3 => Operation::Spread,
        4 => Operation::Swap,
        _ => return None,
    };
    let (number, rest) = word(rest)?;
    let (bytes, rest) = word(rest)?;
    let piece = match (kind, rest) {
        (PIECES, rest) => Some(rest),
        (READY, []) => None,
        _ => return None,
    };
    let signature = Signature { operation, detail: u16::from_le_bytes(detail), bytes };
    let leader = Rank((number >> NUMBER_BITS) as u16);
    let team = TeamId { leader, count: u32::from_le_bytes([t0, t1, t2, t3]) };
    Some(Says { team, number: number & NUMBERS, signature, piece })
}

#[cfg(test)]
mod tests;
