//! Header of packets that are placed instead of handed over: the sender names the connection and
//! the offset in its receive buffer (sender-based-protocols 2).
//!
//! ```text
//!  0      1        4            8        16       20     24
//! ┌──────┬────────┬────────────┬────────┬────────┬──────┐
//! │ kind │ 0      │ connection │ offset │ length │ word │ bytes ...
//! └──────┴────────┴────────────┴────────┴────────┴──────┘
//! ```
//! Meanings of `offset`, `length` and `word` are those that the [`PlaceKind`] gives them; a field
//! without one is 0, and not looked at. Connections are numbered by the rank that has the receive
//! buffer.

/// Bytes of an encoded header.
pub const SIZE: usize = 24;

/// Kind of a placed packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PlaceKind {
    /// Bytes for `offset`.
    Put = 1,
    /// The last bytes of a put of `length` in all, for `offset`; the receiver is notified of
    /// `word`.
    PutNotify = 2,
    /// A receive buffer of `offset` bytes, with rights `word`. Its name of `length` bytes follows,
    /// and what its memory is called, if it can be reached without packets.
    Offer = 3,
    /// The offer is taken: the connection is open.
    Accept = 4,
    /// The sender is done with the connection.
    Close = 5,
    /// The receiver is: what comes from here on is not placed.
    Withdraw = 6,
    /// Something was not placed; `word` says why ([`Refusal`]), `offset` and `length` what.
    Refused = 7,
    /// Asks for `length` bytes from `offset`; `word` is the number of the question.
    Get = 8,
    /// The bytes that question `word` asked for.
    Got = 9,
}

impl PlaceKind {
    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => PlaceKind::Put,
            2 => PlaceKind::PutNotify,
            3 => PlaceKind::Offer,
            4 => PlaceKind::Accept,
            5 => PlaceKind::Close,
            6 => PlaceKind::Withdraw,
            7 => PlaceKind::Refused,
            8 => PlaceKind::Get,
            9 => PlaceKind::Got,
            _ => return None,
        })
    }
}

/// Reason why something was not placed, or not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Refusal {
    /// There is no such connection, or it is another rank's.
    NoConnection = 1,
    /// Its receiver has closed it.
    Closed = 2,
    /// The range is not inside the receive buffer.
    Bounds = 3,
    /// The receiver has not given this right.
    Rights = 4,
    /// The header makes no sense.
    Malformed = 5,
    /// More offers wait to be taken than a rank keeps.
    TooMany = 6,
}

impl Refusal {
    /// The refusal with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Refusal::NoConnection,
            2 => Refusal::Closed,
            3 => Refusal::Bounds,
            4 => Refusal::Rights,
            5 => Refusal::Malformed,
            6 => Refusal::TooMany,
            _ => return None,
        })
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Refusal::NoConnection => "it has no such buffer for this rank",
            Refusal::Closed => "it has closed that buffer",
            Refusal::Bounds => "the bytes are not all inside the buffer",
            Refusal::Rights => "the buffer was not offered for that",
            Refusal::Malformed => "the packet makes no sense",
            Refusal::TooMany => "it has too many offers that were not taken",
        })
    }
}

/// The header of a placed packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct PlaceHeader {
    /// Kind of the packet.
    pub kind: PlaceKind,
    /// Connection, by its receiver's numbers.
    pub connection: u32,
    /// Offset in the receive buffer, in bytes.
    pub offset: u64,
    /// Length, in bytes.
    pub length: u32,
    /// For the two programs, or for the protocol.
    pub word: u32,
}

impl PlaceHeader {
    /// A header that says no more than what it is, and of which connection.
    pub fn new(kind: PlaceKind, connection: u32) -> Self {
        PlaceHeader { kind, connection, offset: 0, length: 0, word: 0 }
    }

    /// The header as bytes.
    #[inline]
    pub fn emit(&self) -> [u8; SIZE] {
        // By words, as links read it: a processor waits when it loads a word that was just stored
        // in parts.
        let words = [
            u64::from(self.kind as u8) | u64::from(self.connection) << 32,
            self.offset,
            u64::from(self.length) | u64::from(self.word) << 32,
        ];
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&words[0].to_le_bytes());
        bytes[8..16].copy_from_slice(&words[1].to_le_bytes());
        bytes[16..].copy_from_slice(&words[2].to_le_bytes());
        bytes
    }

    /// The header at the start of `packet`, and the bytes after it; `None` if there is none.
    #[inline]
    pub fn parse(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (head, bytes) = packet.split_first_chunk::<SIZE>()?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let header = PlaceHeader {
            kind: PlaceKind::from_byte(head[0])?,
            connection: word(4),
            offset: u64::from(word(8)) | u64::from(word(12)) << 32,
            length: word(16),
            word: word(20),
        };
        Some((header, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emitted_is_parsed() {
        for kind in 1..=9 {
            let kind = PlaceKind::from_byte(kind).unwrap();
            let header = PlaceHeader {
                kind,
                connection: 0x0102_0304,
                offset: 0x1112_1314_1516_1718,
                length: 0x2122_2324,
                word: 0x3132_3334,
            };
            let packet = [&header.emit()[..], b"bytes"].concat();
            assert_eq!(PlaceHeader::parse(&packet), Some((header, &b"bytes"[..])));
        }
    }

    #[test]
    fn neither_short_nor_unknown_ones_are_headers() {
        let whole = PlaceHeader::new(PlaceKind::Put, 7).emit();
        assert_eq!(PlaceHeader::parse(&whole[..SIZE - 1]), None);
        for kind in [0, 10, 255] {
            let mut bytes = whole;
            bytes[0] = kind;
            assert_eq!(PlaceHeader::parse(&bytes), None);
        }
    }

    #[test]
    fn refusals_are_the_numbers_they_were() {
        for number in 1..=6 {
            assert_eq!(Refusal::from_number(number).map(|refusal| refusal as u32), Some(number));
        }
        assert_eq!([0, 7].map(Refusal::from_number), [None, None]);
    }
}
