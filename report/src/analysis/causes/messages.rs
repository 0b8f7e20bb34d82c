//! Messages that nobody expects, and those that could be one.

use super::{Cause, Facts};
use crate::analysis::verdict::is_part;
use crate::units;
use std::collections::BTreeMap;
use weft_trace::{Event, PacketEvent, RankTrace, What};
use weft_wire::{Protocol, Rank};

/// Number of unexpected messages at one rank that is worth a word.
const UNEXPECTED: u32 = 256;
/// User bytes of a tiny packet at most, with the headers of systems.
const TINY: u16 = 128;
/// Packets in a row from which on they could be one message.
const ROW: u64 = 32;
/// Packets in such rows that are worth a word.
const TINY_PACKETS: u64 = 1_000;
/// Part of a rank's time that they are to take, in percent.
const TIME: u64 = 10;

/// Rows of tiny packets of one rank to another.
#[derive(Clone, Copy, Default, Debug)]
struct Rows {
    packets: u64,
    bytes: u64,
    /// Time from the first packet of each row to its last, without waits.
    ns: u64,
}

impl Facts<'_> {
    /// Messages that lie at a rank until it posts receives for them.
    pub(super) fn unexpected(&self) -> Option<Cause> {
        let most = (0..).zip(&self.trace.ranks).map(|(rank, of)| (most_unexpected(of), rank));
        let (messages, rank): (u32, u32) =
            most.max_by_key(|(messages, rank)| (*messages, u32::MAX - rank))?;
        if messages < UNEXPECTED {
            return None;
        }
        let count = units::count(messages.into(), "unexpected message");
        Cause::certain([
            format!("At rank {rank} {count} and more pile up, which it has posted no receive for."),
            format!(
                "Rank {rank} receives them late, or in another order than they are sent in: post \
                 receives before the messages come, and in their order."
            ),
        ])
    }

    /// Many short messages in a row to one rank.
    pub(super) fn tiny_messages(&self) -> Option<Cause> {
        let senders = (0..).zip(&self.trace.ranks);
        let all = senders
            .flat_map(|(from, of)| rows(of).into_iter().map(move |(to, rows)| (from, to, rows)));
        let most = all.filter(|(from, _, rows)| {
            let total = self.ranks[*from as usize].total();
            rows.packets >= TINY_PACKETS && is_part(TIME, rows.ns, total)
        });
        let (from, to, rows): (u32, Rank, Rows) = most.max_by_key(|(_, _, rows)| rows.ns)?;
        let total = self.ranks[from as usize].total();
        let each = units::bytes(rows.bytes / rows.packets);
        Cause::certain([
            format!(
                "Rank {from} sends {} to rank {to} in rows, of {each} each, in {} of its time.",
                units::count(rows.packets, "tiny message"),
                units::percent(rows.ns, total)
            ),
            format!(
                "Each costs as much as one of a few hundred bytes: have rank {from} put what goes \
                 to one rank in a row into one message."
            ),
        ])
    }
}

/// Rows of tiny packets, by receiver.
fn rows(of: &RankTrace) -> BTreeMap<Rank, Rows> {
    let mut all = BTreeMap::new();
    let mut row: Option<(Rank, Rows)> = None;
    let mut last = 0;
    for Event { time, what } in &of.events {
        match what {
            What::Sent(packet) if is_message(packet) => {
                let is_tiny = packet.size <= TINY && packet.group.is_none();
                let goes_on = row.is_some_and(|(to, _)| is_tiny && to == packet.peer);
                if !goes_on {
                    end(&mut all, row.take());
                }
                if is_tiny {
                    let (_, of) = row.get_or_insert((packet.peer, Rows::default()));
                    of.packets += 1;
                    of.bytes += u64::from(packet.size);
                    let more = if goes_on { time.saturating_sub(last) } else { 0 };
                    of.ns = of.ns.saturating_add(more);
                }
                last = *time;
            }
            // A message that comes may be what the next one answers.
            What::Received(packet) if is_message(packet) => end(&mut all, row.take()),
            // Waits are no time of theirs.
            What::WaitBegins => {
                if let Some((_, of)) = &mut row {
                    of.ns = of.ns.saturating_add(time.saturating_sub(last));
                }
                last = *time;
            }
            What::WaitEnds => last = *time,
            _ => {}
        }
    }
    end(&mut all, row);
    all
}

/// Ends a row, which counts if it is long.
fn end(all: &mut BTreeMap<Rank, Rows>, row: Option<(Rank, Rows)>) {
    let Some((to, row)) = row.filter(|(_, row)| row.packets >= ROW) else { return };
    let rows: &mut Rows = all.entry(to).or_default();
    rows.packets += row.packets;
    rows.bytes += row.bytes;
    rows.ns += row.ns;
}

/// True if a packet is of a message of the program's.
fn is_message(packet: &PacketEvent) -> bool {
    let systems = [Protocol::PACKETS, Protocol::MESSAGES, Protocol::TAGGED];
    packet.tag.is_data() && systems.contains(&packet.protocol)
}

fn most_unexpected(of: &RankTrace) -> u32 {
    let numbers = of.events.iter().filter_map(|event| match event.what {
        What::Unexpected(messages) => Some(messages),
        _ => None,
    });
    numbers.max().unwrap_or(0)
}
