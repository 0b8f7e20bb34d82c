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
//! came before, so that a gap is noticed.

/// Bytes of the header.
pub const SIZE: usize = 16;
/// The longest message.
pub const MAX_MESSAGE: u64 = (1 << 48) - 1;

/// Which packet of a message it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The first; it announces the message.
    First,
    /// Any other.
    Next,
    /// No message: `message` packets of the flow `bytes` were consumed at the port, in all. Flow 0 is
    /// unicast, flow `n + 1` group `n`.
    Window,
    /// No message: asks whether this rank has the port.
    Probe,
    /// No message: the answer to a probe for a port that is not there.
    NoPort,
}

/// The header of one packet of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketHeader {
    /// The port that the message is for.
    pub port: u32,
    /// The sender's number for the message.
    pub message: u32,
    /// First packet: bytes of the whole message. Later: bytes that came before.
    pub bytes: u64,
    /// First packet: bytes of higher layers' headers that follow.
    pub header_bytes: u8,
    /// Which packet it is.
    pub kind: Kind,
}

impl PacketHeader {
    /// The report that `consumed` packets of a flow to `port` were consumed: of unicasts, or of
    /// multicasts to the group with this number.
    pub fn window(port: u32, group: Option<u16>, consumed: u32) -> Self {
        let bytes = group.map_or(0, |group| u64::from(group) + 1);
        PacketHeader { port, message: consumed, bytes, header_bytes: 0, kind: Kind::Window }
    }

    /// A control packet about `port`.
    pub fn about(port: u32, kind: Kind) -> Self {
        PacketHeader { port, message: 0, bytes: 0, header_bytes: 0, kind }
    }

    /// Encodes this header.
    #[inline]
    pub fn emit(&self) -> [u8; SIZE] {
        let kind = match self.kind {
            Kind::First => 1u64,
            Kind::Next => 2,
            Kind::Window => 3,
            Kind::Probe => 4,
            Kind::NoPort => 5,
        };
        let low = u64::from(self.port) | u64::from(self.message) << 32;
        let high = self.bytes | u64::from(self.header_bytes) << 48 | kind << 56;
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes());
        bytes
    }

    /// Splits a packet into its message header and the rest; `None` if it is no message packet.
    #[inline]
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = packet.split_first_chunk::<SIZE>()?;
        let (low, high) = head.split_first_chunk::<8>()?;
        let low = u64::from_le_bytes(*low);
        let high = u64::from_le_bytes(*high.first_chunk::<8>()?);
        let header = PacketHeader {
            port: low as u32,
            message: (low >> 32) as u32,
            bytes: high & MAX_MESSAGE,
            header_bytes: (high >> 48) as u8,
            kind: match high >> 56 {
                1 => Kind::First,
                2 => Kind::Next,
                3 => Kind::Window,
                4 => Kind::Probe,
                5 => Kind::NoPort,
                _ => return None,
            },
        };
        let headers_fit = match header.kind {
            Kind::First => usize::from(header.header_bytes) <= rest.len(),
            Kind::Next => header.header_bytes == 0,
            Kind::Window | Kind::Probe | Kind::NoPort => {
                header.header_bytes == 0 && rest.is_empty()
            }
        };
        headers_fit.then_some((header, rest))
    }
}

/// The number of the port called `name`: the same on every rank (FNV-1a).
pub fn port_number(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests;
