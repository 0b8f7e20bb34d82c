//! Packets of collective operations: a header of 24 bytes, little-endian.
//!
//! ```text
//!  0      1      2       4        8       16       24
//! ┌──────┬──────┬───────┬────────┬───────┬────────┬──────┐
//! │ kind │ what │ which │ number │ bytes │ offset │ data │
//! └──────┴──────┴───────┴────────┴───────┴────────┴──────┘
//! ```

use weft_packet::Rank;

/// Bytes before a part's data.
pub const SIZE: usize = 24;
/// Kinds of parts come after those of notices.
const FIRST_PART: u8 = 64;

/// Kind of a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// They wait for each other.
    Barrier,
    /// One gives its values to all.
    Broadcast {
        /// Rank of the root.
        root: Rank,
    },
    /// Values of all are combined.
    Reduce {
        /// Bytes of each.
        element: u16,
    },
}

/// An operation of all nodes. They take part in the same one if it is equal at all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Kind of the operation.
    pub collective: Collective,
    /// Number of operations before it. Counts round.
    pub number: u32,
    /// Bytes of the values.
    pub bytes: u64,
}

/// Step of an operation that a packet takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To the parent: this node and all below it are there; with their values, if these are
    /// combined.
    Up,
    /// From the top: all are there, so send them your values.
    Go,
    /// With values, to all: the result.
    Down,
    /// To all: the sender is in another operation than the rank of this number.
    Disagree(Rank),
}

/// Header before the values in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Step that the packet takes.
    pub step: Step,
    /// In which operation.
    pub operation: Operation,
    /// Offset of this packet's values, in bytes.
    pub offset: u64,
}

impl Part {
    /// Encodes this header.
    pub fn emit(&self) -> [u8; SIZE] {
        let (kind, offset) = match self.step {
            Step::Up => (0, self.offset),
            Step::Go => (1, self.offset),
            Step::Down => (2, self.offset),
            Step::Disagree(other) => (3, u64::from(other.0)),
        };
        let Operation { collective, number, bytes: length } = self.operation;
        let (collective, which) = match collective {
            Collective::Barrier => (0, 0),
            Collective::Broadcast { root } => (1, root.0),
            Collective::Reduce { element } => (2, element),
        };
        let mut bytes = [0; SIZE];
        bytes[..2].copy_from_slice(&[FIRST_PART + kind, collective]);
        bytes[2..4].copy_from_slice(&which.to_le_bytes());
        bytes[4..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..16].copy_from_slice(&length.to_le_bytes());
        bytes[16..].copy_from_slice(&offset.to_le_bytes());
        bytes
    }

    /// The header at the front of `bytes`, and the values after it; `None` if no correct node of a
    /// job of `ranks` writes that.
    pub fn parse(bytes: &[u8], ranks: usize) -> Option<(Self, &[u8])> {
        let (front, data) = bytes.split_first_chunk::<SIZE>()?;
        let half = |at: usize| u16::from_le_bytes([front[at], front[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let known = |rank: Rank| (rank.index() < ranks).then_some(rank);
        let collective = match (front[1], half(2)) {
            (0, 0) => Collective::Barrier,
            (1, root) => Collective::Broadcast { root: known(Rank(root))? },
            (2, element @ 1..) => Collective::Reduce { element },
            _ => return None,
        };
        let operation = Operation { collective, number: word(4), bytes: long(8) };
        let (step, offset) = match front[0].checked_sub(FIRST_PART)? {
            0 => (Step::Up, long(16)),
            1 => (Step::Go, long(16)),
            2 => (Step::Down, long(16)),
            3 => (Step::Disagree(known(Rank(u16::try_from(long(16)).ok()?))?), 0),
            _ => return None,
        };
        let end = offset.checked_add(data.len() as u64)?;
        let sound = match step {
            Step::Up | Step::Down => end <= operation.bytes,
            Step::Go | Step::Disagree(_) => end == 0,
        };
        sound.then_some((Part { step, operation, offset }, data))
    }
}
