//! Runs that did not happen, of any number of ranks.

use weft_trace::{Event, NamedThing, PacketEvent, RankTrace, Run, TEXT_BYTES, Trace, What};
use weft_wire::{Protocol, Rank, Tag};

const SPANS: [&str; 3] = ["read input", "relax", "exchange rows"];
/// Time that a packet takes.
const FLIGHT_NS: u64 = 1_800;

/// A program that repeats computing and exchanging rows with two neighbours. Rank 1 computes for
/// longer than the others, and rank 0 serves requests.
pub fn neighbours(ranks: u16, rounds: u32) -> Trace {
    let mut run = Running::new(ranks);
    run.trace.run.program = format!("sor --rows {} --rounds {rounds}", 64 * u32::from(ranks));
    for rank in 0..ranks {
        run.span(rank, 0, 40_000 + 500 * u64::from(rank));
    }
    for round in 0..rounds {
        for rank in 0..ranks {
            let noise = u64::from(round * 37 + u32::from(rank) * 101) % 61 * 300;
            run.span(rank, 1, if rank == 1 { 95_000 } else { 35_000 } + noise);
        }
        run.exchange(round);
    }
    run.trace
}

struct Running {
    trace: Trace,
    now: Vec<u64>,
    /// Credits under way, as sender and receiver, of the last rounds.
    credits: [Vec<(u16, u16)>; 2],
}

impl Running {
    fn new(ranks: u16) -> Self {
        let hosts = (0..ranks).map(|_| "node".into()).collect();
        let options = [("link".to_owned(), "shm".to_owned())].into();
        let run = Run { hosts, options, ..Run::default() };
        let ranks: Vec<_> = (0..ranks).map(|_| named_rank()).collect();
        let now = vec![5_000_000; ranks.len()];
        Running { trace: Trace { run, ranks, is_cut: false }, now, credits: Default::default() }
    }

    fn event(&mut self, rank: u16, what: What) {
        let rank = usize::from(rank);
        self.now[rank] += 60;
        self.trace.ranks[rank].events.push(Event { time: self.now[rank], what });
    }

    fn span(&mut self, rank: u16, name: u32, lasts: u64) {
        self.event(rank, What::SpanBegins(name));
        self.now[usize::from(rank)] += lasts;
        self.event(rank, What::SpanEnds(name));
    }

    /// Every rank sends a row to both neighbours, and waits for theirs.
    fn exchange(&mut self, round: u32) {
        let ranks = self.now.len() as u16;
        let mut sent = Vec::new();
        for rank in 0..ranks {
            self.event(rank, What::SpanBegins(2));
            for to in [rank.checked_sub(1), Some(rank + 1).filter(|to| *to < ranks)] {
                let Some(to) = to else { continue };
                self.event(rank, What::Sent(packet(to, rank, 1024, round)));
                sent.push((self.now[usize::from(rank)], rank, to));
            }
        }
        for (left, from, to) in sent {
            let arrives = left + FLIGHT_NS + u64::from(round % 7) * 130;
            self.receive(arrives, from, to, round);
        }
        self.credits.swap(0, 1);
        for (from, to) in std::mem::take(&mut self.credits[1]) {
            self.event(to, What::Received(credit(from, from)));
        }
        for rank in 0..ranks {
            self.event(rank, What::SpanEnds(2));
        }
    }

    fn receive(&mut self, arrives: u64, from: u16, to: u16, round: u32) {
        let at = usize::from(to);
        let waits = self.trace.ranks[at].events.len();
        self.trace.ranks[at].waits.insert(waits, format!("row {round} of rank {from}"));
        self.event(to, What::WaitBegins);
        let sleeps = arrives > self.now[at] + 20_000;
        if sleeps {
            self.now[at] += 10_000;
            self.event(to, What::SleepBegins);
        }
        self.now[at] = self.now[at].max(arrives);
        if sleeps {
            self.event(to, What::SleepEnds);
        }
        self.event(to, What::Received(packet(from, from, 1024, round)));
        self.event(to, What::HandlerBegins(4));
        self.now[at] += 700;
        self.event(to, What::HandlerEnds(4));
        self.event(to, What::WaitEnds);
        self.event(to, What::Sent(credit(from, to)));
        self.credits[1].push((to, from));
    }
}

fn named_rank() -> RankTrace {
    let mut of = RankTrace::default();
    for (number, name) in (0..).zip(SPANS) {
        of.names.insert((NamedThing::Span, number), name.into());
    }
    of.names.insert((NamedThing::Port, 4), "rows".into());
    of
}

fn packet(peer: u16, root: u16, size: u16, round: u32) -> PacketEvent {
    let mut head = [0; TEXT_BYTES];
    head[..4].copy_from_slice(&round.to_le_bytes());
    PacketEvent {
        peer: Rank(peer),
        tag: Tag::Ucast,
        protocol: Protocol::MESSAGES,
        size,
        sequence: 0,
        root: Rank(root),
        group: None,
        head,
    }
}

fn credit(peer: u16, root: u16) -> PacketEvent {
    PacketEvent { tag: Tag::Credit, size: 0, ..packet(peer, root, 0, 0) }
}
