//! One packet for several ranks in one frame, which the network copies: behind the envelope a
//! packet with all that is the same for everybody, then an entry for each rank with what is its
//! own. Little-endian.
//!
//! ```text
//!  0          32                                         an entry of 32 bytes for each receiver
//! ┌──────────┬─────────────────────┬────────────────────┬───────┬───────┬ ...
//! │ envelope │ header, common part │ user bytes, padded │ entry │ entry │
//! └──────────┴─────────────────────┴────────────────────┴───────┴───────┴ ...
//! ```
//! | at | entry |
//! |---|---|
//! | 0 | destination (2), credits (2), channel (2), flags (2): of the header for this receiver |
//! | 8 | sequence (4), acknowledgement (4): of the same |
//! | 16 | number of the frame between these two (8), tag for this receiver (8) |
//!
//! The envelope's destination is [`envelope::EVERYBODY`], its kind
//! [`envelope::FrameKind::SEVERAL`], and its own sequence and tag are 0. There are two entries at
//! least, and [`MOST`] at most.

use crate::{Channel, Follows, Header, Rank, Serial, envelope, network};
use std::ops::Range;

/// Bytes of an entry.
pub const ENTRY: usize = 32;
/// Receivers of a frame at most: each looks for itself among them.
pub const MOST: usize = 32;

/// The part of an entry that its tag covers.
pub const TAGGED: Range<usize> = 0..24;
/// Range of the frame's number in an entry.
pub const NUMBER: Range<usize> = 16..24;
/// Range of the tag in an entry.
pub const TAG: Range<usize> = 24..32;

mod field {
    use std::ops::Range;

    pub const DESTINATION: usize = 0;
    pub const CREDITS: usize = 2;
    pub const CHANNEL: usize = 4;
    pub const FLAGS: usize = 6;
    pub const SEQUENCE: Range<usize> = 8..12;
    pub const ACKNOWLEDGEMENT: Range<usize> = 12..16;
}

const _: () = assert!(TAG.end == ENTRY && NUMBER.end == TAGGED.end);
const _: () = assert!(ENTRY.is_multiple_of(envelope::ALIGNMENT));

/// Fields of one receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The receiver.
    pub destination: Rank,
    /// The fields of the header for this receiver.
    pub credits: u16,
    /// See [`Header::channel`].
    pub channel: Channel,
    /// See [`Header::asks`].
    pub asks: bool,
    /// See [`Header::serial`].
    pub serial: Serial,
    /// See [`Header::sequence`].
    pub sequence: u32,
    /// See [`Header::acknowledgement`].
    pub acknowledgement: u32,
    /// The number of the frame between its sender and this receiver.
    pub number: u64,
    /// The keyed tag for this receiver.
    pub tag: u64,
}

impl Entry {
    /// The entry of a receiver that is to get a packet with this header; number and tag are for
    /// whoever seals the frame.
    #[inline]
    pub fn new(destination: Rank, header: &Header) -> Self {
        let Header { credits, channel, asks, serial, sequence, acknowledgement, .. } = *header;
        let (number, tag) = (0, 0);
        Entry {
            destination,
            credits,
            channel,
            asks,
            serial,
            sequence,
            acknowledgement,
            number,
            tag,
        }
    }

    /// The whole header for this receiver.
    #[inline]
    pub fn header(&self, common: &Header) -> Header {
        let Entry { credits, channel, asks, serial, sequence, acknowledgement, .. } = *self;
        Header { credits, channel, asks, serial, sequence, acknowledgement, ..*common }
    }
}

/// The part of a header that is the same for all receivers.
#[inline]
pub fn common(header: &Header) -> Header {
    Header {
        credits: 0,
        channel: Channel::NONE,
        asks: false,
        follows: Follows::Nothing,
        serial: Serial::NONE,
        sequence: 0,
        acknowledgement: 0,
        ..*header
    }
}

/// Encodes `entry`.
#[inline]
pub fn emit(entry: &Entry) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    let mut put = |at: usize, value: u16| bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    put(field::DESTINATION, entry.destination.0);
    put(field::CREDITS, entry.credits);
    put(field::CHANNEL, entry.channel.to_bits());
    put(field::FLAGS, network::flags(entry.asks, entry.serial));
    bytes[field::SEQUENCE].copy_from_slice(&entry.sequence.to_le_bytes());
    bytes[field::ACKNOWLEDGEMENT].copy_from_slice(&entry.acknowledgement.to_le_bytes());
    bytes[NUMBER].copy_from_slice(&entry.number.to_le_bytes());
    bytes[TAG].copy_from_slice(&entry.tag.to_le_bytes());
    bytes
}

/// The entry in these bytes, which a stranger may have written.
#[inline]
pub fn parse(bytes: &[u8; ENTRY]) -> Entry {
    let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let (asks, serial) = network::split_flags(u16_at(field::FLAGS));
    Entry {
        destination: destination(bytes),
        credits: u16_at(field::CREDITS),
        channel: Channel::from_bits(u16_at(field::CHANNEL)),
        asks,
        serial,
        sequence: u32_at(field::SEQUENCE.start),
        acknowledgement: u32_at(field::ACKNOWLEDGEMENT.start),
        number: u64_at(NUMBER.start),
        tag: u64_at(TAG.start),
    }
}

/// Rank that the entry in these bytes is for.
#[inline]
pub fn destination(bytes: &[u8; ENTRY]) -> Rank {
    Rank(u16::from_le_bytes([bytes[field::DESTINATION], bytes[field::DESTINATION + 1]]))
}

/// Contents of such a frame, behind the envelope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contents<'a> {
    /// Fields of the packet's header that are the same for all.
    pub common: Header,
    /// The packet, padding included.
    pub packet: &'a [u8],
    /// The entries, as [`parse`] takes them.
    pub entries: &'a [[u8; ENTRY]],
}

/// Splits what follows the envelope of such a frame. `None` if that is no packet, or what follows
/// is not from two to [`MOST`] entries.
#[inline]
pub fn split(contents: &[u8]) -> Option<Contents<'_>> {
    let (common, _, bytes) = envelope::first(contents).ok()?;
    let (packet, table) = contents.split_at(bytes);
    let (entries, rest) = table.as_chunks();
    (rest.is_empty() && (2..=MOST).contains(&entries.len())).then_some(Contents {
        common,
        packet,
        entries,
    })
}

/// Bytes of a frame with one packet, by the bytes of its body and the number of receivers.
#[inline]
pub fn frame_bytes(body_bytes: usize, receivers: usize) -> usize {
    envelope::SIZE + envelope::packet_bytes(body_bytes) + receivers * ENTRY
}

/// Bytes of the body that a frame of so many bytes can carry to that many receivers at once, if
/// any.
pub fn body_room(frame_bytes: usize, receivers: usize) -> Option<usize> {
    let around = envelope::SIZE + network::SIZE + receivers * ENTRY;
    let room = frame_bytes.checked_sub(around)?;
    Some(room / envelope::ALIGNMENT * envelope::ALIGNMENT)
}

#[cfg(test)]
mod tests;
