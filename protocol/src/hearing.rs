//! Times at which two peers heard of each other.

use crate::settings::Silence;
use crate::timer::Nanoseconds;

/// Times at which two peers heard of each other.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct Hearing {
    /// Nothing is expected of those whom this NI has never met.
    met: bool,
    /// Nothing is expected of a peer that comes when the job has begun until it has been heard of:
    /// whoever starts it says if it does not come.
    is_to_come: bool,
    /// Time at which anything came from the peer.
    pub heard: Nanoseconds,
    /// Time at which anything was sent to it.
    pub spoke: Nanoseconds,
    pub lost: bool,
    /// The peer has ended, in good order.
    pub gone: bool,
    again: Again,
}

/// A packet that was sent again and again without any other that was missing before it.
#[derive(Debug, Clone, Default, Hash)]
struct Again {
    number: u32,
    times: u16,
    since: Nanoseconds,
}

/// User bytes that every way takes: IP asks for packets of 576 (RFC 791).
const SHORT: u16 = 512;
/// The way is taken for too narrow after so many copies, which no network that is worth the name
/// loses all, ...
const MOST_COPIES: u16 = 20;
/// ... and after so many times of what silence may last, so that a way that recovers costs nothing.
const PATIENCE: Nanoseconds = 2;

impl Hearing {
    /// Times of a peer that was there from the beginning, or comes later.
    pub fn of(is_there: bool) -> Self {
        Hearing { is_to_come: !is_there, ..Hearing::default() }
    }

    /// The time at which this peer is to be looked at again.
    pub fn deadline(&self, silence: Silence) -> Option<Nanoseconds> {
        let Silence { heartbeat_after, lost_after } = silence;
        self.is_expected().then(|| (self.spoke + heartbeat_after).min(self.heard + lost_after))
    }

    /// True if something was sent to the peer, or came from it; of one that comes when the job has
    /// begun, if something came.
    #[inline]
    pub fn has_met(&self) -> bool {
        self.met && !self.is_to_come
    }

    /// The peer is lost, and known to be: nothing is expected of it any more.
    pub fn end(&mut self) {
        (self.met, self.lost) = (false, true);
    }

    /// A packet has come from the peer. True if something is expected of it from now on.
    #[inline]
    pub fn hear(&mut self, now: Nanoseconds) -> bool {
        let has_come = std::mem::take(&mut self.is_to_come);
        let is_first = self.meet(now);
        self.heard = now;
        has_come || is_first
    }

    /// A packet goes to the peer. True if it is the first between the two, and something is
    /// expected of the peer from now on.
    #[inline]
    pub fn speak(&mut self, now: Nanoseconds) -> bool {
        let is_first = self.meet(now);
        self.spoke = now;
        is_first && !self.is_to_come
    }

    /// True if packets of the peer are expected.
    #[inline]
    pub fn is_expected(&self) -> bool {
        self.has_met() && !self.lost && !self.gone
    }

    /// The two have something to do with each other. True if that is news.
    #[inline]
    fn meet(&mut self, now: Nanoseconds) -> bool {
        if !std::mem::replace(&mut self.met, true) {
            (self.heard, self.spoke) = (now, now);
            return true;
        }
        false
    }

    /// Packet `number`, which the peer misses and has room for, was sent again at `now`, because
    /// nothing was heard of it. True if that goes on while the peer is heard of: the way there is
    /// too narrow for as many bytes. Silence may last `lost_after`.
    pub fn is_in_vain(
        &mut self,
        (number, size): (u32, u16),
        now: Nanoseconds,
        lost_after: Nanoseconds,
    ) -> bool {
        let again = &mut self.again;
        if again.number != number || again.times == 0 {
            *again = Again { number, times: 0, since: now };
        }
        again.times = again.times.saturating_add(1);
        let is_stuck = again.times > MOST_COPIES && now - again.since >= PATIENCE * lost_after;
        let is_narrow = is_stuck && size > SHORT && !self.lost;
        let is_narrow = is_narrow && !self.is_to_come;
        self.lost |= is_narrow;
        is_narrow
    }
}
