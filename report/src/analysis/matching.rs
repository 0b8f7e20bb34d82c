//! Packets that left one rank and came to another: which of the events that say so are of one.
//!
//! Packets of a pair of ranks and one kind keep their order, so that the k-th that left is the k-th
//! that came. That ends where a rank has lost events. From there on packets are matched by their
//! sequence numbers if they have any. Others are matched anew from a packet on that is like no
//! other of its kind, by its size and its first bytes; in both directions, as far as the contents
//! agree and no more events are lost.

use super::times::Times;
use std::collections::BTreeMap;
use weft_trace::{PacketEvent, RankTrace, TEXT_BYTES, Trace, What};

/// Time by which a packet may be written down as taken before it is written down as sent: each is
/// written beside what it says, not at once with it. Where the order of packets is known, it may be
/// any: a rank that has lost its core in between writes late.
const WRITTEN_LATE_NS: u64 = 1_000_000;

/// A packet of which both events are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Match {
    /// Rank that sent it.
    pub from: u32,
    /// Rank that took it.
    pub to: u32,
    /// Index of the event at its sender.
    pub sent: u32,
    /// Index of the event at its receiver.
    pub received: u32,
}

/// Kind of packets that keep their order between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct FlowKind {
    from: u32,
    to: u32,
    tag: u8,
    protocol: u8,
    root: u16,
    group: Option<u16>,
    sequence: u32,
}

/// One of the two events of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct End {
    kind: FlowKind,
    is_received: bool,
    event: u32,
}

/// All events of packets, by their kinds.
#[derive(Debug)]
pub struct Ends<'a> {
    trace: &'a Trace,
    ends: Vec<End>,
}

/// The events of one kind of packets.
#[derive(Clone, Copy)]
struct Group<'a> {
    kind: FlowKind,
    sent: &'a [End],
    received: &'a [End],
}

impl<'a> Ends<'a> {
    /// The events of packets of a trace.
    pub fn new(trace: &'a Trace) -> Self {
        let mut ends = Vec::new();
        for (rank, of) in (0..).zip(&trace.ranks) {
            for (event, happened) in (0..).zip(&of.events) {
                ends.extend(match &happened.what {
                    What::Sent(packet) => Some(End::new(rank, packet, false, event)),
                    What::Received(packet) => Some(End::new(rank, packet, true, event)),
                    _ => None,
                });
            }
        }
        ends.sort_unstable();
        Ends { trace, ends }
    }

    /// Packets of which is certain, whatever the clocks say, which events are theirs.
    pub fn certain(&self) -> Vec<Match> {
        let mut matches = Vec::new();
        for group in self.groups() {
            let (sent, received) = self.whole(&group);
            let paired = group.sent[..sent].iter().zip(&group.received[..received]);
            matches.extend(paired.map(|(sent, received)| of_ends(sent, received)));
        }
        matches
    }

    /// Packets as they are matched when it is known what time it was.
    pub fn all(&self, times: &Times) -> Vec<Match> {
        let mut matches = Vec::new();
        for group in self.groups() {
            let whole = self.whole(&group);
            if group.kind.sequence != 0 && whole == (0, 0) {
                by_time(&group, times, &mut matches);
            } else {
                let rest = in_order(&group, whole, times, &mut matches);
                self.restart(&rest, times, &mut matches);
            }
        }
        matches.sort_unstable_by_key(|of| (of.to, of.received));
        matches
    }

    fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        self.ends.chunk_by(|a, b| a.kind == b.kind).map(|ends| {
            let (sent, received) = ends.split_at(ends.partition_point(|end| !end.is_received));
            Group { kind: ends[0].kind, sent, received }
        })
    }

    /// Numbers of events at the beginning of a group between which none are missing, at its sender
    /// and its receiver: of these the k-th packet that left is the k-th that came.
    fn whole(&self, group: &Group) -> (usize, usize) {
        let Group { kind, sent, received } = group;
        if kind.sequence != 0 {
            // Unless each is there once, some were sent again, or came twice, or are missing.
            let is_single = (sent.len(), received.len()) == (1, 1);
            let is_even = sent.len() == received.len() && !self.lost_some(kind);
            return if is_single || is_even { (sent.len(), received.len()) } else { (0, 0) };
        }
        if !self.lost_some(kind) {
            return (sent.len(), received.len());
        }
        let before = |ends: &[End], rank: u32| {
            let gap = self.of(rank).map_or(usize::MAX, first_gap);
            ends.partition_point(|end| (end.event as usize) < gap)
        };
        let both = before(sent, kind.from).min(before(received, kind.to));
        (both, both)
    }

    fn of(&self, rank: u32) -> Option<&'a RankTrace> {
        self.trace.ranks.get(rank as usize)
    }

    fn lost_some(&self, kind: &FlowKind) -> bool {
        [kind.from, kind.to].iter().any(|rank| self.of(*rank).is_some_and(|of| of.lost > 0))
    }

    /// Matches what is left of a group of which events are missing.
    fn restart(&self, rest: &Group, times: &Times, matches: &mut Vec<Match>) {
        let is_useless = rest.sent.is_empty() || rest.received.is_empty();
        if is_useless || !self.lost_some(&rest.kind) {
            return;
        }
        let (mut sent, mut received) = (0, 0);
        for (s, r) in self.anchors(rest) {
            if s < sent || r < received || !goes_forward(&rest.sent[s], &rest.received[r], times) {
                continue;
            }
            let back = (1..=(s - sent).min(r - received))
                .take_while(|back| self.follow(rest, s - back, r - back))
                .count();
            let on = (1..(rest.sent.len() - s).min(rest.received.len() - r))
                .take_while(|on| self.follow(rest, s + on - 1, r + on - 1))
                .take_while(|on| self.head(&rest.sent[s + on]) == self.head(&rest.received[r + on]))
                .count();
            for at in 0..=back + on {
                let (left, came) = (&rest.sent[s - back + at], &rest.received[r - back + at]);
                if goes_forward(left, came, times) {
                    matches.push(of_ends(left, came));
                }
            }
            (sent, received) = (s + on + 1, r + on + 1);
        }
    }

    /// True if these two have the same contents, and neither rank lost events between them and
    /// their successors.
    fn follow(&self, group: &Group, sent: usize, received: usize) -> bool {
        let (Some(sender), Some(receiver)) = (self.of(group.kind.from), self.of(group.kind.to))
        else {
            return false;
        };
        let is_whole = |of: &RankTrace, ends: &[End], at: usize| {
            let after = ends[at].event as usize + 1;
            let next = ends.get(at + 1).map_or(after, |end| end.event as usize);
            of.gaps.range(after..=next.max(after)).next().is_none()
        };
        is_whole(sender, group.sent, sent)
            && is_whole(receiver, group.received, received)
            && self.head(&group.sent[sent]) == self.head(&group.received[received])
    }

    /// Packets that are like no other of their group, in the order in which they came.
    fn anchors(&self, group: &Group) -> Vec<(usize, usize)> {
        type Found = (usize, usize, usize, usize);
        let mut found: BTreeMap<(u16, [u8; TEXT_BYTES]), Found> = BTreeMap::new();
        for (at, end) in group.sent.iter().enumerate() {
            let entry = found.entry(self.head(end)).or_default();
            (entry.0, entry.1) = (entry.0 + 1, at);
        }
        for (at, end) in group.received.iter().enumerate() {
            let entry = found.entry(self.head(end)).or_default();
            (entry.2, entry.3) = (entry.2 + 1, at);
        }
        let mut anchors: Vec<_> = found
            .into_iter()
            .filter(|((_, head), (sent, _, received, _))| {
                (*sent, *received) == (1, 1) && *head != [0; TEXT_BYTES]
            })
            .map(|(_, (_, sent, _, received))| (sent, received))
            .collect();
        anchors.sort_unstable_by_key(|(_, received)| *received);
        anchors
    }

    /// Size and first bytes of a packet.
    fn head(&self, end: &End) -> (u16, [u8; TEXT_BYTES]) {
        let rank = if end.is_received { end.kind.to } else { end.kind.from };
        let event = self.of(rank).and_then(|of| of.events.get(end.event as usize));
        match event.map(|event| &event.what) {
            Some(What::Sent(packet) | What::Received(packet)) => (packet.size, packet.head),
            _ => (0, [0; TEXT_BYTES]),
        }
    }
}

impl End {
    fn new(rank: u32, packet: &PacketEvent, is_received: bool, event: u32) -> Self {
        let peer = u32::from(packet.peer.0);
        let (from, to) = if is_received { (peer, rank) } else { (rank, peer) };
        let kind = FlowKind {
            from,
            to,
            tag: packet.tag as u8,
            protocol: packet.protocol.index() as u8,
            root: packet.root.0,
            group: packet.group.map(|group| group.0),
            sequence: packet.sequence,
        };
        End { kind, is_received, event }
    }
}

fn of_ends(sent: &End, received: &End) -> Match {
    let FlowKind { from, to, .. } = sent.kind;
    Match { from, to, sent: sent.event, received: received.event }
}

/// Index of the event before which events are missing for the first time.
fn first_gap(of: &RankTrace) -> usize {
    let somewhere = if of.lost > 0 { 0 } else { usize::MAX };
    of.gaps.first().copied().unwrap_or(somewhere)
}

fn goes_forward(sent: &End, received: &End, times: &Times) -> bool {
    let FlowKind { from, to, .. } = sent.kind;
    times.at(from, sent.event) <= times.at(to, received.event) + WRITTEN_LATE_NS
}

/// Matches the events of a group between which none are missing, in their order. Returns what is
/// behind them.
fn in_order<'a>(
    group: &Group<'a>,
    whole: (usize, usize),
    times: &Times,
    matches: &mut Vec<Match>,
) -> Group<'a> {
    let (sent, received) = (&group.sent[..whole.0], &group.received[..whole.1]);
    let paired = || sent.iter().zip(received);
    let backward = paired().filter(|(left, came)| !goes_forward(left, came, times)).count();
    if received.len() <= sent.len() || backward * 2 < sent.len() {
        matches.extend(paired().map(|(left, came)| of_ends(left, came)));
    } else {
        in_order_of_time(sent, received, times, matches);
    }
    Group { kind: group.kind, sent: &group.sent[whole.0..], received: &group.received[whole.1..] }
}

/// Matches packets of which the first have no sender that is known: those that would have come
/// before they left.
fn in_order_of_time(sent: &[End], received: &[End], times: &Times, matches: &mut Vec<Match>) {
    let mut came = received.iter();
    for left in sent {
        match came.find(|came| goes_forward(left, came, times)) {
            Some(came) => matches.push(of_ends(left, came)),
            None => break,
        }
    }
}

/// Matches what was sent more than once, or came more than once: each that came is the last that
/// had left.
fn by_time(group: &Group, times: &Times, matches: &mut Vec<Match>) {
    let mut sent = group.sent;
    for came in group.received {
        let left = sent.partition_point(|left| goes_forward(left, came, times));
        if let Some(last) = left.checked_sub(1) {
            matches.push(of_ends(&sent[last], came));
            sent = &sent[left..];
        }
    }
}

#[cfg(test)]
mod tests;
