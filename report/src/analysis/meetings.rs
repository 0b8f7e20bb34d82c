//! Meetings of ranks through memory that they share, of which no packet tells: who comes last ends
//! the waits of the others.

use super::arrows::Arrow;
use super::states::Life;
use super::times::Times;
use std::collections::BTreeMap;
use weft_trace::{PacketEvent, TEXT_BYTES, Trace, What};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Arrival of a rank at a meeting.
#[derive(Clone, Copy)]
struct Arrival {
    rank: u32,
    /// Index of its event.
    at: u32,
    time: u64,
}

/// Finds who came last, says of the waits of the others that this rank ended them, and returns the
/// ways that led from there to their ends, by receiver and order.
pub fn meetings(trace: &Trace, times: &Times, lives: &mut [Life]) -> Vec<Arrow> {
    let mut ways = Vec::new();
    for arrivals in arrivals(trace, times).values() {
        let Some(last) = arrivals.iter().max_by_key(|arrival| arrival.time) else { continue };
        for other in arrivals.iter().filter(|other| other.rank != last.rank) {
            ways.extend(end_wait(&mut lives[other.rank as usize], *other, *last));
        }
    }
    ways.sort_unstable_by_key(|way| (way.to, way.received));
    ways
}

/// Arrivals at each meeting: those with the same number, and as many of it before at their ranks.
fn arrivals(trace: &Trace, times: &Times) -> BTreeMap<(u32, u32), Vec<Arrival>> {
    let mut arrivals: BTreeMap<_, Vec<Arrival>> = BTreeMap::new();
    for (rank, of) in (0..).zip(&trace.ranks) {
        let mut before: BTreeMap<u32, u32> = BTreeMap::new();
        for (at, event) in (0..).zip(&of.events) {
            if let What::Meets(number) = event.what {
                let count = before.entry(number).or_default();
                let arrival = Arrival { rank, at, time: times.at(rank, at) };
                arrivals.entry((number, *count)).or_default().push(arrival);
                *count += 1;
            }
        }
    }
    arrivals
}

/// The way from the last arrival to the end of the wait of a rank that came before, which it ends.
fn end_wait(life: &mut Life, own: Arrival, last: Arrival) -> Option<Arrow> {
    let first =
        life.waits.iter().position(|wait| wait.ended.is_some_and(|ended| ended > own.at))?;
    // Waits of handlers may lie within it, and those that began before around it.
    let wait = life.waits[first..].iter_mut().find(|wait| wait.begin >= own.time)?;
    let ended = wait.ended.filter(|_| (wait.begin..=wait.end).contains(&last.time))?;
    wait.ended_by = Some((ended, last.rank));
    let tree = TreeId::unicast(Rank(last.rank as u16));
    let header = Header::new(Tag::Ucast, Rank(last.rank as u16), tree, 0);
    let packet = PacketEvent::new(Rank(own.rank as u16), &header, [0; TEXT_BYTES]);
    let (left, arrived) = (last.time, last.time);
    let (from, to, sent) = (last.rank, own.rank, last.at);
    Some(Arrow { from, to, left, arrived, sent, received: ended, packet })
}

#[cfg(test)]
mod tests;
