//! Peers that live and are cut off: who says nothing for a while says that it is there, and who is
//! not heard of for longer is lost.
//!
//! A provider that sends again by itself reports a cut network after minutes. So each rank sends a
//! heartbeat to all whom it has met and to whom it has sent nothing else for a while. Who is behind
//! with its own work blames nobody: what it has not read may be from anyone.

use weft_link::clock::Nanoseconds;
use weft_wire::Rank;

/// Times after which silence is broken, and believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heartbeats {
    /// Time without a datagram to a peer after which a rank sends it a heartbeat.
    pub after: Nanoseconds,
    /// A peer of which nothing was heard for so long is lost.
    pub lost_after: Nanoseconds,
}

/// State of all peers of a rank.
pub(crate) struct Hearing {
    heartbeats: Option<Heartbeats>,
    peers: Vec<Peer>,
    /// Time of the last look.
    looked_at: Option<Nanoseconds>,
}

#[derive(Clone, Default)]
struct Peer {
    /// Something went there, or came from there.
    is_met: bool,
    /// Something went there since the last look.
    has_sent: bool,
    sent_at: Nanoseconds,
    /// Time at which it was heard of last, or first expected to be.
    heard_at: Option<Nanoseconds>,
    is_lost: bool,
}

/// Result of a look.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Look {
    /// Ranks to which a heartbeat is due.
    pub due: Vec<Rank>,
    /// A rank that is lost, said once.
    pub lost: Option<Rank>,
}

impl Hearing {
    /// For so many ranks; without heartbeats it only knows who was met.
    pub fn new(ranks: usize, heartbeats: Option<Heartbeats>) -> Self {
        Hearing { heartbeats, peers: vec![Peer::default(); ranks], looked_at: None }
    }

    /// A datagram goes to `to`.
    #[inline]
    pub fn sends(&mut self, to: Rank) {
        let peer = &mut self.peers[to.index()];
        (peer.is_met, peer.has_sent) = (true, true);
    }

    /// A packet has come from `from`.
    #[inline]
    pub fn receives(&mut self, from: Rank) {
        self.peers[from.index()].is_met = true;
    }

    /// True if packets went to `rank`, or came from there.
    pub fn has_met(&self, rank: Rank) -> bool {
        self.peers[rank.index()].is_met
    }

    /// Time after which silence is believed, if it ever is.
    pub fn lost_after(&self) -> Option<Nanoseconds> {
        self.heartbeats.map(|heartbeats| heartbeats.lost_after)
    }

    /// Looks at all that were met and of whom `is_watched` says so. `has_come` says of whom
    /// something was heard since the last look; `is_behind`, that there is more to be read.
    pub fn look(
        &mut self,
        now: Nanoseconds,
        is_behind: bool,
        is_watched: impl Fn(Rank) -> bool,
        mut has_come: impl FnMut(Rank) -> bool,
    ) -> Look {
        let mut found = Look::default();
        let Some(Heartbeats { after, lost_after }) = self.heartbeats else { return found };
        // A rank that did not run could not hear anybody.
        let was_away = self.looked_at.is_none_or(|then| now.saturating_sub(then) > lost_after / 2);
        self.looked_at = Some(now);
        for (rank, peer) in (0..).map(Rank).zip(&mut self.peers) {
            if !peer.is_met || peer.is_lost || !is_watched(rank) {
                continue;
            }
            let heard = has_come(rank) || is_behind || was_away;
            if heard || peer.heard_at.is_none() {
                peer.heard_at = Some(now);
            }
            if std::mem::take(&mut peer.has_sent) {
                peer.sent_at = now;
            } else if now.saturating_sub(peer.sent_at) >= after {
                peer.sent_at = now;
                found.due.push(rank);
            }
            let silent = now.saturating_sub(peer.heard_at.unwrap_or(now));
            if silent >= lost_after && found.lost.is_none() {
                peer.is_lost = true;
                found.lost = Some(rank);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
