//! The header inside one machine: 12 bytes, packed into 64-bit words that are written with the
//! slot that carries them.
//!
//! A link that is lossless and ordered needs no sequence numbers, and one whose memory tells who
//! wrote a packet needs no source. What is left fits beside a slot's 32-bit sequence flag:
//!
//! ```text
//! word 0:  sequence flag (32) | tag (8) | place (8) | size (16)
//! word 1:  tree (32) | credits (16) | channel (16)
//! ```
//!
//! `place` belongs to the link: where the user bytes are.

use crate::{Channel, Header, Malformed, Rank, Tag, TreeId};

/// Bytes of the two words, sequence flag included.
pub const SIZE: usize = 16;

const _: () = assert!(SIZE == 2 * size_of::<u64>());

/// Encodes `header` with the link's own sequence flag and place.
#[inline]
pub fn emit(header: &Header, flag: u32, place: u8) -> [u64; 2] {
    [
        u64::from(flag)
            | u64::from(header.tag as u8) << 32
            | u64::from(place) << 40
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

/// Index at which the link has put the user bytes of the packet with this word 0.
#[inline]
pub fn place(word0: u64) -> u8 {
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
    match Tag::try_from((words[0] >> 32) as u8) {
        Ok(tag) => Ok(Header {
            tag,
            source,
            size: (words[0] >> 48) as u16,
            credits: (words[1] >> 32) as u16,
            tree: TreeId::from_bits(words[1] as u32),
            channel: Channel::from_bits((words[1] >> 48) as u16),
            sequence: 0,
            acknowledgement: 0,
            asks: false,
        }),
        Err(malformed) => Err(malformed),
    }
}

#[cfg(test)]
mod tests;
