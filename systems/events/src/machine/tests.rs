//! Endpoints in a vector, between them a network that a seed decides about.

use super::*;
use crate::settings::Settings;
use std::collections::{BTreeSet, VecDeque};

/// Faults, in percent of frames.
#[derive(Clone, Copy, Default)]
struct Weather {
    lost: u32,
    doubled: u32,
    reordered: u32,
}

/// Sender, event and number of a fragment.
type Token = (Rank, u32, u32);

struct Node {
    machine: EventMachine<Token>,
    arrived: Vec<(Rank, Header, Storage)>,
    /// Fragments to send: event and index, in order.
    program: VecDeque<(u32, u32)>,
    /// The event that it receives.
    at: u32,
    got: BTreeSet<Token>,
}

struct World {
    nodes: Vec<Node>,
    frames: Vec<(Rank, Rank, Header)>,
    random: fastrand::Rng,
    weather: Weather,
    events: u32,
    fragments: u32,
    /// Events that a node sends before it receives the first.
    ahead: u32,
}

/// Every other event is a crowd's, the rest go to the next node.
fn receiver(from: Rank, event: u32, nodes: usize) -> Option<Rank> {
    (!event.is_multiple_of(2)).then(|| Rank((from.0 + 1) % nodes as u16))
}

impl World {
    fn new(nodes: usize, settings: Settings, weather: Weather, seed: u64) -> Self {
        let limits = settings.limits(nodes, 1 << 12).unwrap();
        let (events, fragments) = (8, 3);
        let node = |rank| Node {
            machine: EventMachine::new(rank, nodes, &settings, limits),
            arrived: Vec::new(),
            program: (0..events).flat_map(|e| (0..fragments).map(move |i| (e, i))).collect(),
            at: 0,
            got: BTreeSet::new(),
        };
        let nodes = (0..nodes as u16).map(|rank| node(Rank(rank))).collect();
        let random = fastrand::Rng::with_seed(seed);
        World { nodes, frames: Vec::new(), random, weather, events, fragments, ahead: 3 }
    }

    fn post(&mut self, from: Rank, to: Option<Rank>, header: Header) {
        let nodes = self.nodes.len() as u16;
        let all =
            (0..nodes).map(Rank).filter(|&rank| rank != from && to.is_none_or(|to| to == rank));
        for to in all {
            if self.random.u32(0..100) < self.weather.lost {
                continue;
            }
            self.frames.push((from, to, header));
            if self.random.u32(0..100) < self.weather.doubled {
                self.frames.push((from, to, header));
            }
        }
    }

    fn carry_out(&mut self, from: Rank, out: Outbox<Token>) {
        out.frames.into_iter().for_each(|(to, header, _)| self.post(from, to, header));
    }

    /// One frame arrives: the oldest, or where they overtake each other, any.
    fn deliver(&mut self) {
        if self.frames.is_empty() {
            return;
        }
        let any = self.random.u32(0..100) < self.weather.reordered;
        let storage = if any { self.random.usize(0..self.frames.len()) } else { 0 };
        let (from, to, header) = self.frames.remove(storage);
        let mut out = Outbox::default();
        let node = &mut self.nodes[to.index()];
        let storage = node.machine.received(from, &header, &mut out).unwrap();
        if storage != Storage::Nowhere {
            node.arrived.push((from, header, storage));
        }
        self.carry_out(to, out);
    }

    fn send(&mut self, rank: Rank) {
        let nodes = self.nodes.len();
        let (fragments, ahead) = (self.fragments, self.ahead);
        let node = &mut self.nodes[rank.index()];
        let Some(&(event, index)) = node.program.front() else { return };
        let to = receiver(rank, event, nodes);
        if event >= node.at + ahead || !node.machine.may_send(to) {
            return;
        }
        node.program.pop_front();
        let flags = Flags { last: index + 1 == fragments, crowd: to.is_none(), large: false };
        let mut out = Outbox::default();
        let header = node.machine.send(to, event, flags, || (rank, event, index), 1, &mut out);
        assert_eq!(header.index, index);
        self.post(rank, to, header);
        self.carry_out(rank, out);
    }

    fn receive(&mut self, rank: Rank) {
        let node = &mut self.nodes[rank.index()];
        let at = node.at;
        let Some(storage) = node.arrived.iter().position(|(_, header, _)| header.event == at)
        else {
            return;
        };
        let (from, header, storage) = node.arrived.remove(storage);
        assert!(node.got.insert((from, header.event, header.index)), "twice");
        let status = node.machine.consume(from, at);
        node.at += u32::from(status == Status::EventDone);
        let mut out = Outbox::default();
        node.machine.released(from, storage, &mut out);
        self.carry_out(rank, out);
    }

    fn time_out(&mut self, rank: Rank) {
        let node = &mut self.nodes[rank.index()];
        let mut out = Outbox::default();
        let event = (node.at < self.events).then_some(node.at);
        node.machine.timeout(event, &mut out);
        self.carry_out(rank, out);
    }

    /// Runs until all have received everything. Says in how many steps, or what was left.
    fn run(&mut self, time_outs: bool) -> Result<u32, String> {
        const STEPS: u32 = 200_000;
        for step in 0..STEPS {
            if self.nodes.iter().all(|node| node.at == self.events && node.program.is_empty()) {
                return Ok(step);
            }
            let rank = Rank(self.random.u16(0..self.nodes.len() as u16));
            match self.random.u32(0..if time_outs { 100 } else { 99 }) {
                0..60 => self.deliver(),
                60..80 => self.send(rank),
                80..99 => self.receive(rank),
                // Nobody waits for long while something is under way.
                _ if self.frames.is_empty() => self.time_out(rank),
                _ => {}
            }
        }
        Err(format!("{:?}", self.nodes.iter().map(|node| node.at).collect::<Vec<_>>()))
    }

    fn total(&self, what: impl Fn(&Statistics) -> u64) -> u64 {
        self.nodes.iter().map(|node| what(&node.machine.statistics)).sum()
    }
}

#[test]
fn careful_nodes_finish_with_the_fewest_buffers() {
    for (nodes, seed) in [2, 3, 5].into_iter().flat_map(|nodes| (0..60).map(move |s| (nodes, s))) {
        let settings = Settings { receive_buffers: 3 * nodes, ..Settings::default() };
        let mut world = World::new(nodes, settings, Weather::default(), seed);
        world.run(false).unwrap_or_else(|left| panic!("{nodes} nodes, seed {seed}: {left}"));
        let got: usize = world.nodes.iter().map(|node| node.got.len()).sum();
        assert_eq!(got, nodes * 4 * 3 * nodes);
        assert!(world.total(|s| s.copied_on_receipt) > 0);
    }
}

#[test]
fn careful_nodes_that_do_not_receive_do_not_stop_each_other() {
    // Theorem 1 is about frames, not about programs: those wait to send before they receive. That
    // fragments are copied out keeps their windows open.
    for seed in 0..20 {
        let settings = Settings { receive_buffers: 6, ..Settings::default() };
        let mut world = World::new(2, settings, Weather::default(), seed);
        world.ahead = world.events;
        for _ in 0..5_000 {
            let rank = Rank(world.random.u16(0..2));
            world.deliver();
            world.send(rank);
        }
        assert!(world.nodes.iter().all(|node| node.program.is_empty()), "seed {seed}");
    }
}

#[test]
fn traditional_nodes_finish_whatever_the_network_does() {
    let storms = [
        Weather { lost: 5, ..Weather::default() },
        Weather { doubled: 20, ..Weather::default() },
        Weather { reordered: 50, ..Weather::default() },
        Weather { lost: 20, doubled: 10, reordered: 50 },
    ];
    for (nodes, weather) in [2, 3, 4].into_iter().flat_map(|n| storms.map(|weather| (n, weather))) {
        for seed in 0..30 {
            let mut world = World::new(nodes, Settings::traditional(), weather, seed);
            world.run(true).unwrap_or_else(|left| panic!("{nodes} nodes, seed {seed}: {left}"));
            let got: usize = world.nodes.iter().map(|node| node.got.len()).sum();
            assert_eq!(got, nodes * 4 * 3 * nodes);
        }
    }
}

#[test]
fn holes_are_asked_for_once_and_what_is_lost_again_when_waited_for() {
    let settings = Settings::traditional();
    let limits = settings.limits(2, 1 << 12).unwrap();
    let mut node = EventMachine::<Token>::new(Rank(0), 2, &settings, limits);
    let fragment = |index, last| {
        let flags = Flags { last, ..Flags::default() };
        Header { flags, ..Header::new(Kind::Fragment, 0, index) }
    };
    let mut asked = |header: Header| {
        let mut out = Outbox::default();
        assert_eq!(node.received(Rank(1), &header, &mut out), Ok(Storage::Buffer));
        out.frames.iter().map(|(_, h, _)| (h.event, h.index, h.frames)).collect::<Vec<_>>()
    };
    assert_eq!(asked(fragment(0, false)), []);
    assert_eq!(asked(fragment(3, false)), [(0, 1, 2)]);
    assert_eq!(asked(fragment(5, true)), [(0, 4, 1)]);
    let mut out = Outbox::default();
    node.timeout(Some(0), &mut out);
    let again: Vec<_> = out.frames.iter().map(|(_, h, _)| (h.index, h.frames)).collect();
    assert_eq!(again, [(1, 2), (4, 1)]);
}

#[test]
fn what_all_have_is_not_kept() {
    let settings = Settings { send_copies: 8, ..Settings::traditional() };
    let limits = settings.limits(3, 1 << 12).unwrap();
    let mut node = EventMachine::<Token>::new(Rank(0), 3, &settings, limits);
    let mut out = Outbox::default();
    let mut asks = Vec::new();
    for event in 0..8 {
        assert!(node.may_send(None));
        let header = node.send(None, event, Flags::CROWD, || (Rank(0), event, 0), 1, &mut out);
        asks.push(header.asks);
    }
    assert!(!node.may_send(None), "there is room for 8");
    assert_eq!(asks, [false, false, false, false, true, true, true, true]);
    let done = |done| Header { done, ..Header::new(Kind::Acknowledge, REST, 0) };
    node.received(Rank(1), &done(5), &mut out).unwrap();
    assert_eq!(node.retained(), 8, "rank 2 may not have them");
    node.received(Rank(2), &done(3), &mut out).unwrap();
    assert_eq!(node.retained(), 5);
    for from in [1, 2] {
        node.received(Rank(from), &Header::new(Kind::Acknowledge, 7, 0), &mut out).unwrap();
    }
    assert_eq!(node.retained(), 4, "one of them explicitly");
}
