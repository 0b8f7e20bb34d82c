//! Jobs in which pairs differ: some lose nothing, between others packets are lost, doubled and
//! overtaken, and time passes.
//!
//! A [`Mixed`] holds the NIs of all ranks, as a [`crate::World`] does, but is driven by numbers
//! alone: each ordered pair has a wire with delays, and what happens next is what is due first.
//! After every event it checks what can be seen from outside: every buffer has one owner and is
//! given back once, and a frame is not read after that (I4); careful pairs conserve their credits
//! (I1), and lose nothing (I2); numbered ones keep no more unacknowledged than they may (I9). The
//! [`Reference`] judges what programs see, as everywhere (I3, I8). At the end nothing is left
//! anywhere.

use crate::wire::Contents;
use std::collections::{BTreeMap, VecDeque};
use weft_model::packets::{Reference, Stream};
use weft_model::random::Random;
use weft_protocol::invariants::{
    Ownership, PairCredits, i1_credit_conservation, i2_careful, i9_bounded,
};
use weft_protocol::{Actions, Counters, Deferred, Delivery, Nanoseconds, Ni, PacketBody, Settings};
use weft_wire::{Atomic, GroupId, Header, Protocol, Rank, TreeId};

/// User bytes that a packet has at most.
const MOST_BYTES: usize = 1000;
/// Send buffers of each host.
const SEND_BUFFERS: usize = 6;
/// Events after which a run cannot be going on properly.
const MOST_EVENTS: u64 = 4_000_000;

/// Faults of packets between pairs that may lose some, each in 1,000.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// Lost.
    pub loss: u64,
    /// There twice.
    pub duplication: u64,
    /// Held back, so that others overtake them.
    pub reordering: u64,
}

/// Options of a job.
#[derive(Clone, Debug)]
pub struct MixedOptions {
    /// The protocols, of a preset that retransmits.
    pub settings: Settings,
    /// The host that each rank is on: within a host nothing is lost.
    pub hosts: Vec<u16>,
    /// True if trees know of hosts.
    pub trees_of_hosts: bool,
    /// Between hosts.
    pub weather: Weather,
    /// Number of sends of each rank.
    pub sends: usize,
    /// If given, multicasts go to these, and each rank creates their group at some time. Else they
    /// go to all.
    pub members: Option<Vec<Rank>>,
    /// Fixes all that is random.
    pub seed: u64,
}

/// A job, and what is under way in it.
pub struct Mixed {
    options: MixedOptions,
    nis: Vec<Ni<u64>>,
    ends: Vec<End>,
    /// By when they arrive; the number keeps those apart that arrive together.
    flying: BTreeMap<(Nanoseconds, u64), Flying>,
    /// Time at which the last packet between careful pairs arrives: none overtakes another.
    last: BTreeMap<(Rank, Rank), Nanoseconds>,
    reference: Reference,
    random: Random,
    now: Nanoseconds,
    events: u64,
}

#[derive(Clone, Copy)]
struct Flying {
    from: Rank,
    to: Rank,
    header: Header,
    body: PacketBody<Contents>,
}

/// The host of one rank.
#[derive(Default)]
struct End {
    to_send: usize,
    /// It has yet to create the group.
    to_create: bool,
    sending: usize,
    launches: u32,
    next_buffer: u64,
    owned: Ownership,
    contents: BTreeMap<u64, (Contents, bool)>,
    delivered: VecDeque<Delivery<u64>>,
    deferred: VecDeque<Deferred<u64>>,
    fetched: Option<u64>,
    transmitted: Vec<(Rank, Header, PacketBody<Contents>)>,
    unreachable: Vec<Rank>,
}

impl End {
    fn lend(&mut self, contents: Contents, own: bool) -> u64 {
        let buffer = self.next_buffer;
        self.next_buffer += 1;
        self.owned.lend(buffer);
        self.contents.insert(buffer, (contents, own));
        buffer
    }

    fn read(&self, buffer: u64) -> Contents {
        assert!(self.owned.is_lent(buffer), "I4 one owner: buffer {buffer} is read after its end");
        self.contents[&buffer].0
    }
}

impl Actions<u64> for End {
    fn transmit(&mut self, to: Rank, header: &Header, body: &PacketBody<u64>) {
        let body = match *body {
            PacketBody::Buffer(buffer) => PacketBody::Buffer(self.read(buffer)),
            PacketBody::Atomic { variable, operation } => {
                PacketBody::Atomic { variable, operation }
            }
            PacketBody::Unknown(first) => PacketBody::Unknown(first),
            PacketBody::Fetched(value) => PacketBody::Fetched(value),
            PacketBody::Empty => PacketBody::Empty,
        };
        self.transmitted.push((to, *header, body));
    }

    fn deliver(&mut self, delivery: Delivery<u64>) {
        self.delivered.push_back(delivery);
    }

    fn defer(&mut self, deferred: Deferred<u64>) {
        self.deferred.push_back(deferred);
    }

    fn free(&mut self, buffer: u64) {
        self.owned.give_back(buffer);
        if let Some((_, true)) = self.contents.remove(&buffer) {
            self.sending -= 1;
        }
    }

    fn fetched(&mut self, value: u64) {
        self.fetched = Some(value);
    }

    fn unreachable(&mut self, peer: Rank) {
        self.unreachable.push(peer);
    }
}

impl Mixed {
    /// A job in which nothing was sent.
    pub fn new(options: MixedOptions) -> Self {
        let Settings { ranks, .. } = options.settings;
        let host = |rank: u16| options.hosts[usize::from(rank)];
        let mut nis: Vec<Ni<u64>> =
            (0..ranks).map(|rank| Ni::new(Rank(rank), options.settings)).collect();
        for (ni, rank) in nis.iter_mut().zip(0..) {
            let near = (0..ranks).filter(|&peer| peer != rank && host(peer) == host(rank));
            near.for_each(|peer| ni.set_lossless(Rank(peer)));
            if options.trees_of_hosts {
                ni.set_hosts(&options.hosts);
            }
        }
        let to_create = options.members.is_some();
        let end = || End { to_send: options.sends, to_create, ..End::default() };
        let mut reference = Reference::new(ranks, MOST_BYTES);
        if let Some(members) = &options.members {
            reference.create_group(members);
        }
        Mixed {
            ends: (0..ranks).map(|_| end()).collect(),
            nis,
            flying: BTreeMap::new(),
            last: BTreeMap::new(),
            reference,
            random: Random::new(options.seed),
            now: 0,
            events: 0,
            options,
        }
    }

    /// Lets everything be sent and arrive, and checks that nothing is left.
    ///
    /// # Panics
    /// If an invariant is broken, or the job does not come to rest.
    pub fn run(&mut self) {
        while self.step() {
            self.events += 1;
            assert!(self.events < MOST_EVENTS, "I9 bounded: the job goes on and on");
        }
        self.assert_at_rest();
    }

    /// Counters of the NI of `rank`.
    pub fn counters(&self, rank: Rank) -> Counters {
        self.nis[rank.index()].counters()
    }

    /// The virtual time.
    pub fn now(&self) -> Nanoseconds {
        self.now
    }

    /// Packets that programs were shown.
    pub fn shown(&self) -> u64 {
        self.reference.packets_shown()
    }

    /// A host does something, or the next packet arrives, or a timer runs out.
    fn step(&mut self) -> bool {
        let busy: Vec<usize> = (0..self.ends.len()).filter(|&at| self.is_busy(at)).collect();
        if !busy.is_empty() && (self.flying.is_empty() || self.random.happens(600)) {
            let at = *self.random.choose(&busy);
            self.now += self.random.below(2_000);
            self.act(at);
        } else if !self.pass_time() {
            return false;
        }
        self.check();
        true
    }

    fn is_busy(&self, at: usize) -> bool {
        let End { to_send, to_create, sending, delivered, deferred, .. } = &self.ends[at];
        *to_create
            || !delivered.is_empty()
            || !deferred.is_empty()
            || *to_send > 0 && *sending < SEND_BUFFERS && !self.nis[at].observe().is_fetching()
    }

    fn act(&mut self, at: usize) {
        if !self.ends[at].deferred.is_empty() {
            return self.host_receives(at);
        }
        let End { to_send, to_create, sending, delivered, .. } = &self.ends[at];
        let can_send =
            *to_send > 0 && *sending < SEND_BUFFERS && !self.nis[at].observe().is_fetching();
        if *to_create && self.random.happens(20) {
            self.create_group(at);
        } else if can_send && (delivered.is_empty() || self.random.happens(500)) {
            self.send(at);
        } else {
            self.process(at);
        }
    }

    fn create_group(&mut self, at: usize) {
        self.ends[at].to_create = false;
        let Some(members) = self.options.members.clone() else { return };
        self.at(at, |ni, out| {
            ni.create_group(&members).expect("they are ranks of this job");
            ni.admit_early(out).expect("all peers are correct");
        });
    }

    /// The group that `at` may multicast to, if it may.
    fn group(&self, at: usize) -> Option<GroupId> {
        let group = if self.options.members.is_some() { GroupId(1) } else { GroupId::ALL };
        let known = self.nis[at].group(group)?;
        known.contains(Rank(at as u16)).then_some(group)
    }

    fn send(&mut self, at: usize) {
        let (ranks, from) = (u64::from(self.options.settings.ranks), Rank(at as u16));
        self.ends[at].to_send -= 1;
        let other = Rank(((at as u64 + 1 + self.random.below(ranks - 1)) % ranks) as u16);
        match (self.random.below(10), self.group(at)) {
            (6..=8, Some(group)) => {
                let (buffer, size) = self.fill(from, Stream::Group(group));
                self.at(at, |ni, out| ni.multicast(Protocol::PACKETS, group, buffer, size, out));
            }
            (0..=8, _) => {
                let (buffer, size) = self.fill(from, Stream::To(other));
                self.at(at, |ni, out| {
                    ni.unicast(TreeId::unicast(Rank(at as u16)), other, buffer, size, out)
                });
            }
            _ => {
                self.reference.asks(from, other, 3, Atomic::Add(5));
                self.at(at, |ni, out| ni.atomic(other, 3, Atomic::Add(5), out));
            }
        }
    }

    fn fill(&mut self, from: Rank, stream: Stream) -> (u64, u16) {
        let name = self.reference.sends(from, stream);
        let size = self.reference.length(name) as u16;
        let end = &mut self.ends[from.index()];
        end.launches += 1;
        end.sending += 1;
        (end.lend(Contents { name, launch: end.launches }, true), size)
    }

    fn process(&mut self, at: usize) {
        let Some(mut delivery) = self.ends[at].delivered.pop_front() else { return };
        if delivery.wants_reinjection() {
            self.at(at, |ni, out| ni.reinject(&mut delivery, out));
        }
        let contents = self.ends[at].read(delivery.buffer);
        assert_eq!(delivery.tree, contents.tree(), "a header belies its packet");
        let shown = self.reference.shows(Rank(at as u16), contents.name);
        shown.unwrap_or_else(|disagreement| panic!("I8 exactly once, I3 order: {disagreement}"));
        self.at(at, |ni, out| ni.released(delivery, out));
    }

    fn host_receives(&mut self, at: usize) {
        let Some(deferred) = self.ends[at].deferred.pop_front() else { return };
        self.at(at, |ni, out| {
            ni.host_received(deferred, out).expect("all peers are correct");
        });
    }

    /// The next packet arrives, or the next timer runs out, whichever is due first.
    fn pass_time(&mut self) -> bool {
        let packet = self.flying.first_key_value().map(|(&key, _)| key);
        let deadlines = self.nis.iter().filter_map(|ni| ni.next_deadline());
        let timer = deadlines.map(|(deadline, _)| deadline).min();
        match (packet, timer) {
            (None, None) => return false,
            (Some(key), timer) if timer.is_none_or(|timer| key.0 <= timer) => {
                self.now = self.now.max(key.0);
                let flying = self.flying.remove(&key).expect("it was there");
                self.arrive(flying);
            }
            (_, Some(timer)) => {
                self.now = self.now.max(timer);
                (0..self.nis.len()).for_each(|at| self.at(at, |_, _| ()));
            }
            (Some(_), None) => unreachable!("a packet is due before no timer"),
        }
        true
    }

    fn arrive(&mut self, Flying { from, to, header, body }: Flying) {
        let end = &mut self.ends[to.index()];
        let received = match body {
            PacketBody::Buffer(contents) => PacketBody::Buffer(end.lend(contents, false)),
            PacketBody::Atomic { variable, operation } => {
                PacketBody::Atomic { variable, operation }
            }
            PacketBody::Unknown(first) => PacketBody::Unknown(first),
            PacketBody::Fetched(value) => PacketBody::Fetched(value),
            PacketBody::Empty => PacketBody::Empty,
        };
        let careful = !self.nis[to.index()].observe().is_numbered(from);
        let dropped = self.at(to.index(), |ni, out| {
            let dropped = |ni: &Ni<u64>| ni.counters().no_buffer + ni.counters().out_of_sequence;
            let before = dropped(ni);
            ni.received(&header, received, out)
                .unwrap_or_else(|violation| panic!("all peers are correct, and yet {violation}"));
            dropped(ni) - before
        });
        if careful {
            i2_careful(0, 0, dropped);
        }
    }

    /// Tells the NI the time, and has something happen there; what it transmits flies.
    fn at<T>(&mut self, at: usize, event: impl FnOnce(&mut Ni<u64>, &mut End) -> T) -> T {
        let (ni, end) = (&mut self.nis[at], &mut self.ends[at]);
        ni.advance(self.now, end);
        let outcome = event(ni, end);
        if let Some(value) = self.ends[at].fetched.take() {
            let answered = self.reference.answers(Rank(at as u16), value);
            answered.unwrap_or_else(|disagreement| panic!("{disagreement}"));
        }
        for (to, header, body) in std::mem::take(&mut self.ends[at].transmitted) {
            self.fly(Flying { from: Rank(at as u16), to, header, body });
        }
        outcome
    }

    fn fly(&mut self, flying: Flying) {
        let Flying { from, to, .. } = flying;
        let delay = 2_000 + self.random.below(3_000);
        if !self.nis[from.index()].observe().is_numbered(to) {
            let last = self.last.entry((from, to)).or_default();
            *last = (self.now + delay).max(*last + 1);
            let arrival = *last;
            self.events += 1;
            self.flying.insert((arrival, self.events), flying);
            return;
        }
        let Weather { loss, duplication, reordering } = self.options.weather;
        if self.random.happens(loss) {
            return;
        }
        for _ in 0..1 + u64::from(self.random.happens(duplication)) {
            let held_back = if self.random.happens(reordering) { 50_000 } else { 0 };
            self.events += 1;
            self.flying.insert((self.now + delay + held_back, self.events), flying);
        }
    }

    fn check(&self) {
        let ranks = (0..self.options.settings.ranks).map(Rank);
        for (sender, receiver) in ranks.clone().flat_map(|a| ranks.clone().map(move |b| (a, b))) {
            if sender == receiver {
                continue;
            }
            if self.nis[sender.index()].observe().is_numbered(receiver) {
                let (_, blocked) = self.nis[sender.index()].observe().outgoing(receiver);
                i9_bounded("a blocked-sends queue", blocked, self.buffers());
            } else {
                self.check_credits(sender, receiver);
            }
        }
        for (end, ni) in self.ends.iter().zip(&self.nis) {
            i9_bounded("a host", end.delivered.len(), self.buffers());
            i9_bounded("shared buffers", ni.observe().shared_buffers(), self.buffers());
            ni.observe().check_all_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        }
    }

    fn check_credits(&self, sender: Rank, receiver: Rank) {
        let between = |a: Rank, b: Rank| {
            let flying = self.flying.values();
            flying.filter(move |flying| (flying.from, flying.to) == (a, b))
        };
        let data = between(sender, receiver).filter(|flying| flying.header.tag.is_data());
        let (buffered, owed) = self.nis[receiver.index()].observe().incoming(sender);
        i1_credit_conservation(&PairCredits {
            window: self.options.settings.window_packets,
            held: self.nis[sender.index()].observe().outgoing(receiver).0,
            in_flight: data.count() as u16,
            buffered,
            owed,
            returning: between(receiver, sender).map(|flying| flying.header.credits).sum(),
            handed_back: 0,
        });
    }

    /// Buffers of one NI: for careful senders, for the others, and to send from.
    fn buffers(&self) -> usize {
        let Settings { ranks, window_packets, receive_buffers, .. } = self.options.settings;
        let own = usize::from(window_packets).max(self.options.settings.primary_buffers());
        SEND_BUFFERS + 2 + receive_buffers + usize::from(ranks) * own
    }

    fn assert_at_rest(&self) {
        let missing: Vec<String> = self.reference.missing().map(|m| m.to_string()).collect();
        assert!(missing.is_empty(), "never delivered: {missing:?}");
        for (ni, end) in self.nis.iter().zip(&self.ends) {
            assert!(ni.observe().is_idle(), "{:?} is not idle: {ni:?}", ni.local());
            assert!(end.owned.is_empty(), "{:?} still has {:?}", ni.local(), end.contents);
            assert_eq!((end.to_send, end.sending), (0, 0));
            assert!(end.unreachable.is_empty(), "nobody was silent");
        }
    }
}
