//! Settings for networks that lose packets.

use weft_link::Capabilities;
use weft_protocol::{Nanoseconds, Preset, Pupa, Settings, Silence};

/// Most packets that do not ask for an acknowledgement once they should: as many as the kernel
/// hands over at once.
const MOST_UNASKED: u16 = 32;
/// The largest window of the presets that have one: enough for 1 ms at a gigabit a second.
const MOST_WINDOW: usize = 128;

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
    let Capabilities { frames, receive_frames, .. } = *capabilities;
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
        pupa: Pupa { primary_buffers: primary_buffers as u16, ask_every, ..pupa },
        silence: Some(Silence::default()),
        ..Settings::new(ranks, window_packets)
    }
}

#[cfg(test)]
mod tests;
