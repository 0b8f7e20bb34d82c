//! The machine on the packet layer.

use crate::frame::{Flags, Header, Kind, SIZE};
use crate::ledger::Status;
use crate::machine::{Breach, EventMachine, Outbox, Statistics};
use crate::settings::{Protocol, Settings};
use crate::traditional::Storage;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_endpoint::{Awaited, KeptPacket, Packet, Packets, Progress, Rank, Step, Whom};

/// To whom a fragment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// One node.
    One(Rank),
    /// All others.
    Everyone,
}

/// From whom a fragment is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// One node.
    One(Rank),
    /// Any sender.
    Anyone,
}

/// Reason why an event could not go on.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// More bytes than a fragment holds.
    #[error("{size} bytes do not fit into a fragment of {max}: send several")]
    TooLong {
        /// The bytes asked for.
        size: usize,
        /// Largest that fits.
        max: usize,
    },
    /// A node that the job does not have, or this one.
    #[error("rank {0} is no other node of this job")]
    NoSuchNode(Rank),
    /// An event that this node has received all of, or whose message it has completed.
    #[error("event {0} is over at this node: events are numbered 0, 1, 2, ... on all of them")]
    Over(u32),
    /// A job of one rank, in which nobody sends.
    #[error("there is no other node that could send")]
    Alone,
    /// Too few receive buffers.
    #[error("the protocols take {0} receive buffers in this job, three for each node")]
    Buffers(usize),
    /// A peer did what no correct node does.
    #[error(transparent)]
    Breach(#[from] Breach),
    /// The packet layer failed.
    #[error(transparent)]
    Packets(#[from] weft_endpoint::Error),
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;

/// Number of the handler of frames in traces, which no port has.
const HANDLER: u32 = u32::MAX;

/// Bytes that are kept to be sent again.
type Body = Arc<[u8]>;

/// A node's part in the events of a job, one for each job: it takes all packets of the rank. Any
/// thread may use it.
pub struct Events {
    packets: Packets,
    settings: Settings,
    state: Arc<Mutex<NodeState>>,
    /// Callback that sends what there was no packet for, whatever this rank waits for.
    _progress: Arc<Progress>,
}

struct NodeState {
    machine: EventMachine<Body>,
    arrived: BTreeMap<u32, VecDeque<Arrived>>,
    /// Frames for which there was no packet yet.
    waiting: VecDeque<(Option<Rank>, Header, Option<Body>)>,
    breach: Option<Breach>,
}

struct Arrived {
    from: Rank,
    index: u32,
    stored: Stored,
}

/// Storage of a fragment's bytes.
enum Stored {
    Buffer(KeptPacket),
    Memory(Vec<u8>),
}

impl Events {
    /// Takes part. All ranks do, with the same settings, before any of them sends. It may be
    /// beside other systems on the same packets.
    ///
    /// # Errors
    /// [`Error::Buffers`].
    pub fn open(packets: &Packets, settings: Settings) -> Result<Self> {
        let packets = &packets.of(weft_endpoint::Protocol::EVENTS);
        let (rank, ranks) = (packets.rank(), packets.size());
        let limits = settings.limits(ranks, packets.in_flight()).map_err(Error::Buffers)?;
        let state = Arc::new(Mutex::new(NodeState {
            machine: EventMachine::new(rank, ranks, &settings, limits),
            arrived: BTreeMap::new(),
            waiting: VecDeque::new(),
            breach: None,
        }));
        packets.trace().name_port(HANDLER, "events");
        let (upcall, arriving) = (packets.clone(), Arc::clone(&state));
        packets.on_packet(move |packet| arrive(&upcall, &arriving, packet));
        let (owing, waiting) = (packets.clone(), Arc::downgrade(&state));
        let progress: Arc<Progress> = Arc::new(move || {
            let state = waiting.upgrade();
            state.map_or(Ok(()), |state| flush(&owing, &state).or_else(unless_exhausted))?;
            Ok(false)
        });
        packets.system().progress_by(&progress);
        Ok(Events { packets: packets.clone(), settings, state, _progress: progress })
    }

    /// This node.
    pub fn rank(&self) -> Rank {
        self.packets.rank()
    }

    /// Nodes in the job.
    pub fn size(&self) -> usize {
        self.packets.size()
    }

    /// Bytes that a fragment holds at most.
    pub fn fragment_bytes(&self) -> usize {
        self.packets.max_payload() - SIZE
    }

    /// The packets below, for their clock and for declared work.
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Counters of this node so far.
    pub fn statistics(&self) -> Statistics {
        lock(&self.state).machine.statistics
    }

    /// Sends a fragment of a message of `event`: `send` of careful-protocols 5.1. The bytes are
    /// copied into a packet and are the caller's again on return. Waits, receiving meanwhile, only
    /// for windows or for room to keep what is sent.
    ///
    /// A node sends one message in an event at most, to one node or to all.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::NoSuchNode`], a peer's breach, a lost rank.
    pub fn send(&self, to: Destination, event: u32, bytes: &[u8], flags: Flags) -> Result<()> {
        let max = self.fragment_bytes();
        if bytes.len() > max {
            return Err(Error::TooLong { size: bytes.len(), max });
        }
        let to = match to {
            Destination::One(to) => Some(self.other(to)?),
            Destination::Everyone => None,
        };
        if self.size() == 1 {
            return Ok(());
        }
        loop {
            self.wait_to_send(to)?;
            let mut packet = match to {
                Some(to) => self.packets.packet_to(to)?,
                None => self.packets.packet()?,
            };
            let mut state = lock(&self.state);
            // An upcall may have closed the window again, by an update of its own.
            if !state.machine.may_send(to) {
                continue;
            }
            let mut out = Outbox::default();
            let machine = &mut state.machine;
            let header = machine.send(to, event, flags, || bytes.into(), bytes.len(), &mut out);
            drop(state);
            account(&self.packets, &out);
            packet.put(&header.encode())?.put(bytes)?;
            match to {
                Some(to) => packet.unicast(to)?,
                None => packet.broadcast()?,
            }
            return Ok(());
        }
    }

    fn other(&self, rank: Rank) -> Result<Rank> {
        if rank == self.rank() || rank.index() >= self.size() {
            return Err(Error::NoSuchNode(rank));
        }
        Ok(rank)
    }

    fn wait_to_send(&self, to: Option<Rank>) -> Result<()> {
        if lock(&self.state).machine.may_send(to) {
            return self.flush_waiting();
        }
        lock(&self.state).machine.statistics.blocked_sends += 1;
        let what = || match to {
            Some(to) => Awaited::new(format!("rank {to} to take fragments"), Whom::One(to)),
            None => Awaited::of_unknown("all others to take fragments"),
        };
        self.wait(None, &what, |state| state.machine.may_send(to).then_some(()))
    }

    /// The next fragment of `event` from there, with what follows it: `receive` of
    /// careful-protocols 5.1. Waits until one has come. Its buffer is free when it is dropped.
    ///
    /// # Errors
    /// [`Error::Over`], [`Error::Alone`], [`Error::NoSuchNode`], a peer's breach, a lost rank.
    pub fn receive(&self, from: Source, event: u32) -> Result<Fragment<'_>> {
        if self.size() == 1 {
            return Err(Error::Alone);
        }
        if let Source::One(from) = from {
            self.other(from)?;
        }
        if lock(&self.state).machine.is_over(event) {
            return Err(Error::Over(event));
        }
        let find = |state: &mut NodeState| {
            let queue = state.arrived.get_mut(&event)?;
            let wanted = |arrived: &Arrived| match from {
                Source::One(from) => arrived.from == from,
                Source::Anyone => true,
            };
            let place = queue.iter().position(wanted)?;
            let Arrived { from, index, stored } = queue.remove(place)?;
            if queue.is_empty() {
                state.arrived.remove(&event);
            }
            let status = state.machine.consume(from, event);
            state.machine.statistics.fragments_received += 1;
            Some((from, index, status, stored))
        };
        let what = || match from {
            Source::One(from) => {
                let what = format!("a fragment of event {event} from rank {from}");
                Awaited::new(what, Whom::One(from))
            }
            Source::Anyone => {
                Awaited::new(format!("a fragment of event {event} from anyone"), Whom::Anyone)
            }
        };
        let (source, index, status, stored) = self.wait(Some(event), &what, find)?;
        Ok(Fragment { events: self, source, index, status, stored: Some(stored) })
    }

    /// Polls until `find` finds something, and lets others know `what` this node waits for. Who
    /// waits too long for `event`, or to send, asks for what is missing, where the protocol does.
    fn wait<T>(
        &self,
        event: Option<u32>,
        what: &dyn Fn() -> Awaited,
        mut find: impl FnMut(&mut NodeState) -> Option<T>,
    ) -> Result<T> {
        let asks = self.settings.protocol == Protocol::Traditional;
        loop {
            let ask_at = asks.then(|| self.packets.now() + self.settings.request_after);
            if let Some(found) = self.wait_until(ask_at, what, &mut find)? {
                return Ok(found);
            }
            let mut out = Outbox::default();
            lock(&self.state).machine.timeout(event, &mut out);
            perform(&self.packets, &self.state, out)?;
        }
    }

    /// Does what [`Self::wait`] does, until `deadline` at most, and asks for nothing.
    fn wait_until<T>(
        &self,
        deadline: Option<Duration>,
        what: &dyn Fn() -> Awaited,
        find: &mut impl FnMut(&mut NodeState) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut found = Ok(None);
        self.packets.presence().wait_for(what, deadline, &mut || {
            found = self.flush_waiting().map(|()| find(&mut lock(&self.state)));
            if !matches!(found, Ok(None)) {
                return Ok(Step::Done);
            }
            if self.packets.poll()? {
                return Ok(Step::Progress);
            }
            self.packets.losses().check()?;
            let is_over = deadline.is_some_and(|deadline| self.packets.now() >= deadline);
            Ok(if is_over { Step::Done } else { Step::Idle })
        })?;
        found
    }

    /// Sends the frames that wait for packets, and says what a peer did wrong.
    fn flush_waiting(&self) -> Result<()> {
        if let Some(breach) = lock(&self.state).breach {
            return Err(breach.into());
        }
        Ok(flush(&self.packets, &self.state)?)
    }

    fn released(&self, from: Rank, place: Storage) {
        let mut out = Outbox::default();
        lock(&self.state).machine.released(from, place, &mut out);
        // A destructor cannot return an error; the next waiting call returns it.
        let _ = perform(&self.packets, &self.state, out);
    }

    /// The end of the job's events: a crowd event of its own, `event`, after which all nodes have
    /// all that was sent in earlier ones.
    ///
    /// # Errors
    /// Those of [`Self::send`] and [`Self::receive`].
    pub fn close(self, event: u32) -> Result<Statistics> {
        if self.size() > 1 {
            self.send(Destination::Everyone, event, &[], Flags::CROWD)?;
            while self.receive(Source::Anyone, event)?.status() != Status::EventDone {}
            let mut out = Outbox::default();
            lock(&self.state).machine.farewell(&mut out);
            perform(&self.packets, &self.state, out)?;
            let what = || Awaited::of_unknown("all others to have what was sent in events");
            self.wait(None, &what, |state| {
                (state.machine.all_have(event) && state.waiting.is_empty()).then_some(())
            })?;
            self.packets.flush()?;
        }
        Ok(self.statistics())
    }
}

impl Drop for Events {
    /// Gives the upcall up, which holds the packets, whose node holds it.
    fn drop(&mut self) {
        self.packets.on_packet(|_| ());
    }
}

/// A fragment that has come, with its bytes where they are. Dropping it frees its buffer.
pub struct Fragment<'a> {
    events: &'a Events,
    source: Rank,
    index: u32,
    status: Status,
    stored: Option<Stored>,
}

impl Fragment<'_> {
    /// The node that sent it.
    pub fn source(&self) -> Rank {
        self.source
    }

    /// Its place in the message, counted from 0: fragments come in any order.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Status of what follows it.
    pub fn status(&self) -> Status {
        self.status
    }
}

impl Deref for Fragment<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.stored {
            Some(Stored::Buffer(packet)) => packet.get(SIZE..).unwrap_or_default(),
            Some(Stored::Memory(bytes)) => bytes,
            None => &[],
        }
    }
}

impl Drop for Fragment<'_> {
    fn drop(&mut self) {
        // First the packet, so that its credit leaves with what the protocol sends.
        let place = match self.stored.take() {
            Some(Stored::Buffer(_)) => Storage::Buffer,
            Some(Stored::Memory(_)) => Storage::Memory,
            None => Storage::Nowhere,
        };
        self.events.released(self.source, place);
    }
}

fn lock(state: &Mutex<NodeState>) -> MutexGuard<'_, NodeState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The upcall. Holds no lock while it calls the packet layer.
fn arrive(packets: &Packets, state: &Mutex<NodeState>, packet: Packet<'_>) {
    let _handler = packets.trace().handler_span(HANDLER);
    let from = packet.source();
    let Some((header, bytes)) = Header::decode(&packet) else {
        lock(state).breach.get_or_insert(Breach::Frame(from));
        return;
    };
    let mut out = Outbox::default();
    let size = bytes.len();
    let mut locked = lock(state);
    let place = match locked.machine.received(from, &header, &mut out) {
        Ok(place) => place,
        Err(breach) => {
            locked.breach.get_or_insert(breach);
            return;
        }
    };
    drop(locked);
    let stored = match place {
        Storage::Nowhere => None,
        Storage::Buffer => packet.keep().map(Stored::Buffer),
        Storage::Memory => {
            out.copied += size;
            Some(Stored::Memory(bytes.to_vec()))
        }
    };
    if let Some(stored) = stored {
        debug_assert_eq!(header.kind, Kind::Fragment, "only fragments are kept");
        let arrived = Arrived { from, index: header.index, stored };
        lock(state).arrived.entry(header.event).or_default().push_back(arrived);
    }
    if let Err(error) = perform(packets, state, out).or_else(unless_exhausted) {
        // A waiting call returns the same error: an upcall fails only where the job does.
        debug_assert!(packets.losses().first().is_some(), "{error}");
    }
}

fn account(packets: &Packets, out: &Outbox<Body>) {
    if out.operations > 0 {
        packets.work(out.operations);
    }
    if out.copied > 0 {
        packets.copied(out.copied);
    }
}

/// Sends the frames that wait for packets, as far as there are some. Never blocks.
fn flush(packets: &Packets, state: &Mutex<NodeState>) -> weft_endpoint::Result<()> {
    let mut locked = lock(state);
    if locked.waiting.is_empty() {
        return Ok(());
    }
    let frames = locked.waiting.drain(..).collect();
    packets.system().note_owing(false);
    drop(locked);
    perform(packets, state, Outbox { frames, ..Outbox::default() })
}

/// Sends frames, as far as there are packets to send them in; the rest waits. Never blocks.
fn perform(
    packets: &Packets,
    state: &Mutex<NodeState>,
    out: Outbox<Body>,
) -> weft_endpoint::Result<()> {
    account(packets, &out);
    let mut frames = out.frames.into_iter();
    while let Some((to, header, body)) = frames.next() {
        let free = match to {
            Some(to) => packets.try_packet_to(to),
            None => packets.try_packet(),
        };
        let mut packet = match free {
            Ok(Some(packet)) => packet,
            none => {
                let mut state = lock(state);
                state.waiting.push_back((to, header, body));
                state.waiting.extend(frames);
                packets.system().note_owing(true);
                return none.map(drop);
            }
        };
        packet.put(&header.encode())?.put(body.as_deref().unwrap_or_default())?;
        match to {
            Some(to) => packet.unicast(to)?,
            None => packet.broadcast()?,
        }
    }
    Ok(())
}

/// A program that holds all packets of its rank is told so where it sends; what this layer has to
/// send waits.
fn unless_exhausted(error: weft_endpoint::Error) -> weft_endpoint::Result<()> {
    match error {
        weft_endpoint::Error::PoolExhausted { .. } => Ok(()),
        error => Err(error),
    }
}
