//! How the NIs of a job are set up.

use crate::preset::Preset;
use crate::tree::Shape;
use crate::watchdog::Nanoseconds;

/// How a job's NIs are set up; the same on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Ranks in the job.
    pub ranks: u16,
    /// `W`, for each ordered pair. Careful presets: receive buffers, and so credits.
    /// Retransmitting presets: packets that may be unacknowledged at once.
    pub window_packets: u16,
    /// Who retransmits, who forwards.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// When to suspect a deadlock; careful presets only.
    pub recovery: Recovery,
    /// Retransmitting presets: receive buffers of an NI, shared by all senders. Packets for which
    /// there is none are dropped, to be sent again.
    pub receive_buffers: usize,
    /// Retransmitting presets: how long a packet may stay unacknowledged.
    pub retransmit_after: Nanoseconds,
    /// Retransmitting presets: how long a receiver waits for a packet to take an acknowledgement
    /// along before it sends one by itself.
    pub acknowledge_after: Nanoseconds,
}

impl Settings {
    /// The default preset and shape, no recovery, and for the retransmitting presets a buffer for
    /// every packet that all peers may send.
    pub fn new(ranks: u16, window_packets: u16) -> Self {
        Settings {
            ranks,
            window_packets,
            preset: Preset::default(),
            shape: Shape::default(),
            recovery: Recovery::default(),
            receive_buffers: usize::from(ranks) * usize::from(window_packets),
            retransmit_after: 1_000_000,
            acknowledge_after: 200_000,
        }
    }
}

/// RECOV: when an NI suspects that it is part of a deadlock (thesis 4.3.1, 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recovery {
    /// Never: MCAST as it is, safe on trees that meet Appendix A's condition.
    #[default]
    Off,
    /// As soon as a packet has to wait for a credit.
    AtOnce,
    /// Once packets for one destination have waited for so long without any of them leaving.
    After(Nanoseconds),
}
