//! Waits that say by themselves what they are for.

use super::{Cause, Facts};
use crate::analysis::verdict::is_part;
use crate::units;
use std::collections::BTreeMap;
use weft_trace::What;

/// Beginning of the names of spans in which a rank waits to write a region.
const WRITE_MISS: &str = "write miss of ";
/// Beginning of the text of a wait for packets that nobody takes.
const NO_FRAME: &str = "a frame to send from";
/// Part of a rank's packets that one receiver gets nearly all of, in percent.
const NEARLY_ALL: u64 = 80;
/// Part of the time of those that wait which is worth a word, in percent.
const TIME: u64 = 20;
/// Write misses of one region that are worth a word, and which part of the time of those that write
/// it they are to take, in percent.
const MISSES: u64 = 100;
const MISS_TIME: u64 = 10;
/// Waits for one receiver that are worth a word.
const WAITS: u64 = 8;

/// Waits for one thing.
#[derive(Default)]
struct Waits {
    count: u64,
    ns: u64,
    /// Ranks that waited.
    ranks: Vec<u32>,
}

impl Waits {
    fn add(&mut self, rank: u32, count: u64, ns: u64) {
        self.count += count;
        self.ns += ns;
        if self.ranks.last() != Some(&rank) {
            self.ranks.push(rank);
        }
    }
}

impl Facts<'_> {
    /// A region that several ranks write in turn.
    pub(super) fn false_sharing(&self) -> Option<Cause> {
        let mut regions: BTreeMap<&str, Waits> = BTreeMap::new();
        for (rank, life) in (0..).zip(self.lives) {
            for (name, time) in &life.spans {
                let region = self.names.text(*name).and_then(|name| name.strip_prefix(WRITE_MISS));
                if let Some(region) = region {
                    regions.entry(region).or_default().add(rank, time.count, time.total);
                }
            }
        }
        let shared = regions.into_iter().filter(|(_, of)| {
            of.ranks.len() > 1
                && of.count >= MISSES
                && is_part(MISS_TIME, of.ns, self.time_of(&of.ranks))
        });
        let (region, of) = shared.max_by_key(|(_, of)| of.ns)?;
        let who = units::ranks(&of.ranks).replacen('r', "R", 1);
        Cause::certain([
            format!(
                "{who} write {region} in turn: {}, in {} of their time.",
                units::count(of.count, "miss").replace("misss", "misses"),
                units::percent(of.ns, self.time_of(&of.ranks))
            ),
            "Unless each needs what the others wrote, that is false sharing: give each rank a \
             region of its own for what it writes."
                .into(),
        ])
    }

    /// A rank that does not receive while others are to send to it.
    pub(super) fn late_receiver(&self) -> Option<Cause> {
        let mut receivers: BTreeMap<u32, Waits> = BTreeMap::new();
        let mut chief: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for wait in self.lives.iter().flat_map(|life| &life.waits) {
            let Some(text) = self.names.text(wait.text) else { continue };
            let receiver = if text.starts_with(NO_FRAME) {
                *chief.entry(wait.rank).or_insert_with(|| self.chief_receiver(wait.rank))
            } else {
                receiver(text)
            };
            if let Some(receiver) = receiver {
                receivers.entry(receiver).or_default().add(wait.rank, 1, wait.idle);
            }
        }
        let late = receivers
            .into_iter()
            .filter(|(_, of)| of.count >= WAITS && is_part(TIME, of.ns, self.time_of(&of.ranks)));
        let (rank, of) = late.max_by_key(|(_, of)| of.ns)?;
        let who = units::ranks(&of.ranks).replacen('r', "R", 1);
        let (verb, whose) = if of.ranks.len() == 1 { ("waits", "its") } else { ("wait", "their") };
        Cause::certain([
            format!(
                "{who} {verb} for rank {rank} to receive in {} of {whose} time: a late receiver.",
                units::percent(of.ns, self.time_of(&of.ranks))
            ),
            format!(
                "What is sent to rank {rank} fills its window ({}): have it receive earlier, or by \
                 a handler while it computes.",
                units::count(of.count, "wait")
            ),
        ])
    }

    /// The rank that nearly all packets of this one go to: where all of them are on their way, it
    /// is the one that takes none.
    fn chief_receiver(&self, rank: u32) -> Option<u32> {
        let (mut sent, mut packets) = (BTreeMap::new(), 0);
        for event in &self.trace.ranks[rank as usize].events {
            if let What::Sent(packet) = &event.what
                && packet.tag.is_data()
            {
                *sent.entry(u32::from(packet.peer.0)).or_insert(0_u64) += 1;
                packets += 1;
            }
        }
        let (receiver, most) = sent.into_iter().max_by_key(|(_, sent)| *sent)?;
        is_part(NEARLY_ALL, most, packets).then_some(receiver)
    }

    /// Time of these ranks together.
    fn time_of(&self, ranks: &[u32]) -> u64 {
        ranks.iter().map(|rank| self.ranks[*rank as usize].total()).sum()
    }
}

/// The rank that is to receive, in the text of a wait for that.
fn receiver(text: &str) -> Option<u32> {
    let (rank, what) = text.strip_prefix("rank ")?.split_once(' ')?;
    what.starts_with("to receive ").then(|| rank.parse().ok())?
}
