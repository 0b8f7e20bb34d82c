//! Things that happen beside packets and states: handlers with threads of their own, ordered
//! broadcasts, and copies between the memories of ranks.

use super::names::Names;
use super::states::{Life, RankState};
use super::times::Times;
use serde::Serialize;
use std::collections::BTreeMap;
use weft_trace::{Trace, What};

/// Run of a handler that had a thread to itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Popup {
    /// Rank that ran it.
    pub rank: u32,
    /// Number of the name of its port, in [`Names`].
    pub port: u32,
    /// Time at which it began.
    pub begin: u64,
    /// Time at which it ended; that of the rank's last event if it did not before.
    pub end: u64,
}

/// An ordered broadcast.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broadcast {
    /// Number of the name of its order, in [`Names`].
    pub order: u32,
    /// Sequence number in the order.
    pub number: u64,
    /// Rank that sent it, and when, if that was written down.
    pub submitted: Option<(u32, u64)>,
    /// Ranks that it was handed over to, and when.
    pub delivered: Vec<(u32, u64)>,
}

/// Copy between the memories of two ranks, without a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    /// Rank that copied.
    pub rank: u32,
    /// Rank that has the other memory.
    pub other: u32,
    /// True if the bytes went to the other rank.
    pub is_put: bool,
    /// Time after the copy.
    pub time: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// All that happened beside packets and states, in the order of ranks and events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    /// Handlers with threads of their own.
    pub popups: Vec<Popup>,
    /// Ordered broadcasts, by order and sequence number.
    pub broadcasts: Vec<Broadcast>,
    /// Copies.
    pub copies: Vec<Copied>,
}

/// Handlers of the ports with one name, at all ranks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HandlerRow {
    /// Name of the port.
    pub port: String,
    /// Number of runs where packets are taken.
    pub runs: u64,
    /// Time in them, without what they wait.
    pub ns: u64,
    /// Number of runs in threads of their own.
    pub popups: u64,
    /// Time from the beginnings of those to their ends.
    pub popup_ns: u64,
}

/// Messages of the orders with one name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OrderRow {
    /// Name of the order.
    pub order: String,
    /// Number of messages that were sent.
    pub submitted: u64,
    /// Number of times that one was handed over to a rank.
    pub delivered: u64,
    /// Mean time from sending to the last rank that it was handed over to.
    pub mean_ns: u64,
    /// Longest such time.
    pub longest_ns: u64,
    /// Sequence number of that message.
    pub longest_number: u64,
    /// Rank that it was handed over to last.
    pub longest_rank: u32,
}

/// Copies of one rank to and from the memory of another.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CopyRow {
    /// Rank that copied.
    pub rank: u32,
    /// Rank that has the other memory.
    pub other: u32,
    /// Number of copies to the other rank.
    pub puts: u64,
    /// Their bytes.
    pub put_bytes: u64,
    /// Number of copies from it.
    pub gets: u64,
    /// Their bytes.
    pub got_bytes: u64,
}

impl Beside {
    /// All of a trace.
    pub fn new(trace: &Trace, times: &Times, names: &mut Names) -> Self {
        let mut found = Found::default();
        for (rank, of) in (0..).zip(&trace.ranks) {
            let mut last = 0;
            for (at, event) in (0..).zip(&of.events) {
                last = times.at(rank, at);
                found.take((rank, last), event.what);
            }
            for ((port, _), begin) in std::mem::take(&mut found.open) {
                found.popups.push((rank, port, begin, last));
            }
        }
        let popup = |(rank, port, begin, end): (u32, u32, _, _)| {
            let port = names.port(&trace.ranks[rank as usize], port);
            Popup { rank, port, begin, end }
        };
        let popups = found.popups.into_iter().map(popup).collect();
        let broadcast = |((order, number), mut broadcast): ((u32, u64), Broadcast)| {
            // Every rank of the order has its name.
            let named = broadcast.delivered.first().copied().or(broadcast.submitted);
            let rank = named.map_or(0, |(rank, _)| rank);
            broadcast.order = names.order(&trace.ranks[rank as usize], order);
            Broadcast { number, ..broadcast }
        };
        let broadcasts = found.broadcasts.into_iter().map(broadcast).collect();
        Beside { popups, broadcasts, copies: found.copies }
    }

    /// Orders, those with the most messages first.
    pub fn orders(&self, names: &Names) -> Vec<OrderRow> {
        let mut rows: BTreeMap<u32, (OrderRow, u64, u64)> = BTreeMap::new();
        for of in &self.broadcasts {
            let (row, sum, timed) = rows.entry(of.order).or_default();
            row.submitted += u64::from(of.submitted.is_some());
            row.delivered += of.delivered.len() as u64;
            let last = of.delivered.iter().max_by_key(|(_, time)| *time);
            let (Some((_, sent)), Some((rank, came))) = (of.submitted, last) else { continue };
            let took = came.saturating_sub(sent);
            *sum = sum.saturating_add(took);
            *timed += 1;
            if took >= row.longest_ns {
                row.longest_ns = took;
                (row.longest_number, row.longest_rank) = (of.number, *rank);
            }
        }
        let named = |(order, (row, sum, timed)): (u32, (OrderRow, u64, u64))| OrderRow {
            order: names.text(order).unwrap_or_default().into(),
            mean_ns: sum.checked_div(timed).unwrap_or(0),
            ..row
        };
        let mut rows: Vec<_> = rows.into_iter().map(named).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.delivered));
        rows
    }

    /// Copies by the ranks at both ends.
    pub fn copies(&self) -> Vec<CopyRow> {
        let mut rows: BTreeMap<(u32, u32), CopyRow> = BTreeMap::new();
        for of in &self.copies {
            let new = || CopyRow { rank: of.rank, other: of.other, ..CopyRow::default() };
            let row = rows.entry((of.rank, of.other)).or_insert_with(new);
            let (count, bytes) = match of.is_put {
                true => (&mut row.puts, &mut row.put_bytes),
                false => (&mut row.gets, &mut row.got_bytes),
            };
            *count += 1;
            *bytes = bytes.saturating_add(of.bytes);
        }
        rows.into_values().collect()
    }

    /// Handlers by their ports, those that take longest first.
    pub fn handlers(&self, lives: &[Life], names: &Names) -> Vec<HandlerRow> {
        let mut rows: BTreeMap<u32, HandlerRow> = BTreeMap::new();
        for life in lives {
            for (port, runs) in &life.handlers {
                rows.entry(*port).or_default().runs += runs;
            }
            let pieces = life.within(life.begin, life.end);
            for (piece, time) in pieces.filter(|(piece, _)| piece.state == RankState::Handler) {
                rows.entry(piece.port).or_default().ns += time;
            }
        }
        for of in &self.popups {
            let row = rows.entry(of.port).or_default();
            row.popups += 1;
            row.popup_ns = row.popup_ns.saturating_add(of.end - of.begin);
        }
        let named = |(port, row): (u32, HandlerRow)| HandlerRow {
            port: names.text(port).unwrap_or_default().into(),
            ..row
        };
        let mut rows: Vec<_> = rows.into_iter().map(named).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.ns.saturating_add(row.popup_ns)));
        rows
    }
}

/// Numbers and times as events say them, without names.
#[derive(Default)]
struct Found {
    /// Rank, port, beginning and end of popups.
    popups: Vec<(u32, u32, u64, u64)>,
    /// Beginnings of those of a rank that have not ended, by port and run.
    open: BTreeMap<(u32, u64), u64>,
    broadcasts: BTreeMap<(u32, u64), Broadcast>,
    copies: Vec<Copied>,
}

impl Found {
    fn take(&mut self, (rank, time): (u32, u64), what: What) {
        match what {
            What::PopupBegins { port, run } => {
                self.open.insert((port, run), time);
            }
            What::PopupEnds { port, run } => {
                let begin = self.open.remove(&(port, run));
                self.popups.extend(begin.map(|begin| (rank, port, begin, time)));
            }
            What::Submitted { order, number } => {
                self.broadcast(order, number).submitted = Some((rank, time));
            }
            What::Delivered { order, number, .. } => {
                self.broadcast(order, number).delivered.push((rank, time));
            }
            What::Put { to, bytes } => self.copy((rank, time), to.0, true, bytes),
            What::Got { from, bytes } => self.copy((rank, time), from.0, false, bytes),
            _ => {}
        }
    }

    fn broadcast(&mut self, order: u32, number: u64) -> &mut Broadcast {
        let new = || Broadcast { order: 0, number, submitted: None, delivered: Vec::new() };
        self.broadcasts.entry((order, number)).or_insert_with(new)
    }

    fn copy(&mut self, (rank, time): (u32, u64), other: u16, is_put: bool, bytes: u64) {
        self.copies.push(Copied { rank, other: other.into(), is_put, time, bytes });
    }
}

#[cfg(test)]
pub(crate) mod tests;
