//! The header on networks: 24 bytes, little-endian, before the user bytes. Its writer is known
//! from what carries it: on Ethernet the [envelope](crate::envelope) around it.
//!
//! ```text
//!  0        1     2        4      6         8      12        14     16         20               24
//! ┌─────────┬─────┬────────┬──────┬─────────┬──────┬─────────┬──────┬──────────┬────────────────┐
//! │ version │ tag │ source │ size │ credits │ tree │ channel │ flags│ sequence │ acknowledgement│
//! └─────────┴─────┴────────┴──────┴─────────┴──────┴─────────┴──────┴──────────┴────────────────┘
//! ```
//! `flags`: bit 0 asks for an acknowledgement, or for credits; the others are the link's serial
//! number. The upper half of `tag` is the protocol.

use crate::{Channel, Follows, Header, Malformed, Protocol, Rank, Serial, Tag, TreeId};

/// The version of this format.
pub const VERSION: u8 = 1;
/// Bytes of an encoded header.
pub const SIZE: usize = 24;

/// The bit of the flags that asks for an acknowledgement.
const ASKS: u16 = 1;
/// Place of the serial number in the flags.
const SERIAL_AT: u32 = 1;

mod field {
    use std::ops::Range;

    pub const VERSION: usize = 0;
    pub const TAG: usize = 1;
    pub const SOURCE: Range<usize> = 2..4;
    pub const SIZE: Range<usize> = 4..6;
    pub const CREDITS: Range<usize> = 6..8;
    pub const TREE: Range<usize> = 8..12;
    pub const CHANNEL: Range<usize> = 12..14;
    pub const FLAGS: Range<usize> = 14..16;
    pub const SEQUENCE: Range<usize> = 16..20;
    pub const ACKNOWLEDGEMENT: Range<usize> = 20..24;
}

const _: () = assert!(field::ACKNOWLEDGEMENT.end == SIZE && SIZE.is_multiple_of(8));
const _: () = assert!(field::TREE.start.is_multiple_of(4));

/// Encodes `header`.
#[inline]
pub fn emit(header: &Header) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[field::VERSION] = VERSION;
    bytes[field::TAG] = header.tag as u8 | header.tree.protocol.to_upper_bits();
    bytes[field::SOURCE].copy_from_slice(&header.source.0.to_le_bytes());
    bytes[field::SIZE].copy_from_slice(&header.size.to_le_bytes());
    bytes[field::CREDITS].copy_from_slice(&header.credits.to_le_bytes());
    bytes[field::TREE].copy_from_slice(&header.tree.to_bits().to_le_bytes());
    bytes[field::CHANNEL].copy_from_slice(&header.channel.to_bits().to_le_bytes());
    bytes[field::FLAGS].copy_from_slice(&flags(header.asks, header.serial).to_le_bytes());
    bytes[field::SEQUENCE].copy_from_slice(&header.sequence.to_le_bytes());
    bytes[field::ACKNOWLEDGEMENT].copy_from_slice(&header.acknowledgement.to_le_bytes());
    bytes
}

/// Flags of a header.
#[inline]
pub(crate) fn flags(asks: bool, serial: Serial) -> u16 {
    serial.to_bits() << SERIAL_AT | if asks { ASKS } else { 0 }
}

/// Parts of the flags of a header: whether it asks, and the serial number.
#[inline]
pub(crate) fn split_flags(flags: u16) -> (bool, Serial) {
    (flags & ASKS != 0, Serial::from_bits(flags >> SERIAL_AT))
}

/// Splits a packet into its header and its user bytes.
///
/// # Errors
/// [`Malformed`] if `packet` is too short, of another version, of no known kind, or shorter than
/// its header says. Bytes beyond the announced size (Ethernet pads short frames) are cut off.
pub fn parse(packet: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let (header, rest) = split(packet)?;
    let payload = rest
        .get(..usize::from(header.size))
        .ok_or(Malformed::Size { announced: header.size, present: rest.len() })?;
    Ok((header, payload))
}

/// The header at the start of `packet`, and everything after it, which may be less or more than its
/// body.
///
/// # Errors
/// [`Malformed`] if there is no header.
#[inline]
pub fn split(packet: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let (head, rest) = packet.split_first_chunk::<SIZE>().ok_or(Malformed::Short(packet.len()))?;
    if head[field::VERSION] != VERSION {
        return Err(Malformed::Version(head[field::VERSION]));
    }
    let kind = head[field::TAG];
    let (asks, serial) = split_flags(u16_at(head, field::FLAGS.start));
    let header = Header {
        tag: Tag::try_from(kind & 0x0f)?,
        source: Rank(u16_at(head, field::SOURCE.start)),
        size: u16_at(head, field::SIZE.start),
        credits: u16_at(head, field::CREDITS.start),
        tree: TreeId::from_bits(u32_at(head, field::TREE.start)).of(Protocol::of_upper_bits(kind)),
        channel: Channel::from_bits(u16_at(head, field::CHANNEL.start)),
        asks,
        sequence: u32_at(head, field::SEQUENCE.start),
        acknowledgement: u32_at(head, field::ACKNOWLEDGEMENT.start),
        follows: Follows::Nothing,
        serial,
    };
    Ok((header, rest))
}

fn u16_at(head: &[u8; SIZE], at: usize) -> u16 {
    u16::from_le_bytes([head[at], head[at + 1]])
}

fn u32_at(head: &[u8; SIZE], at: usize) -> u32 {
    u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

#[cfg(test)]
pub(crate) mod tests;
