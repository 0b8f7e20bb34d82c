//! The message header: the first 16 bytes of every packet, little-endian.
//!
//! ```text
//!  0      4         8                    14               15
//! ┌──────┬─────────┬────────────────────┬────────────────┬──────┐
//! │ port │ message │ bytes  (48 bits)   │ header bytes   │ kind │
//! └──────┴─────────┴────────────────────┴────────────────┴──────┘
//! ```
//! `message` is the sender's number for it. In a first packet `bytes` is the length of the whole
//! message, headers excluded, and the headers of higher layers follow; in later ones it is how many
//! came before, so that a gap is noticed. A request is a first packet with the headers and without
//! the bytes.

/// Bytes of the header.
pub const SIZE: usize = 16;
/// The longest message.
pub const MAX_MESSAGE: u64 = (1 << 48) - 1;

/// Alignment of the bytes of an aligned packet.
const LINE: usize = 64;
/// Packets with so many bytes of their message, in frames that hold no less, are aligned.
const ALIGNED_FROM: usize = 1024;
/// The bit for that, beside the kind.
const ALIGNED: u64 = 0x80;
/// The largest number of a flow: that of the last group.
const MAX_FLOW: u64 = u16::MAX as u64 + 1;
/// The number of [`PacketKind::Whole`].
const WHOLE: u64 = 12;

/// Kind of a packet of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PacketKind {
    /// The first; it announces the message.
    First,
    /// Any other.
    Next,
    /// No message: `message` packets of the flow `bytes` were consumed at the port, in all. Flow 0
    /// is unicast, flow `n + 1` group `n`.
    Window,
    /// No message: asks whether this rank has the port.
    Probe,
    /// No message: the answer to a probe for a port that is not there.
    NoPort,
    /// No message: `message` packets of the flow `bytes` were sent to the port in all, and their
    /// sender waits for room.
    Stalled,
    /// The first of a message whose other packets come when they are granted. It has no bytes of
    /// it.
    Request,
    /// No message: the answer to a request. `message` is wanted, and all of it may come.
    Grant,
    /// No message: the answer to a request. Nobody wants `message`, and nothing of it shall come.
    Unwanted,
    /// No message: the sender of `message`, a request, waits for an answer still.
    Waiting,
    /// No message: `message` ends here, after `bytes` bytes, for its sender has given it up.
    Cancel,
    /// All of a message to one rank. A first packet may be all of one too, if that is a multicast.
    Whole,
}

/// The header of one packet of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PacketHeader {
    /// The port that the message is for.
    pub port: u32,
    /// The sender's number for the message.
    pub message: u32,
    /// First packet, or request: bytes of the whole message. Later: bytes that came before.
    pub bytes: u64,
    /// First packet: bytes of higher layers' headers that follow.
    pub header_bytes: u8,
    /// Kind of the packet.
    pub kind: PacketKind,
    /// True if its bytes begin at a line.
    pub aligned: bool,
}

/// True if a packet in a frame of `max_payload` bytes is aligned, with `left` bytes of its message
/// to come.
#[inline]
pub fn is_aligned(max_payload: usize, left: usize) -> bool {
    left >= ALIGNED_FROM && max_payload >= ALIGNED_FROM + 2 * usize::from(u8::MAX)
}

/// Bytes of a message, behind `header_bytes` of headers, that one packet in a frame of
/// `max_payload` bytes holds.
pub fn room(max_payload: usize, header_bytes: usize) -> usize {
    let begin = SIZE + header_bytes;
    match is_aligned(max_payload, max_payload) {
        true => max_payload - begin.next_multiple_of(LINE),
        false => max_payload - begin,
    }
}

impl PacketHeader {
    /// The report that `consumed` packets of a flow to `port` were consumed: of unicasts, or of
    /// multicasts to the group with this number.
    pub fn window(port: u32, group: Option<u16>, consumed: u32) -> Self {
        PacketHeader::of_flow(port, PacketKind::Window, group, consumed)
    }

    /// Complaint of a sender that has no room left in a flow, with the packets that it has sent.
    pub fn stalled(port: u32, group: Option<u16>, sent: u32) -> Self {
        PacketHeader::of_flow(port, PacketKind::Stalled, group, sent)
    }

    /// Header of a packet by which one rank tells another something about message `number`, of
    /// which `bytes` bytes were sent.
    pub fn of_message(port: u32, kind: PacketKind, number: u32, bytes: u64) -> Self {
        PacketHeader { message: number, bytes, ..PacketHeader::about(port, kind) }
    }

    fn of_flow(port: u32, kind: PacketKind, group: Option<u16>, message: u32) -> Self {
        let bytes = group.map_or(0, |group| u64::from(group) + 1);
        PacketHeader { message, bytes, ..PacketHeader::about(port, kind) }
    }

    /// The group of the flow that a control packet is about, if it is not about unicasts.
    pub fn group(&self) -> Option<u16> {
        self.bytes.checked_sub(1).map(|number| number as u16)
    }

    /// A control packet about `port`.
    pub fn about(port: u32, kind: PacketKind) -> Self {
        PacketHeader { port, message: 0, bytes: 0, header_bytes: 0, kind, aligned: false }
    }

    /// Offset of the message's bytes in this packet.
    #[inline]
    pub fn bytes_at(&self) -> usize {
        let begin = SIZE + usize::from(self.header_bytes);
        if self.aligned { begin.next_multiple_of(LINE) } else { begin }
    }

    /// The zeros between this header and the others.
    #[inline]
    pub fn padding(&self) -> &'static [u8] {
        &[0; LINE][..self.bytes_at() - SIZE - usize::from(self.header_bytes)]
    }

    /// Encodes this header.
    #[inline]
    pub fn emit(&self) -> [u8; SIZE] {
        let kind = match self.kind {
            PacketKind::First => 1u64,
            PacketKind::Next => 2,
            PacketKind::Window => 3,
            PacketKind::Probe => 4,
            PacketKind::NoPort => 5,
            PacketKind::Stalled => 6,
            PacketKind::Request => 7,
            PacketKind::Grant => 8,
            PacketKind::Unwanted => 9,
            PacketKind::Waiting => 10,
            PacketKind::Cancel => 11,
            PacketKind::Whole => WHOLE,
        };
        let low = u64::from(self.port) | u64::from(self.message) << 32;
        let kind = if self.aligned { kind | ALIGNED } else { kind };
        let high = self.bytes | u64::from(self.header_bytes) << 48 | kind << 56;
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes());
        bytes
    }

    /// Splits a packet into its message header and the bytes of the message; `None` if it is no
    /// message packet.
    #[inline]
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (low, high, _) = split(packet)?;
        let header = PacketHeader {
            port: low as u32,
            message: (low >> 32) as u32,
            bytes: high & MAX_MESSAGE,
            header_bytes: (high >> 48) as u8,
            kind: match high >> 56 & !ALIGNED {
                1 => PacketKind::First,
                2 => PacketKind::Next,
                3 => PacketKind::Window,
                4 => PacketKind::Probe,
                5 => PacketKind::NoPort,
                6 => PacketKind::Stalled,
                7 => PacketKind::Request,
                8 => PacketKind::Grant,
                9 => PacketKind::Unwanted,
                10 => PacketKind::Waiting,
                11 => PacketKind::Cancel,
                WHOLE => PacketKind::Whole,
                _ => return None,
            },
            aligned: high >> 56 & ALIGNED != 0,
        };
        let bytes = packet.get(header.bytes_at()..)?;
        let is_right = match header.kind {
            PacketKind::First => true,
            PacketKind::Next => header.header_bytes == 0,
            PacketKind::Whole => header.bytes == bytes.len() as u64,
            // An empty message needs no grant, and would wait for one.
            PacketKind::Request => header.bytes > 0 && !header.aligned && bytes.is_empty(),
            PacketKind::Window | PacketKind::Stalled if header.bytes > MAX_FLOW => false,
            _ => header.header_bytes == 0 && !header.aligned && bytes.is_empty(),
        };
        is_right.then_some((header, bytes))
    }

    /// Does what [`Self::parse`] does, for the most frequent case: `None` for anything but a whole
    /// message whose bytes are not aligned. The headers of the layers above come with the bytes.
    #[inline]
    pub fn parse_whole(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (low, high, rest) = split(packet)?;
        let (bytes, header_bytes) = (high & MAX_MESSAGE, (high >> 48) as u8);
        let is_whole = high >> 56 == WHOLE && bytes + u64::from(header_bytes) == rest.len() as u64;
        let header = PacketHeader {
            port: low as u32,
            message: (low >> 32) as u32,
            bytes,
            header_bytes,
            kind: PacketKind::Whole,
            aligned: false,
        };
        is_whole.then_some((header, rest))
    }
}

/// The two words of a header, and what follows it.
#[inline]
fn split(packet: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (head, rest) = packet.split_first_chunk::<SIZE>()?;
    let ([low, high], _) = head.as_chunks::<8>() else { return None };
    Some((u64::from_le_bytes(*low), u64::from_le_bytes(*high), rest))
}

/// The number of the port called `name`: the same on every rank (FNV-1a).
pub fn port_number(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests;
