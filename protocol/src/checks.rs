//! Checks of the invariants that an NI can see by itself, while it runs.
//!
//! One peer is looked at for each [`EVERY`] packets that arrive, all in turn: a look costs about as
//! much as half a packet. With [`Settings::checks_all`] all peers are, after each packet, and
//! what is counted for all of them together.

use crate::flows::Flows;
use crate::invariants::{
    Broken, BuffersHere, CreditsHere, i1_buffers_here, i1_credits_here, i2_window_here,
    i3_none_overtaken, i3_numbers_here, i4_buffers_counted, i5_none_waits_here,
};
use crate::peers::Peer;
use crate::settings::Settings;
use crate::traffic::Traffic;
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

    /// Counts a plain packet. True if a [look](Self::look) must follow.
    #[inline(always)]
    pub fn count_plain(&mut self) -> bool {
        self.plain_left -= 1;
        self.plain_left == 0
    }

    /// Counts another packet. True if a [look](Self::look) must follow.
    #[inline(always)]
    pub fn count_other(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// Checks what must hold between two events, at the peer whose turn it is.
    ///
    /// # Errors
    /// The invariant that does not hold.
    #[cold]
    pub fn look<B: Copy>(&mut self, traffic: &Traffic<B>) -> Result<(), Broken> {
        self.restart();
        let settings = &traffic.flows.base.settings;
        if settings.checks_all {
            return check_all(traffic);
        }
        let rank = self.next;
        self.next = Rank(if rank.0 + 1 < settings.ranks { rank.0 + 1 } else { 0 });
        let peer = traffic.flows.peers.get(rank);
        peer.map_or(Ok(()), |peer| check_peer(rank, peer, traffic))?;
        traffic.recoveries.check()
    }

    /// Begins to count anew, at a look.
    fn restart(&mut self) {
        self.plain = self.plain_packets();
        (self.plain_left, self.left) = (self.every, self.every);
    }
}

/// Checks what must hold between two events, at all peers.
///
/// # Errors
/// The invariant that does not hold.
pub(crate) fn check_all<B: Copy>(traffic: &Traffic<B>) -> Result<(), Broken> {
    let mut peers = traffic.flows.peers.iter();
    peers.try_for_each(|(rank, peer)| check_peer(rank, peer, traffic))?;
    check_sums(traffic)?;
    traffic.recoveries.check()
}

fn check_peer<B: Copy>(rank: Rank, peer: &Peer<B>, traffic: &Traffic<B>) -> Result<(), Broken> {
    if traffic.is_buried(rank) {
        return Ok(());
    }
    let Flows { base, peers, .. } = &traffic.flows;
    let outgoing = &peer.outgoing;
    i3_none_overtaken(rank, outgoing.held(), outgoing.blocked())?;
    if peer.flow.is_none() {
        let control = outgoing.count_blocked(|departure| !departure.tag.is_data());
        i5_none_waits_here(rank, control)?;
        i1_buffers_here(&buffers_here(rank, peer, &base.settings))?;
    }
    // Places in a window are credits too, unless the peer says how many there are.
    if peer.flow.is_none() || !base.settings.preset.is_optimistic() && !peers.is_gone(rank) {
        let credits = credits_here(rank, peer, &base.settings);
        i1_credits_here(&credits)?;
        i2_window_here(&credits)?;
    }
    let numbers = peer.flow.as_ref().map(|flow| flow.numbers(rank));
    numbers.map_or(Ok(()), |numbers| i3_numbers_here(&numbers))
}

/// Checks what is counted for all peers together.
fn check_sums<B: Copy>(traffic: &Traffic<B>) -> Result<(), Broken> {
    let Flows { peers, receive_buffers, send_pool, .. } = &traffic.flows;
    let (mut buffers, mut unacknowledged) = (0, 0);
    for (_, flow) in peers.flows() {
        buffers += flow.receiving.buffered;
        unacknowledged += flow.sending.len();
    }
    i4_buffers_counted("receive buffers", buffers, receive_buffers.used())?;
    i4_buffers_counted("packets kept to send again", unacknowledged, send_pool.unacknowledged())
}

fn credits_here<B>(peer: Rank, state: &Peer<B>, settings: &Settings) -> CreditsHere {
    let (outgoing, tally) = (&state.outgoing, state.outgoing.tally());
    let most = outgoing.window();
    let first = settings.adaptive.map_or(most, |adaptive| adaptive.floor_packets);
    let away = tally.spent.beyond(tally.returned);
    CreditsHere { peer, first, held: outgoing.held(), away, most }
}

fn buffers_here<B>(peer: Rank, state: &Peer<B>, settings: &Settings) -> BuffersHere {
    let (incoming, tally) = (&state.incoming, state.incoming.tally());
    let most = state.outgoing.window();
    let least = settings.adaptive.map_or(most, |adaptive| adaptive.floor_packets);
    let (buffered, owed, window) = (incoming.buffered(), incoming.owed(), incoming.window());
    let there = tally.filled.beyond(tally.freed);
    BuffersHere { peer, there, buffered, owed, window, least, most }
}
