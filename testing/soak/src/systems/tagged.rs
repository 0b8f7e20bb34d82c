//! Tagged messages and operations of all ranks on the packets of [`Protocol::TAGGED`], driven as a
//! binding for MPI drives them: whoever polls or waits for anything has them make progress.

mod memory;
mod received;

use crate::systems::Result;
use memory::{Message, Numbers, Room};
use received::Received;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use weft_collective::{BARRIER, Operation, OperationCall, Parked, Stage, TeamId, combine_elements};
use weft_endpoint::{HeldPacket, KeptPacket, Packets, Progress, Protocol, Rank, Step, Taken};
use weft_model::random::Random;
use weft_tagged::collectives::{self, Collectives};
use weft_tagged::peer::EAGER_BYTES;
use weft_tagged::{
    Address, Error, Exchange, ExchangeEvent, SendParameters, Sending, Tagging, TakenPacket,
};

/// Packets that one call takes from the network at most.
const PACKETS_AT_ONCE: usize = 64;
/// The one team of the job.
const ALL: TeamId = TeamId { leader: Rank(0), count: 0 };
/// Number of tags.
const TAGS: u64 = 3;
/// Receives that are posted at any time once all that comes is received.
const STOCK: usize = 2;

/// The tagged messages of a rank. It takes their packets until it is dropped.
pub struct Tagged {
    driver: Arc<Driver>,
    _progress: Arc<Progress>,
}

struct Driver {
    packets: Packets,
    state: Mutex<State>,
}

struct State {
    exchange: Exchange<Message, Room>,
    teams: Collectives<Numbers, KeptPacket>,
    received: Received,
    /// By rank: what could not be begun yet, in the order in which it is to be.
    waiting: Vec<VecDeque<(SendParameters, Message)>>,
    /// By rank: synchronous messages whose end was not told.
    unfinished: Vec<usize>,
    /// Numbers of the next messages to a rank with a tag.
    next: BTreeMap<(Rank, u64), u64>,
    /// Receives that are kept posted for anything.
    stock: usize,
    /// True while this rank leaves its messages alone.
    is_napping: bool,
    /// Reason why messages cannot go on.
    failure: Option<Error>,
}

impl Tagged {
    /// Takes the packets of tagged messages from here on. All ranks do so.
    pub fn open(packets: &Packets) -> Result<Self> {
        let packets = packets.of(Protocol::TAGGED);
        let state = Mutex::new(State::new(&packets)?);
        let driver = Arc::new(Driver { packets, state });
        let served: Weak<Driver> = Arc::downgrade(&driver);
        let progress: Arc<Progress> =
            Arc::new(move || served.upgrade().map_or(Ok(false), |driver| driver.serve()));
        driver.packets.system().progress_by(&progress);
        Ok(Tagged { driver, _progress: progress })
    }

    /// Sum of the amounts received.
    pub fn received(&self) -> u64 {
        self.driver.enter().received.sum()
    }

    /// Has this rank leave its messages alone, or turn to them again. No thread takes any from
    /// here on, not even one that had begun.
    pub fn set_napping(&self, napping: bool) {
        self.driver.enter().is_napping = napping;
    }

    /// Takes what has arrived, and sends what waits.
    pub fn progress(&self) -> Result<()> {
        Ok(self.driver.serve().map(drop)?)
    }

    /// Sends `amount` in a message of any kind: empty, in one packet or several, or so long that
    /// its receiver is asked first.
    pub fn send_any(&self, to: Rank, amount: u64, random: &mut Random) -> Result<()> {
        let packet = self.driver.packets.max_payload() as u64;
        let most = *random.choose(&[0, 8, 100, packet, 4 * packet, EAGER_BYTES, 3 * EAGER_BYTES]);
        let (tag, length) = (random.below(TAGS), random.below(most + 1));
        self.send(to, tag, amount, length, random.happens(200))
    }

    /// Sends `amount` in a message whose end is told when its receiver has all of it.
    pub fn send_synchronous(&self, to: Rank, amount: u64) -> Result<()> {
        self.send(to, 0, amount, 30, true)
    }

    /// Sends `amount` in a message of a few bytes.
    pub fn send_short(&self, to: Rank, amount: u64) -> Result<()> {
        self.send(to, 1, amount, 20, false)
    }

    /// True if a message to `to` waits for room in the network.
    pub fn is_held_up(&self, to: Rank) -> bool {
        !self.driver.enter().waiting[to.index()].is_empty()
    }

    /// Number of synchronous messages to `to` of which their receiver has not got all.
    pub fn unfinished_to(&self, to: Rank) -> usize {
        self.driver.enter().unfinished[to.index()]
    }

    /// Posts some receives, each of which wants any source or one, and any tag or one.
    pub fn post_some(&self, random: &mut Random) {
        let ranks = self.driver.packets.size() as u64;
        for _ in 0..random.below(4) {
            let from = random.happens(600).then(|| Rank(random.below(ranks) as u16));
            let tag = random.happens(600).then(|| random.below(TAGS));
            // Some are too short for some of the messages.
            let capacity = *random.choose(&[50, 2 * EAGER_BYTES, 3 * EAGER_BYTES]);
            self.driver.enter().post(from, tag, capacity);
        }
        self.driver.enter().judge();
    }

    /// Takes an unexpected message out of all others' reach, if there is one, and receives it.
    pub fn claim_some(&self, random: &mut Random) {
        let tag = random.below(TAGS);
        self.driver.enter().claim(tag);
    }

    /// Receives everything that comes from here on.
    pub fn receive_all(&self) {
        let mut state = self.driver.enter();
        state.stock = STOCK;
        state.judge();
    }

    /// The sums of the `numbers` of all ranks, which all call this.
    pub fn all_reduce(&self, numbers: &[u64]) -> Result<Vec<u64>> {
        if self.driver.enter().teams.needs_fence(ALL) {
            self.operate(&BARRIER, &[])?;
        }
        let operation = Operation::AllReduce;
        self.operate(&OperationCall { operation, root: 0, count: numbers.len(), size: 8 }, numbers)
    }

    /// Waits until everything that this rank has begun has left, and judges the order of what it
    /// has received, which is all there is.
    pub fn finish(&self) -> Result<()> {
        self.driver.wait(|state, _| Ok(state.is_idle().then_some(())))?;
        let mut state = self.driver.enter();
        state.exchange.close(0);
        state.received.judge_order();
        Ok(())
    }

    fn send(&self, to: Rank, tag: u64, amount: u64, length: u64, synchronous: bool) -> Result<()> {
        let mut state = self.driver.enter();
        state.enqueue(to, tag, amount, length, synchronous);
        state.send_waiting(&self.driver.packets)?;
        state.note_waiting(&self.driver.packets);
        state.judge();
        Ok(())
    }

    fn operate(&self, call: &OperationCall, numbers: &[u64]) -> Result<Vec<u64>> {
        let memory = Numbers::new(numbers);
        let me = self.driver.packets.rank();
        let begun = self.driver.enter().teams.begin(ALL, call, memory);
        let number = begun.unwrap_or_else(|why| {
            panic!("an operation was refused: {why:?}, {:?}", collectives::violation(&why, me))
        });
        let memory = self.driver.wait(|state, packets| state.drive(number, packets))?;
        Ok(memory.numbers())
    }
}

impl Driver {
    fn enter(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes progress for whoever polls or waits. True if anything happened.
    fn serve(&self) -> weft_endpoint::Result<bool> {
        let entered = match self.packets.has_threads() {
            true => Some(self.enter()),
            // An interrupt of a simulated rank is part of the same thread.
            false => self.state.try_lock().ok(),
        };
        match entered.map(|mut state| state.progress(&self.packets)) {
            None => Ok(false),
            Some(Ok(any)) => Ok(any),
            Some(Err(Error::Packet(error))) => Err(error),
            Some(Err(error)) => panic!("{error}"),
        }
    }

    /// Makes progress until `look` finds something.
    fn wait<T>(
        &self,
        mut look: impl FnMut(&mut State, &Packets) -> weft_tagged::Result<Option<T>>,
    ) -> Result<T> {
        let mut found = None;
        self.packets.presence().wait(&mut || {
            let mut state = self.enter();
            let any = state.progress(&self.packets);
            match any.and_then(|any| Ok((any, look(&mut state, &self.packets)?))) {
                Ok((any, None)) => return Ok(Step::of(any)),
                Ok((_, Some(value))) => found = Some(Ok(value)),
                Err(Error::Packet(error)) => return Err(error),
                Err(error) => found = Some(Err(error)),
            }
            Ok(Step::Done)
        })?;
        let Some(outcome) = found else { unreachable!("a wait ends when something is found") };
        Ok(outcome?)
    }
}

impl State {
    fn new(packets: &Packets) -> weft_tagged::Result<Self> {
        let (rank, ranks) = (packets.rank(), packets.size());
        let mut exchange = Exchange::new(rank, ranks);
        // Where ranks can read each other's memory, half of them lend it.
        exchange.set_single_copy(|_| rank.0.is_multiple_of(2));
        // And half of them, others, send as suits a network that reads long messages in place.
        exchange.set_in_place(|_| rank.0 / 2 % 2 == 0);
        let keeps = packets.in_flight() / 8;
        let mut teams = Collectives::new(rank, collectives::TUNING, keeps);
        let members: Vec<Rank> = (0..ranks as u16).map(Rank).collect();
        let opened = collectives::open(&mut teams, ALL, &members, (rank, ranks))?;
        assert!(opened, "the first team can be opened");
        Ok(State {
            exchange,
            teams,
            received: Received::new(rank),
            waiting: (0..ranks).map(|_| VecDeque::new()).collect(),
            unfinished: vec![0; ranks],
            next: BTreeMap::new(),
            stock: 0,
            is_napping: false,
            failure: None,
        })
    }

    /// Takes packets, and sends what waits, but not in a nap. True if there were any of these.
    fn progress(&mut self, packets: &Packets) -> weft_tagged::Result<bool> {
        if self.is_napping {
            return Ok(false);
        }
        let mut any = false;
        let mut held = HeldPacket::default();
        for _ in 0..PACKETS_AT_ONCE {
            let place = |from, packet: &[u8]| self.place(from, packet);
            match packets.take_unless(place, &mut held)? {
                Taken::Nothing => break,
                Taken::AtOnce => {}
                Taken::Held => self.take(packets, &mut held)?,
            }
            if let Some(error) = self.failure.clone() {
                return Err(error);
            }
            any = true;
        }
        any |= self.transmit(packets)?;
        self.judge();
        Ok(any)
    }

    /// Puts a message where it belongs, inside of the network's lock. False if the packet is no
    /// message's.
    fn place(&mut self, from: Rank, packet: &[u8]) -> bool {
        if collectives::is_collective(packet) {
            return false;
        }
        if self.exchange.arrive_expected(from, packet, &mut self.received) {
            return true;
        }
        match self.exchange.arrive_inside(from, packet) {
            Ok(is_done) => is_done,
            Err(error) => {
                self.failure = Some(error);
                true
            }
        }
    }

    /// Does what a packet says that was not placed at once.
    fn take(&mut self, mut packets: &Packets, held: &mut HeldPacket) -> weft_tagged::Result<()> {
        let (from, taken_from) = (held.source().unwrap_or(Rank(0)), packets);
        let sorting = taken_from.sorting();
        let packet = packets.read(held);
        let outcome = match collectives::is_collective(packet) {
            true => {
                let packet = TakenPacket(packets, &mut *held);
                collectives::arrive(&mut self.teams, from, packet).map(|_| ())
            }
            false => self.exchange.arrive(&mut packets, from, packet),
        };
        drop(sorting);
        packets.release(held);
        outcome
    }

    /// Sends what waits, and has the upcall thread come back for the rest.
    fn transmit(&mut self, mut packets: &Packets) -> weft_tagged::Result<bool> {
        let mut any = self.exchange.transmit(&mut packets)?;
        any |= self.teams.transmit(&mut collectives::CollectivePackets(&mut packets))?;
        any |= self.send_waiting(packets)?;
        self.note_waiting(packets);
        Ok(any)
    }

    /// Notes whether something waits: for the upcall thread, and for whoever waits for something
    /// else at this rank.
    fn note_waiting(&self, packets: &Packets) {
        let waits = self.exchange.has_to_transmit()
            || self.teams.has_to_transmit()
            || self.waiting.iter().any(|waiting| !waiting.is_empty());
        packets.system().note_pending_work(waits);
        packets.system().note_owing(waits);
    }

    /// Begins the messages that could not be begun before. True if there were any.
    fn send_waiting(&mut self, mut packets: &Packets) -> weft_tagged::Result<bool> {
        let mut any = false;
        for waiting in &mut self.waiting {
            while let Some((message, source)) = waiting.pop_front() {
                if let Sending::Again(source) =
                    self.exchange.send(&mut packets, &message, source)?
                {
                    waiting.push_front((message, source));
                    break;
                }
                any = true;
            }
        }
        Ok(any)
    }

    fn enqueue(&mut self, to: Rank, tag: u64, amount: u64, length: u64, synchronous: bool) {
        let number = self.next.entry((to, tag)).or_default();
        let data = received::data(*number, amount);
        *number += 1;
        // A message of this rank to itself ends without being told.
        let wants_done = synchronous && to != self.received.me();
        let told = wants_done.then_some(to);
        self.unfinished[to.index()] += usize::from(wants_done);
        let address = Address { rank: to, endpoint: 0 };
        let (from, kind, data) = (0, Tagging::Tagged, Some(data));
        let message = SendParameters { to: address, from, kind, tag, data, wants_done };
        self.waiting[to.index()].push_back((message, Message::new(data, length, told)));
    }

    fn post(&mut self, from: Option<Rank>, tag: Option<u64>, capacity: u64) {
        let pattern = received::pattern(from, tag);
        let into = self.received.room(capacity);
        self.exchange.receive(0, Tagging::Tagged, pattern, into);
    }

    fn claim(&mut self, tag: u64) {
        let pattern = received::pattern(None, Some(tag));
        let Some(found) = self.exchange.claim(0, Tagging::Tagged, &pattern, 0) else { return };
        let into = self.received.room(found.length);
        let received = self.exchange.receive_claimed(0, 0, into);
        assert!(received.is_ok(), "a message that was claimed is there");
        self.judge();
    }

    /// Looks at what has ended, and posts receives if there are to be any at all times.
    fn judge(&mut self) {
        loop {
            while let Some(event) = self.exchange.event() {
                match event {
                    ExchangeEvent::Sent(message) => {
                        let told = message.told().into_iter();
                        told.for_each(|to| self.unfinished[to.index()] -= 1);
                    }
                    ExchangeEvent::Received { into, envelope } => {
                        self.received.judge(into, &envelope)
                    }
                }
            }
            if self.received.posted_for_all() >= self.stock {
                return;
            }
            let into = self.received.room_for_all();
            self.exchange.receive(0, Tagging::Tagged, received::pattern(None, None), into);
        }
    }

    /// Goes on with an operation of all ranks; its memory, if it has ended.
    fn drive(
        &mut self,
        number: u32,
        mut packets: &Packets,
    ) -> weft_tagged::Result<Option<Numbers>> {
        loop {
            match self.teams.drive(
                ALL,
                number,
                &mut collectives::CollectivePackets(&mut packets),
            )? {
                Stage::Waiting => return Ok(None),
                Stage::Combine => self.combine(number),
                Stage::Done => {
                    let ended = self.teams.take(ALL, number);
                    self.teams.end(ALL, number);
                    return Ok(ended.map(|job| job.memory));
                }
            }
        }
    }

    fn combine(&mut self, number: u32) {
        let Some(mut job) = self.teams.take(ALL, number) else { return };
        let add = |before: &[u8], after: &mut [u8]| {
            combine_elements(before, after, |one: u64, two: u64| one.wrapping_add(two));
        };
        job.run.combine(&job.memory, add);
        let mut parked = self.teams.put(ALL, number, job);
        while let Parked::Again(job) = parked {
            parked = self.teams.put(ALL, number, job);
        }
    }

    /// True if nothing of this rank's has to leave any more.
    fn is_idle(&self) -> bool {
        self.exchange.is_idle()
            && !self.teams.has_to_transmit()
            && self.waiting.iter().all(VecDeque::is_empty)
    }
}
