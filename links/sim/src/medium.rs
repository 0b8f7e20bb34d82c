//! Links that are one medium, which carries one frame at a time: a token ring (FDDI), or a segment
//! of Ethernet, whose token takes no time to come round.
//!
//! The token moves from station to station, in the order of ranks, as long as nobody has anything
//! to send. Frames are carried in the order in which they were given to their links; what the
//! standard says of how long a station may keep the token, and of its priorities, is left out.

use crate::machine::Medium;
use weft_link::Buffer;
use weft_link::clock::Nanoseconds;
use weft_wire::Rank;

/// Position of the token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Token {
    /// The station that sent last, and when it was done.
    holder: u16,
    free_at: Nanoseconds,
    /// The multicast that it sent.
    carried: Option<(Buffer, Nanoseconds)>,
}

/// Transport of a frame over a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carriage {
    pub start: Nanoseconds,
    pub end: Nanoseconds,
    /// From the sender's station to the receiver's.
    pub way: Nanoseconds,
}

impl Token {
    /// Carries a frame of `from` that is ready at `ready` and takes `length` to `to`. A multicast
    /// names its buffer: while that is being carried, it is past all stations already.
    pub fn carry(
        &mut self,
        medium: Medium,
        stations: usize,
        (from, to): (Rank, Rank),
        (ready, length): (Nanoseconds, Nanoseconds),
        multicast: Option<Buffer>,
    ) -> Carriage {
        let multicast = multicast.filter(|_| medium.multicast);
        let stations = stations as u64;
        let hops = |a: u64, b: u64| (b + stations - a) % stations;
        let (station, holder) = (u64::from(from.0), u64::from(self.holder));
        let way = hops(station, to.0.into()) * medium.station_ns;
        if let (Some(buffer), Some((carried, start))) = (multicast, self.carried)
            && buffer == carried
            && station == holder
            && ready < self.free_at
        {
            return Carriage { start, end: self.free_at, way };
        }
        let passed = ready.saturating_sub(self.free_at).div_ceil(medium.station_ns.max(1));
        // The token has passed so many stations; from there it goes on to the sender.
        let there = hops((holder + passed) % stations, station);
        let start = self.free_at + (passed + there) * medium.station_ns;
        let start = start.max(ready);
        *self = Token {
            holder: from.0,
            free_at: start + length,
            carried: multicast.map(|buffer| (buffer, start)),
        };
        Carriage { start, end: start + length, way }
    }
}

#[cfg(test)]
mod tests;
