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
    /// True if what it sent came to nobody.
    lost: bool,
}

/// Transport of a frame over a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carriage {
    pub start: Nanoseconds,
    pub end: Nanoseconds,
    /// From the sender's station to the receiver's.
    pub way: Nanoseconds,
    /// True if it is the frame that was carried last, to another receiver.
    pub again: bool,
}

impl Token {
    /// True if at `now` the multicast of `from` in this buffer is being carried: it is past all
    /// stations already, and whoever is left of its receivers costs nothing more.
    pub fn carries(
        &self,
        medium: Medium,
        from: Rank,
        now: Nanoseconds,
        multicast: Option<Buffer>,
    ) -> bool {
        let is_it = self.carried.is_some_and(|(buffer, _)| multicast == Some(buffer));
        medium.multicast && is_it && from.0 == self.holder && now < self.free_at
    }

    /// The fate of a frame that is carried, which is all receivers' of a multicast: lost if it was
    /// before, or else if `happens` says so.
    pub fn lose(&mut self, again: bool, happens: impl FnOnce() -> bool) -> bool {
        self.lost = if again { self.lost } else { happens() };
        self.lost
    }

    /// Carries a frame of `from` that is ready at `ready` and takes `length` to `to`. A multicast
    /// names its buffer.
    pub fn carry(
        &mut self,
        medium: Medium,
        stations: usize,
        (from, to): (Rank, Rank),
        (ready, length): (Nanoseconds, Nanoseconds),
        multicast: Option<Buffer>,
    ) -> Carriage {
        let again = self.carries(medium, from, ready, multicast);
        let multicast = multicast.filter(|_| medium.multicast);
        let stations = stations as u64;
        let hops = |a: u64, b: u64| (b + stations - a) % stations;
        let (station, holder) = (u64::from(from.0), u64::from(self.holder));
        let way = hops(station, to.0.into()) * medium.station_ns;
        if let (true, Some((_, start))) = (again, self.carried) {
            return Carriage { start, end: self.free_at, way, again };
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
            lost: false,
        };
        Carriage { start, end: start + length, way, again }
    }
}

#[cfg(test)]
mod tests;
