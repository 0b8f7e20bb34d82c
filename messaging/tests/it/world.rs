//! Some ranks that send each other messages, in one value: programs that send and read in turn,
//! handlers that read, and a network that takes its time. To be explored in all its states, or
//! driven at random.
//!
//! A rank is one thread. What it does is a stack: its program below, and above it the handlers that
//! it runs while what is below waits, as in the engine. It takes packets only while it waits.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use weft_endpoint::Rank;
use weft_messaging::format::{PacketHeader, PacketKind, port_number};
use weft_messaging::machine::{
    Dispatch, Handling, Limits, Machine, MessageBody, Planted, PortRun, Queued, Sender, TakenPart,
    To, Wakeable,
};
use weft_model::explore::{Model, digest};

/// Options of a world.
#[derive(Clone, Debug)]
pub struct Options {
    /// Deeds of each rank's program, in order.
    pub programs: Vec<Vec<Deed>>,
    /// Packets of a window, and bytes of copies at most.
    pub limits: Limits,
    /// Packets of one sender that stay in link memory.
    pub keeps: u32,
    /// A mistake of all machines.
    pub planted: Option<Planted>,
}

impl Options {
    /// A window of two packets, and one that is kept.
    pub fn new(programs: Vec<Vec<Deed>>) -> Self {
        let limits = Limits { window: 2, copied_bytes: 64 };
        Options { programs, limits, keeps: 1, planted: None }
    }
}

/// One thing that a program does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Deed {
    /// Sends a message of some packets to a rank, to its mailbox or to its handler.
    Send { to: u16, port: Port, packets: u64, how: How },
    /// Takes the next message from the mailbox, and reads it.
    Receive,
    /// Takes the next message from the mailbox, and drops it unread.
    Discard,
}

/// A port of every rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Port {
    /// Messages are asked for.
    Mailbox,
    /// A handler reads messages, waiting on its stack for what has not come.
    Handler,
    /// A handler that reads so, and then sends a message of two packets to the sender's mailbox.
    Echo,
}

/// A way to send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum How {
    /// Packets leave as far as the window goes.
    AtOnce,
    /// The receiver is asked first.
    Asking,
    /// The receiver is asked first, by who may give the message up as long as it waits.
    MayGiveUp,
}

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The top of a rank's stack goes on.
    Act(usize),
    /// The next packet between two ranks arrives.
    Arrive(usize, usize),
    /// A send has waited for long, and complains.
    Complain(usize),
    /// A send that waits is dropped.
    GiveUp(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Step::Act(rank) => write!(f, "rank {rank} goes on"),
            Step::Arrive(from, to) => write!(f, "a packet of rank {from} arrives at rank {to}"),
            Step::Complain(rank) => write!(f, "rank {rank} has waited for long"),
            Step::GiveUp(rank) => write!(f, "rank {rank} gives its message up"),
        }
    }
}

/// Somebody who waits: what lies at such a place of the stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place(usize);

impl Wakeable for Place {
    fn is(&self, other: &Self) -> bool {
        self == other
    }
}

/// A packet of a message: a byte, which is its place in the message; none, if it is a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Part {
    byte: Option<u64>,
    is_held: bool,
}

impl Part {
    fn cost(self) -> usize {
        usize::from(!self.is_held)
    }
}

#[derive(Clone, Hash)]
struct Message {
    body: MessageBody,
    /// The first packet.
    first: Part,
}

impl Queued for Message {
    fn body(&self) -> &MessageBody {
        &self.body
    }
}

#[derive(Clone, Copy, Hash, Debug)]
struct Handler {
    port: PortRun,
    echoes: bool,
}

impl Handling for Handler {
    fn port(&self) -> PortRun {
        self.port
    }

    fn may_block(&self) -> bool {
        true
    }

    fn stops_port(&self) -> bool {
        true
    }
}

/// Something on the stack of a rank.
#[derive(Clone, Hash, Debug)]
enum Activity {
    Sending {
        sender: Sender,
        how: How,
        stalled: Option<bool>,
        may_overdraw: bool,
    },
    Receiving {
        drops: bool,
    },
    Reading {
        body: MessageBody,
        first: Option<Part>,
        read: u64,
        handler: Option<Handler>,
    },
    /// A handler that has read, and waits for what it sends.
    Ending {
        handler: Handler,
    },
}

/// A packet on its way.
#[derive(Clone, Copy, Hash, Debug)]
struct Packet {
    header: PacketHeader,
    /// Bytes that it brings: none, or one.
    bytes: u64,
}

#[derive(Clone, Hash)]
struct Node {
    rank: Rank,
    machine: Machine<Part, Place>,
    dispatch: Dispatch<Handler, Message, (), Place>,
    mailbox: usize,
    /// Place of the program's next deed.
    next: usize,
    stack: Vec<Activity>,
    /// True if what is at the top of the stack waits to be woken.
    sleeps: bool,
    /// Numbers of the messages that were read last, by sender and port.
    last: BTreeMap<(Rank, u32), u32>,
}

/// The whole job.
#[derive(Clone, Hash)]
pub struct World {
    nodes: Vec<Node>,
    wires: BTreeMap<(usize, usize), VecDeque<Packet>>,
    /// Packets of each flow that count in its window and were not consumed: from, to, port; and
    /// whether memory has taken the place of the window.
    unconsumed: BTreeMap<(usize, usize, u32), (u32, bool)>,
}

const THREAD: usize = 1;
const PORTS: [Port; 3] = [Port::Mailbox, Port::Handler, Port::Echo];

fn number(port: Port) -> u32 {
    port_number(match port {
        Port::Mailbox => "mailbox",
        Port::Handler => "handler",
        Port::Echo => "echo",
    })
}

impl Node {
    fn new(rank: u16, options: &Options) -> Self {
        let mut machine = Machine::new(Rank(rank), options.limits);
        machine.plant(options.planted);
        let mut dispatch = Dispatch::default();
        let mut mailbox = 0;
        for port in PORTS {
            let name = format!("{port:?}").to_lowercase();
            let run = dispatch.create(&mut machine.ports, &name).expect("each name once");
            match port {
                Port::Mailbox => mailbox = run.slot,
                Port::Handler | Port::Echo => {
                    let echoes = port == Port::Echo;
                    assert!(!dispatch.set_handler(Handler { port: run, echoes }));
                }
            }
        }
        let (stack, last) = (Vec::new(), BTreeMap::new());
        Node { rank: Rank(rank), machine, dispatch, mailbox, next: 0, stack, sleeps: false, last }
    }

    /// True if it takes packets: nothing can go on without one.
    fn polls(&self, program: &[Deed]) -> bool {
        self.sleeps || self.stack.is_empty() && self.next == program.len()
    }

    fn has_ready(&self) -> bool {
        !self.dispatch.is_idle()
    }

    /// Place of the top of the stack.
    fn top(&self) -> Place {
        Place(self.stack.len())
    }

    fn wake(&mut self, waiter: Option<Place>) {
        if waiter.is_some_and(|waiter| waiter == self.top()) {
            self.sleeps = false;
        }
    }

    fn push(&mut self, activity: Activity) {
        self.stack.push(activity);
        self.sleeps = false;
    }

    /// The top is done; what is below it looks again.
    fn pop(&mut self) {
        self.stack.pop();
        self.sleeps = false;
    }

    fn run(&mut self, handler: Handler, message: Message) {
        let Message { body, first } = message;
        let first = Some(first);
        self.push(Activity::Reading { body, first, read: 0, handler: Some(handler) });
    }

    fn is_handling(&self) -> bool {
        self.dispatch.is_run_by(THREAD)
    }
}

impl World {
    fn new(options: &Options) -> Self {
        let nodes = (0..options.programs.len()).map(|rank| Node::new(rank as u16, options));
        let (wires, unconsumed) = (BTreeMap::new(), BTreeMap::new());
        World { nodes: nodes.collect(), wires, unconsumed }
    }

    fn put(&mut self, from: usize, to: Rank, packet: Packet) {
        let to = to.index();
        if matches!(
            packet.header.kind,
            PacketKind::First | PacketKind::Next | PacketKind::Whole | PacketKind::Request
        ) {
            self.unconsumed.entry((from, to, packet.header.port)).or_default().0 += 1;
        }
        if packet.header.kind == PacketKind::Window {
            // What is reported beyond what was consumed is memory's.
            let flow = self.unconsumed.entry((to, from, packet.header.port)).or_default();
            flow.1 |= flow.0 > 0 && self.nodes[from].stack.iter().any(is_stalled);
        }
        self.wires.entry((from, to)).or_default().push_back(packet);
    }

    fn tell(&mut self, from: usize, to: Rank, header: PacketHeader) {
        self.put(from, to, Packet { header, bytes: 0 });
    }

    /// A packet of a message was consumed.
    fn consumed(&mut self, at: usize, body: &MessageBody, part: Part) {
        let node = &mut self.nodes[at];
        if part.is_held {
            node.machine.gave_back(body.from);
        }
        let report = node.machine.consumed(body, None, part.cost());
        let flow = self.unconsumed.entry((body.from.index(), at, body.port)).or_default();
        flow.0 -= 1;
        if let Some(report) = report {
            self.tell(at, body.from, PacketHeader::window(body.port, None, report));
        }
    }

    /// The reader of a message goes on, or waits.
    fn read(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let place = node.top();
        let Some(Activity::Reading { body, first, read, handler }) = node.stack.last_mut() else {
            unreachable!("it reads");
        };
        let (body, handler) = (*body, *handler);
        let part = match first.take() {
            Some(part) => part,
            None if *read == body.length => return self.has_read(at, &body, handler),
            None => match node.machine.take_part(&body, Some(&place)) {
                TakenPart::Part(part) => part,
                TakenPart::GivenUp(sent) => {
                    assert_eq!(*read, sent, "what came before its sender gave up is read");
                    node.machine.abandon(&body);
                    return self.has_read(at, &body, handler);
                }
                TakenPart::Nothing { grant } => {
                    node.sleeps = true;
                    if grant {
                        let kind = PacketKind::Grant;
                        let grant = PacketHeader::of_message(body.port, kind, body.number, 0);
                        self.tell(at, body.from, grant);
                    }
                    return;
                }
            },
        };
        if let Some(byte) = part.byte {
            assert_eq!(byte, *read, "bytes are read in order");
            *read += 1;
        }
        self.consumed(at, &body, part);
    }

    fn has_read(&mut self, at: usize, body: &MessageBody, handler: Option<Handler>) {
        let node = &mut self.nodes[at];
        let last = node.last.insert((body.from, body.port), body.number);
        assert!(last.is_none_or(|last| last < body.number), "messages of a sender are in order");
        node.pop();
        match handler {
            Some(handler) if handler.echoes => {
                node.push(Activity::Ending { handler });
                let how = How::AtOnce;
                let deed = Deed::Send { to: body.from.0, port: Port::Mailbox, packets: 2, how };
                self.begin(at, deed, true);
            }
            Some(handler) => self.returned(at, handler),
            None => {}
        }
    }

    fn returned(&mut self, at: usize, handler: Handler) {
        let node = &mut self.nodes[at];
        assert!(node.dispatch.left(handler.port));
        assert!(node.dispatch.put_back(handler).is_none(), "its port is there");
    }

    fn begin(&mut self, at: usize, deed: Deed, may_overdraw: bool) {
        let node = &mut self.nodes[at];
        let activity = match deed {
            Deed::Send { to, port, packets, how } => {
                let slot = node.machine.ports.own(number(port));
                let kind = if how == How::AtOnce { PacketKind::First } else { PacketKind::Request };
                let sender = Sender::new(To::Rank(Rank(to)), (number(port), slot), packets, kind);
                Activity::Sending { sender, how, stalled: None, may_overdraw }
            }
            Deed::Receive => Activity::Receiving { drops: false },
            Deed::Discard => Activity::Receiving { drops: true },
        };
        node.push(activity);
    }

    fn receive(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let place = node.top();
        let Some(Activity::Receiving { drops }) = node.stack.last() else {
            unreachable!("it receives");
        };
        let drops = *drops;
        match node.dispatch.unqueue(node.mailbox, Some(&place)) {
            None => node.sleeps = true,
            Some(Message { body, first }) if !drops => {
                node.pop();
                let (first, handler) = (Some(first), None);
                node.push(Activity::Reading { body, first, read: 0, handler });
            }
            Some(message) => {
                node.pop();
                self.discard(at, message);
            }
        }
    }

    /// A message is dropped unread.
    fn discard(&mut self, at: usize, Message { body, first }: Message) {
        let last = self.nodes[at].last.insert((body.from, body.port), body.number);
        assert!(last.is_none_or(|last| last < body.number), "messages of a sender are in order");
        let ended = self.nodes[at].machine.abandon(&body);
        self.consumed(at, &body, first);
        for part in ended.parts {
            self.consumed(at, &body, part);
        }
        if ended.answer {
            let header = PacketHeader::of_message(body.port, PacketKind::Unwanted, body.number, 0);
            self.tell(at, body.from, header);
        }
    }

    /// A send goes on by one packet, or waits.
    fn send(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let (place, is_handling) = (node.top(), node.is_handling());
        let Some(Activity::Sending { sender, how, stalled, may_overdraw }) = node.stack.last_mut()
        else {
            unreachable!("it sends");
        };
        // Who gives up is a future: it blocks no thread.
        let blocks = *how != How::MayGiveUp;
        let To::Rank(to) = sender.to() else { unreachable!("to one rank") };
        if sender.is_asking() {
            match sender.take_answer(&mut node.machine, Some(&place)) {
                Some(true) => {}
                Some(false) => return self.sent(at),
                None => return self.stall(at, blocks),
            }
        }
        let waits = !blocks || !is_handling;
        if !sender.claim(&mut node.machine, &[], waits) {
            if !*may_overdraw {
                node.machine.wait_at(sender.slot(), Some(&place));
                return self.stall(at, blocks);
            }
            sender.overdraw(&mut node.machine);
            let flow = self.unconsumed.entry((at, to.index(), number(Port::Mailbox))).or_default();
            flow.1 = true;
        }
        if let Some(blocks) = stalled.take() {
            node.machine.go_on(blocks);
            node.dispatch.resume_deferred();
        }
        let packet = if sender.is_to_ask() {
            let header = sender.ask(&mut node.machine);
            sender.asked(&mut node.machine, true);
            Packet { header, bytes: 0 }
        } else {
            let header = sender.head(1);
            sender.launched(1);
            Packet { header, bytes: 1 }
        };
        let is_done = sender.left() == 0;
        self.put(at, to, packet);
        if is_done {
            self.sent(at);
        }
    }

    fn stall(&mut self, at: usize, blocks: bool) {
        let node = &mut self.nodes[at];
        node.sleeps = true;
        let Some(Activity::Sending { stalled, .. }) = node.stack.last_mut() else { return };
        if let Some(before) = stalled.replace(blocks) {
            node.machine.go_on(before);
        }
        node.machine.stall(blocks);
    }

    /// A send has ended.
    fn sent(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        if let Some(Activity::Sending { stalled: Some(blocks), .. }) = node.stack.last() {
            node.machine.go_on(*blocks);
            node.dispatch.resume_deferred();
        }
        node.pop();
    }

    fn give_up(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let Some(Activity::Sending { sender, .. }) = node.stack.last_mut() else { return };
        let To::Rank(to) = sender.to() else { return };
        let cancel = match sender.is_unfinished() {
            true => sender.give_up(&mut node.machine),
            false => None,
        };
        self.sent(at);
        if let Some(cancel) = cancel {
            self.tell(at, to, cancel);
        }
    }

    fn complain(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let Some(Activity::Sending { sender, .. }) = node.stack.last() else { return };
        let To::Rank(to) = sender.to() else { return };
        let complaint = sender.complaint(&mut node.machine, to);
        self.tell(at, to, complaint);
    }

    /// The top of a stack goes on; else a handler begins that is ready.
    fn act(&mut self, at: usize, program: &[Deed]) {
        let node = &mut self.nodes[at];
        if node.sleeps || node.stack.is_empty() && node.next == program.len() {
            let (machine, dispatch) = (&node.machine, &mut node.dispatch);
            let may_begin =
                |body: &MessageBody| machine.may_wait_for(body.from) || machine.is_complete(body);
            if let Some((handler, message)) = dispatch.next_ready(THREAD, may_begin) {
                node.run(handler, message);
            }
            return;
        }
        match node.stack.last() {
            None => {
                node.next += 1;
                self.begin(at, program[self.nodes[at].next - 1], false);
            }
            Some(Activity::Sending { .. }) => self.send(at),
            Some(Activity::Receiving { .. }) => self.receive(at),
            Some(Activity::Reading { .. }) => self.read(at),
            Some(Activity::Ending { handler }) => {
                let handler = *handler;
                node.pop();
                self.returned(at, handler);
            }
        }
    }

    fn arrive(&mut self, from: usize, at: usize, keeps: u32) {
        let packet = self.wires.get_mut(&(from, at)).and_then(VecDeque::pop_front);
        let Some(Packet { header, bytes }) = packet else { unreachable!("a packet is there") };
        if self.wires[&(from, at)].is_empty() {
            self.wires.remove(&(from, at));
        }
        let rank = Rank(from as u16);
        match header.kind {
            PacketKind::First | PacketKind::Whole | PacketKind::Request => {
                self.first(rank, at, &header, bytes, keeps)
            }
            PacketKind::Next => self.next(rank, at, &header, keeps),
            PacketKind::Cancel => self.cancelled(rank, at, &header),
            _ => {
                let node = &mut self.nodes[at];
                let slot = node.machine.ports.known(header.port);
                let port = slot.map(|slot| (slot, node.dispatch.usage(slot)));
                let told = node.machine.told(rank, &header, port, true);
                let told = told.unwrap_or_else(|error| panic!("{header:?}: {error}"));
                told.wakes.into_iter().for_each(|waiter| node.wake(Some(waiter)));
                if let Some(answer) = told.answer {
                    self.tell(at, rank, answer);
                }
            }
        }
    }

    fn first(&mut self, from: Rank, at: usize, header: &PacketHeader, bytes: u64, keeps: u32) {
        let node = &mut self.nodes[at];
        let slot = node.machine.admit(from, header, bytes).expect("a rank sends what it may");
        let is_held = self.keep(from, at, keeps);
        let node = &mut self.nodes[at];
        let body = MessageBody::new(from, None, header, slot);
        let first = Part { byte: (bytes > 0).then_some(0), is_held };
        node.machine.begin(&body, bytes, header.kind);
        let is_whole = bytes == body.length;
        let may_run = is_whole || node.machine.may_wait_for(from);
        let (port, is_idle) = node.dispatch.port(slot);
        let handler = if is_idle && may_run { port.begin(THREAD) } else { None };
        let message = Message { body, first };
        match handler {
            Some(handler) => node.run(handler, message),
            None if node.dispatch.queue(message) => {
                let receiver = node.dispatch.take_receiver(slot);
                node.wake(receiver);
            }
            None => {}
        }
        if header.kind == PacketKind::Request {
            let node = &mut self.nodes[at];
            let usage = node.dispatch.usage(slot);
            if let Some(grant) = node.machine.requested(from, header, usage) {
                self.tell(at, from, grant);
            }
        }
    }

    /// True if a packet stays in link memory.
    fn keep(&mut self, from: Rank, at: usize, keeps: u32) -> bool {
        let machine = &mut self.nodes[at].machine;
        let is_held = machine.keeps(from, keeps);
        if !is_held {
            machine.copied_out(1);
        }
        is_held
    }

    fn next(&mut self, from: Rank, at: usize, header: &PacketHeader, keeps: u32) {
        let node = &mut self.nodes[at];
        let slot = node.machine.admit(from, header, 1).expect("a rank sends what it may");
        let body = MessageBody::new(from, None, header, slot);
        let is_held = self.keep(from, at, keeps);
        let part = Part { byte: Some(header.bytes), is_held };
        let node = &mut self.nodes[at];
        let continued = node.machine.continued(from, header.message, 1, part);
        node.dispatch.resume_deferred();
        node.wake(continued.reader);
        if let Some(part) = continued.unwanted {
            self.consumed(at, &body, part);
        }
    }

    fn cancelled(&mut self, from: Rank, at: usize, header: &PacketHeader) {
        let node = &mut self.nodes[at];
        let slot = node.machine.ports.known(header.port).expect("all ports are known");
        let is_it =
            |message: &Message| message.body.from == from && message.body.number == header.message;
        let queued = node.dispatch.take_queued(slot, is_it);
        let ended = node.machine.cancelled(from, header, queued.is_some());
        let ended = ended.unwrap_or_else(|error| panic!("{header:?}: {error}"));
        node.wake(ended.reader);
        let body = MessageBody::new(from, None, header, slot);
        let first = queued.map(|message| message.first);
        for part in first.into_iter().chain(ended.parts) {
            self.consumed(at, &body, part);
        }
        if ended.answer {
            let header = PacketHeader::of_message(body.port, PacketKind::Unwanted, body.number, 0);
            self.tell(at, from, header);
        }
    }

    /// True if a send that is at the top of a stack waits, and its complaint is on no wire.
    fn may_complain(&self, at: usize) -> bool {
        let Some(Activity::Sending { sender, stalled: Some(_), .. }) = self.nodes[at].stack.last()
        else {
            return false;
        };
        let To::Rank(to) = sender.to() else { return false };
        let is_complaint = |packet: &Packet| {
            matches!(packet.header.kind, PacketKind::Stalled | PacketKind::Waiting)
        };
        let wire = self.wires.get(&(at, to.index()));
        self.nodes[at].sleeps && !wire.is_some_and(|wire| wire.iter().any(is_complaint))
    }

    fn may_give_up(&self, at: usize) -> bool {
        let node = &self.nodes[at];
        let top = node.stack.last();
        node.sleeps && matches!(top, Some(Activity::Sending { how: How::MayGiveUp, .. }))
    }
}

fn is_stalled(activity: &Activity) -> bool {
    matches!(activity, Activity::Sending { stalled: Some(_), .. })
}

/// Each rank's stack, and the packets on the wires.
impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.nodes {
            let (next, sleeps) = (node.next, node.sleeps);
            writeln!(f, "rank {}: deed {next}, sleeps: {sleeps}, {:?}", node.rank, node.stack)?;
        }
        write!(f, "{:?}", self.wires)
    }
}

impl Model for Options {
    type State = World;
    type Step = Step;
    type Deadlock = std::convert::Infallible;

    fn start(&self) -> World {
        World::new(self)
    }

    fn steps(&self, world: &World) -> Vec<Step> {
        let mut steps = Vec::new();
        for (at, (node, program)) in world.nodes.iter().zip(&self.programs).enumerate() {
            if !node.polls(program) || node.has_ready() {
                steps.push(Step::Act(at));
            }
            if world.may_complain(at) {
                steps.push(Step::Complain(at));
            }
            if world.may_give_up(at) {
                steps.push(Step::GiveUp(at));
            }
        }
        let polls = |at: usize| world.nodes[at].polls(&self.programs[at]);
        let arrivals = world.wires.keys().filter(|(_, to)| polls(*to));
        steps.extend(arrivals.map(|(from, to)| Step::Arrive(*from, *to)));
        steps
    }

    fn take(&self, world: &mut World, step: &Step) {
        match *step {
            Step::Act(at) => world.act(at, &self.programs[at]),
            Step::Arrive(from, to) => world.arrive(from, to, self.keeps),
            Step::Complain(at) => world.complain(at),
            Step::GiveUp(at) => world.give_up(at),
        }
    }

    fn check(&self, world: &World) {
        for ((from, to, _), (unconsumed, is_relieved)) in &world.unconsumed {
            assert!(
                *is_relieved || *unconsumed <= self.limits.window,
                "rank {from} has {unconsumed} packets unconsumed at rank {to}"
            );
        }
        for node in &world.nodes {
            let limit = self.limits.copied_bytes;
            assert!(node.machine.copied_bytes() <= limit, "rank {} copies too much", node.rank);
        }
    }

    fn digest(&self, world: &World) -> u64 {
        digest(world)
    }

    fn is_done(&self, world: &World) -> bool {
        let is_over = |(node, program): (&Node, &Vec<Deed>)| {
            node.stack.is_empty() && node.next == program.len() && !node.has_ready()
        };
        let ended = world.nodes.iter().zip(&self.programs).all(is_over);
        if !ended || !world.wires.is_empty() {
            return false;
        }
        for node in &world.nodes {
            assert!(node.machine.is_quiet(), "rank {} has messages under way", node.rank);
            // What nobody has asked for lies in its queue, and nothing else anywhere.
            let waiting = node.dispatch.clone().queued_mut().count();
            let kept = node.machine.unread() + node.machine.copied_bytes() as u64;
            assert_eq!(kept, waiting as u64, "rank {} keeps what nobody reads", node.rank);
        }
        true
    }

    fn deadlock(&self, _: &World) -> Option<std::convert::Infallible> {
        None
    }
}
