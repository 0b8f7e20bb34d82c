//! Settings of protocols and nodes for networks that lose packets.

use crate::ni::node::Node;
use weft_link::{Capabilities, Link};
use weft_protocol::{Congestion, Nanoseconds, Preset, Pupa, SendBuffers, Settings, Silence};
use weft_wire::Rank;

/// Most packets that do not ask for an acknowledgement once they should: as many as the kernel
/// hands over at once.
const MOST_UNASKED: u16 = 32;
/// The largest window of the presets that have one: enough for 1 ms at a gigabit a second.
const MOST_WINDOW: usize = 128;

/// Bytes that wait for acknowledgements at most, in frames for long packets: what is under way on a
/// fast network, and fits into a processor's cache.
const MOST_WAITING: usize = 2 << 20;

/// Protocol settings for a job of `ranks` over a link with these capabilities, the same on all
/// ranks if these are: as many buffers as the link has frames, and peers that fall silent are lost.
/// `crowded` says that some ranks share cores, so that one may not run for some milliseconds, and
/// does not acknowledge anything meanwhile.
///
/// `pupa` counts on the frames twice over: its primary buffers are each sender's own, and the rest
/// is for all (Pupa 2.1). The others have room for two windows of each peer (thesis 8.3.3).
pub fn network_settings(
    ranks: u16,
    preset: Preset,
    capabilities: &Capabilities,
    crowded: bool,
) -> Settings {
    let Capabilities { frames, receive_frames, max_payload, .. } = *capabilities;
    let ranks_or_one = usize::from(ranks.max(1));
    let a_peer = receive_frames / (2 * ranks_or_one);
    let window_packets = a_peer.clamp(1, MOST_WINDOW) as u16;
    let pupa = Pupa::new(ranks, frames);
    let primary_buffers = usize::from(pupa.primary_buffers).min(a_peer.max(1));
    let ask_every = u16::try_from(frames / 16).unwrap_or(u16::MAX).clamp(1, MOST_UNASKED);
    let own = if preset.is_optimistic() { (ranks_or_one - 1) * primary_buffers } else { 0 };
    let (after, at_least, acknowledge_after): (Nanoseconds, Nanoseconds, Nanoseconds) =
        if crowded { (10_000_000, 2_000_000, 1_000_000) } else { (1_000_000, 100_000, 200_000) };
    Settings {
        preset,
        receive_buffers: receive_frames.saturating_sub(own).max(1),
        retransmit_after: after,
        retransmit_at_least: Some(at_least),
        acknowledge_after,
        pupa: Pupa {
            primary_buffers: primary_buffers as u16,
            ask_every,
            send_buffers: send_buffers(frames, max_payload),
            ..pupa
        },
        congestion: Some(Congestion::default()),
        silence: Some(Silence::default()),
        ..Settings::new(ranks, window_packets)
    }
}

/// Share of all frames that a packet takes, by its size, where not all can be full at once.
fn send_buffers(frames: usize, max_payload: usize) -> Option<SendBuffers> {
    let bytes = MOST_WAITING / frames.max(1);
    let bytes = u16::try_from(bytes).ok().filter(|bytes| usize::from(*bytes) < max_payload)?;
    Some(SendBuffers { primary_bytes: 0, bytes: bytes.max(1) })
}

impl<L: Link> Node<L> {
    /// Declares that no packet between this rank and these is ever lost, whatever the preset
    /// ([`Ni::set_lossless`]). Before the first packet, and at both ends.
    pub fn set_lossless(&self, peers: impl IntoIterator<Item = Rank>) {
        let mut inner = self.interface().inner.enter();
        if inner.ni.settings().preset.retransmits() {
            peers.into_iter().for_each(|peer| inner.ni.set_lossless(peer));
        }
    }

    /// Declares that ranks with equal numbers in `host_of`, which is by rank, share a host
    /// ([`Ni::set_hosts`]). Before the first group and the first packet, and the same at all ranks.
    pub fn set_hosts(&self, host_of: &[u16]) {
        self.interface().inner.enter().ni.set_hosts(host_of);
    }
}

#[cfg(test)]
mod tests;
