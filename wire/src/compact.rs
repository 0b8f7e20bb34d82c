//! The header inside one machine: 12 bytes, packed into 64-bit words that are written with the
//! slot that carries them.
//!
//! A link that is lossless and ordered needs no sequence numbers, and one whose memory tells who
//! wrote a packet needs no source. What is left fits beside a slot's 32-bit sequence flag:
//!
//! ```text
//! word 0:  sequence flag (32) | tag (4) | protocol (4) | payload kind (8) | size (16)
//! word 1:  tree (32) | credits (16) | channel (16)
//! ```
//!
//! The payload kind belongs to the link: where the user bytes are.

use crate::{Channel, Follows, Header, Malformed, Protocol, Rank, Serial, Tag, TreeId};

/// Bytes of the two words, sequence flag included.
pub const SIZE: usize = 16;

const _: () = assert!(SIZE == 2 * size_of::<u64>());

/// Encodes `header` with the link's own sequence flag and payload kind.
#[inline]
pub fn emit(header: &Header, flag: u32, payload_kind: u8) -> [u64; 2] {
    [
        u64::from(flag)
            | u64::from(header.tag as u8 | header.tree.protocol.to_upper_bits()) << 32
            | u64::from(payload_kind) << 40
            | u64::from(header.size) << 48,
        u64::from(header.tree.to_bits())
            | u64::from(header.credits) << 32
            | u64::from(header.channel.to_bits()) << 48,
    ]
}

/// The sequence flag in word 0.
#[inline]
pub fn flag(word0: u64) -> u32 {
    word0 as u32
}

/// Payload kind in word 0, by which the link knows where the user bytes are.
#[inline]
pub fn payload_kind(word0: u64) -> u8 {
    (word0 >> 40) as u8
}

/// Decodes a header that `source` wrote.
///
/// # Errors
/// [`Malformed::Tag`] if no packet kind has that number.
// Inlined and whole, or the header is written field by field, and read back in larger pieces to be
// moved: that waits for all earlier stores.
#[inline(always)]
pub fn parse(words: [u64; 2], source: Rank) -> Result<Header, Malformed> {
    let kind = (words[0] >> 32) as u8;
    match Tag::try_from(kind & 0x0f) {
        Ok(tag) => Ok(Header {
            tag,
            source,
            size: (words[0] >> 48) as u16,
            credits: (words[1] >> 32) as u16,
            tree: TreeId::from_bits(words[1] as u32).of(Protocol::of_upper_bits(kind)),
            channel: Channel::from_bits((words[1] >> 48) as u16),
            sequence: 0,
            acknowledgement: 0,
            asks: false,
            follows: Follows::Nothing,
            serial: Serial::NONE,
        }),
        Err(malformed) => Err(malformed),
    }
}

/// The header of a packet about which nothing is out of the ordinary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainHeader {
    /// The system that it is for.
    pub protocol: Protocol,
    /// Its user bytes.
    pub size: u16,
    /// The credits that came with it.
    pub credits: u16,
}

/// Decodes the header of a unicast packet of `source` on no recovery channel, with the link's own
/// flag and payload kind; `None` if the words are those of any other packet, or of none. Two
/// comparisons, because most packets are such.
#[inline(always)]
pub fn plain(words: [u64; 2], flag: u32, payload_kind: u8, source: Rank) -> Option<PlainHeader> {
    const TAG: u64 = 0x0f << 32;
    const PAYLOAD_KIND: u64 = 0xff << 40;
    const CREDITS: u64 = 0xffff << 32;
    let kind = u64::from(flag) | (Tag::Ucast as u64) << 32 | u64::from(payload_kind) << 40;
    let tree = u64::from(TreeId::unicast(source).to_bits());
    let ordinary = tree | u64::from(Channel::NONE.to_bits()) << 48;
    let is_plain = words[0] & (u64::from(u32::MAX) | TAG | PAYLOAD_KIND) == kind
        && words[1] & !CREDITS == ordinary;
    is_plain.then(|| PlainHeader {
        protocol: Protocol::of_upper_bits((words[0] >> 32) as u8),
        size: (words[0] >> 48) as u16,
        credits: (words[1] >> 32) as u16,
    })
}

#[cfg(test)]
mod tests;
