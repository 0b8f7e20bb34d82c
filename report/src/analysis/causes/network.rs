//! Ways of packets that lose them, or are slow.

use super::{Cause, Facts};
use crate::analysis::verdict::is_part;
use crate::units;
use std::collections::BTreeMap;
use weft_trace::What;

/// Lost packets that are worth a word, and which part of all they are to be, in percent.
const LOST: u64 = 10;
const LOST_PART: u64 = 1;
/// Part of all lost packets that those of one rank, or one pair, are to be, in percent.
const CHIEFLY: u64 = 80;
/// Packets in each direction, to a rank that waits, of which one is fast however busy the host is.
const PACKETS: u64 = 16;
/// Time of the fastest packet of a slow link.
const SLOW_NS: u64 = 200_000;
/// Part of all waiting that packets of slow links are to have ended, in percent.
const WAITING: u64 = 20;

/// Packets between two ranks, in both directions.
#[derive(Clone, Copy, Default)]
struct Losses {
    /// Number that were sent, each time counted.
    sent: u64,
    /// Number of those that were sent again and did not come.
    lost: u64,
}

/// Packets from one rank to another.
#[derive(Clone, Copy)]
struct Fastest {
    packets: u64,
    ns: u64,
}

/// Packets of a kind of one rank to another: receiver, root, group, sequence number.
type Numbered = (u16, u16, Option<u16>, u8, u32);

impl Facts<'_> {
    /// Packets that the network loses.
    pub(super) fn lost_way(&self) -> Option<Cause> {
        let pairs = self.losses();
        let sum = |of: fn(&Losses) -> u64| pairs.values().map(of).sum::<u64>();
        let (sent, lost) = (sum(|of| of.sent), sum(|of| of.lost));
        if lost < LOST || !is_part(LOST_PART, lost, sent) {
            return None;
        }
        let way = self.way_of(&pairs, lost);
        Cause::certain([
            format!(
                "The way {way} loses packets: {} of {} were lost and sent again ({}).",
                units::thousands(lost),
                units::thousands(sent),
                units::percent(lost, sent)
            ),
            "A lost packet holds up all that wait for it until it is sent again: look at cables, \
             switches and the counts of drops of the interfaces, or take a smaller --window."
                .into(),
        ])
    }

    /// The way on which most packets were lost.
    fn way_of(&self, pairs: &BTreeMap<(u32, u32), Losses>, lost: u64) -> String {
        let of_pair = pairs.iter().find(|(_, of)| is_part(CHIEFLY, of.lost, lost));
        if let Some(((a, b), _)) = of_pair {
            return format!("between ranks {a} and {b}");
        }
        let of_rank = (0..self.ranks.len() as u32).find(|rank| {
            let own = pairs.iter().filter(|((a, b), _)| a == rank || b == rank);
            is_part(CHIEFLY, own.map(|(_, of)| of.lost).sum(), lost)
        });
        match of_rank {
            Some(rank) if self.ranks.len() > 2 => format!("to and from rank {rank}"),
            _ => "between all ranks".into(),
        }
    }

    /// Packets with sequence numbers, by pairs of ranks.
    fn losses(&self) -> BTreeMap<(u32, u32), Losses> {
        let mut came: BTreeMap<(u32, Numbered), u64> = BTreeMap::new();
        let mut left: BTreeMap<(u32, Numbered), u64> = BTreeMap::new();
        for (rank, of) in (0..).zip(&self.trace.ranks) {
            // Of what was lost here nobody knows if it came.
            if of.lost > 0 {
                return BTreeMap::new();
            }
            for event in &of.events {
                let (packet, from, to) = match &event.what {
                    What::Sent(packet) => (packet, rank, packet.peer.0),
                    What::Received(packet) => (packet, u32::from(packet.peer.0), rank as u16),
                    _ => continue,
                };
                if packet.sequence == 0 || !packet.tag.is_data() {
                    continue;
                }
                let group = packet.group.map(|group| group.0);
                let protocol = packet.protocol.index() as u8;
                let numbered = (to, packet.root.0, group, protocol, packet.sequence);
                let of = if matches!(event.what, What::Sent(_)) { &mut left } else { &mut came };
                *of.entry((from, numbered)).or_default() += 1;
            }
        }
        let mut pairs: BTreeMap<(u32, u32), Losses> = BTreeMap::new();
        for ((from, numbered), sent) in left {
            let to = u32::from(numbered.0);
            let of = pairs.entry((from.min(to), from.max(to))).or_default();
            of.sent += sent;
            // One that was sent once may be on its way still.
            if sent > 1 {
                of.lost += sent.saturating_sub(*came.get(&(from, numbered)).unwrap_or(&0));
            }
        }
        pairs
    }

    /// Links on which even the fastest packets are slow.
    pub(super) fn slow_link(&self) -> Option<Cause> {
        let fastest = self.fastest();
        let mut slow: Vec<(u32, u32, u64)> = Vec::new();
        let mut others: Vec<u64> = Vec::new();
        for ((from, to), there) in &fastest {
            let Some(back) = fastest.get(&(*to, *from)).filter(|_| from < to) else { continue };
            if there.packets < PACKETS || back.packets < PACKETS {
                continue;
            }
            // The error of clocks is in both directions, with opposite signs.
            let one_way = there.ns.midpoint(back.ns);
            match one_way >= SLOW_NS {
                true => slow.push((*from, *to, one_way)),
                false => others.push(one_way),
            }
        }
        let is_slow = |a: u32, b: u32| slow.iter().any(|of| (of.0, of.1) == (a.min(b), a.max(b)));
        let waits = self.lives.iter().flat_map(|life| &life.waits);
        let (ns, idle) = waits.fold((0, 0), |(ns, idle): (u64, u64), wait| {
            let is_slow = wait.ended_by.is_some_and(|(_, by)| is_slow(wait.rank, by));
            (ns + if is_slow { wait.idle } else { 0 }, idle + wait.idle)
        });
        let (a, b, one_way) = *slow.iter().max_by_key(|(_, _, one_way)| *one_way)?;
        if !is_part(WAITING, ns, idle) || !is_part(WAITING / 2, ns, self.total()) {
            return None;
        }
        let which = match slow.len() {
            1 => format!("The link between ranks {a} and {b} is"),
            _ if others.is_empty() => "The links between all ranks are".into(),
            number => format!("{number} links are, that between ranks {a} and {b} most,"),
        };
        others.sort_unstable();
        let beside = others.get(others.len() / 2).map_or_else(String::new, |median| {
            format!(", and {} on the others", units::time(*median))
        });
        Cause::certain([
            format!(
                "{which} slow: even the fastest packet takes {}{beside}; {} of all waiting is for it.",
                units::time(one_way),
                units::percent(ns, idle)
            ),
            "Look at that network, or move ranks that talk most to one host: fewer messages that \
             wait for one another suffer less."
                .into(),
        ])
    }

    /// Packets between hosts whose receivers waited when they left: others lie until somebody
    /// looks. Simulated ranks are on a host each.
    fn fastest(&self) -> BTreeMap<(u32, u32), Fastest> {
        let mut fastest: BTreeMap<(u32, u32), Fastest> = BTreeMap::new();
        let run = &self.trace.run;
        let host = |rank: u32| run.hosts.get(rank as usize);
        let is_far = |a, b| run.is_simulated || host(a) != host(b);
        let waits = |rank: u32, time| {
            let pieces = &self.lives[rank as usize].pieces;
            let next = pieces.partition_point(|piece| piece.start <= time);
            next.checked_sub(1).is_some_and(|at| pieces[at].state.is_idle())
        };
        let to_waiting = self
            .arrows
            .iter()
            .filter(|arrow| is_far(arrow.from, arrow.to) && waits(arrow.to, arrow.left));
        for arrow in to_waiting {
            let of = fastest.entry((arrow.from, arrow.to));
            let of = of.or_insert(Fastest { packets: 0, ns: u64::MAX });
            of.packets += 1;
            of.ns = of.ns.min(arrow.flight());
        }
        fastest
    }
}
