//! The event header: the first 16 bytes of every packet, little-endian.
//!
//! ```text
//!  0      1       2        4       8       12     16
//! ┌──────┬───────┬────────┬───────┬───────┬──────┐
//! │ kind │ flags │ frames │ event │ index │ done │
//! └──────┴───────┴────────┴───────┴───────┴──────┘
//! ```
//! `frames` is a window update, or how many fragments are asked for; `done` says that all events
//! below it have arrived whole at the sender.

/// Bytes of the header.
pub const SIZE: usize = 16;

/// Kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A fragment.
    Fragment,
    /// Careful: nothing but a window update.
    Update,
    /// Traditional: the fragment `event`, `index` has come.
    Acknowledge,
    /// Traditional: fragments of `event` from `index` on are missing, `frames` of them, or all
    /// if 0.
    Request,
}

/// Flags with which a sender describes a fragment (careful-protocols 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// `Last_Frag`: the last from this node for the event.
    pub last: bool,
    /// `BCAST_Event`: a crowd event, in which every node gets a message from every other.
    pub crowd: bool,
    /// `Large_Event`: one of many fragments, a hint for the traditional protocol.
    pub large: bool,
}

impl Flags {
    /// The only fragment of its message.
    pub const ONLY: Flags = Flags { last: true, crowd: false, large: false };
    /// The only fragment of a message in a crowd event.
    pub const CROWD: Flags = Flags { last: true, crowd: true, large: false };
}

/// Header before a fragment's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Kind of the frame.
    pub kind: Kind,
    /// Flags with which the sender describes it.
    pub flags: Flags,
    /// Traditional: wants an explicit acknowledgement.
    pub asks: bool,
    /// Window update, or number of fragments asked for.
    pub frames: u16,
    /// Number of the event.
    pub event: u32,
    /// Place of the fragment in its message.
    pub index: u32,
    /// Number of the first event that has not arrived whole at the sender.
    pub done: u32,
}

const LAST: u8 = 1;
const CROWD: u8 = 2;
const LARGE: u8 = 4;
const ASKS: u8 = 8;

impl Header {
    /// A header without flags or anything to say about windows.
    pub fn new(kind: Kind, event: u32, index: u32) -> Self {
        Header { kind, flags: Flags::default(), asks: false, frames: 0, event, index, done: 0 }
    }

    /// Bytes of it.
    pub fn encode(&self) -> [u8; SIZE] {
        let bit = |set, bit| if set { bit } else { 0 };
        let Flags { last, crowd, large } = self.flags;
        let mut bytes = [0; SIZE];
        bytes[0] = self.kind as u8;
        bytes[1] = bit(last, LAST) | bit(crowd, CROWD) | bit(large, LARGE) | bit(self.asks, ASKS);
        bytes[2..4].copy_from_slice(&self.frames.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.event.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.index.to_le_bytes());
        bytes[12..].copy_from_slice(&self.done.to_le_bytes());
        bytes
    }

    /// The header at the front of `bytes`, and what follows; `None` if there is none that a correct
    /// node writes.
    pub fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (front, rest) = bytes.split_first_chunk::<SIZE>()?;
        let kind = match front[0] {
            0 => Kind::Fragment,
            1 => Kind::Update,
            2 => Kind::Acknowledge,
            3 => Kind::Request,
            _ => return None,
        };
        let word = |at: usize| {
            u32::from_le_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]])
        };
        let bits = front[1];
        if bits > LAST | CROWD | LARGE | ASKS {
            return None;
        }
        let flags =
            Flags { last: bits & LAST != 0, crowd: bits & CROWD != 0, large: bits & LARGE != 0 };
        let header = Header {
            kind,
            flags,
            asks: bits & ASKS != 0,
            frames: u16::from_le_bytes([front[2], front[3]]),
            event: word(4),
            index: word(8),
            done: word(12),
        };
        // No message has so many fragments that the number of them all does not fit.
        (header.index < u32::MAX).then_some((header, rest))
    }
}

#[cfg(test)]
mod tests;
