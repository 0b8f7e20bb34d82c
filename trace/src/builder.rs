//! Traces made by hand, for tests of what reads them.

use crate::event::{Event, NamedThing, PacketEvent, TEXT_BYTES, What};
use crate::file::{RankTrace, Run, Trace};
use weft_wire::{Protocol, Rank, Tag};

/// Trace that grows by what is said to have happened.
#[derive(Debug)]
pub struct Builder {
    trace: Trace,
}

impl Builder {
    /// An empty trace of a program on `ranks` ranks of one host.
    pub fn new(program: &str, ranks: u16) -> Self {
        let hosts = (0..ranks).map(|_| "host".into()).collect();
        let run = Run { program: program.into(), hosts, ..Run::default() };
        let ranks = (0..ranks).map(|_| RankTrace::default()).collect();
        Builder { trace: Trace { run, ranks, is_cut: false } }
    }

    /// Puts a rank on another host, whose clock is its own.
    #[must_use]
    pub fn on_host(mut self, rank: u16, host: &str) -> Self {
        self.trace.run.hosts[usize::from(rank)] = host.into();
        self
    }

    /// Names a span or a port of a rank.
    #[must_use]
    pub fn named(mut self, rank: u16, named: NamedThing, number: u32, text: &str) -> Self {
        self.trace.ranks[usize::from(rank)].names.insert((named, number), text.into());
        self
    }

    /// Something happens at a rank.
    #[must_use]
    pub fn event(mut self, rank: u16, time: u64, what: What) -> Self {
        self.trace.ranks[usize::from(rank)].events.push(Event { time, what });
        self
    }

    /// A rank waits from one time to another, for this if that is known.
    #[must_use]
    pub fn wait(mut self, rank: u16, from: u64, to: u64, what: Option<&str>) -> Self {
        let of = &mut self.trace.ranks[usize::from(rank)];
        if let Some(what) = what {
            of.waits.insert(of.events.len(), what.into());
        }
        self.event(rank, from, What::WaitBegins).event(rank, to, What::WaitEnds)
    }

    /// A data packet of `size` bytes leaves one rank, and is taken by another.
    #[must_use]
    pub fn packet(self, (from, left): (u16, u64), (to, taken): (u16, u64), size: u16) -> Self {
        let packet = |peer| PacketEvent {
            peer: Rank(peer),
            tag: Tag::Ucast,
            protocol: Protocol::PACKETS,
            size,
            sequence: 0,
            root: Rank(from),
            group: None,
            head: [0; TEXT_BYTES],
        };
        self.event(from, left, What::Sent(packet(to))).event(
            to,
            taken,
            What::Received(packet(from)),
        )
    }

    /// A rank loses `events` here.
    #[must_use]
    pub fn loses(mut self, rank: u16, events: u64) -> Self {
        let of = &mut self.trace.ranks[usize::from(rank)];
        of.lost += events;
        of.gaps.insert(of.events.len());
        self
    }

    /// The trace.
    pub fn trace(self) -> Trace {
        self.trace
    }
}
