//! Records: what travels on a connection, one after another. A record is a frame as a datagram has
//! it (envelope, packets, trailer), only longer, and under keys of its own.

use weft_datagram::seal::FrameKind;
use weft_wire::envelope::{self, Envelope};
use weft_wire::{Rank, network};

/// User bytes of a packet at most: what header and piece numbers of 16 bits leave, in whole cache
/// lines.
pub const PAYLOAD_MAX: usize = (u16::MAX as usize - network::SIZE) / 64 * 64;
/// Bytes of a record before the user bytes of its first packet.
pub(crate) const HEAD_BYTES: usize = envelope::SIZE + network::SIZE;
/// Bytes of the longest trailer.
const TRAILER_MAX: usize = 16;
/// Bytes of a record at most.
pub(crate) const RECORD_MAX: usize = HEAD_BYTES + PAYLOAD_MAX + TRAILER_MAX;
/// Bytes of the contents of a hello.
pub(crate) const HELLO_CONTENTS: usize = 8;
/// Bytes of a hello at most.
pub(crate) const HELLO_MAX: usize = envelope::SIZE + HELLO_CONTENTS + TRAILER_MAX;

/// Facts that a record of a connection must state, before any of it is authentic.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Number of the job.
    pub job: u32,
    /// Rank at the other end, as its hello has shown; `None` before that.
    pub source: Option<Rank>,
    /// This rank.
    pub own: Rank,
    /// Bytes at the end of each record that the protection needs.
    pub trailer_bytes: usize,
}

/// Reason to close a connection: what came is no record of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadRecord {
    /// No frame of this version of Weft.
    #[error("it is no record of this version of Weft")]
    Foreign,
    /// Of another job, from another rank, or for another.
    #[error("it is not between these ranks of this job")]
    Ranks,
    /// A hello where packets belong, or the other way round.
    #[error("it is of another kind")]
    Kind,
    /// Longer than any record, or too short for its kind.
    #[error("no record is as long as that")]
    Length,
}

impl Expected {
    /// Bytes of the record whose first bytes are `start`; `None` if they are too few to tell. A
    /// hello comes before the rank is known, and packets after.
    ///
    /// # Errors
    /// [`BadRecord`]; nothing that follows on this connection can be read.
    pub fn record_bytes(&self, start: &[u8]) -> Result<Option<usize>, BadRecord> {
        if start.len() < envelope::SIZE {
            return Ok(None);
        }
        let parsed = envelope::parse(start).map_err(|_| BadRecord::Foreign)?;
        let Envelope { kind, job, source, destination, length, .. } = parsed;
        if job != self.job
            || destination != self.own
            || source == self.own
            || self.source.is_some_and(|known| known != source)
        {
            return Err(BadRecord::Ranks);
        }
        let length = length as usize;
        let (right, least, most) = match self.source {
            None => (FrameKind::HELLO, HELLO_CONTENTS, HELLO_CONTENTS),
            Some(_) => (FrameKind::PACKETS, network::SIZE, network::SIZE + PAYLOAD_MAX),
        };
        if kind != right {
            return Err(BadRecord::Kind);
        }
        if length < least + self.trailer_bytes || length > most + self.trailer_bytes {
            return Err(BadRecord::Length);
        }
        Ok(Some(envelope::SIZE + length))
    }

    /// Bytes of a hello.
    pub fn hello_bytes(&self) -> usize {
        envelope::SIZE + HELLO_CONTENTS + self.trailer_bytes
    }
}

#[cfg(test)]
mod tests;
