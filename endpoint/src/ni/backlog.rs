//! Fair sharing of a pair's credits among systems: one that does not take its packets stops its own
//! senders, and no others (invariant I14).
//!
//! ```text
//!   packets of one sender that wait for one system:
//!   0 ─────────────────▶ L ────────────────▶ 4 W ─────────────────────▶ 8 W
//!     in link memory,       copied out,          the sender was told        in link memory
//!     with the sender's     credits go back      to stop, and will be       again: the sender
//!     credits                                    told to go on at 2 W       waits for its credits
//! ```
//! L is half a window, or less where senders have fewer frames ([`most_in_link_memory`]).
//!
//! A notice to stop or to go on is a packet of [`Protocol::ENDPOINT`], which is handled when it is
//! taken from the network. Here are the decisions of both sides: [`Backlog`] counts the packets
//! that wait at a receiver, [`Gates`] has the systems to which a sender may not send. Neither knows
//! a clock, a link or a buffer.

use std::collections::{BTreeMap, VecDeque};
use weft_wire::{GroupId, Protocol, Rank};

/// Windows of packets of a sender that wait for a system when the sender is told to stop.
const STOP_WINDOWS: u32 = 4;
/// Windows of them that are left when it is told to go on.
const GO_WINDOWS: u32 = 2;
/// Windows of them that are copied out of link memory at most.
const MOST_WINDOWS: u32 = 8;

/// The packets that wait for one system, by sender.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    senders: BTreeMap<Rank, Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    packets: u32,
    stopped: bool,
}

/// Storage of a packet that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// In link memory.
    Link,
    /// In a copy.
    Copy,
    /// In a copy, and the sender is to be told to stop.
    LastCopy,
}

impl Backlog {
    /// Adds a packet of `from`, whose window has `window` packets, of which so many may wait
    /// `in_link` memory; says where to store it.
    pub fn stored(&mut self, from: Rank, window: u32, in_link: u32) -> Storage {
        let waiting = self.senders.entry(from).or_default();
        waiting.packets += 1;
        if waiting.packets <= in_link || waiting.packets > MOST_WINDOWS * window {
            return Storage::Link;
        }
        if waiting.packets < STOP_WINDOWS * window || waiting.stopped {
            return Storage::Copy;
        }
        waiting.stopped = true;
        Storage::LastCopy
    }

    /// Removes a packet of `from`, which its system has taken. True if the sender is to be told to
    /// go on.
    pub fn taken(&mut self, from: Rank, window: u32) -> bool {
        let Some(waiting) = self.senders.get_mut(&from) else { return false };
        waiting.packets = waiting.packets.saturating_sub(1);
        let goes_on = waiting.stopped && waiting.packets <= GO_WINDOWS * window;
        waiting.stopped &= !goes_on;
        goes_on
    }
}

/// Packets of one sender that may wait for a system in link memory: half of its window, and so few
/// that all receivers together leave it half of its `frames`, where they lie in these.
pub(crate) fn most_in_link_memory(window: u32, frames: usize, ranks: usize) -> u32 {
    let frames = frames / (2 * ranks.saturating_sub(1).max(1));
    (window / 2).min(frames as u32).max(1)
}

/// I14: of one sender there wait for one system what is copied out at most, and a window. A host
/// that has buffers of its own, which cost senders no credit, has these in place of the windows.
///
/// # Panics
/// If there are more.
pub(crate) fn i14_bounded_backlog(
    packets: usize,
    senders: usize,
    window: usize,
    host_frames: Option<usize>,
) {
    let copied = MOST_WINDOWS as usize * window * senders;
    let most = copied + host_frames.unwrap_or(window * senders);
    assert!(packets <= most, "I14: {packets} packets wait for a system, more than {most}");
}

/// A packet that waits until its receiver takes packets of its system again.
#[derive(Debug)]
pub(crate) struct HeldBack<F> {
    pub frame: F,
    pub protocol: Protocol,
    pub to: Target,
    pub size: u16,
}

/// The receivers of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    One(Rank),
    Members(GroupId, Box<[Rank]>),
}

impl Target {
    fn has(&self, rank: Rank) -> bool {
        match self {
            Target::One(one) => *one == rank,
            Target::Members(_, members) => members.contains(&rank),
        }
    }

    fn meets(&self, other: &Target) -> bool {
        match self {
            Target::One(one) => other.has(*one),
            Target::Members(_, members) => members.iter().any(|member| other.has(*member)),
        }
    }
}

/// The systems of other ranks that take no packets at the moment, and the packets for them.
#[derive(Debug)]
pub(crate) struct Gates<F> {
    /// True if a packet may have to wait, or cannot leave any more.
    is_any_closed: bool,
    closed: Vec<(Protocol, Rank)>,
    /// Ranks that were lost.
    lost: Vec<Rank>,
    held_back: VecDeque<HeldBack<F>>,
    /// Notices that this rank owes others: the protocol, the rank, and true for stop.
    notices: VecDeque<(Protocol, Rank, bool)>,
}

impl<F> Default for Gates<F> {
    fn default() -> Self {
        Gates {
            is_any_closed: false,
            closed: Vec::new(),
            lost: Vec::new(),
            held_back: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }
}

impl<F> Gates<F> {
    /// True if every packet may leave: the usual case.
    #[inline(always)]
    pub fn are_open(&self) -> bool {
        debug_assert!(
            !self.closed.is_empty() || self.held_back.is_empty(),
            "what is free has left"
        );
        !self.is_any_closed
    }

    /// True if nothing goes to `rank` any more.
    pub fn is_lost(&self, rank: Rank) -> bool {
        self.lost.contains(&rank)
    }

    /// True if a short packet to `rank` may leave, whatever its protocol.
    pub fn let_short_through(&self, rank: Rank) -> bool {
        self.closed.is_empty() && !self.is_lost(rank)
    }

    /// Takes out what is for `rank`, which is lost: nothing goes there any more. Returns the frames
    /// of packets that waited.
    pub fn bury(&mut self, rank: Rank) -> Vec<F>
    where
        F: Copy,
    {
        self.lost.push(rank);
        self.is_any_closed = true;
        self.closed.retain(|(_, to)| *to != rank);
        self.notices.retain(|(_, to, _)| *to != rank);
        let is_for_it = |held: &HeldBack<F>| held.to == Target::One(rank);
        let frames = self.held_back.iter().filter(|held| is_for_it(held)).map(|held| held.frame);
        let frames = frames.collect();
        self.held_back.retain(|held| !is_for_it(held));
        frames
    }

    /// True if a packet of `protocol` may leave for `to`.
    pub fn lets_through(&self, protocol: Protocol, to: &Target) -> bool {
        !self.is_closed(protocol, to)
            && !self.held_back.iter().any(|held| held.protocol == protocol && held.to.meets(to))
    }

    fn is_closed(&self, protocol: Protocol, to: &Target) -> bool {
        self.closed.iter().any(|(closed, rank)| *closed == protocol && to.has(*rank))
    }

    /// Packets of `protocol` that wait here.
    pub fn held_back(&self, protocol: Protocol) -> usize {
        self.held_back.iter().filter(|held| held.protocol == protocol).count()
    }

    /// True if no notice is owed.
    pub fn are_quiet(&self) -> bool {
        self.notices.is_empty()
    }

    /// True if no packet waits here.
    pub fn is_flushed(&self) -> bool {
        self.held_back.is_empty()
    }

    /// Adds a packet that has to wait.
    pub fn hold_back(&mut self, packet: HeldBack<F>) {
        self.held_back.push_back(packet);
    }

    /// Closes or opens the gate for packets of `protocol` to `rank`.
    pub fn set(&mut self, protocol: Protocol, rank: Rank, closed: bool) {
        self.closed.retain(|gate| *gate != (protocol, rank));
        if closed {
            self.closed.push((protocol, rank));
        }
        self.is_any_closed = !self.closed.is_empty() || !self.lost.is_empty();
    }

    /// The next packet that may leave now.
    pub fn next_free(&mut self) -> Option<HeldBack<F>> {
        let free = |at: &usize| {
            let HeldBack { protocol, to, .. } = &self.held_back[*at];
            let earlier = self.held_back.iter().take(*at);
            let waits = |held: &HeldBack<F>| held.protocol == *protocol && held.to.meets(to);
            !self.is_closed(*protocol, to) && !{ earlier }.any(waits)
        };
        let at = (0..self.held_back.len()).find(free)?;
        self.held_back.remove(at)
    }

    /// Adds a notice: `to` is to stop sending packets of `protocol`, or to go on.
    pub fn notify(&mut self, protocol: Protocol, to: Rank, stop: bool) {
        self.notices.push_back((protocol, to, stop));
    }

    /// True if this rank owes notices.
    #[inline]
    pub fn owe_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// The next notice that this rank owes.
    pub fn next_notice(&mut self) -> Option<(Protocol, Rank, bool)> {
        self.notices.pop_front()
    }

    /// Undoes [`Self::next_notice`].
    pub fn requeue_notice(&mut self, notice: (Protocol, Rank, bool)) {
        self.notices.push_front(notice);
    }
}

#[cfg(test)]
mod tests;
