//! The world and the steps that change it.

use crate::fault::Fault;
use crate::host::Host;
use crate::ledger::{Buffer, HostPart, Ledger};
use crate::sink::Sink;
use crate::step::Step;
use crate::wire::{Contents, Packet, Wires};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use weft_model::packets::{Name, Reference, Stream};
use weft_protocol::invariants::{i3_order, i5_control_never_blocks};
use weft_protocol::{
    Acknowledging, Actions, Delivery, Forwarding, Ni, PacketBody, Settings, Violation,
};
use weft_wire::{Atomic, Channel, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// User bytes that a packet has at most.
const MOST_BYTES: usize = 1000;

/// Options of a world.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ranks, window, preset and shape of trees.
    pub settings: Settings,
    /// Send buffers of each host: a host with none left cannot send.
    pub send_buffers: usize,
    /// The multicast groups besides the broadcast group, which is always there.
    pub groups: Vec<Vec<Rank>>,
    /// Each rank creates them by [`Step::Create`], and not before anything happens.
    pub late_groups: bool,
    /// The host of each rank, if trees are to know that.
    pub hosts: Option<Vec<u16>>,
}

/// `N` NIs with their hosts and wires.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) options: Options,
    /// Worlds that are clones of each other share the NIs that did not change since.
    pub(crate) nis: Vec<Arc<Ni<u64>>>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) wires: Wires,
    pub(crate) ledger: Ledger,
    pub(crate) faults: Vec<Option<Fault>>,
    /// Packets that each host has sent so far, wherever to.
    launches: Vec<u32>,
    reference: Reference,
    steps: u64,
}

impl World {
    /// A world in which nothing has been sent.
    ///
    /// # Panics
    /// If one of the groups is none.
    pub fn new(options: Options) -> Self {
        let ranks = options.settings.ranks;
        let mut nis: Vec<Ni<u64>> =
            (0..ranks).map(|rank| Ni::new(Rank(rank), options.settings)).collect();
        for ni in &mut nis {
            options.hosts.iter().for_each(|hosts| ni.set_hosts(hosts));
        }
        for ni in nis.iter_mut().filter(|_| !options.late_groups) {
            for members in &options.groups {
                ni.create_group(members).unwrap_or_else(|refused| panic!("{refused}"));
            }
        }
        let mut reference = Reference::new(options.settings.ranks, MOST_BYTES);
        for members in &options.groups {
            reference.create_group(members);
        }
        let ranks = nis.len();
        World {
            nis: nis.into_iter().map(Arc::new).collect(),
            hosts: (0..ranks).map(|_| Host::new(options.send_buffers)).collect(),
            wires: Wires::new(ranks),
            ledger: Ledger::new(ranks),
            faults: vec![None; ranks],
            launches: vec![0; ranks],
            reference,
            steps: 0,
            options,
        }
    }

    /// All ranks.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        (0..self.options.settings.ranks).map(Rank)
    }

    /// Options of this world.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The NI of `rank`.
    pub fn ni(&self, rank: Rank) -> &Ni<u64> {
        &self.nis[rank.index()]
    }

    /// The host of `rank`.
    pub fn host(&self, rank: Rank) -> &Host {
        &self.hosts[rank.index()]
    }

    /// The packets between two ranks, the oldest first.
    pub fn wire(&self, from: Rank, to: Rank) -> impl Iterator<Item = &Packet> {
        self.wires.between(from, to).iter()
    }

    /// Reference model: what programs have seen.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// All steps that can happen by themselves now, in an order that depends on nothing else.
    pub fn possible(&self) -> Vec<Step> {
        let mut possible = Vec::new();
        for from in self.ranks() {
            for to in self.ranks().filter(|&to| !self.wires.between(from, to).is_empty()) {
                possible.push(Step::Arrive { from, to });
            }
        }
        for (at, host) in self.ranks().zip(&self.hosts) {
            if !host.delivered.is_empty() && host.allows_upcalls() {
                possible.push(Step::Process { at });
            }
            possible.extend((0..host.kept.len()).map(|index| Step::Release { at, index }));
        }
        possible
    }

    /// True if `step` can happen now. A send can if its host has a free send buffer, or no
    /// atomic operation outstanding, and has created the group.
    pub fn is_possible(&self, step: &Step) -> bool {
        let host = &self.hosts[step.rank().index()];
        match *step {
            Step::Unicast { .. } => host.free_send_buffers > 0,
            Step::Multicast { from, group } => {
                host.free_send_buffers > 0 && self.ni(from).group(group).is_some()
            }
            Step::Atomic { .. } => !host.fetching,
            Step::Create { at } => self.next_group(at).is_some(),
            Step::Arrive { from, to } => !self.wires.between(from, to).is_empty(),
            Step::Process { .. } => !host.delivered.is_empty(),
            Step::Release { index, .. } => index < host.kept.len(),
        }
    }

    /// Lets `step` happen, and checks all invariants.
    ///
    /// # Panics
    /// If an invariant is broken, with its name; or if `step` is not possible.
    pub fn take(&mut self, step: Step) {
        assert!(self.is_possible(&step), "'{step}' is not possible");
        self.take_unchecked(step);
        self.check();
    }

    /// Lets `step` happen, which is possible.
    pub(crate) fn take_unchecked(&mut self, step: Step) {
        self.steps += 1;
        match step {
            Step::Unicast { from, to } => self.unicast(from, to),
            Step::Multicast { from, group } => self.multicast(from, group),
            Step::Atomic { from, home, variable, operation } => {
                self.atomic(from, home, variable, operation);
            }
            Step::Create { at } => self.create_group(at),
            Step::Arrive { from, to } => self.arrive(from, to),
            Step::Process { at } => self.process(at),
            Step::Release { at, index } => self.release(at, index),
        }
    }

    /// Nothing is under way: everything sent has been seen by all it was sent to, all buffers are
    /// free, all credits are at home or owed.
    pub fn assert_quiescent(&self) {
        assert_eq!(self.possible(), [], "steps are possible");
        let missing: Vec<String> = self.reference.missing().map(|m| m.to_string()).collect();
        assert!(missing.is_empty(), "never delivered: {missing:?}");
        assert!(self.ledger.is_empty(), "buffers are still lent: {:?}", self.ledger);
        for sender in self.ranks() {
            let (ni, host) = (self.ni(sender), self.host(sender));
            assert!(ni.observe().is_idle(), "{sender:?} is not idle");
            assert_eq!(ni.observe().shared_buffers(), 0);
            assert!(!host.fetching, "{sender:?} never got its answer");
            assert_eq!(host.free_send_buffers, self.options.send_buffers);
            for receiver in self.ranks().filter(|&receiver| receiver != sender) {
                let (held, _) = ni.observe().outgoing(receiver);
                let (_, owed) = self.ni(receiver).observe().incoming(sender);
                let window = self.ni(receiver).observe().promised(sender);
                assert_eq!(held + owed, window, "credits of {sender:?} for {receiver:?}");
            }
        }
    }

    fn unicast(&mut self, from: Rank, to: Rank) {
        let contents = self.contents(from, Stream::To(to));
        let (due, host) = if to == from {
            (vec![], HostPart::Awaited)
        } else {
            self.ledger.pair_mut(from, to).due += 1;
            (vec![to], HostPart::Done)
        };
        let buffer = self.fill_send_buffer(from, contents, due, host);
        let size = self.size(&contents);
        // Every other one as a short packet, of which the NI sees no buffer unless it has to wait.
        let is_short = contents.launch % 2 == 1;
        self.at(from, |ni, out| {
            let header =
                if is_short { ni.unicast_at_once(to, Protocol::PACKETS, size) } else { None };
            let Some(header) = header else {
                return ni.unicast(TreeId::unicast(from), to, buffer, size, out);
            };
            out.transmit(to, &header, &PacketBody::Buffer(buffer));
            out.free(buffer);
        });
    }

    fn multicast(&mut self, from: Rank, group: GroupId) {
        let contents = self.contents(from, Stream::Group(group));
        let children = self.children(contents.tree(), from);
        self.due(from, &children);
        let buffer = self.fill_send_buffer(from, contents, children, HostPart::Done);
        let size = self.size(&contents);
        self.at(from, |ni, out| ni.multicast(Protocol::PACKETS, group, buffer, size, out));
    }

    fn atomic(&mut self, from: Rank, home: Rank, variable: u16, operation: Atomic) {
        self.reference.asks(from, home, variable, operation);
        self.hosts[from.index()].fetching = true;
        if home != from {
            self.due(from, &[home]);
        }
        self.at(from, |ni, out| ni.atomic(home, variable, operation, out));
    }

    /// The number and the members of the group that `at` creates next.
    fn next_group(&self, at: Rank) -> Option<(GroupId, &Vec<Rank>)> {
        let mut numbered = (1..).map(GroupId).zip(&self.options.groups);
        numbered.find(|&(id, _)| self.ni(at).group(id).is_none())
    }

    /// The packets that came early are due where they are forwarded to.
    fn create_group(&mut self, at: Rank) {
        let (id, members) = self.next_group(at).expect("all are created");
        let members = members.clone();
        let created = self.at(at, |ni, _| ni.create_group(&members));
        assert_eq!(created, Ok(id));
        let early: Vec<(u64, TreeId)> = self
            .ledger
            .received(at)
            .map(|buffer| (buffer.number(), buffer.contents.tree()))
            .filter(|(_, tree)| tree.group() == Some(id))
            .collect();
        for &(number, tree) in &early {
            let due = self.due_on_arrival(tree, at);
            self.ledger.used(number, at).due = due;
        }
        let admitted = self.at(at, |ni, out| ni.admit_early(out));
        assert_eq!(admitted, Ok(()), "all peers are correct");
        for (number, _) in early {
            self.ledger.dropped += self.ledger.was_dropped(number);
        }
    }

    /// All credit packets arrive, whatever is before them on their wires; says whether there were
    /// any. Careful networks do not do this.
    pub(crate) fn take_credits(&mut self) -> bool {
        let mut any = false;
        for from in self.ranks() {
            for to in self.ranks() {
                let wire = self.wires.between_mut(from, to);
                let credit = wire.iter().position(|packet| packet.header.tag == Tag::Credit);
                if let Some(packet) = credit.and_then(|index| wire.remove(index)) {
                    self.packet_arrives(from, to, packet);
                    any = true;
                }
            }
        }
        any
    }

    fn arrive(&mut self, from: Rank, to: Rank) {
        let packet = self.wires.between_mut(from, to).pop_front().expect("an empty wire");
        self.packet_arrives(from, to, packet);
    }

    fn packet_arrives(&mut self, from: Rank, to: Rank, packet: Packet) {
        let Packet { header, body } = packet;
        match header.tag {
            Tag::Return => self.ledger.pair_mut(from, to).returned += header.credits,
            tag if tag.is_data() => self.ledger.fill(to, &header),
            _ => {}
        }
        let received = match body {
            PacketBody::Buffer(contents) => self.data_arrives(from, to, &header, contents),
            PacketBody::Atomic { variable, operation } => {
                // Served and free at once: the answer takes the credit along.
                self.ledger.vacate(to, from, header.tree);
                PacketBody::Atomic { variable, operation }
            }
            PacketBody::Unknown(first) => PacketBody::Unknown(first),
            PacketBody::Fetched(value) => PacketBody::Fetched(value),
            PacketBody::Empty => PacketBody::Empty,
        };
        let (outcome, answered) = self.at(to, |ni, out| {
            let outcome = match received {
                PacketBody::Buffer(number) if is_short(ni, &header) => {
                    receive_short(ni, &header, number, out)
                }
                _ => ni.received(&header, received, out),
            };
            (outcome, out.answered)
        });
        if let Err(violation) = outcome {
            panic!("all peers are correct, and yet {violation}");
        }
        if header.tag == Tag::FaRequest && !answered {
            i5_control_never_blocks(Tag::FaReply);
        }
        let is_known = |id| self.ni(to).group(id).is_some();
        if let PacketBody::Buffer(number) = received
            && header.tree.group().is_none_or(is_known)
        {
            self.ledger.dropped += self.ledger.was_dropped(number);
        }
    }

    /// A packet fills a receive buffer, out of which its children in the tree are due a copy.
    fn data_arrives(
        &mut self,
        from: Rank,
        at: Rank,
        header: &Header,
        contents: Contents,
    ) -> PacketBody<u64> {
        let due = self.due_on_arrival(header.tree, at);
        let host = HostPart::Awaited;
        PacketBody::Buffer(self.ledger.lend(Buffer { at, from: Some(from), contents, due, host }))
    }

    /// Ranks that are due a copy of a packet on `tree`, as far as it is known.
    fn due_on_arrival(&mut self, tree: TreeId, at: Rank) -> Vec<Rank> {
        let due = self.children(tree, at);
        if self.options.settings.preset.forwarding() == Forwarding::Ni {
            self.due(at, &due);
        }
        due
    }

    fn process(&mut self, at: Rank) {
        let host = &mut self.hosts[at.index()];
        let mut delivery = host.delivered.pop_front().expect("nothing was delivered");
        host.begin_upcall();
        if delivery.wants_reinjection() {
            let children = self.children(delivery.tree, at);
            self.due(at, &children);
            if self.options.settings.preset.acknowledging() == Acknowledging::Receive {
                self.ledger.give_credit_back(delivery.buffer, at);
            }
            self.at(at, |ni, out| ni.reinject(&mut delivery, out));
        }
        let contents = self.ledger.used(delivery.buffer, at).contents;
        self.show(at, &delivery, &contents);
        let host = &mut self.hosts[at.index()];
        host.kept.push(delivery);
        host.end_upcall();
    }

    fn release(&mut self, at: Rank, index: usize) {
        let delivery = self.hosts[at.index()].kept.remove(index);
        let buffer = delivery.buffer;
        self.ledger.used(buffer, at).host = HostPart::Done;
        self.at(at, |ni, out| {
            ni.released(delivery, out);
            if out.strikes(Fault::FreeEarly) {
                out.free(buffer);
            }
        });
    }

    fn fill_send_buffer(
        &mut self,
        at: Rank,
        contents: Contents,
        due: Vec<Rank>,
        host: HostPart,
    ) -> u64 {
        self.hosts[at.index()].free_send_buffers -= 1;
        self.ledger.lend(Buffer { at, from: None, contents, due, host })
    }

    /// Contents of the next packet that `from` sends.
    fn contents(&mut self, from: Rank, stream: Stream) -> Contents {
        let launches = &mut self.launches[from.index()];
        let launch = *launches;
        *launches += 1;
        Contents { name: self.reference.sends(from, stream), launch }
    }

    fn size(&self, contents: &Contents) -> u16 {
        self.reference.length(contents.name) as u16
    }

    /// The program of `at` is shown a packet (I3).
    fn show(&mut self, at: Rank, delivery: &Delivery<u64>, contents: &Contents) {
        let Name { origin, stream, number } = contents.name;
        let seen = (delivery.tree, delivery.size);
        assert_eq!(seen, (contents.tree(), self.size(contents)), "a header belies its packet");
        let next = self.reference.next(at, origin, stream).number;
        i3_order(next.checked_sub(1), number);
        let shown = self.reference.shows(at, contents.name);
        shown.unwrap_or_else(|disagreement| panic!("I3 order: {disagreement}"));
    }

    /// The NI of `at` has one packet more to transmit to each of `receivers`.
    fn due(&mut self, at: Rank, receivers: &[Rank]) {
        for &receiver in receivers {
            self.ledger.pair_mut(at, receiver).due += 1;
        }
    }

    fn children(&self, tree: TreeId, at: Rank) -> Vec<Rank> {
        let group = tree.group().and_then(|id| self.nis[at.index()].group(id));
        group.map_or_else(Vec::new, |group| group.children(tree.root, at).collect())
    }

    /// Tells the NI of `rank` of an event, and carries out its actions.
    fn at<T>(&mut self, rank: Rank, event: impl FnOnce(&mut Ni<u64>, &mut Sink<'_>) -> T) -> T {
        let mut sink = Sink {
            at: rank,
            wires: &mut self.wires,
            host: &mut self.hosts[rank.index()],
            ledger: &mut self.ledger,
            reference: &mut self.reference,
            fault: &mut self.faults[rank.index()],
            adaptive: self.options.settings.adaptive.is_some(),
            answered: false,
        };
        event(Arc::make_mut(&mut self.nis[rank.index()]), &mut sink)
    }
}

/// By what may happen next, and what may still go wrong.
impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let World { options: _, nis, hosts, wires, ledger, faults, launches, reference, steps: _ } =
            self;
        (nis, hosts, wires, ledger, faults, launches, reference).hash(state);
    }
}

/// True if a packet with this header may be received as a short one.
fn is_short(ni: &Ni<u64>, header: &Header) -> bool {
    header.tag == Tag::Ucast
        && header.channel == Channel::NONE
        && !header.asks
        && header.tree.is_unicast_of(header.source)
        && !ni.observe().is_numbered(header.source)
}

/// Receives a packet as nodes receive short ones.
fn receive_short(
    ni: &mut Ni<u64>,
    header: &Header,
    number: u64,
    out: &mut impl Actions<u64>,
) -> Result<(), Violation> {
    let Header { source, size, credits, tree, .. } = *header;
    let looked = ni.received_plain(source, size, credits, || false)?;
    out.deliver(Delivery::accepted(number, size, tree));
    if looked.is_unsettled {
        ni.settle(source, looked, out);
    }
    if ni.count_plain() {
        ni.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    }
    Ok(())
}
