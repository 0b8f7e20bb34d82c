//! Observation of the state inside an NI, by judges and by who reports it.

use crate::checks::check_all;
use crate::flows::Flows;
use crate::invariants::Broken;
use crate::ni::Ni;
use crate::timer::Nanoseconds;
use crate::traffic::Traffic;
use weft_wire::Rank;

/// The state inside an NI, to be read.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a, B> {
    ni: &'a Ni<B>,
}

impl<'a, B: Copy> Observation<'a, B> {
    pub(crate) fn new(ni: &'a Ni<B>) -> Self {
        Observation { ni }
    }

    /// True if packets between `peer` and this rank are numbered, acknowledged and sent again.
    pub fn is_numbered(&self, peer: Rank) -> bool {
        self.ni.router.traffic.flows.peers.is_numbered(peer)
    }

    /// The credits held for sending to `peer` and the packets that wait for one.
    pub fn outgoing(&self, peer: Rank) -> (u16, usize) {
        let peers = &self.ni.router.traffic.flows.peers;
        let outgoing = peers.get(peer).map(|peer| &peer.outgoing);
        outgoing.map_or((peers.first_credits(), 0), |out| (out.held(), out.blocked()))
    }

    /// The credits held for sending to `peer` when none is in use; where packets are numbered, the
    /// packets that the network takes now.
    pub fn window(&self, peer: Rank) -> u16 {
        let Flows { base, peers, .. } = &self.ni.router.traffic.flows;
        match peers.get(peer).map(|peer| peer.flow.as_deref()) {
            None => peers.first_credits(),
            Some(None) => base.settings.window_packets,
            Some(Some(flow)) => flow.sending.window(&base.settings),
        }
    }

    /// The receive buffers that packets from `peer` fill, and the credits owed to it.
    pub fn incoming(&self, peer: Rank) -> (u16, u16) {
        let incoming = self.ni.router.traffic.flows.peers.get(peer).map(|peer| &peer.incoming);
        incoming.map_or((0, 0), |incoming| (incoming.buffered(), incoming.owed()))
    }

    /// Transmissions that wait for a credit now, to whatever peer.
    pub fn blocked(&self) -> usize {
        self.ni.router.traffic.flows.peers.iter().map(|(_, peer)| peer.outgoing.blocked()).sum()
    }

    /// The receive buffers that `peer` may fill, or has filled: its window now.
    pub fn promised(&self, peer: Rank) -> u16 {
        let peers = &self.ni.router.traffic.flows.peers;
        peers.get(peer).map_or(peers.first_credits(), |peer| peer.incoming.window())
    }

    /// Buffers of the pool that no sender has, and how many senders have the others; `None` where
    /// windows do not change.
    pub fn pool(&self) -> Option<(u32, usize)> {
        self.ni.router.traffic.windows.pool().map(|pool| (pool.free(), pool.sharers()))
    }

    /// Buffers that have several destinations or owners now.
    pub fn shared_buffers(&self) -> usize {
        self.ni.router.traffic.holders.len()
    }

    /// Owners of the recovery channels that have a packet or wait for a child here.
    pub fn channels(&self) -> impl Iterator<Item = Rank> + 'a {
        self.ni.router.traffic.recoveries.channels()
    }

    /// True if an answer is outstanding.
    pub fn is_fetching(&self) -> bool {
        self.ni.router.traffic.atomics.is_asking()
    }

    /// True if nothing waits, is buffered, or is being asked for.
    pub fn is_idle(&self) -> bool {
        let Traffic { flows, holders, .. } = &self.ni.router.traffic;
        !self.is_fetching()
            && holders.len() == 0
            && self.ni.router.multicast.early.is_empty()
            && flows.receive_buffers.used() == 0
            && self.ni.is_flushed()
            && self.channels().next().is_none()
            && flows.peers.iter().all(|(_, peer)| peer.incoming.buffered() == 0)
    }

    /// Time that the slowest peer takes to acknowledge a packet, smoothed: the network's, and that
    /// for which the peer keeps the acknowledgement back. `None` where none was measured.
    pub fn slowest_acknowledgement(&self) -> Option<Nanoseconds> {
        let flows = self.ni.router.traffic.flows.peers.flows();
        flows.filter_map(|(_, flow)| flow.sending.round_trip.time()).max()
    }

    /// Checks what must hold between two events, at all peers.
    ///
    /// # Errors
    /// Those of [`Ni::check_invariants`].
    pub fn check_all_invariants(&self) -> Result<(), Broken> {
        check_all(&self.ni.router.traffic)
    }

    /// Packets of groups that this rank has not created yet.
    pub fn early(&self) -> usize {
        self.ni.router.multicast.early.len()
    }
}
