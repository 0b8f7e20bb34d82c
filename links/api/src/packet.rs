//! Packets as a link moves them.

use crate::Buffer;
use std::ptr::NonNull;
use weft_wire::atomic::Words;
use weft_wire::{Header, Protocol, Rank};

/// Words of the longest [short packet](crate::ShortPackets): 112 user bytes.
pub type ShortWords = [u64; 14];

/// Payload of a packet: what follows its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// No bytes.
    Empty,
    /// The first `header.size` bytes of a frame.
    Buffer(Buffer),
    /// Words of an atomic operation or of its answer; they travel with the header. Those beyond
    /// [`body_bytes`](weft_wire::envelope::body_bytes) need not.
    Words(Words),
}

/// Frame that has been received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Its header. `source` is the rank that transmitted it, as far as the link knows.
    pub header: Header,
    /// Its user bytes or words.
    pub payload: Payload,
}

/// Plain packet: one whose header is the most common one. It goes to one rank, on no recovery
/// channel, without a sequence number. Its user bytes are where they arrived. If they are in no
/// frame they stay there until the next poll of the link, or until the credit of the packet is
/// returned, whichever is first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plain {
    /// Rank that transmitted it.
    pub source: Rank,
    /// System that it is for.
    pub protocol: Protocol,
    /// Number of user bytes. If they are in no frame, [`ShortWords`] hold them.
    pub size: u16,
    /// Number of credits that came with it.
    pub credits: u16,
    /// Address of the user bytes, aligned to words. All of [`ShortWords`] can be read there.
    pub bytes: NonNull<u8>,
}

/// Result of [`crate::ShortPackets::receive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceivedPlain {
    /// Nothing has arrived.
    Nothing,
    /// A plain packet that is in no frame. It was taken from the link.
    Short(Plain),
    /// A plain packet in a frame. It was taken from the link, and the frame is to be freed.
    Framed(Plain, Buffer),
    /// Another packet, which [`crate::Link::receive`] takes.
    Other,
}

/// Violation by a peer, which wrote something into this link that is no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{from:?} wrote a bad frame: {what}")]
pub struct LinkViolation {
    /// Peer that wrote it.
    pub from: Rank,
    /// Reason why it is no frame.
    pub what: BadFrame,
}

/// Reason why something that a peer wrote is no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadFrame {
    /// Its header.
    #[error("{0}")]
    Header(weft_wire::Malformed),
    /// Its user bytes would be in a frame that does not exist.
    #[error("it refers to frame {index} of rank {owner}, which does not exist")]
    Reference {
        /// Rank that would own the frame.
        owner: u16,
        /// Number of the frame.
        index: u32,
    },
    /// It announces more bytes than a frame holds.
    #[error("it announces {0} bytes, more than a frame holds")]
    Size(u16),
    /// Its payload kind is not known.
    #[error("its user bytes are in a place of unknown kind {0}")]
    PayloadKind(u8),
}
