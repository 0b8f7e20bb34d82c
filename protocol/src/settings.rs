//! How the NIs of a job are set up.

use crate::preset::Preset;
use crate::timer::Nanoseconds;
use crate::tree::Shape;

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
    /// The default preset and shape, no recovery, and for the retransmitting presets buffers for all
    /// packets that peers may send and for as many that wait to be acknowledged by children: with
    /// fewer, forwarding may deadlock (thesis 8.3.3).
    pub fn new(ranks: u16, window_packets: u16) -> Self {
        Settings {
            ranks,
            window_packets,
            preset: Preset::default(),
            shape: Shape::default(),
            recovery: Recovery::default(),
            receive_buffers: 2 * usize::from(ranks) * usize::from(window_packets),
            retransmit_after: 1_000_000,
            acknowledge_after: 200_000,
        }
    }
}

impl Settings {
    /// Whether these settings agree with each other.
    ///
    /// # Errors
    /// The [`Contradiction`] in them.
    pub fn check(&self) -> Result<(), Contradiction> {
        if self.ranks == 0 {
            return Err(Contradiction::NoRanks);
        }
        if self.window_packets == 0 || self.window_packets > MOST_PACKETS {
            return Err(Contradiction::Window(self.window_packets));
        }
        if self.preset.retransmits() && self.recovery != Recovery::Off {
            return Err(Contradiction::Recovery(self.preset));
        }
        if self.preset.retransmits() && self.receive_buffers == 0 {
            return Err(Contradiction::NoBuffers(self.preset));
        }
        Ok(())
    }
}

/// The largest window: what can be told in a header, and compared by numbers that wrap around.
const MOST_PACKETS: u16 = 1 << 14;

/// Settings that contradict themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A job has at least one rank.
    #[error("a job has at least one rank")]
    NoRanks,
    /// A window that cannot be.
    #[error("a window of {0} packets cannot be: it has 1 to {MOST_PACKETS}")]
    Window(u16),
    /// Recovery is for presets with credits.
    #[error("deadlock recovery belongs to nrx-imc and nrx-hmc; {0} has no credits to run out of")]
    Recovery(Preset),
    /// Nothing could be received.
    #[error("{0} needs at least one receive buffer")]
    NoBuffers(Preset),
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
