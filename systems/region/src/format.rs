//! Messages as bytes: a header of 16 bytes, little-endian, and an offset before data.
//!
//! ```text
//!  0      1       2      4       8         12      14     16       24
//! ┌──────┬───────┬──────┬───────┬─────────┬───────┬──────┬────────┬──────┐
//! │ kind │ flags │ home │ index │ version │ party │ zero │ offset │ data │
//! └──────┴───────┴──────┴───────┴─────────┴───────┴──────┴────────┴──────┘
//! ```
//! Offset and data are there where the kind says so. A region may be larger than a packet: its
//! packets name the place of their bytes (7.3.2), and travel in order, so that the last of them
//! completes the message.
//!
//! Flag 1: the data is put into its place instead. Then requests, and demands made for them, have
//! an offset, which is that [`Destination`]; of messages about data the offset says how many bytes
//! packets have put there, and the data are the last of the region's bytes, if they were not.
//!
//! Flag 2: of a request that is to land, the home may lend the data instead; of data, it is lent.
//! Then the offset is where it begins in the home's heap.
//!
//! A multicast reaches all ranks. Its receivers stand before the header ([`receivers`]). Packets
//! of collective operations begin as no other packet does ([`weft_collective::format`]).

use crate::RegionId;
use crate::coherence::{Message, MessageKind, Version};
use weft_endpoint::{HeapName, Rank};

/// Bytes of the header of a message without data.
pub const SIZE: usize = 16;
/// Bytes of the header of a message with data.
pub const DATA_SIZE: usize = 24;

/// Header before a message's data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// Region that it is about.
    pub region: RegionId,
    /// Message.
    pub message: Message,
    /// True if the data is put, and not sent along.
    pub lands: bool,
    /// Of a request: true if its home may lend the data instead. Of data: true if it does.
    pub lent: bool,
    /// Offset in the region of its data, in bytes; or what this says where data is put or lent.
    /// Else 0.
    pub offset: u64,
}

/// Destination at which a node wants the bytes that it has asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Destination {
    /// The number of the landing.
    pub number: u32,
    /// Offset in the heap of that node, in units of 64 bytes, if it is in it.
    grain: u32,
}

/// In no heap.
const NOWHERE: u32 = u32::MAX;
/// Bytes of which blocks in heaps begin at multiples.
const GRAIN: usize = 64;

impl Destination {
    /// The landing with this number, which is at so many bytes in the node's heap.
    pub fn new(number: u32, offset: Option<usize>) -> Self {
        let grain = offset.and_then(|offset| u32::try_from(offset / GRAIN).ok());
        Destination { number, grain: grain.unwrap_or(NOWHERE) }
    }

    /// Offset in the heap, in bytes.
    pub fn offset(&self) -> Option<usize> {
        (self.grain != NOWHERE).then_some(self.grain as usize * GRAIN)
    }
}

impl Header {
    /// The header of `message`, whose data, if any, begins with the region's.
    pub fn new(region: RegionId, message: Message) -> Self {
        Header { region, message, lands: false, lent: false, offset: 0 }
    }

    /// This request or demand, whose answer is wanted there.
    #[must_use]
    pub fn with_destination(self, destination: Destination) -> Self {
        let offset = u64::from(destination.grain) << 32 | u64::from(destination.number);
        Header { lands: true, offset, ..self }
    }

    /// Destination at which the answer to this is wanted.
    pub fn destination(&self) -> Option<Destination> {
        let (number, grain) = (self.offset as u32, (self.offset >> 32) as u32);
        (self.lands && !self.message.kind.carries_data()).then_some(Destination { number, grain })
    }

    /// This message about data that was put, `by_packets` of its bytes by packets; what follows, if
    /// anything, are the last.
    #[must_use]
    pub fn landed(self, by_packets: u64) -> Self {
        Header { lands: true, offset: by_packets, ..self }
    }

    /// This request, whose answer may be lent.
    #[must_use]
    pub fn with_loan(self) -> Self {
        Header { lent: true, ..self }
    }

    /// This message about data that is lent, at so many bytes in the heap of the home.
    #[must_use]
    pub fn lent(self, offset: u64) -> Self {
        Header { lent: true, offset, ..self }
    }

    /// Encodes this header; the first [`Self::size`] bytes of the result count.
    pub fn emit(&self) -> [u8; DATA_SIZE] {
        let Message { kind, version, party } = self.message;
        let mut bytes = [0; DATA_SIZE];
        bytes[0] = kind as u8;
        bytes[1] = u8::from(self.lands) | u8::from(self.lent) << 1;
        bytes[2..4].copy_from_slice(&self.region.home.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.region.index.to_le_bytes());
        bytes[8..12].copy_from_slice(&version.0.to_le_bytes());
        bytes[12..14].copy_from_slice(&party.0.to_le_bytes());
        bytes[16..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// Bytes that this header takes.
    pub fn size(&self) -> usize {
        if self.message.kind.carries_data() || self.lands { DATA_SIZE } else { SIZE }
    }

    /// The header at the front of `bytes`, and the data after it; `None` if no correct node of a
    /// job of `ranks` writes that. Whether the data lies within the region is for whoever knows its
    /// size.
    pub fn parse(bytes: &[u8], ranks: usize) -> Option<(Self, &[u8])> {
        let (front, rest) = bytes.split_first_chunk::<SIZE>()?;
        let half = |at: usize| u16::from_le_bytes([front[at], front[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let kind = *MessageKind::ALL.get(usize::from(front[0]))?;
        let (home, party) = (Rank(half(2)), Rank(half(12)));
        let (lands, lent) = (front[1] & 1 == 1, front[1] & 2 == 2);
        let (offset, data) = if kind.carries_data() || lands {
            let (offset, data) = rest.split_first_chunk::<8>()?;
            (u64::from_le_bytes(*offset), data)
        } else {
            (0, rest)
        };
        let sound = front[1] <= 3
            && (!lands || kind.may_land())
            && (!lent || kind.may_be_lent(lands) && data.is_empty())
            && half(14) == 0
            && home.index() < ranks
            && party.index() < ranks
            && (kind.names_party() || party == home)
            && (kind.carries_data() || data.is_empty())
            && offset.checked_add(data.len() as u64).is_some();
        let message = Message { kind, version: Version(word(8)), party };
        let region = RegionId { home, index: word(4) };
        sound.then_some((Header { region, message, lands, lent, offset }, data))
    }
}

/// Receivers of a multicast: a zero, and a bit for each rank, the lowest of the first byte for
/// rank 0.
pub mod receivers {
    use std::collections::BTreeSet;
    use weft_endpoint::Rank;

    /// Bytes that this takes in a job of `ranks`.
    pub fn size(ranks: usize) -> usize {
        1 + ranks.div_ceil(8)
    }

    /// Encodes `to`, who are in a job of `ranks`.
    pub fn emit(to: &BTreeSet<Rank>, ranks: usize) -> Box<[u8]> {
        let mut bits = vec![0; size(ranks)];
        for rank in to {
            bits[1 + rank.index() / 8] |= 1 << (rank.index() % 8);
        }
        bits.into()
    }

    /// True if `me` is one of them, and the bytes that follow; `None` if no correct node writes
    /// that.
    pub fn split(bytes: &[u8], ranks: usize, me: Rank) -> Option<(bool, &[u8])> {
        let (bits, rest) = bytes.split_at_checked(size(ranks))?;
        let byte = bits.get(1 + me.index() / 8).filter(|_| bits[0] == 0)?;
        Some((byte >> (me.index() % 8) & 1 == 1, rest))
    }
}

/// Notice of a node beside the coherence protocol.
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
    /// To all: what the sender's heap is called.
    Heap(HeapName),
}

/// Kinds of notices come after those of messages.
const FIRST_NOTICE: u8 = 32;

impl Notice {
    /// Encodes a notice about `region`, in as many bytes as a message with data has before it, and
    /// a heap's name after them; a heap is about none, which is region 0 of rank 0.
    pub fn emit(&self, region: RegionId) -> Box<[u8]> {
        let (kind, version, bytes) = match *self {
            Notice::Map => (0, Version::default(), 0),
            Notice::Mapped { version, bytes } => (1, version, bytes),
            Notice::Unknown => (2, Version::default(), 0),
            Notice::Heap(heap) => (3, Version::default(), heap.bytes),
        };
        let message = Message { kind: MessageKind::Read, version, party: region.home };
        let header = Header { offset: bytes, ..Header::new(region, message) };
        let mut encoded = header.emit().to_vec();
        encoded[0] = FIRST_NOTICE + kind;
        if let Notice::Heap(heap) = self {
            encoded.extend(heap.name);
        }
        encoded.into()
    }

    /// The notice in `bytes`, and the region that it is about; `None` if no correct node of a job
    /// of `ranks` writes that.
    pub fn parse(bytes: &[u8], ranks: usize) -> Option<(RegionId, Self)> {
        let (bytes, name) = bytes.split_first_chunk::<DATA_SIZE>()?;
        let (mut front, size) = (*bytes.first_chunk::<SIZE>()?, bytes.last_chunk::<8>()?);
        let kind = std::mem::replace(&mut front[0], MessageKind::Read as u8);
        let (Header { region, message, .. }, _) = Header::parse(&front, ranks)?;
        let (version, bytes) = (message.version, u64::from_le_bytes(*size));
        let notice = match kind.checked_sub(FIRST_NOTICE)? {
            0 => Notice::Map,
            1 => Notice::Mapped { version, bytes },
            2 => Notice::Unknown,
            3 => Notice::Heap(HeapName { bytes, name: name.try_into().ok()? }),
            _ => return None,
        };
        let says_more = version != Version::default() || bytes != 0;
        let sound = match notice {
            Notice::Mapped { .. } => name.is_empty(),
            Notice::Heap(_) => version == Version::default(),
            _ => !says_more && name.is_empty(),
        };
        sound.then_some((region, notice))
    }
}

#[cfg(test)]
mod tests;
