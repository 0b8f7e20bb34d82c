//! What members must agree about, and the first bytes of each packet of an operation, little-endian.
//!
//! ```text
//!  0      2      3      4           8      10     12              20
//! ┌──────┬──────┬──────┬───────────┬──────┬──────┬───────────────┐
//! │ team │ what │ last │ operation │ root │ step │ bytes         │ data
//! └──────┴──────┴──────┴───────────┴──────┴──────┴───────────────┘
//! ```
//! Every packet is a message of its own, so that the upcall for it never waits. `last` says that the
//! transfer of this step ends with it. Together with an eight-byte value it fits into one slot of the
//! shared-memory link.

use std::fmt;
use weft_packet::Rank;

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 20;

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
    /// The same, of any length.
    GatherVaried,
    /// A part of the root's values to each.
    Scatter,
    /// All values to all.
    AllGather,
    /// A part of each one's values to each.
    AllToAll,
}

impl Operation {
    const ALL: [Operation; 9] = [
        Operation::Barrier,
        Operation::Broadcast,
        Operation::Reduce,
        Operation::AllReduce,
        Operation::Gather,
        Operation::GatherVaried,
        Operation::Scatter,
        Operation::AllGather,
        Operation::AllToAll,
    ];

    /// Whether nobody can end it before all have begun it.
    pub(super) fn synchronizes(self) -> bool {
        matches!(
            self,
            Operation::Barrier | Operation::AllReduce | Operation::AllGather | Operation::AllToAll
        )
    }

    fn has_root(self) -> bool {
        !self.synchronizes()
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
        })
    }
}

/// What all members of a team must begin alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// What it does.
    pub operation: Operation,
    /// The member that is the root; 0 where there is none.
    pub root: u16,
    /// Bytes that each member brings or gets; 0 where they may differ.
    pub bytes: u64,
}

impl Signature {
    const BYTES: usize = 11;

    pub(super) fn new(operation: Operation, root: usize, bytes: usize) -> Self {
        Signature { operation, root: root as u16, bytes: bytes as u64 }
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
            operation: *Operation::ALL.get(usize::from(operation))?,
            root: u16::from_le_bytes([root_low, root_high]),
            bytes: u64::from_le_bytes(bytes),
        })
    }

    /// A number that stands for it.
    pub(super) fn hash(&self) -> u32 {
        let fold = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        self.emit().into_iter().fold(0x811c_9dc5, fold)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature { operation, root, bytes } = self;
        write!(f, "{operation}")?;
        if !matches!(operation, Operation::Barrier | Operation::GatherVaried) {
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
    /// Which operation of the team, counted from 0.
    pub number: u32,
    /// One of them, and what it began.
    pub one: (Rank, Signature),
    /// The other, and what it began.
    pub other: (Rank, Signature),
}

/// Why an operation cannot end, as members tell one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Abort {
    Disagreement(Disagreement),
    /// The program's reduction panicked at this rank.
    Panicked(Rank),
}

impl Abort {
    pub fn emit(&self) -> Vec<u8> {
        match self {
            Abort::Panicked(rank) => rank.0.to_le_bytes().to_vec(),
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

    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if let [low, high] = *bytes {
            return Some(Abort::Panicked(Rank(u16::from_le_bytes([low, high]))));
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

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// A piece of an operation with this signature.
    Piece(Signature),
    /// The end of all operations of the team; its data is an [`Abort`].
    Abort,
}

/// The header of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub team: u16,
    pub what: What,
    pub last: bool,
    pub number: u32,
    pub step: u16,
}

impl Header {
    pub fn emit(&self) -> [u8; HEADER_BYTES] {
        let (what, root, length) = match self.what {
            What::Piece(Signature { operation, root, bytes }) => (operation as u8, root, bytes),
            What::Abort => (u8::MAX, 0, 0),
        };
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&self.team.to_le_bytes());
        bytes[2] = what;
        bytes[3] = u8::from(self.last);
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..10].copy_from_slice(&root.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.step.to_le_bytes());
        bytes[12..].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let what = match bytes[2] {
            u8::MAX => What::Abort,
            operation => What::Piece(Signature {
                operation: *Operation::ALL.get(usize::from(operation))?,
                root: u16_at(8),
                bytes: u64::from_le_bytes(*bytes.last_chunk()?),
            }),
        };
        Some(Header {
            team: u16_at(0),
            what,
            last: bytes[3] != 0,
            number: u32::from_le_bytes(*bytes[4..].first_chunk()?),
            step: u16_at(10),
        })
    }
}

#[cfg(test)]
mod tests;
