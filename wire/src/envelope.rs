//! Envelope around packets on Ethernet: 32 bytes, little-endian, before one or several packets.
//!
//! ```text
//!  0       2         3      4     8        10            12       16         24    32
//! ┌───────┬─────────┬──────┬─────┬────────┬─────────────┬────────┬──────────┬─────┬─────────────
//! │ magic │ version │ kind │ job │ source │ destination │ length │ sequence │ tag │ packets ...
//! └───────┴─────────┴──────┴─────┴────────┴─────────────┴────────┴──────────┴─────┴─────────────
//! ```
//! A packet in a frame is its header ([`network`]), its body, and zeros up to a multiple of
//! [`ALIGNMENT`], so that every header is aligned in a frame that is. The body is the user bytes,
//! or for [`atomic`] operations two words or three. The meaning of sequence, length and tag is
//! that of the seal.

use crate::{Header, Malformed, Rank, Tag, atomic, network};
use std::ops::Range;

/// Bytes of an encoded envelope.
pub const SIZE: usize = 32;
/// The first bytes of every frame.
pub const MAGIC: [u8; 2] = *b"WF";
/// The version of this format.
pub const VERSION: u8 = 2;
/// Frames that the network copies have this destination; whom they are for is in the frame.
pub const EVERYBODY: Rank = Rank(u16::MAX);
/// Packets begin at multiples of this many bytes.
pub const ALIGNMENT: usize = 8;
/// Bytes of the two words that the packets of atomic operations carry, all but compare-and-swaps,
/// which carry [three](atomic::WORDS_BYTES).
pub const WORDS_BYTES: usize = 16;

/// The part of the envelope before the tag, which the tag covers.
pub const TAGGED: Range<usize> = 0..24;
/// Range of the tag.
pub const TAG: Range<usize> = 24..32;

mod field {
    use std::ops::Range;

    pub const MAGIC: Range<usize> = 0..2;
    pub const VERSION: usize = 2;
    pub const KIND: usize = 3;
    pub const JOB: Range<usize> = 4..8;
    pub const SOURCE: Range<usize> = 8..10;
    pub const DESTINATION: Range<usize> = 10..12;
    pub const LENGTH: Range<usize> = 12..16;
    pub const SEQUENCE: Range<usize> = 16..24;
}

const _: () = assert!(field::SEQUENCE.end == TAGGED.end && TAG.end == SIZE);
const _: () = assert!(SIZE.is_multiple_of(ALIGNMENT) && network::SIZE.is_multiple_of(ALIGNMENT));

/// Kind of a frame: [`FrameKind::PACKETS`], or housekeeping between links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct FrameKind(pub u8);

impl FrameKind {
    /// One or more packets.
    pub const PACKETS: FrameKind = FrameKind(0);
    /// Nothing: its sender is alive.
    pub const HEARTBEAT: FrameKind = FrameKind(1);
    /// The first frame of a sender, which tells where it is.
    pub const HELLO: FrameKind = FrameKind(2);
    /// One packet for several ranks ([`crate::several`]).
    pub const SEVERAL: FrameKind = FrameKind(3);
    /// A piece of a packet that is too long for the way ([`crate::path::Piece`]).
    pub const PIECE: FrameKind = FrameKind(4);
    /// A probe of the way: it is as long as what it tries ([`crate::path::Probe`]).
    pub const PROBE: FrameKind = FrameKind(5);
    /// The answer to a probe ([`crate::path::ProbeAnswer`]).
    pub const ANSWER: FrameKind = FrameKind(6);
    /// Nothing: the last frame of a sender, which ends in good order.
    pub const GOODBYE: FrameKind = FrameKind(7);
    /// Address of its sender on a fabric, and whether it knows that of the receiver.
    pub const CARD: FrameKind = FrameKind(8);
}

/// An envelope, parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Envelope {
    /// Kind of the frame's contents.
    pub kind: FrameKind,
    /// The public number of the job.
    pub job: u32,
    /// The rank that sent the frame.
    pub source: Rank,
    /// The rank that it is for, or [`EVERYBODY`].
    pub destination: Rank,
    /// Bytes behind the envelope that are every receiver's.
    pub length: u32,
    /// The number of the frame between these two.
    pub sequence: u64,
    /// The keyed tag.
    pub tag: u64,
}

/// Reason why some bytes are not a frame of this version of Weft.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Foreign {
    /// Fewer bytes than an envelope has.
    Short,
    /// They do not begin with [`MAGIC`].
    Magic,
    /// Another version than [`VERSION`].
    Version,
}

/// Encodes `envelope`.
#[inline]
pub fn emit(envelope: &Envelope) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[field::MAGIC].copy_from_slice(&MAGIC);
    bytes[field::VERSION] = VERSION;
    bytes[field::KIND] = envelope.kind.0;
    bytes[field::JOB].copy_from_slice(&envelope.job.to_le_bytes());
    bytes[field::SOURCE].copy_from_slice(&envelope.source.0.to_le_bytes());
    bytes[field::DESTINATION].copy_from_slice(&envelope.destination.0.to_le_bytes());
    bytes[field::LENGTH].copy_from_slice(&envelope.length.to_le_bytes());
    bytes[field::SEQUENCE].copy_from_slice(&envelope.sequence.to_le_bytes());
    bytes[TAG].copy_from_slice(&envelope.tag.to_le_bytes());
    bytes
}

/// The envelope at the start of `frame`.
///
/// # Errors
/// [`Foreign`] if there is none. Nothing else of it is checked.
#[inline]
pub fn parse(frame: &[u8]) -> Result<Envelope, Foreign> {
    let head = frame.first_chunk::<SIZE>().ok_or(Foreign::Short)?;
    if head[field::MAGIC] != MAGIC {
        return Err(Foreign::Magic);
    }
    if head[field::VERSION] != VERSION {
        return Err(Foreign::Version);
    }
    let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    Ok(Envelope {
        kind: FrameKind(head[field::KIND]),
        job: u32_at(field::JOB.start),
        source: Rank(u16_at(field::SOURCE.start)),
        destination: Rank(u16_at(field::DESTINATION.start)),
        length: u32_at(field::LENGTH.start),
        sequence: u64_at(field::SEQUENCE.start),
        tag: u64_at(TAG.start),
    })
}

/// Bytes of the body of a packet with this header.
#[inline]
pub fn body_bytes(header: &Header) -> usize {
    match header.tag {
        Tag::FaRequest if usize::from(header.size) == atomic::WORDS_BYTES => atomic::WORDS_BYTES,
        Tag::FaRequest | Tag::FaReply => WORDS_BYTES,
        _ => usize::from(header.size),
    }
}

/// Bytes that a packet with a body of this length takes in a frame.
#[inline]
pub fn packet_bytes(body_bytes: usize) -> usize {
    network::SIZE + body_bytes.next_multiple_of(ALIGNMENT)
}

/// Writes a packet to the start of `place`, which must hold it, and returns the bytes that it
/// takes.
///
/// # Panics
/// If `body` has not as many bytes as the header says, or `place` is too short.
#[inline]
pub fn put(place: &mut [u8], header: &Header, body: &[u8]) -> usize {
    assert_eq!(body.len(), body_bytes(header), "the header announces another body");
    place[network::SIZE..network::SIZE + body.len()].copy_from_slice(body);
    put_around(place, header)
}

/// Does what [`put`] does, for a body that is in its place already.
///
/// # Panics
/// If `place` is too short.
#[inline]
pub fn put_around(place: &mut [u8], header: &Header) -> usize {
    let body = body_bytes(header);
    let (end, bytes) = (network::SIZE + body, packet_bytes(body));
    place[..network::SIZE].copy_from_slice(&network::emit(header));
    if end < bytes {
        place[end..bytes].fill(0);
    }
    bytes
}

/// The first packet of `packets`: its header, its body, and the bytes that it takes in all.
///
/// # Errors
/// [`Malformed`] as [`network::parse`], or if the padding is cut off. The bytes of the padding are
/// not looked at.
#[inline]
pub fn first(packets: &[u8]) -> Result<(Header, &[u8], usize), Malformed> {
    let (header, rest) = network::split(packets)?;
    let (body, bytes) = (body_bytes(&header), packet_bytes(body_bytes(&header)));
    if packets.len() < bytes {
        return Err(Malformed::Size { announced: body as u16, present: rest.len() });
    }
    Ok((header, &rest[..body], bytes))
}

#[cfg(test)]
mod tests;
