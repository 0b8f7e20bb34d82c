//! Checks of the invariants that an NI can see by itself, while it runs.
//!
//! One peer is looked at for each [`EVERY`] packets that arrive, all in turn: a look costs about as
//! much as half a packet. With [`Settings::checks_all`] all peers are, after each packet, and
//! what is counted for all of them together.

use crate::Ni;
use crate::invariants::{
    Broken, BuffersHere, CreditsHere, i1_buffers_here, i1_credits_here, i2_window_here,
    i3_none_overtaken, i3_numbers_here, i4_buffers_counted, i5_none_waits_here,
};
use crate::peers::Peer;
use crate::settings::Settings;
use weft_wire::Rank;

/// Packets that arrive between two looks, if not after each.
const EVERY: u32 = 1024;

/// Progress of the checks.
#[derive(Debug, Clone)]
pub(crate) struct Checks {
    /// Plain packets until the next look, and from the last one to that: one number counts both
    /// packets and time, because each instruction counts there.
    plain_left: u32,
    every: u32,
    /// Plain packets before the last look.
    plain: u64,
    /// Other packets until the next look.
    left: u32,
    /// The peer to look at then.
    next: Rank,
}

impl Checks {
    pub fn new(settings: &Settings) -> Self {
        let every = if settings.checks_all { 1 } else { EVERY };
        Checks { plain_left: every, every, plain: 0, left: every, next: Rank(0) }
    }

    /// Plain packets so far.
    pub fn plain_packets(&self) -> u64 {
        self.plain + u64::from(self.every - self.plain_left)
    }

    /// Begins to count anew, at a look.
    fn restart(&mut self) {
        self.plain = self.plain_packets();
        (self.plain_left, self.left) = (self.every, self.every);
    }
}

impl<B: Copy> Ni<B> {
    /// Counts a packet that [`Self::received_plain`] has accepted. True if
    /// [`Self::check_invariants`] must follow.
    #[inline(always)]
    pub fn count_plain(&mut self) -> bool {
        self.checks.plain_left -= 1;
        self.checks.plain_left == 0
    }

    /// Counts a packet that [`Self::received`] has accepted. True if [`Self::check_invariants`]
    /// must follow.
    #[inline(always)]
    pub fn is_check_due(&mut self) -> bool {
        self.checks.left -= 1;
        self.checks.left == 0
    }

    /// Checks what must hold between two events.
    ///
    /// # Errors
    /// The invariant that does not hold. The job cannot go on.
    #[cold]
    pub fn check_invariants(&mut self) -> Result<(), Broken> {
        self.checks.restart();
        if self.settings.checks_all {
            return self.check_all_invariants();
        }
        let rank = self.checks.next;
        self.checks.next = Rank(if rank.0 + 1 < self.settings.ranks { rank.0 + 1 } else { 0 });
        self.peers.get(rank).map_or(Ok(()), |peer| self.check_peer(rank, peer))?;
        self.recoveries.check(self.local)
    }

    /// Checks what must hold between two events, at all peers.
    ///
    /// # Errors
    /// Those of [`Self::check_invariants`].
    pub fn check_all_invariants(&self) -> Result<(), Broken> {
        self.peers.iter().try_for_each(|(rank, peer)| self.check_peer(rank, peer))?;
        self.check_sums()?;
        self.recoveries.check(self.local)
    }

    fn check_peer(&self, rank: Rank, peer: &Peer<B>) -> Result<(), Broken> {
        let outgoing = &peer.outgoing;
        i3_none_overtaken(rank, outgoing.held(), outgoing.blocked())?;
        if peer.flow.is_none() {
            let control = outgoing.count_blocked(|departure| !departure.tag.is_data());
            i5_none_waits_here(rank, control)?;
            i1_buffers_here(&self.buffers_here(rank, peer))?;
        }
        // Places in a window are credits too, unless the peer says how many there are.
        if peer.flow.is_none() || !self.settings.preset.is_optimistic() && !self.is_gone(rank) {
            let credits = self.credits_here(rank, peer);
            i1_credits_here(&credits)?;
            i2_window_here(&credits)?;
        }
        let numbers = peer.flow.as_ref().map(|flow| flow.numbers(rank));
        numbers.map_or(Ok(()), |numbers| i3_numbers_here(&numbers))
    }

    /// Checks what is counted for all peers together.
    fn check_sums(&self) -> Result<(), Broken> {
        let flows = self.peers.iter().filter_map(|(_, peer)| peer.flow.as_ref());
        let (mut buffers, mut unacknowledged) = (0, 0);
        for flow in flows {
            buffers += flow.receiving.buffered;
            unacknowledged += flow.sending.len();
        }
        i4_buffers_counted("receive buffers", buffers, self.retransmission.buffers)?;
        i4_buffers_counted("packets kept to send again", unacknowledged, self.unacknowledged())
    }

    fn credits_here(&self, peer: Rank, state: &Peer<B>) -> CreditsHere {
        let (outgoing, tally) = (&state.outgoing, state.outgoing.tally());
        let most = outgoing.window();
        let first = self.settings.adaptive.map_or(most, |adaptive| adaptive.floor_packets);
        let away = tally.spent.beyond(tally.returned);
        CreditsHere { peer, first, held: outgoing.held(), away, most }
    }

    fn buffers_here(&self, peer: Rank, state: &Peer<B>) -> BuffersHere {
        let (incoming, tally) = (&state.incoming, state.incoming.tally());
        let most = state.outgoing.window();
        let least = self.settings.adaptive.map_or(most, |adaptive| adaptive.floor_packets);
        let (buffered, owed, window) = (incoming.buffered(), incoming.owed(), incoming.window());
        BuffersHere {
            peer,
            there: tally.filled.beyond(tally.freed),
            buffered,
            owed,
            window,
            least,
            most,
        }
    }
}
