//! The call header: eight bytes on the header stack of each message of a call, little-endian.
//!
//! ```text
//!  0         3            7      8
//! ┌─────────┬────────────┬──────┐
//! │ slot    │ generation │ kind │
//! └─────────┴────────────┴──────┘
//! ```
//! Slot and generation are the caller's own ([`CallNumber`]); servers give them back unread.

/// Bytes of the header.
pub const SIZE: usize = 8;

/// Kind of a message of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// To a service: the body is what is asked.
    Call,
    /// To the server's rank: the caller wants no reply any more. The body is the number of the
    /// service's port if the rank has said that it has none.
    Cancel,
    /// To the caller: the body is the reply.
    Answer,
    /// To the caller: the body is text that says what went wrong.
    Failed,
    /// To the caller: the service dropped the request unanswered.
    NoReply,
}

/// A caller's number for a call: a slot of its table, and how often that was used before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CallNumber(u64);

impl CallNumber {
    /// The number for `slot`, below 2^24, in its `generation`; none for slots above.
    pub fn new(slot: u32, generation: u32) -> Option<Self> {
        (slot < 1 << 24).then_some(CallNumber(u64::from(slot) | u64::from(generation) << 24))
    }

    /// Number of the slot.
    pub fn slot(self) -> u32 {
        self.0 as u32 & 0xff_ffff
    }

    /// Generation of the slot's use.
    pub fn generation(self) -> u32 {
        (self.0 >> 24) as u32
    }
}

/// Body of a [`CallKind::Cancel`] that names the port of a service.
pub(crate) fn emit_port(port: u32) -> [u8; 4] {
    port.to_le_bytes()
}

/// The header of a message of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallHeader {
    /// Kind of the message.
    pub kind: CallKind,
    /// Number of the call that it is about.
    pub number: CallNumber,
}

impl CallHeader {
    /// Encodes this header.
    #[inline]
    pub fn emit(&self) -> [u8; SIZE] {
        let kind = match self.kind {
            CallKind::Call => 1u64,
            CallKind::Cancel => 2,
            CallKind::Answer => 3,
            CallKind::Failed => 4,
            CallKind::NoReply => 5,
        };
        (self.number.0 | kind << 56).to_le_bytes()
    }

    /// Decodes a header; `None` if it is none.
    #[inline]
    pub fn parse(bytes: [u8; SIZE]) -> Option<Self> {
        let word = u64::from_le_bytes(bytes);
        let kind = match word >> 56 {
            1 => CallKind::Call,
            2 => CallKind::Cancel,
            3 => CallKind::Answer,
            4 => CallKind::Failed,
            5 => CallKind::NoReply,
            _ => return None,
        };
        Some(CallHeader { kind, number: CallNumber(word & ((1 << 56) - 1)) })
    }
}

#[cfg(test)]
mod tests;
