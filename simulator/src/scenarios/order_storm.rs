//! Several orders at once, from one seed: everybody broadcasts in all orders that it is a member
//! of, and handlers broadcast too.

use crate::scenarios::order_judge::{Line, OrderFault, OrderJudge};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use weft_endpoint::Rank;
use weft_messaging::{
    Completer, Completion, Engine, Error, Order, OrderStatistics, OrderWindow, OrderedMessage,
    Orders,
};
use weft_model::random::Random;

/// Line of the ranks' programs; their handlers send line 1.
const PROGRAM: u8 = 0;
const HANDLER: u8 = 1;

/// The head of each message: its line and its sender's count.
const HEAD: usize = 9;

/// Options of a storm of orders.
#[derive(Debug, Clone)]
pub struct OrderStorm {
    /// Ranks of the job.
    pub ranks: u16,
    /// The members of each order.
    pub orders: Vec<Vec<Rank>>,
    /// Messages that each member's program broadcasts in each of its orders.
    pub messages: u64,
    /// The longest message, without what it begins with.
    pub most_bytes: u64,
    /// Number of 1,000 messages of programs that are answered, by one member's handler each.
    pub answers_per_mille: u64,
    /// A member whose handlers compute for long, and for how many operations.
    pub slow: Option<(Rank, u64)>,
    /// Window of senders.
    pub window: OrderWindow,
    /// Everything follows from it.
    pub seed: u64,
}

/// One rank's part of one order.
struct Part {
    storm: OrderStorm,
    number: u32,
    engine: Arc<Engine>,
    judge: Arc<OrderJudge>,
    due: Arc<Due>,
    /// Messages sent, by line.
    sent: [AtomicU64; 2],
    /// Set once: its handler knows this part.
    order: OnceLock<Order>,
}

/// Messages that a rank has to see until it is done.
struct Due {
    left: AtomicU64,
    done: Mutex<Option<Completer<()>>>,
}

/// Keeps a rank's orders until the other ranks are done with them too.
#[must_use = "other ranks may still have something to say in these orders"]
pub struct Kept {
    parts: Vec<Arc<Part>>,
}

impl Kept {
    /// Statistics of this rank's part in each order.
    pub fn statistics(&self) -> Vec<OrderStatistics> {
        self.parts.iter().map(|part| part.order().statistics()).collect()
    }
}

impl OrderStorm {
    /// One order of all ranks with messages of up to 2,000 bytes, a tenth of them answered.
    pub fn new(ranks: u16, messages: u64, seed: u64) -> Self {
        OrderStorm {
            ranks,
            orders: vec![(0..ranks).map(Rank).collect()],
            messages,
            most_bytes: 2000,
            answers_per_mille: 100,
            slow: None,
            window: OrderWindow { messages: 8, bytes: 16 << 10 },
            seed,
        }
    }

    /// Verdict of `judge` when all ranks are done: the number of messages that all members saw.
    ///
    /// # Errors
    /// What is wrong.
    pub fn verdict(&self, judge: &OrderJudge) -> Result<usize, OrderFault> {
        (0..).zip(&self.orders).map(|(order, members)| judge.complete(order, members)).sum()
    }

    /// Number of messages that [`Self::verdict`] should count.
    pub fn total(&self) -> u64 {
        (0..self.orders.len() as u32).map(|order| self.due(order)).sum()
    }

    /// One rank's part. Returns when it has seen all messages of its orders. `meet` returns when
    /// all ranks have created theirs: nobody may send to a group that another member does not have
    /// yet.
    ///
    /// # Errors
    /// What the orders say.
    ///
    /// # Panics
    /// If a broadcast that waits, or is waited for, comes back too early.
    pub fn run(
        &self,
        engine: &Arc<Engine>,
        judge: &Arc<OrderJudge>,
        meet: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Kept, Error> {
        let (packets, orders) = (engine.packets(), Orders::with_window(engine, self.window));
        let me = packets.rank();
        let mine = |part: &&Arc<Part>| self.orders[part.number as usize].contains(&me);
        let (completer, done) = Completion::new(engine);
        let due = Arc::new(Due { left: AtomicU64::new(0), done: Mutex::new(Some(completer)) });
        let numbers = 0..self.orders.len() as u32;
        let member = |&order: &u32| self.orders[order as usize].contains(&me);
        let total = numbers.clone().filter(member).map(|order| self.due(order)).sum();
        due.left.store(total, Ordering::Relaxed);
        let part = |number| self.part(number, &orders, engine, judge, &due);
        let parts = numbers.map(part).collect::<Result<Vec<_>, Error>>()?;
        meet()?;
        let mut random = Random::part(self.seed, u64::from(me.0));
        let mut begun = Vec::new();
        for _ in 0..self.messages {
            for part in parts.iter().filter(mine) {
                if random.happens(200) {
                    packets.work(random.below(3000));
                }
                match random.below(1000) {
                    0..100 => part.broadcast_and_wait(PROGRAM)?,
                    100..500 => begun.push((part, part.begin(PROGRAM)?)),
                    _ => part.broadcast(PROGRAM)?,
                }
            }
        }
        for (part, begun) in begun {
            part.check_seen(begun.wait()?);
        }
        if total > 0 {
            done.wait()?;
        }
        Ok(Kept { parts })
    }

    fn part(
        &self,
        number: u32,
        orders: &Orders,
        engine: &Arc<Engine>,
        judge: &Arc<OrderJudge>,
        due: &Arc<Due>,
    ) -> Result<Arc<Part>, Error> {
        let part = Arc::new(Part {
            storm: self.clone(),
            number,
            engine: Arc::clone(engine),
            judge: Arc::clone(judge),
            due: Arc::clone(due),
            sent: Default::default(),
            order: OnceLock::new(),
        });
        let (name, members) = (format!("storm {number}"), &self.orders[number as usize]);
        let this = Arc::downgrade(&part);
        let handler = move |message| {
            if let Some(part) = this.upgrade() {
                part.handle(message);
            }
        };
        let order = match members.len() == usize::from(self.ranks) {
            true => orders.order(&name, handler)?,
            false => orders.order_in(&name, members, handler)?,
        };
        part.order.get_or_init(|| order);
        Ok(part)
    }

    /// Messages of an order, answers included.
    fn due(&self, order: u32) -> u64 {
        let members = &self.orders[order as usize];
        let messages = members.iter().flat_map(|&from| (0..self.messages).map(move |n| (from, n)));
        let answered = |&(from, count): &(Rank, u64)| self.answerer(order, from, count).is_some();
        members.len() as u64 * self.messages + messages.filter(answered).count() as u64
    }

    /// Rank whose handler answers a message, if anybody's does.
    fn answerer(&self, order: u32, from: Rank, count: u64) -> Option<Rank> {
        let mut random = self.random(order, (from, PROGRAM), count);
        let answered = random.happens(self.answers_per_mille);
        answered.then(|| *random.choose(&self.orders[order as usize]))
    }

    /// The bytes of a message: its line and count, then what follows from the seed.
    fn message(&self, order: u32, line: Line, count: u64) -> Vec<u8> {
        let mut random = self.random(order, line, count);
        let length = random.below(self.most_bytes + 1);
        let length = if random.happens(700) { length.min(64) } else { length };
        let mut bytes = vec![line.1];
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.resize_with(HEAD + length as usize, || random.below(256) as u8);
        bytes
    }

    fn random(&self, order: u32, line: Line, count: u64) -> Random {
        let which = u64::from(order) << 48 | u64::from(line.0.0) << 32 | u64::from(line.1) << 24;
        Random::part(self.seed ^ 0x5eed, which | count)
    }
}

impl Part {
    fn me(&self) -> Rank {
        self.engine.packets().rank()
    }

    /// Handlers may run in another thread before the one that creates the order has kept it.
    fn order(&self) -> &Order {
        self.order.wait()
    }

    /// The next message of that line, which the judge knows of from here on.
    fn next(&self, line: u8) -> Vec<u8> {
        let (me, count) = (self.me(), self.sent[usize::from(line)].fetch_add(1, Ordering::Relaxed));
        let message = self.storm.message(self.number, (me, line), count);
        self.judge.sends(self.number, (me, line), count, hash(&message));
        message
    }

    fn broadcast(&self, line: u8) -> Result<(), Error> {
        self.order().broadcast(&self.next(line)).map(drop)
    }

    fn broadcast_and_wait(&self, line: u8) -> Result<(), Error> {
        self.check_seen(self.order().broadcast_and_wait(&self.next(line))?);
        Ok(())
    }

    fn begin(&self, line: u8) -> Result<Completion<u64>, Error> {
        self.order().begin(&self.next(line))
    }

    /// Checks that this rank has seen its own message of that number.
    fn check_seen(&self, number: u64) {
        let (me, seen) = (self.me(), self.judge.seen_by(self.number, self.me()) as u64);
        assert!(
            seen > number,
            "rank {me} has seen {seen} messages, and number {number} is its own"
        );
    }

    fn handle(&self, mut message: OrderedMessage) {
        let (me, from) = (self.me(), message.source());
        if let Some((slow, operations)) = self.storm.slow
            && slow == me
        {
            self.engine.packets().work(operations);
        }
        // Nothing comes after a message that was lost with its sender, so the judge need not know.
        let Ok(bytes) = message.read_to_vec() else { return };
        let (line, count) = match bytes.split_first_chunk::<HEAD>() {
            Some((&[line, a, b, c, d, e, f, g, h], _)) => {
                (line, u64::from_le_bytes([a, b, c, d, e, f, g, h]))
            }
            None => (PROGRAM, u64::MAX),
        };
        self.judge.sees(self.number, me, (from, line), count, hash(&bytes));
        if line == PROGRAM && self.storm.answerer(self.number, from, count) == Some(me) {
            // A lost rank ends the program as well.
            let _ = self.broadcast(HANDLER);
        }
        if self.due.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            let done = self.due.done.lock().unwrap_or_else(PoisonError::into_inner).take();
            done.into_iter().for_each(|completer| completer.complete(Ok(())));
        }
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
