//! State inside the lock of a job: its messages, completion queues, counters and addresses.

mod addresses;
mod reports;

use crate::abi::{ANYBODY, flag};
use crate::in_arena::{EndedInArena, StartedInArenas};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result, completion};
use crate::slots::{QueueId, Slots, VectorId};
use crate::transfer::{Buffers, EndNotice, Exposed, ReceiveOp, RemoteCounters, SendOp};
use addresses::Addresses;
pub(crate) use reports::{Bound, Completion, Counts, Reports, Watched};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;
use weft_collective::arena::{Areas, Arena};
use weft_collective::{DISAGREES, TeamId, Teams};
use weft_endpoint::{HeldPacket, KeptPacket, Packets, Rank, Taken};
use weft_tagged::collectives::{self, CollectivePackets, Collectives, StartedOperations};
use weft_tagged::remote::{self, AccessOutcome, AccessRefused, Accessed, OwedAnswer, Remote};
use weft_tagged::{Address, Error, Exchange, ExchangeEvent, SendParameters, Sending, TakenPacket};

/// Bytes of a packet beyond which it goes as one record over TCP, which is read where it belongs.
const LONG_PACKET: usize = 16 * 1024;
/// Packets that one call takes from the network at most.
const PACKETS_AT_ONCE: usize = 64;
/// Numbers of endpoints.
const ENDPOINTS: usize = 256;
/// Time that a program tries in vain to send to a rank that has no room for its messages before it
/// is told why.
const PATIENCE: Duration = Duration::from_secs(5);

/// The messages of this rank, and what its program is told of them.
pub(crate) struct State {
    pub exchange: Exchange<SendOp, ReceiveOp>,
    pub remote: Remote<SendOp, Exposed>,
    pub collectives: Collectives<Buffers, KeptPacket>,
    /// Of these, the operations in which no thread waits.
    pub started: StartedOperations<EndNotice>,
    /// Operations in arenas in which no thread waits.
    pub in_arenas: StartedInArenas,
    /// False if there are none of either kind, and all of their ends are told.
    pub has_started: bool,
    /// Arenas of teams, in shared memory.
    pub arenas: BTreeMap<TeamId, Arc<Arena>>,
    /// Areas of this rank's shared memory, and which team has which.
    pub areas: Areas,
    pub led: BTreeMap<TeamId, usize>,
    pub reports: Reports,
    ranks: usize,
    vectors: Slots<Addresses>,
    /// By endpoint number, if it is taken: who is told of others' accesses.
    endpoints: Vec<Option<AccessObservers>>,
    /// Number from which on one for the next endpoint is looked for.
    next_endpoint: usize,
    /// Keys that the provider has given to regions.
    keys: u64,
    /// Answers to writes that no queue had room to be told of, and the queue.
    owed: VecDeque<(QueueId, OwedAnswer)>,
    /// Reason why messages cannot go on.
    failure: Option<Error>,
    /// Error of a look, until a call returns it.
    unreported: Option<Error>,
    /// True if the upcall thread was told that something waits, for room or to be fetched.
    is_waiting: bool,
    /// To whom nothing can be sent, since when, and whether the program was told.
    full: Option<(Rank, Duration, bool)>,
}

/// Objects that are told of accesses by others to memory of this rank.
#[derive(Clone, Copy, Default)]
pub(crate) struct AccessObservers {
    /// Of data beside a write.
    pub queue: Option<QueueId>,
    pub vector: Option<VectorId>,
    pub counters: RemoteCounters,
}

impl State {
    /// Of the rank and the job of these packets. Of each member of a team it keeps so many packets
    /// at most. Where ranks share cores, long messages and writes of a host are fetched.
    pub fn new(packets: &Packets, keeps: usize, crowded: bool) -> Self {
        let (rank, ranks) = (packets.rank(), packets.size());
        let (mut exchange, mut remote) = (Exchange::new(rank, ranks), Remote::new(rank, ranks));
        exchange.set_single_copy(|to| crowded && packets.memory().is_near(to));
        let has_long_packets = |to| packets.max_payload_to(to) > LONG_PACKET;
        // Where a long message travels without a copy, there is no better way.
        let is_in_place = |to| has_long_packets(to) && !packets.memory().sends_zero_copy(to);
        exchange.set_in_place(|to| is_in_place(to) && !packets.memory().is_near(to));
        remote.set_single_copy(crowded);
        State {
            exchange,
            remote,
            collectives: Teams::new(rank, collectives::TUNING, keeps),
            started: StartedOperations::default(),
            in_arenas: StartedInArenas::default(),
            has_started: false,
            arenas: BTreeMap::new(),
            areas: Areas::default(),
            led: BTreeMap::new(),
            reports: Reports::default(),
            ranks,
            vectors: Slots::default(),
            endpoints: Vec::new(),
            next_endpoint: 0,
            keys: 0,
            owed: VecDeque::new(),
            failure: None,
            unreported: None,
            is_waiting: false,
            full: None,
        }
    }

    /// A look has brought a packet that takes more than a few steps.
    pub fn take_held(&mut self, packets: &Packets, held: &mut HeldPacket) {
        self.failure = self.arrived(packets, held).err();
        packets.trace().record_unexpected(self.exchange.unexpected_count());
    }

    /// A look has brought what is to be answered.
    pub fn send_what_waits(&mut self, packets: &Packets) {
        self.unreported = self.transmit(packets).err();
    }

    /// Nothing is sent or taken any more: something has panicked.
    pub fn break_off(&mut self) {
        self.failure.get_or_insert(Error::Panicked);
    }

    /// A look has failed.
    pub fn fail_at(&mut self, error: weft_endpoint::Error) {
        self.unreported = Some(error.into());
    }

    /// Takes what has arrived, up to the first packet that ends something, and sends what waits.
    /// True if anything happened.
    #[inline(never)]
    pub fn progress(&mut self, packets: &Packets) -> weft_tagged::Result<bool> {
        if self.failure.is_some() || self.unreported.is_some() {
            self.call_off(packets);
            return self.fail();
        }
        let mut any = !self.owed.is_empty() && self.answer_owed();
        let mut held = HeldPacket::default();
        let unexpected = self.exchange.unexpected_count();
        for _ in 0..PACKETS_AT_ONCE {
            let place = |from, packet: &[u8]| self.arrive(from, packet);
            match packets.take_unless(place, &mut held)? {
                Taken::Nothing => break,
                Taken::AtOnce => {}
                Taken::Held => self.take_held(packets, &mut held),
            }
            any = true;
            if self.failure.is_some() {
                self.call_off(packets);
                return self.fail();
            }
            // The reader of the queue hears of it at once; one more look costs it as much as a
            // packet's way through here. A message without a receive may get one before the next
            // look, and then it need not be stored.
            let now_unexpected = self.exchange.unexpected_count();
            if now_unexpected > unexpected {
                packets.trace().record_unexpected(now_unexpected);
            }
            if self.has_event() || now_unexpected > unexpected {
                break;
            }
        }
        if self.is_waiting || self.has_to_transmit() || self.exchange.awaits_zero_copy() {
            any |= self.transmit(packets)?;
        }
        if self.has_started {
            any |= self.advance_started(packets)?;
        }
        self.tell();
        Ok(any)
    }

    /// Has operations in which no thread waits go on. True if one has ended.
    #[inline(never)]
    pub fn advance_started(&mut self, mut packets: &Packets) -> weft_tagged::Result<bool> {
        if !self.started.is_due() && self.in_arenas.is_empty() {
            return Ok(false);
        }
        let advanced = self.advance_in_arenas().and_then(|any| {
            let mut network = CollectivePackets(&mut packets);
            Ok(any | self.started.advance(&mut self.collectives, &mut network)?)
        });
        match advanced {
            Ok(any) => {
                self.note_waiting(packets);
                Ok(any)
            }
            Err(error) => {
                self.failure = Some(error.clone());
                self.call_off(packets);
                Err(error)
            }
        }
    }

    /// Notes whether there are operations in which no thread waits, or ends of theirs to be told.
    pub fn note_started(&mut self) {
        self.has_started = !(self.started.is_idle() && self.in_arenas.is_empty());
    }

    fn advance_in_arenas(&mut self) -> weft_tagged::Result<bool> {
        let mut any = false;
        loop {
            match self.in_arenas.advance() {
                Ok(None) => return Ok(any),
                Ok(Some(EndedInArena { team, known, notice })) => {
                    any = true;
                    if known.is_some_and(|number| self.collectives.met_before(team, number)) {
                        self.started.resume_all();
                    }
                    self.started.tell(notice);
                }
                Err((team, member)) => {
                    let members = self.collectives.members(team);
                    let from = members.map_or(team.leader, |members| members.rank(member));
                    return Err(Error::Violation { from, what: DISAGREES });
                }
            }
        }
    }

    /// Puts a message where it belongs, for which nothing is sent. False if it takes the
    /// network, or the packet is none of messages.
    #[inline(never)]
    pub fn arrive(&mut self, from: Rank, packet: &[u8]) -> bool {
        if collectives::is_collective(packet) || remote::is_access(packet) {
            return false;
        }
        match self.exchange.arrive_inside(from, packet) {
            Ok(is_done) => is_done,
            Err(error) => {
                self.failure = Some(error);
                true
            }
        }
    }

    /// Does what a packet says.
    #[inline(never)]
    fn arrived(&mut self, mut packets: &Packets, held: &mut HeldPacket) -> weft_tagged::Result<()> {
        let from = held.source().unwrap_or(Rank(0));
        let taken_from = packets;
        let sorting = taken_from.sorting();
        let packet = packets.read(held);
        let outcome = if collectives::is_collective(packet) {
            let packet = TakenPacket(packets, &mut *held);
            let arrived = collectives::arrive(&mut self.collectives, from, packet);
            arrived.map(|resumed| resumed.into_iter().for_each(|id| self.started.resume(id)))
        } else if remote::is_access(packet) {
            self.remote.arrive(&mut packets, from, packet)
        } else {
            self.exchange.arrive(&mut packets, from, packet)
        };
        drop(sorting);
        packets.release(held);
        outcome
    }

    /// False if a look at what has arrived is all there is to do, and all completions are read.
    pub fn is_pending(&self) -> bool {
        self.failure.is_some()
            || self.unreported.is_some()
            || !self.owed.is_empty()
            || self.is_waiting
            || self.has_to_transmit()
            || self.exchange.awaits_zero_copy()
            || self.has_event()
            || self.has_started
            || self.reports.has_completions()
    }

    /// True if whoever reads completions finds something, without a look at what has arrived.
    pub fn has_news(&self) -> bool {
        self.reports.has_completions() || (self.has_started && self.started.has_ended())
    }

    /// True if something ended that the program was not told of.
    #[inline(always)]
    fn has_event(&self) -> bool {
        self.exchange.has_event() | self.remote.has_event()
    }

    /// Has the network write nowhere any more: programs may have their buffers back.
    #[cold]
    pub fn call_off(&mut self, mut packets: &Packets) {
        self.exchange.call_off(&mut packets);
    }

    /// The error that every call returns from the first failure on.
    #[cold]
    fn fail(&mut self) -> weft_tagged::Result<bool> {
        self.unreported.take().or_else(|| self.failure.clone()).map_or(Ok(false), Err)
    }

    /// True if something waits for room in the network, or to be fetched.
    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        self.exchange.has_to_transmit()
            | self.remote.has_to_transmit()
            | self.collectives.has_to_transmit()
    }

    /// Sends what waits. For what has to wait longer there is the upcall thread: room is no arrival
    /// that it is woken for.
    #[inline(never)]
    fn transmit(&mut self, mut packets: &Packets) -> weft_tagged::Result<bool> {
        let mut any = self.exchange.transmit(&mut packets)?;
        any |= self.remote.transmit(&mut packets)?;
        if self.collectives.transmit(&mut CollectivePackets(&mut packets))? {
            self.started.resume_all();
            any = true;
        }
        self.note_waiting(packets);
        Ok(any)
    }

    /// Notes whether something waits: for the upcall thread, and for whoever waits for something
    /// else in this process.
    fn note_waiting(&mut self, packets: &Packets) {
        let waits = self.has_to_transmit();
        if waits != self.is_waiting {
            self.is_waiting = waits;
            packets.system().note_pending_work(waits);
            packets.system().note_owing(waits);
        }
    }

    /// Sends a message, and says whether it could be begun.
    pub fn send(
        &mut self,
        mut packets: &Packets,
        message: &SendParameters,
        op: SendOp,
    ) -> weft_tagged::Result<bool> {
        let outcome = match self.exchange.send(&mut packets, message, op)? {
            Sending::Sent(op) => {
                self.reports.sent(&op.notice, op.memory.length(), None);
                true
            }
            Sending::Kept => {
                self.full = None;
                self.note_waiting(packets);
                true
            }
            Sending::Again(_) => {
                if self.exchange.is_full(message.to.rank) {
                    self.is_full(message.to.rank, packets);
                }
                false
            }
        };
        self.tell();
        Ok(outcome)
    }

    /// A message could not be begun because too many wait at `to`. Whether they ever will be
    /// received nobody knows here, but a program that waits for that for ever is told of it.
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
    #[inline(always)]
    pub fn tell(&mut self) {
        if self.has_event() {
            self.tell_all();
        }
    }

    #[inline(never)]
    fn tell_all(&mut self) {
        while let Some(event) = self.exchange.event() {
            match event {
                ExchangeEvent::Sent(op) => self.reports.sent(&op.notice, op.memory.length(), None),
                ExchangeEvent::Received { into, envelope } => {
                    self.reports.received(&into, &envelope);
                }
            }
        }
        while let Some(event) = self.remote.event() {
            match event {
                remote::AccessEvent::Ended { op, outcome } => {
                    self.reports.sent(&op.notice, op.memory.length(), error_of(outcome))
                }
                remote::AccessEvent::Accessed(accessed) => self.accessed(&accessed),
            }
        }
    }

    /// Another rank has accessed memory of this one.
    fn accessed(&mut self, accessed: &Accessed) {
        let Accessed { to, from, key, writes, length, data } = *accessed;
        let observers = self.endpoints.get(usize::from(to)).copied().flatten().unwrap_or_default();
        self.reports.count(observers.counters.of(writes), true);
        let region = self.remote.region(key).and_then(|region| region.counters.of(writes));
        self.reports.count(region, true);
        let Some((data, owed)) = data else { return };
        let Some(queue) = observers.queue else { return self.remote.answer(owed) };
        let flags = flag::RMA | flag::REMOTE_WRITE | flag::REMOTE_CQ_DATA;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let source = observers.vector.map(|vector| (vector, from));
        let bare = Completion::of(Context::NONE, flags);
        self.reports.complete(queue, Completion { length, data, source, ..bare });
        // So that nobody fills a queue that is not read.
        self.owed.push_back((queue, owed));
        self.answer_owed();
    }

    /// Answers writes whose queues have room again. True if there were any.
    fn answer_owed(&mut self) -> bool {
        let before = self.owed.len();
        for _ in 0..self.owed.len() {
            let Some((queue, owed)) = self.owed.pop_front() else { break };
            if self.reports.has_room(Some(queue)) {
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

    /// True if an access that was asked for could be begun.
    pub fn asked(&mut self, packets: &Packets, submission: &remote::Submission<SendOp>) -> bool {
        self.note_waiting(packets);
        // Those of this rank to itself have ended.
        self.tell();
        matches!(submission, remote::Submission::Kept)
    }

    /// Forgets what is in a queue, unless the queue is held.
    pub fn close_queue(&mut self, queue: QueueId) -> Result {
        self.reports.close_queue(queue)?;
        self.answer_owed();
        Ok(())
    }

    /// A new address vector.
    pub fn open_vector(&mut self, table: bool) -> Result<VectorId> {
        self.vectors.insert(Addresses::new(table, self.ranks)).map(VectorId)
    }

    /// Closes an address vector.
    pub fn close_vector(&mut self, VectorId(vector): VectorId) {
        self.vectors.remove(vector);
    }

    /// Adds an address, and returns its handle; `None` if it is of no rank of the job.
    pub fn insert(&mut self, VectorId(vector): VectorId, address: Address) -> Option<u64> {
        self.vectors.get_mut(vector)?.insert(address)
    }

    /// Takes an address out.
    pub fn remove(&mut self, VectorId(vector): VectorId, handle: u64) -> Result {
        self.vectors.get_mut(vector).ok_or(Refusal::NO_VECTOR)?.remove(handle)
    }

    /// The address with this handle. Every message asks: an endpoint that outlives its vector has
    /// none, or those of another vector in the same place.
    #[inline(always)]
    pub fn address(&self, VectorId(vector): VectorId, handle: u64) -> Result<Address> {
        self.vectors.at(vector).address(handle)
    }

    /// The handle of an address; [`ANYBODY`] if it has none.
    pub fn handle(&self, (VectorId(vector), address): (VectorId, Address)) -> u64 {
        self.vectors.get(vector).map_or(ANYBODY, |vector| vector.handle(address))
    }

    /// A number for an endpoint: the next one that is free. None is used again soon, because what
    /// is under way to an endpoint that is closed is not for the next one.
    pub fn open_endpoint(&mut self) -> Result<u8> {
        let places = (0..ENDPOINTS).map(|step| (self.next_endpoint + step) % ENDPOINTS);
        let mut free =
            places.filter(|place| self.endpoints.get(*place).is_none_or(Option::is_none));
        let place = free.next().ok_or(Refusal::TOO_MANY)?;
        self.next_endpoint = place + 1;
        if place >= self.endpoints.len() {
            self.endpoints.resize_with(place + 1, || None);
        }
        let number = u8::try_from(place).map_err(|_| Refusal::TOO_MANY)?;
        self.endpoints[place] = Some(AccessObservers::default());
        self.exchange.open(number);
        Ok(number)
    }

    /// Sets the objects that are told of accesses that name this endpoint.
    pub fn enable_endpoint(&mut self, number: u8, observers: AccessObservers) {
        self.endpoints[usize::from(number)] = Some(observers);
    }

    /// The number of an endpoint may be another one's.
    pub fn close_endpoint(&mut self, number: u8) {
        self.endpoints[usize::from(number)] = None;
    }
}

/// Error of the completion of an access.
fn error_of(outcome: AccessOutcome) -> Option<c_int> {
    outcome.err().map(|refused| match refused {
        AccessRefused::NoRegion => completion::NO_KEY,
        AccessRefused::NoRight => completion::NO_RIGHT,
        AccessRefused::Beyond | AccessRefused::Unfetchable => completion::BEYOND,
    })
}

/// Error that a client gets when messages cannot go on. That a rank is lost it need not be told:
/// the program ends then, and whoever started it says why.
pub(crate) fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Packet(weft_endpoint::Error::RankLost(_)) => Refusal::AGAIN,
        error => {
            eprintln!("weft: {error}");
            Refusal::BROKEN
        }
    }
}
