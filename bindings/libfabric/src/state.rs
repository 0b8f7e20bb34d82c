//! What the lock of a job is around: its messages, completion queues, counters and addresses.

mod addresses;
mod news;

use crate::abi::flag;
use crate::collective::team::Buffers;
use crate::memory::Memory;
use crate::pointer::Context;
use crate::refusal::{Refusal, Result, completion};
use crate::transfer::{Exposed, Notice, ReceiveOp, RemoteCounters, SendOp};
use addresses::Addresses;
pub(crate) use news::{Bound, CounterId, Counts, QueueId, Watched};
use news::{Completions, Counter};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;
use weft_collective::arena::{Areas, Arena};
use weft_collective::{TeamId, Teams};
use weft_packet::{HeldPacket, KeptPacket, Packets, Rank, Taken};
use weft_tagged::collectives::{self, Collectives};
use weft_tagged::remote::{self, Accessed, Outcome, Owed, Refused, Remote};
use weft_tagged::{Address, Envelope, Error, Event, Exchange, Looked, Outgoing, Sending};

/// An address vector of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VectorId(u16);

/// Packets that one call takes from the network at most.
const PACKETS_AT_ONCE: usize = 64;
/// How long a program tries in vain to send to a rank that has no room for its messages before it is told why.
const PATIENCE: Duration = Duration::from_secs(5);

/// The messages of this rank, and what its program is told of them.
pub(crate) struct State {
    pub exchange: Exchange<SendOp, ReceiveOp>,
    pub remote: Remote<SendOp, Exposed>,
    pub collectives: Collectives<Buffers, KeptPacket>,
    /// What teams have in shared memory.
    pub arenas: BTreeMap<TeamId, Arc<Arena>>,
    /// Areas of this rank's board, and which team has which.
    pub areas: Areas,
    pub led: BTreeMap<TeamId, usize>,
    ranks: usize,
    queues: Vec<Completions>,
    counters: Vec<Counter>,
    /// Members of poll sets, and what endpoints and regions are bound to, once for each.
    held: Vec<Watched>,
    vectors: Vec<Addresses>,
    /// By endpoint number, if it is taken: who is told of others' accesses.
    endpoints: Vec<Option<Told>>,
    /// Keys that the provider has given to regions.
    keys: u64,
    /// Answers to writes that no queue had room to be told of, and the queue.
    owed: VecDeque<(QueueId, Owed)>,
    /// Why messages cannot go on.
    failure: Option<Error>,
    /// Whether the upcall thread was told that something waits, for room or to be fetched.
    is_waiting: bool,
    /// To whom nothing can be sent, since when, and whether the program was told.
    full: Option<(Rank, Duration, bool)>,
}

/// An operation that has ended, as its program is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub context: Context,
    pub flags: u64,
    pub length: usize,
    pub buffer: Context,
    pub data: u64,
    pub tag: u64,
    /// Who sent the message, and where the program keeps addresses.
    pub source: Option<(VectorId, Address)>,
    /// What went wrong, and how many bytes were lost.
    pub error: Option<(c_int, usize)>,
}

/// Who is told that others have accessed memory of this rank.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    /// Of data beside a write.
    pub queue: Option<QueueId>,
    pub vector: Option<VectorId>,
    pub counters: RemoteCounters,
}

impl State {
    /// Of `rank` in a job of `ranks`. Of each member of a team it keeps so many packets at most. Where ranks share cores, long messages
    /// and writes are fetched.
    pub fn new(rank: Rank, ranks: usize, keeps: usize, crowded: bool) -> Self {
        let (mut exchange, mut remote) = (Exchange::new(rank, ranks), Remote::new(rank, ranks));
        exchange.set_lending(crowded);
        remote.set_lending(crowded);
        State {
            exchange,
            remote,
            collectives: Teams::new(rank, collectives::TUNING, keeps, true),
            arenas: BTreeMap::new(),
            areas: Areas::default(),
            led: BTreeMap::new(),
            ranks,
            queues: Vec::new(),
            counters: Vec::new(),
            held: Vec::new(),
            vectors: Vec::new(),
            endpoints: Vec::new(),
            keys: 0,
            owed: VecDeque::new(),
            failure: None,
            is_waiting: false,
            full: None,
        }
    }

    /// Takes what has arrived, up to the first packet that ends something, and sends what waits. Whether anything
    /// happened.
    pub fn progress(&mut self, packets: &Packets) -> weft_tagged::Result<bool> {
        if self.failure.is_some() {
            return self.fail();
        }
        let mut any = !self.owed.is_empty() && self.answer_owed();
        let mut held = HeldPacket::default();
        for _ in 0..PACKETS_AT_ONCE {
            let (mut failure, mut received) = (None, false);
            // A message is put where it belongs, and nothing is sent for that. Written out, as in `arrived`: one function for both
            // hands its result through memory, and made messages of 8 bytes some 2 % slower.
            let place = |from, packet: &[u8]| {
                let is_message = !collectives::is_collective(packet) && !remote::is_access(packet);
                if is_message {
                    match self.exchange.arrive(from, packet) {
                        Ok(None) => {}
                        Ok(Some((op, envelope))) => {
                            self.received(&op, &envelope);
                            received = true;
                        }
                        Err(error) => failure = Some(error),
                    }
                }
                is_message
            };
            match packets.take_unless(place, &mut held)? {
                Taken::Nothing => break,
                Taken::AtOnce => {}
                Taken::Held => failure = self.arrived(packets, &mut held).err(),
            }
            any = true;
            if failure.is_some() {
                self.failure = failure;
                return self.fail();
            }
            // Whoever reads the queue hears of it at once; one more look costs it as much as a packet's way through here.
            if received || self.exchange.has_event() || self.remote.has_event() {
                break;
            }
        }
        if self.is_waiting || self.has_to_leave() {
            any |= self.leave(packets)?;
        }
        if any {
            self.tell();
        }
        Ok(any)
    }

    /// Does what a packet says.
    #[inline(never)]
    fn arrived(&mut self, mut packets: &Packets, held: &mut HeldPacket) -> weft_tagged::Result<()> {
        let from = held.source().unwrap_or(Rank(0));
        let packet = packets.read(held);
        let outcome = if collectives::is_collective(packet) {
            collectives::arrive(&mut self.collectives, from, Looked(packets, &mut *held))
        } else if remote::is_access(packet) {
            self.remote.arrive(&mut packets, from, packet)
        } else {
            let received = self.exchange.arrive(from, packet);
            received.map(|received| {
                if let Some((op, envelope)) = received {
                    self.received(&op, &envelope);
                }
            })
        };
        packets.taken();
        packets.release(held);
        outcome
    }

    /// What every call hears from the first failure on.
    #[cold]
    fn fail(&self) -> weft_tagged::Result<bool> {
        self.failure.clone().map_or(Ok(false), Err)
    }

    /// Whether something waits for room in the network, or to be fetched.
    #[inline]
    pub fn has_to_leave(&self) -> bool {
        self.exchange.has_to_leave()
            || self.remote.has_to_leave()
            || self.collectives.has_to_leave()
    }

    /// Sends what waits. For what has to wait longer there is the upcall thread: room is no arrival that it is woken for.
    fn leave(&mut self, mut packets: &Packets) -> weft_tagged::Result<bool> {
        let mut any = self.exchange.leave(&mut packets)?;
        any |= self.remote.leave(&mut packets)?;
        any |= self.collectives.leave(&mut collectives::Packets(&mut packets))?;
        let waits = self.has_to_leave();
        if waits != self.is_waiting {
            self.is_waiting = waits;
            packets.note_errand(waits);
        }
        Ok(any)
    }

    /// Sends a message of whose end nobody is told but a counter, if it may go at once.
    #[inline]
    pub fn inject(
        &mut self,
        mut packets: &Packets,
        message: &Outgoing,
        (memory, counter): (&Memory, Option<CounterId>),
    ) -> weft_tagged::Result<bool> {
        let went = self.exchange.send_eagerly(&mut packets, message, memory)?;
        if went {
            self.count(counter, true);
        }
        Ok(went)
    }

    /// Sends a message, and says whether it could be begun.
    #[inline]
    pub fn send(
        &mut self,
        mut packets: &Packets,
        message: &Outgoing,
        op: SendOp,
    ) -> weft_tagged::Result<bool> {
        let outcome = match self.exchange.send(&mut packets, message, op)? {
            Sending::Sent(op) => {
                self.sent(&op, None);
                true
            }
            Sending::Kept => {
                self.full = None;
                true
            }
            Sending::Again(_) => {
                if self.exchange.is_full(message.to.rank) {
                    self.is_full(message.to.rank, packets);
                }
                false
            }
        };
        if message.to.rank == packets.rank() {
            self.tell();
        }
        Ok(outcome)
    }

    /// A message could not be begun because too many wait at `to`. Whether they ever will be received nobody knows here, but
    /// a program that waits for that for ever is told of it.
    #[cold]
    fn is_full(&mut self, to: Rank, packets: &Packets) {
        let now = packets.now();
        match self.full {
            Some((rank, since, false)) if rank == to && now >= since + PATIENCE => {
                let (own, most) = (packets.rank(), weft_tagged::peer::MOST_REQUESTS);
                eprintln!(
                    "weft: rank {own} cannot send to rank {to}, which has {most} of its messages and receives none: \
                     receive some before sending more, or the job may wait for ever"
                );
                self.full = Some((to, since, true));
            }
            Some((rank, ..)) if rank == to => {}
            _ => self.full = Some((to, now, false)),
        }
    }

    /// Tells the program what has ended.
    pub fn tell(&mut self) {
        while let Some(event) = self.exchange.event() {
            match event {
                Event::Sent(op) => self.sent(&op, None),
                Event::Received { into, envelope } => self.received(&into, &envelope),
            }
        }
        while let Some(event) = self.remote.event() {
            match event {
                remote::Event::Ended { op, outcome } => self.sent(&op, error_of(outcome)),
                remote::Event::Accessed(accessed) => self.accessed(&accessed),
            }
        }
    }

    /// A send or an access has ended, maybe with an error.
    #[inline]
    fn sent(&mut self, op: &SendOp, error: Option<c_int>) {
        let Notice { queue, tells, counter, context, flags } = op.notice;
        self.count(counter, error.is_none());
        let Some(queue) = queue.filter(|_| tells || error.is_some()) else { return };
        let (length, error) = (op.memory.length(), error.map(|error| (error, 0)));
        self.complete(queue, Completion { length, error, ..Completion::of(context, flags.into()) });
    }

    #[inline]
    fn count(&mut self, counter: Option<CounterId>, success: bool) {
        if let Some(counter) = counter {
            self.change_counts(counter, |counts| {
                *(if success { &mut counts.successes } else { &mut counts.errors }) += 1;
            });
        }
    }

    /// Another rank has accessed memory of this one.
    fn accessed(&mut self, accessed: &Accessed) {
        let Accessed { to, from, key, writes, length, data } = *accessed;
        let told = self.endpoints.get(usize::from(to)).copied().flatten().unwrap_or_default();
        self.count(told.counters.of(writes), true);
        let region = self.remote.region(key).and_then(|region| region.counters.of(writes));
        self.count(region, true);
        let Some((data, owed)) = data else { return };
        let Some(queue) = told.queue else { return self.remote.answer(owed) };
        let flags = flag::RMA | flag::REMOTE_WRITE | flag::REMOTE_CQ_DATA;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let source = told.vector.map(|vector| (vector, from));
        let bare = Completion::of(Context::NONE, flags);
        self.complete(queue, Completion { length, data, source, ..bare });
        // So that nobody fills a queue that is not read.
        self.owed.push_back((queue, owed));
        self.answer_owed();
    }

    /// Answers writes whose queues have room again. Whether there were any.
    fn answer_owed(&mut self) -> bool {
        let before = self.owed.len();
        for _ in 0..self.owed.len() {
            let Some((queue, owed)) = self.owed.pop_front() else { break };
            if self.has_room(Some(queue)) {
                self.remote.answer(owed);
            } else {
                self.owed.push_back((queue, owed));
            }
        }
        self.owed.len() < before
    }

    /// A key that no region has had.
    pub fn next_key(&mut self) -> u64 {
        self.keys += 1;
        self.keys
    }

    /// Says whether an access that was asked for could be begun.
    pub fn asked(&mut self, asking: &remote::Asking<SendOp>) -> bool {
        // Those of this rank to itself have ended.
        self.tell();
        matches!(asking, remote::Asking::Kept)
    }

    #[inline]
    fn received(&mut self, op: &ReceiveOp, envelope: &Envelope) {
        let notice = &op.notice;
        let room = op.memory.length();
        let length = usize::try_from(envelope.length).unwrap_or(usize::MAX);
        let error = (length > room).then(|| (completion::TRUNCATED, length - room));
        let released = op.end_part();
        self.count(notice.counter, error.is_none());
        let tells = notice.tells || error.is_some() || released != 0;
        let Some(queue) = notice.queue.filter(|_| tells) else { return };
        let flags = u64::from(notice.flags) | released;
        let completion = Completion {
            length: length.min(room),
            buffer: op.memory.start(),
            error,
            ..Completion::of(notice.context, flags).with(envelope, op.vector)
        };
        self.complete(queue, completion);
    }

    /// A look at a message, or at none, is over.
    pub fn peeked(&mut self, op: &ReceiveOp, found: Option<&Envelope>) {
        let notice = &op.notice;
        let bare = Completion::of(notice.context, notice.flags.into());
        let completion = match found {
            None => Completion { error: Some((completion::NO_MESSAGE, 0)), ..bare },
            Some(envelope) => bare.with(envelope, op.vector),
        };
        if let Some(queue) = notice.queue.filter(|_| notice.tells || found.is_none()) {
            self.complete(queue, completion);
        }
    }

    /// A receive was taken back.
    pub fn canceled(&mut self, op: &ReceiveOp) {
        let bare = Completion::of(op.notice.context, op.notice.flags.into());
        self.count(op.notice.counter, false);
        if let Some(queue) = op.notice.queue {
            self.complete(queue, Completion { error: Some((completion::CANCELED, 0)), ..bare });
        }
    }

    /// A new address vector.
    pub fn open_vector(&mut self, table: bool) -> Result<VectorId> {
        let id = VectorId(next_id(&self.vectors)?);
        self.vectors.push(Addresses::new(table, self.ranks));
        Ok(id)
    }

    /// Adds an address, and returns its handle; `None` if it is of no rank of the job.
    pub fn insert(&mut self, VectorId(place): VectorId, address: Address) -> Option<u64> {
        self.vectors[usize::from(place)].insert(address)
    }

    /// Takes an address out.
    pub fn remove(&mut self, VectorId(place): VectorId, handle: u64) -> Result {
        self.vectors[usize::from(place)].remove(handle)
    }

    /// The address with this handle.
    #[inline]
    pub fn address(&self, VectorId(place): VectorId, handle: u64) -> Result<Address> {
        self.vectors[usize::from(place)].address(handle)
    }

    /// The handle of an address; [`ANYBODY`](crate::abi::ANYBODY) if it has none.
    pub fn handle(&self, (VectorId(place), address): (VectorId, Address)) -> u64 {
        self.vectors[usize::from(place)].handle(address)
    }

    /// A number for an endpoint: the lowest that is free.
    pub fn open_endpoint(&mut self) -> Result<u8> {
        let place = match self.endpoints.iter().position(Option::is_none) {
            Some(place) => place,
            None => {
                self.endpoints.push(None);
                self.endpoints.len() - 1
            }
        };
        let number = u8::try_from(place).map_err(|_| Refusal::TOO_MANY)?;
        self.endpoints[place] = Some(Told::default());
        Ok(number)
    }

    /// Who is told of accesses that name this endpoint.
    pub fn enable_endpoint(&mut self, number: u8, told: Told) {
        self.endpoints[usize::from(number)] = Some(told);
    }

    /// Nobody receives there any more.
    pub fn close_endpoint(&mut self, number: u8) {
        drop(self.exchange.close(number));
        self.endpoints[usize::from(number)] = None;
    }
}

impl Completion {
    fn of(context: Context, flags: u64) -> Self {
        Completion {
            context,
            flags,
            length: 0,
            buffer: Context::NONE,
            data: 0,
            tag: 0,
            source: None,
            error: None,
        }
    }

    /// Of this message.
    #[inline]
    fn with(mut self, envelope: &Envelope, vector: Option<VectorId>) -> Self {
        self.length = usize::try_from(envelope.length).unwrap_or(usize::MAX);
        self.tag = envelope.tag;
        if let Some(data) = envelope.data {
            self.data = data;
            self.flags |= flag::REMOTE_CQ_DATA;
        }
        self.source = vector.map(|vector| (vector, envelope.source));
        self
    }
}

/// The number of the next of such objects.
fn next_id<T>(objects: &[T]) -> Result<u16> {
    u16::try_from(objects.len()).map_err(|_| Refusal::TOO_MANY)
}

/// What a completion says of an access.
fn error_of(outcome: Outcome) -> Option<c_int> {
    outcome.err().map(|refused| match refused {
        Refused::NoRegion => completion::NO_KEY,
        Refused::NoRight => completion::NO_RIGHT,
        Refused::Beyond | Refused::OutOfReach => completion::BEYOND,
    })
}

/// What a client is told when messages cannot go on. That a rank is lost it need not be told: the program ends then, and
/// whoever started it says why.
pub(crate) fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Packet(weft_packet::Error::RankLost(_)) => Refusal::AGAIN,
        error => {
            eprintln!("weft: {error}");
            Refusal::BROKEN
        }
    }
}
