//! Messages between ranks: a header, and jobs, counters or moves behind it.

use crate::error::{Error, Result};
use crate::job::JOB_BYTES;
use crate::termination::Counts;
use crate::worker::Worked;
use weft_endpoint::Rank;

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 16;

/// Bytes of what follows the header of an answer.
const ANSWER_BYTES: usize = 8 * 8;

/// Subject of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Jobs for the owner of their positions; in a search for values also what comes of them.
    Jobs = 1,
    /// Messages of jobs that were taken from the receiver so far.
    Credit,
    /// Question of a wave.
    Ask,
    /// Answer to it: counters.
    Answer,
    /// Moves of a solution.
    Found,
    /// Word that nothing more is to be done for this iteration.
    Stop,
    /// Word that the search is over.
    End,
}

/// Header of a message: kind (1 byte), nothing (1), bound (2), iteration (4), number (4), nothing
/// (4); numbers with the low byte first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub kind: Kind,
    /// Bound of the iteration.
    pub bound: u16,
    /// The iteration, counted through all searches.
    pub iteration: u32,
    /// Number of a wave; of jobs and credits, messages taken from the receiver so far.
    pub number: u32,
}

const _: () = assert!(HEADER_BYTES == 1 + 1 + 2 + 4 + 4 + 4 && HEADER_BYTES + JOB_BYTES == 48);

impl Header {
    /// The header in bytes.
    pub fn emit(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[2..4].copy_from_slice(&self.bound.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.iteration.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    /// The header at the beginning of a message, and what follows it.
    ///
    /// # Errors
    /// [`Error::Format`].
    pub fn parse(from: Rank, message: &[u8]) -> Result<(Self, &[u8])> {
        let (header, rest) = message
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or(Error::Format { from, what: "is shorter than a header" })?;
        let kind = match header[0] {
            1 => Kind::Jobs,
            2 => Kind::Credit,
            3 => Kind::Ask,
            4 => Kind::Answer,
            5 => Kind::Found,
            6 => Kind::Stop,
            7 => Kind::End,
            _ => return Err(Error::Format { from, what: "is of no kind that there is" }),
        };
        let [_, _, a, b, c, d, e, f, g, h, i, j, ..] = *header;
        let bound = u16::from_le_bytes([a, b]);
        let iteration = u32::from_le_bytes([c, d, e, f]);
        let number = u32::from_le_bytes([g, h, i, j]);
        Ok((Header { kind, bound, iteration, number }, rest))
    }
}

/// Jobs that follow a header.
///
/// # Errors
/// [`Error::Format`] if they are none.
pub(crate) fn jobs(from: Rank, bytes: &[u8]) -> Result<&[[u8; JOB_BYTES]]> {
    match bytes.as_chunks::<JOB_BYTES>() {
        (jobs, []) => Ok(jobs),
        _ => Err(Error::Format { from, what: "ends within a job" }),
    }
}

/// Counters of a rank so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Messages of jobs.
    pub messages: Counts,
    /// Jobs sent to other ranks.
    pub jobs: u64,
    /// Work.
    pub worked: Worked,
}

impl Tally {
    /// Bytes that follow the header of an answer.
    pub fn emit(&self) -> [u8; ANSWER_BYTES] {
        let Tally { messages: Counts { sent, received }, jobs, worked } = *self;
        let Worked { nodes, leaves, hits, dropped, excess } = worked;
        let mut bytes = [0; ANSWER_BYTES];
        let words = [sent, received, jobs, nodes, leaves, hits, dropped, excess];
        for (room, word) in bytes.chunks_exact_mut(8).zip(words) {
            room.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The tally in bytes.
    ///
    /// # Errors
    /// [`Error::Format`] if they are none.
    pub fn parse(from: Rank, bytes: &[u8]) -> Result<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let (&[sent, received, jobs, nodes, leaves, hits, dropped, excess], []) =
            (&words[..], rest)
        else {
            return Err(Error::Format { from, what: "is an answer without its counters" });
        };
        let worked = Worked { nodes, leaves, hits, dropped, excess };
        Ok(Tally { messages: Counts { sent, received }, jobs, worked })
    }

    /// The tally of two ranks.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let (mine, others) = (self.worked, other.worked);
        let sum = u64::wrapping_add;
        Tally {
            messages: Counts {
                sent: sum(self.messages.sent, other.messages.sent),
                received: sum(self.messages.received, other.messages.received),
            },
            jobs: sum(self.jobs, other.jobs),
            worked: Worked {
                nodes: sum(mine.nodes, others.nodes),
                leaves: sum(mine.leaves, others.leaves),
                hits: sum(mine.hits, others.hits),
                dropped: sum(mine.dropped, others.dropped),
                excess: mine.excess.min(others.excess),
            },
        }
    }
}

#[cfg(test)]
mod tests;
