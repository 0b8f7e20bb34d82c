//! Messages as bytes: a header of 16 bytes, little-endian, and an offset before data.
//!
//! ```text
//!  0      1      2      4       8         12      14     16       24
//! ┌──────┬──────┬──────┬───────┬─────────┬───────┬──────┬────────┬──────┐
//! │ kind │ zero │ home │ index │ version │ party │ zero │ offset │ data │
//! └──────┴──────┴──────┴───────┴─────────┴───────┴──────┴────────┴──────┘
//! ```
//! Offset and data are there where the kind says so. A region may be larger than a packet: its packets name
//! the place of their bytes (7.3.2), and travel in order, so that the last of them completes the message.
//!
//! A multicast reaches all ranks. Who it is for stands before the header ([`receivers`]).

use crate::RegionId;
use crate::coherence::{Kind, Message, Version};
use weft_packet::Rank;

/// Bytes of the header of a message without data.
pub const SIZE: usize = 16;
/// Bytes of the header of a message with data.
pub const DATA_SIZE: usize = 24;

/// What stands before a message's data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// Which region it is about.
    pub region: RegionId,
    /// What it says.
    pub message: Message,
    /// Where in the region its data belongs, in bytes; 0 without data.
    pub offset: u64,
}

impl Header {
    /// The header of `message`, whose data, if any, begins with the region's.
    pub fn new(region: RegionId, message: Message) -> Self {
        Header { region, message, offset: 0 }
    }

    /// Encodes this header; the first [`Self::size`] bytes of the result count.
    pub fn emit(&self) -> [u8; DATA_SIZE] {
        let Message { kind, version, party } = self.message;
        let mut bytes = [0; DATA_SIZE];
        bytes[0] = kind as u8;
        bytes[2..4].copy_from_slice(&self.region.home.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.region.index.to_le_bytes());
        bytes[8..12].copy_from_slice(&version.0.to_le_bytes());
        bytes[12..14].copy_from_slice(&party.0.to_le_bytes());
        bytes[16..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// Bytes that this header takes.
    pub fn size(&self) -> usize {
        if self.message.kind.carries_data() { DATA_SIZE } else { SIZE }
    }

    /// The header at the front of `bytes`, and the data after it; `None` if no correct node of a job of
    /// `ranks` writes that. Whether the data lies within the region is for whoever knows its size.
    pub fn parse(bytes: &[u8], ranks: usize) -> Option<(Self, &[u8])> {
        let (front, rest) = bytes.split_first_chunk::<SIZE>()?;
        let half = |at: usize| u16::from_le_bytes([front[at], front[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let kind = *Kind::ALL.get(usize::from(front[0]))?;
        let (home, party) = (Rank(half(2)), Rank(half(12)));
        let (offset, data) = if kind.carries_data() {
            let (offset, data) = rest.split_first_chunk::<8>()?;
            (u64::from_le_bytes(*offset), data)
        } else {
            (0, rest)
        };
        let sound = front[1] == 0
            && half(14) == 0
            && home.index() < ranks
            && party.index() < ranks
            && (kind.is_fetch() || party == home)
            && (kind.carries_data() || data.is_empty())
            && offset.checked_add(data.len() as u64).is_some();
        let message = Message { kind, version: Version(word(8)), party };
        let region = RegionId { home, index: word(4) };
        sound.then_some((Header { region, message, offset }, data))
    }
}

/// Who a multicast is for: a bit for each rank, the lowest of the first byte for rank 0.
pub mod receivers {
    use std::collections::BTreeSet;
    use weft_packet::Rank;

    /// Bytes that this takes in a job of `ranks`.
    pub fn size(ranks: usize) -> usize {
        ranks.div_ceil(8)
    }

    /// Encodes `to`, who are in a job of `ranks`.
    pub fn emit(to: &BTreeSet<Rank>, ranks: usize) -> Box<[u8]> {
        let mut bits = vec![0; size(ranks)];
        for rank in to {
            bits[rank.index() / 8] |= 1 << (rank.index() % 8);
        }
        bits.into()
    }

    /// Whether `me` is meant, and what follows; `None` if `bytes` are too few.
    pub fn split(bytes: &[u8], ranks: usize, me: Rank) -> Option<(bool, &[u8])> {
        let (bits, rest) = bytes.split_at_checked(size(ranks))?;
        let byte = bits.get(me.index() / 8)?;
        Some((byte >> (me.index() % 8) & 1 == 1, rest))
    }
}

/// What nodes say beside the coherence protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// To the home: how large is the region?
    Map,
    /// From the home: so many bytes, and it has this version now.
    Mapped {
        /// The directory's version.
        version: Version,
        /// The region's size.
        bytes: u64,
    },
    /// From the home: there is no such region.
    Unknown,
    /// To rank 0: I am at the barrier.
    Arrived,
    /// From rank 0: all are.
    Released,
}

/// Kinds of notices come after those of messages.
const FIRST_NOTICE: u8 = 32;

impl Notice {
    /// Encodes a notice about `region`, in as many bytes as a message with data has before it; the barrier is
    /// about none, which is region 0 of rank 0.
    pub fn emit(&self, region: RegionId) -> [u8; DATA_SIZE] {
        let (kind, version, bytes) = match *self {
            Notice::Map => (0, Version::default(), 0),
            Notice::Mapped { version, bytes } => (1, version, bytes),
            Notice::Unknown => (2, Version::default(), 0),
            Notice::Arrived => (3, Version::default(), 0),
            Notice::Released => (4, Version::default(), 0),
        };
        let message = Message { kind: Kind::Read, version, party: region.home };
        let mut encoded = Header { region, message, offset: bytes }.emit();
        encoded[0] = FIRST_NOTICE + kind;
        encoded
    }

    /// The notice in `bytes`, and the region that it is about; `None` if no correct node of a job of `ranks`
    /// writes that.
    pub fn parse(bytes: &[u8], ranks: usize) -> Option<(RegionId, Self)> {
        let bytes: &[u8; DATA_SIZE] = bytes.try_into().ok()?;
        let (mut front, size) = (*bytes.first_chunk::<SIZE>()?, bytes.last_chunk::<8>()?);
        let kind = std::mem::replace(&mut front[0], Kind::Read as u8);
        let (Header { region, message, .. }, _) = Header::parse(&front, ranks)?;
        let (version, bytes) = (message.version, u64::from_le_bytes(*size));
        let notice = match kind.checked_sub(FIRST_NOTICE)? {
            0 => Notice::Map,
            1 => Notice::Mapped { version, bytes },
            2 => Notice::Unknown,
            3 => Notice::Arrived,
            4 => Notice::Released,
            _ => return None,
        };
        let says_more = version != Version::default() || bytes != 0;
        (!says_more || kind == FIRST_NOTICE + 1).then_some((region, notice))
    }
}

#[cfg(test)]
mod tests;
