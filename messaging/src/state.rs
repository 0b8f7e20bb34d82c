//! What the engine knows, inside its lock: ports, messages that arrive, windows. No calls out of here.

use crate::by_rank::ByRank;
use crate::engine::Counts;
use crate::error::{Error, Result};
use crate::format::{PacketHeader, port_number};
use crate::handler::Handler;
use crate::message::{Arrived, Body};
use crate::window::{Flow, Incoming, Outgoing};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Waker;
use weft_node::biased::this_thread;
use weft_packet::{HeldPacket, Rank};

/// Messages of one sender that have begun and not ended, at most. A sender has one for each send
/// that is under way: one a thread, and one for each handler that runs in the middle of another.
pub(crate) const UNFINISHED_LIMIT: usize = 4096;

pub(crate) struct State {
    /// Packets of a port's window.
    pub window: u32,
    /// This rank, which sends to itself without a window.
    own: Rank,
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
    pub statistics: Counts,
    /// The thread that polls, and how many of its waits are nested; others are woken by it.
    pub leader: usize,
    pub depth: u32,
    pub followers: Vec<(usize, Waker)>,
    /// Threads that are inside handlers.
    pub handling: Vec<usize>,
    /// Whether threads may keep handles to the engine.
    pub lends: bool,
    /// What to do when this rank cannot go on.
    pub failure_hooks: Vec<Box<dyn FnOnce() + Send>>,
    /// Boxes for messages, to be used again.
    pub spare: Vec<Box<Arrived>>,
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
    pub handler: Option<Box<Handler>>,
    pub has_handler: bool,
    /// Its handler, while a continuation of it waits.
    pub waiting: Option<Box<Handler>>,
    /// That continuation ended before its handler was put there.
    pub ended: bool,
    /// How often a port was dropped here: what an earlier one left behind is not this one's.
    pub generation: u32,
    pub queue: VecDeque<Box<Arrived>>,
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

/// A packet's worth of a message: in link memory, or copied out under pressure.
#[derive(Default)]
pub(crate) struct Part {
    pub held: HeldPacket,
    pub copy: Option<Box<[u8]>>,
}

/// What becomes of a message that begins.
pub(crate) enum Announcement {
    /// Its handler runs on it now.
    Runs(usize, Box<Handler>, Box<Arrived>),
    /// It waits at its port, and so does whatever can run.
    Waits,
    /// It waits to be asked for, and nothing else is to be done.
    Rests,
    /// It waits, and these are to ask for it.
    Wakes(Vec<Waker>),
}

/// What a copy of `packet` costs: its bytes, and no less than the message that it may begin.
pub(crate) fn copy_cost(packet: &[u8]) -> usize {
    packet.len() + size_of::<Arrived>()
}

impl State {
    /// Nothing yet, at rank `own`; a port's window has so many packets.
    pub fn new(own: Rank, window: u32) -> Self {
        State {
            window,
            own,
            ports: Ports::default(),
            ready: VecDeque::new(),
            arriving: BTreeMap::new(),
            next_message: 0,
            unfinished: Tally::default(),
            kept: ByRank::default(),
            copied_bytes: 0,
            owed: VecDeque::new(),
            failure: None,
            incidents: VecDeque::new(),
            statistics: Counts::default(),
            leader: 0,
            depth: 0,
            followers: Vec::new(),
            handling: Vec::new(),
            lends: false,
            failure_hooks: Vec::new(),
            spare: Vec::new(),
        }
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

    /// The slot of the port `name`, for a rank that only sends to it.
    pub fn port_elsewhere(&mut self, name: &str) -> usize {
        self.ports.find(port_number(name))
    }

    /// Gives the port in `slot` its handler.
    pub fn set_handler(&mut self, slot: usize, handler: Box<Handler>) {
        let port = self.ports.at(slot);
        port.has_handler = true;
        port.handler = Some(handler);
        if !port.queue.is_empty() {
            self.ready.push_back(slot);
        }
    }

    /// Forgets the port, all but its windows, and returns what nobody has read.
    pub fn remove_port(
        &mut self,
        slot: usize,
    ) -> ([Option<Box<Handler>>; 2], VecDeque<Box<Arrived>>) {
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
        if self.handling.last() == Some(&me) {
            self.handling.pop();
        } else if let Some(place) = self.handling.iter().rposition(|thread| *thread == me) {
            self.handling.swap_remove(place);
        }
    }

    /// Whether this thread is in a handler.
    pub fn is_handling(&self) -> bool {
        self.handling.contains(&this_thread())
    }

    /// The handler of the port in `slot` waits.
    pub fn wait_with(&mut self, slot: usize, handler: Box<Handler>) {
        self.statistics.continuations += 1;
        let port = self.ports.at(slot);
        port.waiting = port.has_handler.then_some(handler);
        if std::mem::take(&mut port.ended) {
            self.end_wait(slot);
        }
    }

    /// The continuation of the port in `slot` has ended.
    fn end_wait(&mut self, slot: usize) {
        let port = self.ports.at(slot);
        match port.waiting.take() {
            Some(handler) => self.put_back(slot, handler),
            None => port.ended = port.has_handler,
        }
    }

    /// What waited for `run` has ended: its port goes on.
    pub fn ended(&mut self, run: PortRun) {
        if self.ports.at(run.slot).generation == run.generation {
            self.end_wait(run.slot);
        }
    }

    /// The next message for a handler that can run now, with that handler.
    #[inline]
    pub fn next_ready(&mut self) -> Option<(usize, Box<Handler>, Box<Arrived>)> {
        while let Some(slot) = self.ready.pop_front() {
            let port = self.ports.at(slot);
            let Some(handler) = port.handler.take() else { continue };
            match port.queue.pop_front() {
                Some(message) => return Some((slot, handler, message)),
                None => port.handler = Some(handler),
            }
        }
        None
    }

    /// What [`Self::announce`] returned to be run cannot be run here.
    pub fn run_later(&mut self, slot: usize, handler: Box<Handler>, arrived: Box<Arrived>) {
        self.leave_handler();
        let port = self.ports.at(slot);
        port.queue.push_front(arrived);
        port.handler = Some(handler);
        self.ready.push_front(slot);
    }

    /// The handler of the port in `slot` can run again.
    #[inline]
    pub fn put_back(&mut self, slot: usize, handler: Box<Handler>) {
        let port = self.ports.at(slot);
        if port.has_handler && port.handler.is_none() {
            port.handler = Some(handler);
            if !port.queue.is_empty() {
                self.ready.push_back(slot);
            }
        }
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

    /// Whether nothing has to be done before the next handler runs.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.ready.is_empty()
            && self.owed.is_empty()
            && self.incidents.is_empty()
            && self.failure.is_none()
    }

    /// Whether a message for this port would be handled at once.
    #[inline]
    pub fn runs_now(&mut self, number: u32) -> bool {
        let calm = self.is_calm();
        let slot = self.ports.find(number);
        let port = self.ports.at(slot);
        calm && port.handler.is_some() && port.queue.is_empty()
    }

    /// Brings a message to its port; `bytes` of it are in its first packet. Returns it with the handler
    /// that is to run on it, if that can be at once.
    #[inline]
    pub fn announce(&mut self, arrived: Box<Arrived>, bytes: u64) -> Announcement {
        let Body { length, port, .. } = arrived.body;
        if bytes < length {
            self.begin_arriving(&arrived.body, bytes);
        }
        self.statistics.messages_received += 1;
        let calm = self.is_calm();
        let slot = self.ports.find(port);
        let port = self.ports.at(slot);
        if calm
            && port.queue.is_empty()
            && let Some(handler) = port.handler.take()
        {
            self.enter_handler();
            return Announcement::Runs(slot, handler, arrived);
        }
        port.queue.push_back(arrived);
        // A port with more than one message is ready already, or its handler runs.
        if port.handler.is_some() && port.queue.len() == 1 {
            self.ready.push_back(slot);
        }
        match port.receivers.is_empty() {
            true if calm && !port.has_handler => Announcement::Rests,
            true => Announcement::Waits,
            false => Announcement::Wakes(std::mem::take(&mut port.receivers)),
        }
    }

    fn begin_arriving(&mut self, body: &Body, bytes: u64) {
        let Body { from, number, length, port, .. } = *body;
        self.unfinished.add(from);
        let (parts, reader) = (Some(VecDeque::new()), None);
        let arriving = Arriving { arrived: bytes, length, parts, reader, port };
        self.arriving.insert((from, number), arriving);
    }

    /// Whether a packet is the next of a message that has begun.
    pub fn continues(&self, from: Rank, header: &PacketHeader, bytes: u64) -> bool {
        let message = self.arriving.get(&(from, header.message));
        message.is_some_and(|message| {
            message.expects(header.bytes, bytes) && message.port == header.port
        })
    }

    /// The next packet of a message is here. Returns it if nobody wants it (any more), and who waits.
    pub fn arrived(
        &mut self,
        from: Rank,
        number: u32,
        bytes: u64,
        part: Part,
    ) -> (Option<Part>, Option<Waker>) {
        let Some(message) = self.arriving.get_mut(&(from, number)) else {
            return (Some(part), None);
        };
        message.arrived += bytes;
        if message.arrived == message.length {
            self.unfinished.subtract(from);
        }
        let unwanted = match &mut message.parts {
            Some(parts) => {
                parts.push_back(part);
                None
            }
            None => Some(part),
        };
        let reader = message.reader.take();
        if message.is_done() {
            self.arriving.remove(&(from, number));
        }
        (unwanted, reader)
    }

    /// A part was read, or thrown away: what its sender is to be told, if anything. It is given if it was
    /// copied out.
    #[inline]
    pub fn give_back(&mut self, body: &Body, copy: Option<&[u8]>) -> Option<(Rank, PacketHeader)> {
        match copy {
            None => *self.kept.entry(body.from) -= 1,
            Some(copy) => self.copied_bytes -= copy_cost(copy),
        }
        self.consumed(body.from, body.port, body.flow)
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
    fn consumed(&mut self, from: Rank, port: u32, flow: Flow) -> Option<(Rank, PacketHeader)> {
        if from == self.own {
            return None;
        }
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
        wakers
    }

    /// Messages for ports that this rank has never created: their senders' ranks.
    pub fn unclaimed(&mut self) -> Option<(Rank, usize)> {
        // One that was dropped had its time: what was late for it is nobody's mistake.
        let never = |port: &&mut PortState| port.name.is_none() && port.generation == 0;
        let unknown = self.ports.iter_mut().filter(never);
        let mut waiting = unknown.filter(|port| !port.queue.is_empty());
        waiting.next().map(|port| (port.queue[0].body.from, port.queue.len()))
    }
}
