//! The machine on the packet layer.

use crate::frame::{Flags, Header, Kind, SIZE};
use crate::ledger::Status;
use crate::machine::{Breach, EventMachine, Frame, Outbox, Statistics};
use crate::settings::{Protocol, Settings};
use crate::traditional::Storage;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_endpoint::{Awaited, DeferredSends, KeptPacket, Packet, Packets, Progress, Rank, Whom};

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
    node: Arc<Node>,
    settings: Settings,
    /// Callback that sends what there was no packet for, whatever this rank waits for.
    _progress: Arc<Progress>,
}

struct Node {
    packets: Packets,
    state: Mutex<NodeState>,
    frames: DeferredSends<Frame<Body>>,
}

struct NodeState {
    machine: EventMachine<Body>,
    arrived: BTreeMap<u32, VecDeque<Arrived>>,
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
    /// [`Error::Buffers`]; this rank came when the job had begun.
    pub fn open(packets: &Packets, settings: Settings) -> Result<Self> {
        packets.check_founder("events")?;
        let packets = &packets.of(weft_endpoint::Protocol::EVENTS);
        let (rank, ranks) = (packets.rank(), packets.size());
        let limits = settings.limits(ranks, packets.in_flight()).map_err(Error::Buffers)?;
        let state = Mutex::new(NodeState {
            machine: EventMachine::new(rank, ranks, &settings, limits),
            arrived: BTreeMap::new(),
            breach: None,
        });
        let (packets, frames) = (packets.clone(), packets.system().deferred());
        let node = Arc::new(Node { packets, state, frames });
        node.packets.trace().name_port(HANDLER, "events");
        let arriving = Arc::clone(&node);
        node.packets.on_packet(move |packet| arriving.arrive(packet));
        let owing = Arc::downgrade(&node);
        let progress: Arc<Progress> = Arc::new(move || {
            owing.upgrade().map_or(Ok(false), |node| node.frames.pay(node.sender()))
        });
        node.packets.system().progress_by(&progress);
        Ok(Events { node, settings, _progress: progress })
    }

    /// This node.
    pub fn rank(&self) -> Rank {
        self.node.packets.rank()
    }

    /// Nodes in the job.
    pub fn size(&self) -> usize {
        self.node.packets.size()
    }

    /// Bytes that a fragment holds at most.
    pub fn fragment_bytes(&self) -> usize {
        self.node.packets.max_payload() - SIZE
    }

    /// The packets below, for their clock and for declared work.
    pub fn packets(&self) -> &Packets {
        &self.node.packets
    }

    /// Counters of this node so far.
    pub fn statistics(&self) -> Statistics {
        self.node.lock().machine.statistics
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
                Some(to) => self.node.packets.packet_to(to)?,
                None => self.node.packets.packet()?,
            };
            let mut state = self.node.lock();
            // An upcall may have closed the window again, by an update of its own.
            if !state.machine.may_send(to) {
                continue;
            }
            let mut out = Outbox::default();
            let machine = &mut state.machine;
            let header = machine.send(to, event, flags, || bytes.into(), bytes.len(), &mut out);
            drop(state);
            self.node.account(&out);
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
        if self.node.lock().machine.may_send(to) {
            return self.flush_waiting();
        }
        self.node.lock().machine.statistics.blocked_sends += 1;
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
        if self.node.lock().machine.is_over(event) {
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
            let ask_at = asks.then(|| self.node.packets.now() + self.settings.request_after);
            if let Some(found) = self.wait_until(ask_at, what, &mut find)? {
                return Ok(found);
            }
            let mut out = Outbox::default();
            self.node.lock().machine.timeout(event, &mut out);
            self.node.perform(out)?;
        }
    }

    /// Does what [`Self::wait`] does, until `deadline` at most, and asks for nothing.
    fn wait_until<T>(
        &self,
        deadline: Option<Duration>,
        what: &dyn Fn() -> Awaited,
        find: &mut impl FnMut(&mut NodeState) -> Option<T>,
    ) -> Result<Option<T>> {
        let found = self.node.packets.presence().wait_to_find(what, deadline, || {
            Ok(match self.flush_waiting() {
                Ok(()) => find(&mut self.node.lock()).map(Ok),
                Err(error) => Some(Err(error)),
            })
        })?;
        found.transpose()
    }

    /// Sends the frames that wait for packets, and says what a peer did wrong.
    fn flush_waiting(&self) -> Result<()> {
        if let Some(breach) = self.node.lock().breach {
            return Err(breach.into());
        }
        Ok(self.node.frames.flush(self.node.sender())?)
    }

    fn released(&self, from: Rank, place: Storage) {
        let mut out = Outbox::default();
        self.node.lock().machine.released(from, place, &mut out);
        // A destructor cannot return an error; the next waiting call returns it.
        let _ = self.node.perform(out);
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
            self.node.lock().machine.farewell(&mut out);
            self.node.perform(out)?;
            let what = || Awaited::of_unknown("all others to have what was sent in events");
            self.wait(None, &what, |state| {
                (state.machine.all_have(event) && self.node.frames.is_empty()).then_some(())
            })?;
            self.node.packets.flush()?;
        }
        Ok(self.statistics())
    }
}

impl Drop for Events {
    /// Gives the upcall up, which holds the packets, whose node holds it.
    fn drop(&mut self) {
        self.node.packets.on_packet(|_| ());
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

impl Node {
    fn lock(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The upcall. Holds no lock while it calls the packet layer.
    fn arrive(&self, packet: Packet<'_>) {
        let _handler = self.packets.trace().handler_span(HANDLER);
        let from = packet.source();
        let decoded = Header::decode(&packet).filter(|_| from.index() < self.packets.size());
        let Some((header, bytes)) = decoded else {
            self.lock().breach.get_or_insert(Breach::Frame(from));
            return;
        };
        let mut out = Outbox::default();
        let size = bytes.len();
        let mut state = self.lock();
        let place = match state.machine.received(from, &header, &mut out) {
            Ok(place) => place,
            Err(breach) => {
                state.breach.get_or_insert(breach);
                return;
            }
        };
        drop(state);
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
            self.lock().arrived.entry(header.event).or_default().push_back(arrived);
        }
        if let Err(error) = self.perform(out) {
            // A waiting call returns the same error: an upcall fails only where the job does.
            debug_assert!(
                error.is_exhausted() || self.packets.losses().first().is_some(),
                "{error}"
            );
        }
    }

    fn account(&self, out: &Outbox<Body>) {
        if out.operations > 0 {
            self.packets.work(out.operations);
        }
        if out.copied > 0 {
            self.packets.copied(out.copied);
        }
    }

    /// Sends frames, as far as there are packets to send them in; the rest waits. Never blocks.
    fn perform(&self, out: Outbox<Body>) -> weft_endpoint::Result<()> {
        self.account(&out);
        let mut frames = self.frames.batch();
        out.frames.into_iter().for_each(|frame| frames.add(frame));
        frames.send(self.sender())
    }

    /// Function that sends a frame, if there is a packet for it.
    fn sender(&self) -> impl FnMut(&mut Frame<Body>) -> weft_endpoint::Result<bool> {
        |(to, header, body)| {
            let free = match *to {
                Some(to) => self.packets.try_packet_to(to)?,
                None => self.packets.try_packet()?,
            };
            let Some(mut packet) = free else { return Ok(false) };
            packet.put(&header.encode())?.put(body.as_deref().unwrap_or_default())?;
            match *to {
                Some(to) => packet.unicast(to)?,
                None => packet.broadcast()?,
            }
            Ok(true)
        }
    }
}
