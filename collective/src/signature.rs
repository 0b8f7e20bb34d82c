//! Signatures, which all members have to agree about, and the reports of members that do not.

use crate::schedule::LEAVING;
use std::fmt;
use weft_endpoint::Rank;

/// A kind of operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Operation {
    /// Waiting for all.
    Barrier,
    /// The root's values to all.
    Broadcast,
    /// All values combined, to the root.
    Reduce,
    /// All values combined, to all.
    AllReduce,
    /// All values to the root.
    Gather,
    /// All values to the root, of any length from each member.
    GatherVaried,
    /// A part of the root's values to each.
    Scatter,
    /// All values to all.
    AllGather,
    /// A part of each one's values to each.
    AllToAll,
    /// A part of the root's values to each, of any length for each member.
    ScatterVaried,
    /// All values to all, of any length from each member.
    AllGatherVaried,
    /// A part of each one's values to each, of any length for each pair of members.
    AllToAllVaried,
    /// The values of the members up to each one combined, to that one.
    Scan,
    /// The values of the members before each one combined, to that one.
    ExclusiveScan,
    /// The colours and keys of all members, by which their team is split, to all.
    Split,
    /// All values combined, of which each member gets its share.
    ReduceScatter,
}

impl Operation {
    /// All kinds.
    pub const ALL: [Operation; 16] = [
        Operation::Barrier,
        Operation::Broadcast,
        Operation::Reduce,
        Operation::AllReduce,
        Operation::Gather,
        Operation::GatherVaried,
        Operation::Scatter,
        Operation::AllGather,
        Operation::AllToAll,
        Operation::ScatterVaried,
        Operation::AllGatherVaried,
        Operation::AllToAllVaried,
        Operation::Scan,
        Operation::ExclusiveScan,
        Operation::Split,
        Operation::ReduceScatter,
    ];

    /// True if nobody can end it before all have begun it, by any algorithm.
    pub(crate) fn synchronizes(self) -> bool {
        matches!(
            self,
            Operation::Barrier
                | Operation::AllReduce
                | Operation::AllGather
                | Operation::AllToAll
                | Operation::AllGatherVaried
                | Operation::AllToAllVaried
                | Operation::Split
                | Operation::ReduceScatter
        )
    }

    pub(crate) fn has_root(self) -> bool {
        matches!(
            self,
            Operation::Broadcast
                | Operation::Reduce
                | Operation::Gather
                | Operation::GatherVaried
                | Operation::Scatter
                | Operation::ScatterVaried
        )
    }

    /// True if lengths are for senders to choose, who announce them.
    pub fn is_varied(self) -> bool {
        matches!(
            self,
            Operation::GatherVaried
                | Operation::ScatterVaried
                | Operation::AllGatherVaried
                | Operation::AllToAllVaried
        )
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Barrier => "barrier",
            Operation::Broadcast => "broadcast",
            Operation::Reduce => "reduce",
            Operation::AllReduce => "all-reduce",
            Operation::Gather => "gather",
            Operation::GatherVaried => "gather (of varied lengths)",
            Operation::Scatter => "scatter",
            Operation::AllGather => "all-gather",
            Operation::AllToAll => "all-to-all",
            Operation::ScatterVaried => "scatter (of varied lengths)",
            Operation::AllGatherVaried => "all-gather (of varied lengths)",
            Operation::AllToAllVaried => "all-to-all (of varied lengths)",
            Operation::Scan => "scan",
            Operation::ExclusiveScan => "exclusive scan",
            Operation::Split => "split",
            Operation::ReduceScatter => "reduce-scatter",
        })
    }
}

/// Kind, root and size of an operation: all members of a team have to begin the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Kind of the operation.
    pub operation: Operation,
    /// The member that is the root; the size of elements where there is none.
    pub root: u16,
    /// Bytes that each member brings or gets. Where lengths are varied these are the bytes of the
    /// transfer, and may differ.
    pub bytes: u64,
}

impl Signature {
    const BYTES: usize = 11;

    /// The operation with a number.
    pub(crate) fn operation(number: u8) -> Option<Operation> {
        Operation::ALL.get(usize::from(number)).copied()
    }

    /// True if two members have begun the same.
    #[inline]
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let varied = self.operation.is_varied();
        (self.operation, self.root) == (other.operation, other.root)
            && (self.bytes == other.bytes || varied)
    }

    fn emit(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = self.operation as u8;
        bytes[1..3].copy_from_slice(&self.root.to_le_bytes());
        bytes[3..].copy_from_slice(&self.bytes.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let [operation, root_low, root_high, bytes @ ..] = *bytes;
        Some(Signature {
            operation: Signature::operation(operation)?,
            root: u16::from_le_bytes([root_low, root_high]),
            bytes: u64::from_le_bytes(bytes),
        })
    }

    /// A number that stands for it.
    #[inline]
    pub fn hash(&self) -> u32 {
        let word = self.bytes << 20 ^ u64::from(self.root) << 4 ^ self.operation as u64;
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature { operation, root, bytes } = self;
        if *self == LEAVING.signature() {
            return f.write_str("leaving the job");
        }
        write!(f, "{operation}")?;
        let is_known = matches!(operation, Operation::Barrier | Operation::Split);
        if !is_known && !operation.is_varied() {
            write!(f, " of {bytes} bytes")?;
        }
        match operation.has_root() {
            true => write!(f, " with member {root} as root"),
            false => Ok(()),
        }
    }
}

/// Two members that have begun different operations where all should begin the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the members of a team disagree about its operation {number}: rank {} began {}, rank {} began {}",
    .one.0, .one.1, .other.0, .other.1
)]
pub struct Disagreement {
    /// Number of the operation among those of the team, counted from 0.
    pub number: u32,
    /// One of them, and what it began.
    pub one: (Rank, Signature),
    /// The other, and what it began.
    pub other: (Rank, Signature),
}

/// Reason for which an operation cannot end, as members tell one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abort {
    /// Members began different operations.
    Disagreement(Disagreement),
    /// The program's reduction panicked at this rank.
    Panicked(Rank),
    /// This rank has sent what no member sends.
    Violation(Rank),
    /// An operation has failed at another member: this rank was lost, if it is known. For jobs that
    /// go on after a loss, whose members agree about each operation.
    Broken(Option<Rank>),
}

impl Abort {
    /// Encodes it.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            Abort::Panicked(rank) => rank.0.to_le_bytes().to_vec(),
            Abort::Violation(rank) => [0, rank.0 as u8, (rank.0 >> 8) as u8].to_vec(),
            Abort::Broken(lost) => {
                let [low, high] = lost.map_or(0, |rank| rank.0).to_le_bytes();
                [low, high, u8::from(lost.is_some()), 0].to_vec()
            }
            Abort::Disagreement(Disagreement { number, one, other }) => {
                let mut bytes = number.to_le_bytes().to_vec();
                for (rank, signature) in [one, other] {
                    bytes.extend_from_slice(&rank.0.to_le_bytes());
                    bytes.extend_from_slice(&signature.emit());
                }
                bytes
            }
        }
    }

    /// Decodes it; `None` if no member writes that.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if let [low, high] = *bytes {
            return Some(Abort::Panicked(Rank(u16::from_le_bytes([low, high]))));
        }
        if let [0, low, high] = *bytes {
            return Some(Abort::Violation(Rank(u16::from_le_bytes([low, high]))));
        }
        if let [low, high, is_known @ (0 | 1), 0] = *bytes {
            let rank = Rank(u16::from_le_bytes([low, high]));
            return Some(Abort::Broken((is_known == 1).then_some(rank)));
        }
        let (number, bytes) = bytes.split_first_chunk()?;
        let member = |bytes: &[u8]| {
            let (rank, bytes) = bytes.split_first_chunk()?;
            let signature = Signature::parse(bytes.try_into().ok()?)?;
            Some((Rank(u16::from_le_bytes(*rank)), signature))
        };
        let (one, other) = bytes.split_at_checked(2 + Signature::BYTES)?;
        Some(Abort::Disagreement(Disagreement {
            number: u32::from_le_bytes(*number),
            one: member(one)?,
            other: member(other)?,
        }))
    }
}

#[cfg(test)]
mod tests;
