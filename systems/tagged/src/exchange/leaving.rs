//! Messages that leave in several packets, unasked.

use crate::Result;
use crate::format::{EAGER, MORE, TaggedPacket};
use crate::network::{Parted, SendSource, TaggedNetwork};
use std::ops::RangeInclusive;
use weft_endpoint::Rank;

/// Lengths of eager messages that leave in two halves at least: while the receiver copies the first
/// one, the second is under way. Of shorter ones a second packet costs more than that; longer ones
/// are several packets anyway.
const HALVED: RangeInclusive<u64> = 48 * 1024..=96 * 1024;
/// Bytes in the first packet of an eager message whose others are read where they belong, longer
/// than those that leave in halves: its receiver has to know it before they come.
const FIRST_OF_PLACED: usize = 2048;
/// Bytes from which on a part leaves by itself: its receiver copies it while the next is filled.
const LONG_PART: usize = 16 * 1024;
/// A message of which some has left.
#[derive(Debug)]
pub(super) struct Leaving<S> {
    /// The endpoint.
    pub from: u8,
    pub number: u64,
    pub source: S,
    pub sent: u64,
    /// Its packets leave from where its bytes lie, as far as the network does that.
    pub in_place: bool,
    /// Some did.
    pub is_lent: bool,
}

/// True if an eager message of this length to that rank leaves in several packets.
#[inline]
pub(super) fn is_parted<N: TaggedNetwork>(network: &N, to: Rank, length: u64) -> bool {
    HALVED.contains(&length) || EAGER + length as usize > network.payload_to(to)
}

/// Bytes in the first packet of such a message at most.
pub(super) fn most_first(length: u64, in_place: bool) -> usize {
    match length {
        halved if HALVED.contains(&halved) => length as usize / 2,
        longer if in_place && longer > *HALVED.end() => FIRST_OF_PLACED,
        _ => length as usize - 1,
    }
}

impl<S: SendSource> Leaving<S> {
    /// Sends on; whether that was all.
    pub fn go_on<N: TaggedNetwork>(&mut self, network: &mut N, to: Rank) -> Result<bool> {
        let length = self.source.length();
        while self.sent < length {
            let room = ((network.payload_to(to) - MORE) as u64).min(length - self.sent) as usize;
            let head =
                TaggedPacket::More { number: self.number, offset: self.sent, bytes: &[] }.head();
            let body = (&self.source, self.sent, room);
            let is_last = self.sent + room as u64 == length;
            if is_last || room >= LONG_PART {
                network.hold_nothing();
            }
            let parted = match self.in_place {
                true => network.send_part(to, head.bytes(), body, is_last)?,
                false if network.send(to, head.bytes(), Some(body))? => Parted::Copied,
                false => Parted::NoRoom,
            };
            match parted {
                Parted::NoRoom => return Ok(false),
                Parted::Copied => {}
                Parted::Lent => self.is_lent = true,
            }
            self.sent += room as u64;
        }
        Ok(true)
    }
}
