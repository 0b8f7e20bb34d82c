//! Length of the frames that reach a peer, found by probes: path MTU discovery of a packetization
//! layer for datagrams (RFC 8899), which believes sealed answers and nothing else. Sans-IO.
//!
//! A *round* is what is sent to find out: probes of some lengths, and a short one that asks for the
//! answer, which says how long the longest frame was that came, probe or not. So no answer says
//! nothing about lengths, one answer judges all lengths of a round at once, and as long as long
//! frames arrive a round is one short frame.
//!
//! | RFC 8899 | here |
//! |---|---|
//! | `BASE_PLPMTU` | [`BASE`], or the job's length if that is less |
//! | `PLPMTU` | [`Way::most`] |
//! | `CONFIRMATION_TIMER` | each [`Way::tend`] after long frames |
//! | `MAX_PROBES` | [`MISSES`] rounds |
//! | `PMTU_RAISE_TIMER` | [`RAISE_AFTER`] |
//! | packet too big, from the network | not believed |

use weft_link::clock::Nanoseconds;

/// Bytes of frames that every way takes: IP asks for packets of 576 (RFC 791), with headers of IP
/// and UDP.
pub(crate) const BASE: u32 = 512;
/// Rounds, one after another, in which no frame of the length in use came.
const MISSES: u8 = 3;
/// Probes of that length in a round after a miss: loss by accident is to be no evidence.
const COPIES: usize = 3;
/// Lengths that a round tries between the one in use and the one that is known not to pass.
const STEPS: u32 = 8;
/// Bytes of which nothing more is to be gained.
const PRECISION: u32 = 8;
/// Time after which a longer one is tried again.
const RAISE_AFTER: Nanoseconds = 1_000_000_000;
/// Time after which an answer is not waited for any longer.
const PATIENCE: Nanoseconds = 300_000_000;

/// Change of a way that is to be said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// It takes frames up to this length only.
    Narrow(u32),
    /// It takes frames of the job's length again.
    Wide,
}

/// Frames of a round, in the order in which they leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Round {
    /// Number, never 0.
    pub number: u32,
    /// Bytes of its probes, before the one that asks.
    pub probes: Vec<u32>,
}

/// The way to one peer.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// Bytes of a frame that it takes.
    most: u32,
    /// Bytes of a frame of the job at most.
    full: u32,
    /// Bytes that a frame may not have, as the last search found; or `full`.
    ceiling: u32,
    /// Bytes of the longest frame that has left since the last round; 0 if all were short.
    longest: u32,
    /// Number of the last round.
    number: u32,
    /// The last round, until it is answered.
    round: Option<ProbeRound>,
    misses: u8,
    /// Time from which on longer frames are tried.
    search_at: Nanoseconds,
    /// It was said that it is narrow.
    told: bool,
}

/// A round that nobody has answered.
#[derive(Clone, Debug)]
struct ProbeRound {
    at: Nanoseconds,
    /// Length of which at least one frame left.
    expected: u32,
    /// Longer ones that left.
    tried: Vec<u32>,
}

impl Way {
    /// A way that takes all frames of a job, of `full` bytes at most.
    pub fn new(full: u32) -> Self {
        Way {
            most: full,
            full,
            ceiling: full,
            longest: 0,
            number: 0,
            round: None,
            misses: 0,
            search_at: 0,
            told: false,
        }
    }

    /// Bytes of the longest frame that may be sent.
    #[inline]
    pub fn most(&self) -> u32 {
        self.most
    }

    /// A frame of this length leaves.
    #[inline]
    pub fn leaves(&mut self, bytes: u32) {
        if bytes > BASE {
            self.longest = self.longest.max(bytes);
        }
    }

    /// A packet leaves in pieces, which are as long as frames may be.
    pub fn leaves_in_pieces(&mut self) {
        self.longest = self.longest.max(self.most);
    }

    /// The round that is due, if one is. To be asked now and then, at even intervals.
    pub fn tend(&mut self, now: Nanoseconds) -> Option<Round> {
        if self.round.as_ref().is_some_and(|round| now < round.at + PATIENCE) {
            return None;
        }
        let longest = std::mem::take(&mut self.longest);
        // A rank that sends no long frames asks nothing.
        if longest == 0 && self.misses == 0 {
            return None;
        }
        let searches = self.most < self.full && now >= self.search_at;
        let tried = if searches { self.steps() } else { Vec::new() };
        // A search ends with the length in use, which so has to pass as well: it may have been that
        // of a late frame.
        let sure = if self.misses > 0 { COPIES } else { usize::from(searches) };
        let probes: Vec<u32> =
            std::iter::repeat_n(self.most, sure).chain(tried.iter().copied()).collect();
        let expected = if sure > 0 { self.most } else { longest.min(self.most) };
        self.round = Some(ProbeRound { at: now, expected, tried });
        self.number = self.number.wrapping_add(1).max(1);
        Some(Round { number: self.number, probes })
    }

    /// Lengths to try, in ascending order, the last of them the one that is known not to pass.
    fn steps(&self) -> Vec<u32> {
        let step = (self.ceiling - self.most).div_ceil(STEPS).next_multiple_of(PRECISION);
        let between = (1..STEPS).map(|i| self.most + i * step);
        between.take_while(|bytes| *bytes < self.ceiling).chain([self.ceiling]).collect()
    }

    /// The peer answers `round`: the longest frame that came had so many bytes.
    pub fn answered(&mut self, round: u32, longest: u32, now: Nanoseconds) -> Option<Change> {
        if round != self.number {
            return None;
        }
        let ProbeRound { expected, tried, .. } = self.round.take()?;
        let longest = longest.min(self.full);
        if longest < expected {
            self.misses += 1;
            if self.misses >= MISSES {
                self.shrink(longest, now);
            }
            return None;
        }
        self.misses = 0;
        self.most = self.most.max(longest);
        if self.most == self.full {
            self.ceiling = self.full;
            return std::mem::take(&mut self.told).then_some(Change::Wide);
        }
        if tried.is_empty() {
            return None;
        }
        self.ceiling = tried.into_iter().find(|bytes| *bytes > self.most).unwrap_or(self.full);
        if self.ceiling - self.most > PRECISION {
            return None;
        }
        // What was found is used until a wider way is tried.
        self.ceiling = self.full;
        self.search_at = now + RAISE_AFTER;
        let is_news = !std::mem::replace(&mut self.told, true);
        is_news.then_some(Change::Narrow(self.most))
    }

    /// Goes on with what came, and looks for more at once.
    fn shrink(&mut self, longest: u32, now: Nanoseconds) {
        self.most = longest.max(BASE.min(self.full)).min(self.most);
        self.ceiling = self.full;
        self.misses = 0;
        self.search_at = now;
    }
}

#[cfg(test)]
mod tests;
