//! The packet header as the protocols see it.

use crate::{Channel, Follows, Rank, Serial, TreeId};

/// Kind of a packet (thesis table 3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Tag {
    /// Data for one rank.
    Ucast = 1,
    /// Data for all members of a group; forwarded along a tree.
    Mcast = 2,
    /// Asks for an atomic operation, as a fetch-and-add is; a data packet, served by the NI.
    FaRequest = 3,
    /// An explicit credit update.
    Credit = 4,
    /// Part of a recovery channel was cleared (thesis 4.3).
    ChannelClear = 5,
    /// The answer to one.
    FaReply = 6,
    /// An explicit acknowledgement (thesis 8.2.2).
    Acknowledge = 7,
    /// A negative one: buffers were short, and there are some now.
    Nack = 8,
    /// Its sender ends, in good order: nothing is expected of it any more.
    Farewell = 9,
    /// Asks a sender for credits that it has no use for, where windows follow demand.
    Recall = 10,
    /// The answer: credits handed back, possibly none.
    Return = 11,
    /// Another rank was lost: that of `tree`, for the cause in `sequence`. The ranks that survive
    /// it on its host know first, and tell the others.
    Lost = 12,
}

impl Tag {
    /// True if packets of this kind fill a receive buffer and so consume a credit. All others are
    /// control packets: they are processed at once and never queued (invariant I5).
    #[inline]
    pub fn is_data(self) -> bool {
        matches!(self, Tag::Ucast | Tag::Mcast | Tag::FaRequest)
    }
}

impl TryFrom<u8> for Tag {
    type Error = Malformed;

    #[inline]
    fn try_from(byte: u8) -> Result<Self, Malformed> {
        Ok(match byte {
            1 => Tag::Ucast,
            2 => Tag::Mcast,
            3 => Tag::FaRequest,
            4 => Tag::Credit,
            5 => Tag::ChannelClear,
            6 => Tag::FaReply,
            7 => Tag::Acknowledge,
            8 => Tag::Nack,
            9 => Tag::Farewell,
            10 => Tag::Recall,
            11 => Tag::Return,
            12 => Tag::Lost,
            _ => return Err(Malformed::Tag(byte)),
        })
    }
}

/// A packet header (thesis fig. 3.1), parsed.
///
/// `sequence` and `acknowledgement` serve the presets that retransmit and stay 0 in the others.
///
/// A link may look at kind, source, size, tree, `follows` and `serial`: the rest is between
/// protocols.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Header {
    /// The kind of packet.
    pub tag: Tag,
    /// The rank that transmitted this packet last: a forwarder replaces it.
    pub source: Rank,
    /// Valid user bytes after the header. Those of [atomic operations](crate::atomic) have words
    /// instead: two if this is 0.
    pub size: u16,
    /// Credits given back to the receiver of this packet. In a [`Tag::Recall`], those that it is
    /// asked for; in a [`Tag::Return`], those that it gets to hand out anew. Under `pupa`, which
    /// has none to give back, 0 says that it may send as much as it likes, and `n` that it may send
    /// the `n - 1` packets from `acknowledgement` on, and no other (Pupa 2.2.2).
    pub credits: u16,
    /// The tree that the packet travels on; forwarders never change it.
    pub tree: TreeId,
    /// The recovery channel, if the packet is being recovered.
    pub channel: Channel,
    /// The sequence number of the packet in its flow.
    pub sequence: u32,
    /// The next sequence number that the sender of this packet expects.
    pub acknowledgement: u32,
    /// The sender of this packet wants an acknowledgement at once (Pupa 2.2.1); or, where windows
    /// follow demand, more credits.
    pub asks: bool,
    /// Packets that it must come after: read by the link, and not by the receiver.
    pub follows: Follows,
    /// The link's own: number by which it keeps to that. Protocols leave it alone.
    pub serial: Serial,
}

impl Header {
    /// A header of kind `tag` from `source`, with nothing piggybacked.
    #[inline]
    pub fn new(tag: Tag, source: Rank, tree: TreeId, size: u16) -> Self {
        Header {
            tag,
            source,
            size,
            credits: 0,
            tree,
            channel: Channel::NONE,
            sequence: 0,
            acknowledgement: 0,
            asks: false,
            follows: Follows::Nothing,
            serial: Serial::NONE,
        }
    }
}

/// Reason why some bytes are not a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// Fewer bytes than a header has.
    Short(usize),
    /// The version byte is not [`crate::network::VERSION`].
    Version(u8),
    /// No packet kind has this number.
    Tag(u8),
    /// The header announces more user bytes than follow it.
    Size {
        /// Bytes that the header announces.
        announced: u16,
        /// Bytes that are there.
        present: usize,
    },
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Malformed::Short(n) => write!(f, "{n} bytes are too few for a packet header"),
            Malformed::Version(v) => write!(f, "packet format version {v} is not known"),
            Malformed::Tag(t) => write!(f, "packet tag {t} is not known"),
            Malformed::Size { announced, present } => {
                write!(f, "the header announces {announced} bytes, {present} are there")
            }
        }
    }
}

impl std::error::Error for Malformed {}
