//! What the engine knows, inside its lock: ports, messages that arrive, windows. No calls out of here.

use crate::by_rank::ByRank;
use crate::error::{Error, Result};
use crate::format::{PacketHeader, port_number};
use crate::handler::Handler;
use crate::message::{Announced, Body};
use crate::window::{Flow, Incoming, Outgoing};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Waker;
use weft_node::biased::this_thread;
use weft_packet::{HeldPacket, Rank};

/// Messages of one sender that have begun and not ended, at most. A sender has one for each send
/// that is under way: one a thread, and one for each handler that runs in the middle of another.
pub(crate) const UNFINISHED_LIMIT: usize = 4096;

#[derive(Default)]
pub(crate) struct State {
    /// Packets of a port's window.
    pub window: u32,
    pub ports: Ports,
    /// Ports with a handler that does not run, and a message for it.
    pub ready: VecDeque<usize>,
    /// Messages whose last packet has not arrived, by sender and the sender's number.
    arriving: BTreeMap<(Rank, u32), Arriving>,
    next_message: u32,
    /// How many of those are not all here, by sender.
    unfinished: Tally,
    /// Packets kept in link memory, by sender.
    pub kept: ByRank<u32>,
    /// What packets cost that were copied out.
    pub copied_bytes: usize,
    /// Control packets that found no frame to leave in.
    pub owed: VecDeque<(Rank, PacketHeader)>,
    /// Why this rank cannot go on.
    pub failure: Option<Error>,
    /// What one handler did, for the program to hear once.
    pub incidents: VecDeque<Error>,
    pub statistics: super::engine::Counts,
    /// The thread that polls, and how many of its waits are nested; others are woken by it.
    pub leader: usize,
    pub depth: u32,
    pub followers: Vec<(usize, Waker)>,
    /// Threads that are inside handlers.
    pub handling: Vec<usize>,
    /// Threads that run handlers and nothing else.
    pub popups: Vec<usize>,
    /// Threads that wait for a future.
    pub blocked_on: Vec<usize>,
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

/// The ports that this rank has created, or got messages for. Their slots stay what they are: windows
/// outlive a port that is dropped and created again.
#[derive(Default)]
pub(crate) struct Ports {
    slots: Vec<PortState>,
    by_number: BTreeMap<u32, usize>,
    last: (u32, usize),
}

/// A port as long as it is not dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortRun {
    pub slot: usize,
    pub generation: u32,
}

#[derive(Default)]
pub(crate) struct PortState {
    /// Its name, once this rank has created it; messages may arrive before.
    pub name: Option<String>,
    /// Its handler, if it has one and it is not running.
    pub handler: Option<Handler>,
    pub has_handler: bool,
    /// Its handler, while a continuation of it waits.
    pub waiting: Option<Handler>,
    /// That continuation ended before its handler was put there.
    pub ended: bool,
    /// How often a port was dropped here: what an earlier one left behind is not this one's.
    pub generation: u32,
    pub queue: VecDeque<Announced>,
    /// Those who ask for its messages.
    pub receivers: Vec<Waker>,
    pub outgoing: Outgoing,
    pub incoming: Incoming,
    /// Those who wait for room at this port elsewhere.
    pub senders: Vec<Waker>,
    /// Ranks that have no such port.
    pub refused: BTreeSet<Rank>,
}

impl Ports {
    /// The slot of the port with this number.
    #[inline]
    pub fn find(&mut self, number: u32) -> usize {
        // A number of its own marks that nothing is remembered yet: slots are made in order.
        if self.last.0 == number && self.last.1 < self.slots.len() {
            return self.last.1;
        }
        self.find_slowly(number)
    }

    fn find_slowly(&mut self, number: u32) -> usize {
        let next = self.slots.len();
        let slot = *self.by_number.entry(number).or_insert(next);
        if slot == next {
            self.slots.push(PortState::default());
        }
        self.last = (number, slot);
        slot
    }

    #[inline]
    pub fn at(&mut self, slot: usize) -> &mut PortState {
        &mut self.slots[slot]
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut PortState> {
        self.slots.iter_mut()
    }
}

impl PortState {
    /// Whether its handler is still the one of `run`.
    #[inline]
    pub fn runs(&self, run: PortRun) -> bool {
        self.has_handler && self.generation == run.generation
    }
}

/// A message of which packets are still to come, or wait for its reader.
struct Arriving {
    /// Bytes of the message that were put into `parts`, or thrown away.
    arrived: u64,
    length: u64,
    /// `None` once its reader has dropped it: the rest is thrown away.
    parts: Option<VecDeque<Part>>,
    reader: Option<Waker>,
    port: u32,
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

/// A packet's worth of a message, from some byte on.
pub(crate) enum Part {
    /// In link memory.
    Kept(HeldPacket, usize),
    /// Copied out under pressure.
    Copied(Box<[u8]>, usize),
}

/// What a packet that continues a message is.
pub(crate) enum Continues {
    /// Part of a message that somebody reads.
    Wanted,
    /// Part of one that nobody wants any more.
    Unwanted,
    /// Nothing that was announced.
    Stray,
}

impl State {
    /// Nothing yet; a port's window has so many packets.
    pub fn new(window: u32) -> Self {
        State { window, ..State::default() }
    }

    /// Creates the port `name`.
    pub fn create_port(&mut self, name: &str) -> Result<PortRun> {
        let slot = self.ports.find(port_number(name));
        let port = self.ports.at(slot);
        match &port.name {
            Some(taken) if taken == name => return Err(Error::PortTaken(name.into())),
            Some(taken) => return Err(Error::PortCollision(taken.clone(), name.into())),
            None => port.name = Some(name.into()),
        }
        Ok(PortRun { slot, generation: port.generation })
    }

    /// Gives the port in `slot` its handler. Says whether messages wait for it already.
    pub fn set_handler(&mut self, slot: usize, handler: Handler) -> bool {
        let port = self.ports.at(slot);
        port.has_handler = true;
        port.handler = Some(handler);
        let is_ready = !port.queue.is_empty();
        if is_ready {
            self.ready.push_back(slot);
        }
        is_ready
    }

    /// Forgets the port, all but its windows, and returns what nobody has read.
    pub fn remove_port(&mut self, slot: usize) -> ([Option<Handler>; 2], VecDeque<Announced>) {
        let port = self.ports.at(slot);
        (port.name, port.has_handler, port.ended) = (None, false, false);
        port.generation += 1;
        ([port.handler.take(), port.waiting.take()], std::mem::take(&mut port.queue))
    }

    /// This thread is in a handler from here on, until [`Self::leave_handler`].
    #[inline]
    pub fn enter_handler(&mut self) {
        self.handling.push(this_thread());
    }

    #[inline]
    pub fn leave_handler(&mut self) {
        let me = this_thread();
        if let Some(place) = self.handling.iter().rposition(|thread| *thread == me) {
            self.handling.swap_remove(place);
        }
    }

    /// Whether this thread is in a handler.
    pub fn is_handling(&self) -> bool {
        self.handling.contains(&this_thread())
    }

    /// A run of the handler of `run` waits. Returns it if nobody needs it any more, to be dropped outside of the
    /// lock: what it holds may be a port.
    pub fn wait_with(&mut self, run: PortRun, handler: Handler) -> Option<Handler> {
        self.statistics.continuations += 1;
        let port = self.ports.at(run.slot);
        if !port.runs(run) {
            return Some(handler);
        }
        if std::mem::take(&mut port.ended) || !handler.stops_port() {
            return self.put_back(run, handler);
        }
        port.waiting.replace(handler)
    }

    /// What waited for `run` has ended: its port goes on.
    pub fn ended(&mut self, run: PortRun) -> Option<Handler> {
        let port = self.ports.at(run.slot);
        if !port.runs(run) {
            return None;
        }
        match port.waiting.take() {
            Some(handler) => self.put_back(run, handler),
            None => {
                port.ended = true;
                None
            }
        }
    }

    /// The next message for a handler that can run now, with that handler.
    #[inline]
    pub fn next_ready(&mut self) -> Option<(PortRun, Handler, Announced)> {
        while let Some(slot) = self.ready.pop_front() {
            let port = self.ports.at(slot);
            let Some(handler) = port.handler.take() else { continue };
            match port.queue.pop_front() {
                Some(message) => {
                    let run = PortRun { slot, generation: port.generation };
                    return Some((run, handler, message));
                }
                None => port.handler = Some(handler),
            }
        }
        None
    }

    /// The handler of `run` can run again. Returns it as [`Self::wait_with`] does.
    #[inline]
    pub fn put_back(&mut self, run: PortRun, handler: Handler) -> Option<Handler> {
        let port = self.ports.at(run.slot);
        if !port.runs(run) || port.handler.is_some() {
            return Some(handler);
        }
        port.handler = Some(handler);
        if !port.queue.is_empty() {
            self.ready.push_back(run.slot);
        }
        None
    }

    /// A handler of `run` panicked: its port throws away what comes. Returns the handlers that it had.
    pub fn panicked(&mut self, run: PortRun, from: Rank, what: String) -> [Option<Handler>; 2] {
        let port = self.ports.at(run.slot);
        let name = match &port.name {
            Some(name) if port.runs(run) => name.clone(),
            _ => "(dropped)".into(),
        };
        let mut dropped = [None, None];
        if port.runs(run) {
            let discard = Handler::Plain(Box::new(drop));
            dropped = [port.waiting.take(), port.handler.replace(discard)];
            port.ended = false;
            if !port.queue.is_empty() {
                self.ready.push_back(run.slot);
            }
        }
        self.incidents.push_back(Error::Panicked { port: name, from, what });
        dropped
    }

    /// What handlers did, for the program to hear; not for handlers, which would be the next to fail.
    #[cold]
    pub fn next_incident(&mut self) -> Option<Error> {
        let me = this_thread();
        if self.is_handling() || self.popups.contains(&me) {
            return None;
        }
        self.incidents.pop_front()
    }

    pub fn next_message_number(&mut self) -> u32 {
        self.next_message = self.next_message.wrapping_add(1);
        self.next_message
    }

    /// Whether a message may begin so: it has no more bytes than it says, and neither its number nor
    /// its sender is taken up by messages that have not ended.
    pub fn check_first(&self, from: Rank, header: &PacketHeader, bytes: u64) -> Result<()> {
        if bytes == header.bytes {
            return Ok(());
        }
        if bytes > header.bytes || self.arriving.contains_key(&(from, header.message)) {
            return Err(Error::Stray { from });
        }
        if self.unfinished.of(from) >= UNFINISHED_LIMIT {
            return Err(Error::Unfinished { from, limit: UNFINISHED_LIMIT });
        }
        Ok(())
    }

    /// Queues a message at its port. `bytes` of it are in its first packet.
    #[inline]
    pub fn announce(&mut self, announced: Announced, bytes: u64) -> Option<Vec<Waker>> {
        let Body { from, number, length, port, .. } = announced.body;
        if bytes < length {
            self.unfinished.add(from);
            let (parts, reader) = (Some(VecDeque::new()), None);
            let arriving = Arriving { arrived: bytes, length, parts, reader, port };
            self.arriving.insert((from, number), arriving);
        }
        self.statistics.messages_received += 1;
        let slot = self.ports.find(port);
        let port = self.ports.at(slot);
        port.queue.push_back(announced);
        // A port with more than one message is ready already, or its handler runs.
        if port.handler.is_some() && port.queue.len() == 1 {
            self.ready.push_back(slot);
        }
        (!port.receivers.is_empty()).then(|| std::mem::take(&mut port.receivers))
    }

    /// What a later packet of a message is.
    pub fn continues(&self, from: Rank, header: &PacketHeader, bytes: u64) -> Continues {
        match self.arriving.get(&(from, header.message)) {
            Some(message)
                if message.expects(header.bytes, bytes) && message.port == header.port =>
            {
                match message.parts {
                    Some(_) => Continues::Wanted,
                    None => Continues::Unwanted,
                }
            }
            _ => Continues::Stray,
        }
    }

    /// The next packet of a message is here: `part`, unless nobody wants it (any more).
    pub fn arrived(
        &mut self,
        from: Rank,
        number: u32,
        bytes: u64,
        part: Option<Part>,
    ) -> (Option<Part>, Option<Waker>) {
        let Some(message) = self.arriving.get_mut(&(from, number)) else { return (part, None) };
        message.arrived += bytes;
        if message.arrived == message.length {
            self.unfinished.subtract(from);
        }
        let mut unwanted = part;
        if let Some(parts) = &mut message.parts {
            parts.extend(unwanted.take());
        }
        let reader = message.reader.take();
        if message.is_done() {
            self.arriving.remove(&(from, number));
        }
        (unwanted, reader)
    }

    /// The next part of an arriving message, if it is there; else leaves `waker` for it.
    pub fn take_part(&mut self, from: Rank, number: u32, waker: Option<&Waker>) -> Option<Part> {
        let arriving = self.arriving.get_mut(&(from, number))?;
        let part = arriving.parts.as_mut().and_then(VecDeque::pop_front);
        if part.is_none() {
            arriving.reader = waker.cloned();
        } else if arriving.is_done() {
            self.arriving.remove(&(from, number));
        }
        part
    }

    /// The reader of an arriving message wants no more of it: what is here of it.
    pub fn abandon(&mut self, from: Rank, number: u32) -> VecDeque<Part> {
        let Some(arriving) = self.arriving.get_mut(&(from, number)) else {
            return VecDeque::new();
        };
        let parts = arriving.parts.take();
        if arriving.is_done() {
            self.arriving.remove(&(from, number));
        }
        parts.unwrap_or_default()
    }

    /// A packet was read, or thrown away: what its sender is to be told, if anything.
    #[inline]
    pub fn consumed(&mut self, from: Rank, port: u32, flow: Flow) -> Option<(Rank, PacketHeader)> {
        let slot = self.ports.find(port);
        let consumed = self.ports.at(slot).incoming.consumed(from, flow, self.window)?;
        Some((from, PacketHeader::window(port, flow.map(|group| group.number()), consumed)))
    }

    /// Everything that somebody waits for with a waker.
    pub fn drain_wakers(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for port in self.ports.iter_mut() {
            wakers.append(&mut port.receivers);
            wakers.append(&mut port.senders);
        }
        wakers.extend(self.arriving.values_mut().filter_map(|message| message.reader.take()));
        wakers.extend(self.followers.iter().map(|(_, waker)| waker.clone()));
        wakers
    }

    /// Messages for ports that this rank has never created: their senders' ranks.
    pub fn unclaimed(&mut self) -> Option<(Rank, usize)> {
        let never = |port: &&mut PortState| port.name.is_none() && port.generation == 0;
        let unknown = self.ports.iter_mut().filter(never);
        let mut waiting = unknown.filter(|port| !port.queue.is_empty());
        waiting.next().map(|port| (port.queue[0].body.from, port.queue.len()))
    }
}
