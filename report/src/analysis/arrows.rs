//! Packets of which the way from one rank to another is known.

use super::matching::Match;
use super::times::Times;
use weft_trace::{PacketEvent, Trace, What};

/// A packet on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Time at which it left.
    pub left: u64,
    /// Time at which it was taken, never before it left.
    pub arrived: u64,
    /// Index of the event at the sender.
    pub sent: u32,
    /// Index of the event at the receiver.
    pub received: u32,
    /// The packet as its receiver wrote it down.
    pub packet: PacketEvent,
}

impl Arrow {
    /// Time from its sender to its receiver's look for packets.
    pub fn flight(&self) -> u64 {
        self.arrived - self.left
    }
}

/// Ways of the packets that were matched, by receiver and the order in which they came, and the
/// number of those that came before they left. These left when they came, in the report.
pub fn arrows(trace: &Trace, times: &Times, matches: &[Match]) -> (Vec<Arrow>, u64) {
    let mut early = 0;
    let mut arrow = |of: &Match| {
        let event = trace.ranks.get(of.to as usize)?.events.get(of.received as usize)?;
        let What::Received(packet) = event.what else { return None };
        let (left, arrived) = (times.at(of.from, of.sent), times.at(of.to, of.received));
        early += u64::from(left > arrived);
        let Match { from, to, sent, received } = *of;
        Some(Arrow { from, to, left: left.min(arrived), arrived, sent, received, packet })
    };
    let mut arrows: Vec<_> = matches.iter().filter_map(&mut arrow).collect();
    arrows.sort_unstable_by_key(|arrow| (arrow.to, arrow.received));
    (arrows, early)
}
