//! What packets become: messages, queued at ports.
//!
//! The packet upcall only sorts packets into messages. Handlers run afterwards, outside it, one a
//! port at a time, so that a handler may read on while more packets of its message arrive.

use crate::error::{Error, Result};
use crate::format::{Kind, PacketHeader, port_number};
use crate::message::{Announced, Body, Message};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::task::Waker;
use weft_node::biased::Biased;
use weft_packet::{KeptPacket, Packet, Packets, Rank, Step};

/// Bytes of messages that are copied out of link memory at most, to keep senders going.
const COPY_LIMIT_BYTES: usize = 64 << 20;

/// Messages of one sender that have begun and not ended, at most. A sender has one for each send
/// that is under way: one a thread, and one for each handler that runs in the middle of another.
const UNFINISHED_LIMIT: usize = 4096;

/// A function for the messages of one port.
pub(crate) type Handler = Box<dyn FnMut(Message) + Send>;

/// The messages of one rank.
pub struct Engine {
    packets: Packets,
    state: Biased<State>,
    /// Packets of one sender that stay in link memory before more are copied out.
    keep_at_most: usize,
    this: Weak<Engine>,
}

/// What the messaging layer has done, with what is below it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Messages sent; a broadcast is one.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Packets copied out of link memory because their port was slow.
    pub packets_copied_out: u64,
    /// The layers below.
    pub packets: weft_packet::Statistics,
}

#[derive(Default)]
struct State {
    ports: BTreeMap<u32, PortState>,
    /// Ports with a handler and a message for it.
    ready: VecDeque<u32>,
    /// Messages whose last packet has not arrived, by sender and the sender's number.
    arriving: BTreeMap<(Rank, u32), Arriving>,
    next_message: u32,
    /// How many of those are not all here, by sender.
    unfinished: Tally,
    /// Packets kept in link memory, by sender.
    kept: Tally,
    /// What packets cost that were copied out: [`copy_cost`].
    copied_bytes: usize,
    failure: Option<Error>,
    statistics: Statistics,
}

/// Counts by rank, with nothing for ranks of which there is nothing.
#[derive(Default)]
struct Tally(BTreeMap<Rank, usize>);

impl Tally {
    fn of(&self, rank: Rank) -> usize {
        self.0.get(&rank).copied().unwrap_or(0)
    }

    fn add(&mut self, rank: Rank) {
        *self.0.entry(rank).or_default() += 1;
    }

    fn subtract(&mut self, rank: Rank) {
        if let Entry::Occupied(mut count) = self.0.entry(rank) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[derive(Default)]
struct PortState {
    /// Its name, once this rank has created it; messages may arrive before.
    name: Option<String>,
    /// Its handler, if it has one and it is not running.
    handler: Option<Handler>,
    has_handler: bool,
    queue: VecDeque<Announced>,
}

/// A message of which packets are still to come, or wait for its reader.
struct Arriving {
    /// Bytes of the message that were put into `parts`, or thrown away.
    arrived: u64,
    length: u64,
    /// `None` once its reader has dropped it: the rest is thrown away.
    parts: Option<VecDeque<Part>>,
}

impl Arriving {
    /// Whether a packet of `bytes` bytes after `before` others is the next one. None is empty: a
    /// peer could send any number of those without ever getting further.
    fn expects(&self, before: u64, bytes: u64) -> bool {
        self.arrived == before && (1..=self.length - self.arrived).contains(&bytes)
    }

    /// Whether nothing is to come, and nothing left to be read.
    fn is_done(&self) -> bool {
        self.arrived == self.length && self.parts.as_ref().is_none_or(VecDeque::is_empty)
    }
}

/// A packet's worth of a message.
pub(crate) enum Part {
    /// In link memory, from this byte on.
    Kept(KeptPacket, usize),
    /// Copied out under pressure.
    Copied(Box<[u8]>, usize),
}

impl Engine {
    /// Messages over `packets`. Takes the packet upcall for itself.
    pub fn new(packets: Packets) -> Arc<Self> {
        let engine = Arc::new_cyclic(|this: &Weak<Engine>| Engine {
            state: Biased::new(State::default()),
            keep_at_most: packets.in_flight() / 2,
            packets,
            this: this.clone(),
        });
        let this = Arc::downgrade(&engine);
        engine.packets.on_packet(move |packet| {
            if let Some(engine) = this.upgrade() {
                engine.sort(packet);
            }
        });
        engine
    }

    /// The packets below.
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Takes packets from the network and runs the handlers of complete or arriving messages. Says
    /// whether anything happened. What a rank does when it polls.
    ///
    /// # Errors
    /// A lost rank, or a peer that broke the format.
    pub fn progress(&self) -> Result<bool> {
        let mut any = false;
        for _ in 0..64 {
            if !self.step()? {
                break;
            }
            any = true;
        }
        Ok(any)
    }

    /// What a rank does when it is interrupted: makes progress, as long as interrupts are on. An error
    /// comes again to whoever calls next.
    pub fn interrupted(&self) {
        self.packets.interrupted(|| matches!(self.step(), Ok(true)));
    }

    /// Takes one packet from the network, and runs handlers that have something now.
    fn step(&self) -> Result<bool> {
        Ok(self.packets.poll()? | self.run_handlers()?)
    }

    /// Makes progress until `look` finds something. Given a waker, a `look` that finds nothing has left
    /// it where it will be woken once there may be something; without one, the caller looks again by
    /// itself.
    pub(crate) fn wait<T>(
        &self,
        mut look: impl FnMut(&Self, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<T> {
        let mut outcome = None;
        self.packets.wait(&mut || {
            // One packet, then look: what is waited for should not pile up behind it.
            let looked = match look(self, None) {
                Ok(None) => self.step(),
                Ok(Some(found)) => {
                    outcome = Some(Ok(found));
                    return Ok(Step::Done);
                }
                Err(error) => Err(error),
            };
            match looked {
                Ok(true) => Ok(Step::Progress),
                Ok(false) => Ok(Step::Idle),
                Err(error) => {
                    outcome = Some(Err(error));
                    Ok(Step::Done)
                }
            }
        })?;
        outcome.unwrap_or_else(|| unreachable!("the wait ended with an outcome"))
    }

    /// Makes progress until every message sent from here has left this rank.
    ///
    /// # Errors
    /// As [`Self::progress`].
    pub fn flush(&self) -> Result<()> {
        self.wait(|engine, _| Ok(engine.packets.is_flushed().then_some(())))
    }

    /// What this layer and those below have done.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.state.enter().statistics;
        statistics.packets = self.packets.statistics();
        statistics
    }

    /// Creates the port `name` and returns its number.
    pub(crate) fn create_port(&self, name: &str, handler: Option<Handler>) -> Result<u32> {
        let number = port_number(name);
        let mut state = self.state.enter();
        let port = state.ports.entry(number).or_default();
        match &port.name {
            Some(taken) if taken == name => return Err(Error::PortTaken(name.into())),
            Some(taken) => return Err(Error::PortCollision(taken.clone(), name.into())),
            None => port.name = Some(name.into()),
        }
        port.has_handler = handler.is_some();
        port.handler = handler;
        let waiting = port.has_handler && !port.queue.is_empty();
        if waiting {
            state.ready.push_back(number);
        }
        Ok(number)
    }

    pub(crate) fn remove_port(&self, number: u32) {
        let removed = self.state.enter().ports.remove(&number);
        // Its messages go outside the lock: dropping them enters it.
        removed.into_iter().flat_map(|port| port.queue).for_each(|announced| {
            drop(self.open(announced));
        });
    }

    /// Makes a message of what has waited at a port. Messages hold the engine, so what waits in the
    /// engine cannot be one: it would keep itself and the node for ever.
    fn open(&self, announced: Announced) -> Option<Message> {
        Some(Message::new(self.this.upgrade()?, announced))
    }

    pub(crate) fn next_message_number(&self) -> u32 {
        let mut state = self.state.enter();
        state.statistics.messages_sent += 1;
        state.next_message = state.next_message.wrapping_add(1);
        state.next_message
    }

    /// The message that has waited longest at port `number`.
    pub(crate) fn take_message(&self, number: u32) -> Result<Option<Message>> {
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let announced = state.ports.get_mut(&number).and_then(|port| port.queue.pop_front());
        drop(state);
        Ok(announced.and_then(|announced| self.open(announced)))
    }

    /// The next part of an arriving message, if it is there.
    pub(crate) fn take_part(&self, from: Rank, number: u32) -> Result<Option<Part>> {
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let Some(arriving) = state.arriving.get_mut(&(from, number)) else { return Ok(None) };
        let part = arriving.parts.as_mut().and_then(VecDeque::pop_front);
        if arriving.is_done() {
            state.arriving.remove(&(from, number));
        }
        Ok(part)
    }

    /// The reader is done with a part.
    pub(crate) fn give_back(&self, from: Rank, part: Part) {
        let mut state = self.state.enter();
        match &part {
            Part::Kept(..) => state.kept.subtract(from),
            Part::Copied(bytes, _) => state.copied_bytes -= copy_cost(bytes),
        }
        drop(state);
        drop(part);
    }

    /// The reader of an arriving message wants no more of it.
    pub(crate) fn abandon(&self, from: Rank, number: u32) {
        let mut state = self.state.enter();
        let Some(arriving) = state.arriving.get_mut(&(from, number)) else { return };
        let parts = arriving.parts.take();
        if arriving.is_done() {
            state.arriving.remove(&(from, number));
        }
        drop(state);
        for part in parts.into_iter().flatten() {
            self.give_back(from, part);
        }
    }

    /// The packet upcall.
    fn sort(&self, packet: Packet<'_>) {
        let from = packet.source();
        let Some((header, rest)) = PacketHeader::parse(&packet) else {
            self.fail(Error::Stray { from });
            return;
        };
        let bytes = (rest.len() - usize::from(header.header_bytes)) as u64;
        match header.kind {
            Kind::First => self.first(packet, &header, bytes),
            Kind::Next => self.next(packet, &header, bytes),
        }
    }

    fn first(&self, packet: Packet<'_>, header: &PacketHeader, bytes: u64) {
        let from = packet.source();
        let length = header.bytes;
        if let Err(error) = self.check_first(from, header, bytes) {
            return self.fail(error);
        }
        let body = Body { from, number: header.message, length };
        let header_bytes = usize::from(header.header_bytes);
        let message = Announced { body, first: self.keep(packet), header_bytes };
        let mut state = self.state.enter();
        if bytes < length {
            state.unfinished.add(from);
            let parts = Some(VecDeque::new());
            state
                .arriving
                .insert((from, header.message), Arriving { arrived: bytes, length, parts });
        }
        state.statistics.messages_received += 1;
        let port = state.ports.entry(header.port).or_default();
        port.queue.push_back(message);
        // A port with more than one message is ready already, or its handler runs.
        if port.handler.is_some() && port.queue.len() == 1 {
            state.ready.push_back(header.port);
        }
    }

    /// Whether a message may begin so: it has no more bytes than it says, and neither its number nor
    /// its sender is taken up by messages that have not ended.
    fn check_first(&self, from: Rank, header: &PacketHeader, bytes: u64) -> Result<()> {
        let state = self.state.enter();
        let taken = state.arriving.contains_key(&(from, header.message));
        if bytes > header.bytes || taken {
            return Err(Error::Stray { from });
        }
        if bytes < header.bytes && state.unfinished.of(from) >= UNFINISHED_LIMIT {
            return Err(Error::Unfinished { from, limit: UNFINISHED_LIMIT });
        }
        Ok(())
    }

    fn next(&self, packet: Packet<'_>, header: &PacketHeader, bytes: u64) {
        let from = packet.source();
        let key = (from, header.message);
        let wanted = {
            let state = self.state.enter();
            let message = state.arriving.get(&key);
            let expected = message.filter(|message| message.expects(header.bytes, bytes));
            expected.map(|message| message.parts.is_some())
        };
        let Some(wanted) = wanted else { return self.fail(Error::Stray { from }) };
        let part = wanted.then(|| self.keep(packet));
        // Upcalls run one at a time, so nobody but the reader was here meanwhile; and it has not
        // seen the message complete, because what has arrived is counted together with the part.
        let mut state = self.state.enter();
        let Some(message) = state.arriving.get_mut(&key) else { return };
        message.arrived += bytes;
        let unread = match (&mut message.parts, part) {
            (Some(parts), Some(part)) => {
                parts.push_back(part);
                None
            }
            (_, part) => part,
        };
        let finished = message.arrived == message.length;
        if message.is_done() {
            state.arriving.remove(&key);
        }
        if finished {
            state.unfinished.subtract(from);
        }
        drop(state);
        if let Some(part) = unread {
            self.give_back(from, part);
        }
    }

    /// Keeps a packet where it is, or copies it out if its sender has spent much of its window on
    /// packets that nobody reads: the sender must be able to go on, or two ranks that send much to
    /// each other before they read would stop for ever (careful-protocols 5.3).
    fn keep(&self, packet: Packet<'_>) -> Part {
        let from = packet.source();
        let mut state = self.state.enter();
        let crowded = state.kept.of(from) >= self.keep_at_most;
        if crowded && state.copied_bytes < COPY_LIMIT_BYTES {
            state.copied_bytes += copy_cost(&packet);
            state.statistics.packets_copied_out += 1;
            return Part::Copied(packet[..].into(), 0);
        }
        state.kept.add(from);
        drop(state);
        match packet.keep() {
            Some(kept) => Part::Kept(kept, 0),
            None => unreachable!("the node that makes the upcall is alive"),
        }
    }

    fn fail(&self, error: Error) {
        self.state.enter().failure.get_or_insert(error);
    }

    /// Runs handlers of ports that have messages, each once at most for the messages there now.
    fn run_handlers(&self) -> Result<bool> {
        let mut any = false;
        loop {
            let mut state = self.state.enter();
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let Some(number) = state.ready.pop_front() else { return Ok(any) };
            let Some(port) = state.ports.get_mut(&number) else { continue };
            let Some(mut handler) = port.handler.take() else { continue };
            let Some(message) = port.queue.pop_front() else {
                port.handler = Some(handler);
                continue;
            };
            drop(state);
            if let Some(message) = self.open(message) {
                handler(message);
            }
            any = true;
            let mut state = self.state.enter();
            let Some(port) = state.ports.get_mut(&number) else { continue };
            port.handler = Some(handler);
            if !port.queue.is_empty() {
                state.ready.push_back(number);
            }
        }
    }
}

/// What a copy of `packet` costs: its bytes, and no less than the message that it may begin.
fn copy_cost(packet: &[u8]) -> usize {
    packet.len() + size_of::<Message>()
}
