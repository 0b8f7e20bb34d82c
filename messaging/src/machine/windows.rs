//! Flow control for each port: a sliding window for each sender (thesis 6.1.1, 6.3), for multicasts
//! too.
//!
//! A sender may have a window of packets at a port of one receiver that nobody has consumed; then
//! it stalls, it alone, and for that port only. The receiver reports what was consumed at half
//! windows. A multicast needs room at every member of its group, which Panda lacked: the sender
//! knows what each has consumed, and looks at all of them only once for as many multicasts as the
//! slowest had room for.
//!
//! Two ranks that send to each other, and read only between their messages, could both stall in the
//! middle of one for ever: nobody reads. So who has stalled for a while says so, and a receiver
//! that is stalled itself takes what was sent as if it had been consumed: memory, which has its own
//! limit, takes the place of a window that protects nobody any more.
//!
//! Sans-IO: counters in, decisions out. All of them wrap.

use super::by_rank::ByRank;
use std::collections::BTreeMap;
use weft_endpoint::{Group, Rank};

/// Bytes of one sender that may be unconsumed at a port of one receiver, in full packets.
pub const WINDOW_BYTES: usize = 1 << 20;

/// The least number of packets in a window, however long they are.
const LEAST_PACKETS: u32 = 512;

/// Largest distance behind the last report of one that was overtaken, in packets.
const STALE_PACKETS: u32 = 1 << 20;

/// Packets of a window, if a packet holds `max_payload` bytes. The same on all ranks.
pub fn window_packets(max_payload: usize) -> u32 {
    LEAST_PACKETS.max((WINDOW_BYTES / max_payload.max(1)) as u32)
}

/// The flow of a message: unicast, or to a group.
pub type Flow = Option<Group>;

/// Destination of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum To {
    /// One rank.
    Rank(Rank),
    /// All other members of a group.
    Group(Group),
}

/// A port's windows, seen from a sender.
#[derive(Default, Clone, Hash)]
pub struct SendWindows {
    unicast: ByRank<Sent>,
    multicast: BTreeMap<Group, Multicast>,
}

/// Packets to one receiver.
#[derive(Default, Clone, Copy, Hash)]
struct Sent {
    sent: u32,
    consumed: u32,
}

impl Sent {
    /// Takes room for one packet; false if there is none.
    #[inline]
    fn claim(&mut self, window: u32) -> bool {
        let granted = self.sent.wrapping_sub(self.consumed) < window;
        self.sent = self.sent.wrapping_add(u32::from(granted));
        granted
    }
}

/// Packets to one group.
#[derive(Default, Clone, Hash)]
struct Multicast {
    sent: u32,
    /// Multicasts that may leave before anybody's window has to be looked at again.
    slack: u32,
    consumed: ByRank<u32>,
}

impl SendWindows {
    /// Takes room for one packet to `to`; false if there is none.
    #[inline]
    pub fn claim(&mut self, to: Rank, window: u32) -> bool {
        match self.unicast.get_mut(to) {
            Some(flow) => flow.claim(window),
            None => self.unicast.entry(to).claim(window),
        }
    }

    /// Counts a packet that leaves whether there is room for it or not.
    pub fn overdraw(&mut self, to: Rank) {
        let flow = self.unicast.entry(to);
        flow.sent = flow.sent.wrapping_add(1);
    }

    /// True if a multicast to `group` may leave before anybody's window is looked at.
    pub fn has_slack(&self, group: Group) -> bool {
        self.multicast.get(&group).is_some_and(|flow| flow.slack > 0)
    }

    /// Takes room for one packet to each of `members`; false if one of them has none. Nobody asks
    /// who they are if there is [slack](Self::has_slack).
    pub fn claim_multicast(&mut self, group: Group, window: u32, members: &[Rank]) -> bool {
        let flow = self.multicast.entry(group).or_default();
        if flow.slack == 0 {
            let (sent, consumed) = (flow.sent, &flow.consumed);
            let unconsumed =
                |member: &Rank| sent.wrapping_sub(consumed.get(*member).copied().unwrap_or(0));
            let most = members.iter().map(unconsumed).max().unwrap_or(0);
            flow.slack = window.saturating_sub(most);
        }
        let granted = flow.slack > 0;
        flow.slack -= u32::from(granted);
        flow.sent = flow.sent.wrapping_add(u32::from(granted));
        granted
    }

    /// Does what [`Self::overdraw`] does, for a multicast.
    pub fn overdraw_multicast(&mut self, group: Group) {
        let flow = self.multicast.entry(group).or_default();
        flow.sent = flow.sent.wrapping_add(1);
        flow.slack = flow.slack.saturating_sub(1);
    }

    /// The member of a group that has consumed least of what was sent to it.
    pub fn slowest(&self, group: Group, members: &[Rank]) -> Option<Rank> {
        let flow = self.multicast.get(&group)?;
        let unconsumed =
            |rank: Rank| flow.sent.wrapping_sub(flow.consumed.get(rank).copied().unwrap_or(0));
        members.iter().copied().max_by_key(|rank| unconsumed(*rank))
    }

    /// Number of packets of a flow that were sent, to `to` or to a group.
    pub fn sent(&self, to: Rank, flow: Flow) -> u32 {
        match flow {
            None => self.unicast.get(to).map_or(0, |flow| flow.sent),
            Some(group) => self.multicast.get(&group).map_or(0, |flow| flow.sent),
        }
    }

    /// `from` reports that it has consumed so many packets of a flow in all. False if it cannot
    /// have.
    pub fn reported(&mut self, from: Rank, flow: Flow, consumed: u32) -> bool {
        let (sent, known) = match flow {
            None => {
                let flow = self.unicast.entry(from);
                (flow.sent, &mut flow.consumed)
            }
            Some(group) => {
                let Some(flow) = self.multicast.get_mut(&group) else { return false };
                (flow.sent, flow.consumed.entry(from))
            }
        };
        // Between what it reported before and what was sent, on a circle.
        let news = sent.wrapping_sub(consumed) <= sent.wrapping_sub(*known);
        if news {
            *known = consumed;
        }
        // Two of its threads may have overtaken each other: the later report has said it all.
        news || known.wrapping_sub(consumed) <= STALE_PACKETS
    }
}

/// A port's windows, seen from the receiver.
#[derive(Default, Clone, Hash)]
pub struct ReceiveWindows {
    unicast: ByRank<Consumed>,
    multicast: BTreeMap<(Rank, Group), Consumed>,
}

#[derive(Default, Clone, Copy, Hash)]
struct Consumed {
    consumed: u32,
    reported: u32,
}

impl Consumed {
    #[inline]
    fn count(&mut self, window: u32) -> Option<u32> {
        self.consumed = self.consumed.wrapping_add(1);
        // What was reported may be ahead.
        let due = self.consumed.wrapping_sub(self.reported) as i32 >= (window / 2) as i32;
        due.then(|| {
            self.reported = self.consumed;
            self.consumed
        })
    }

    fn advance(&mut self, sent: u32) -> Option<u32> {
        let ahead = sent.wrapping_sub(self.reported);
        let is_news = (1..=STALE_PACKETS).contains(&ahead);
        is_news.then(|| {
            self.reported = sent;
            sent
        })
    }
}

impl ReceiveWindows {
    /// Counts a packet of `from` as consumed. Returns the report for it, if one is due.
    #[inline]
    pub fn consumed(&mut self, from: Rank, flow: Flow, window: u32) -> Option<u32> {
        match (flow, self.unicast.get_mut(from)) {
            (None, Some(flow)) => flow.count(window),
            _ => self.count_slowly(from, flow, window),
        }
    }

    #[inline(never)]
    fn count_slowly(&mut self, from: Rank, flow: Flow, window: u32) -> Option<u32> {
        self.flow(from, flow).count(window)
    }

    /// Counts all `sent` packets as consumed for `from`, which waits for room while nobody can read
    /// here. Returns the report for it, if that is news.
    pub fn advance(&mut self, from: Rank, flow: Flow, sent: u32) -> Option<u32> {
        self.flow(from, flow).advance(sent)
    }

    #[inline]
    fn flow(&mut self, from: Rank, flow: Flow) -> &mut Consumed {
        match flow {
            None => self.unicast.entry(from),
            Some(group) => self.multicast.entry((from, group)).or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
