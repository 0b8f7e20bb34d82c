//! Messages of all lengths between ports of three kinds, from one seed. What a message is made of
//! follows from its sender, its receiver and its place among those that went the same way, so that
//! whoever receives it is its judge: exactly once, in order, unchanged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Engine, Error, Mailbox, Message, Port};
use weft_model::random::Random;

/// The ports: one is asked for messages, one has a handler, one has a handler that waits.
const PORTS: [&str; 3] = ["storm asked", "storm handled", "storm awaited"];
const ASKED: usize = 0;

/// Options of a storm of messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageStorm {
    /// Ranks of the job.
    pub ranks: u16,
    /// Messages that each rank sends.
    pub messages: u64,
    /// The longest.
    pub most_bytes: u64,
    /// From how many bytes on receivers are asked first; `None`: never.
    pub rendezvous_from: Option<u64>,
    /// Number of 1,000 messages that are taken and dropped, some of them half-read.
    pub dropped_per_mille: u64,
    /// Everything follows from it.
    pub seed: u64,
}

/// One message of a plan.
#[derive(Clone, Copy)]
struct Deed {
    to: Rank,
    port: usize,
    length: usize,
}

/// Messages that one rank has received.
struct Receiver {
    storm: MessageStorm,
    me: Rank,
    /// The next deed of each rank that may be for each port of this one.
    next: Mutex<Vec<[usize; 3]>>,
    plans: Vec<Vec<Deed>>,
    left: AtomicU64,
}

impl MessageStorm {
    /// Messages of up to 50,000 bytes, a tenth of them dropped.
    pub fn new(ranks: u16, messages: u64, seed: u64) -> Self {
        let (most_bytes, rendezvous_from, dropped_per_mille) = (50_000, None, 100);
        MessageStorm { ranks, messages, most_bytes, rendezvous_from, dropped_per_mille, seed }
    }

    /// Messages to rank `to`.
    pub fn due(&self, to: Rank) -> u64 {
        let deeds = (0..self.ranks).flat_map(|from| self.plan(Rank(from)));
        deeds.filter(|deed| deed.to == to).count() as u64
    }

    /// One rank's part. Returns when it has seen all that is sent to it, and how much that was.
    /// `meet` returns when all ranks have called theirs.
    ///
    /// # Errors
    /// What messages say.
    ///
    /// # Panics
    /// If a message comes twice, never, out of order, or changed.
    pub fn run<E: From<Error>>(
        &self,
        engine: &Arc<Engine>,
        meet: impl Fn() -> Result<(), E>,
    ) -> Result<u64, E> {
        let me = engine.packets().rank();
        let receiver = Arc::new(Receiver {
            storm: *self,
            me,
            next: Mutex::new(vec![[0; 3]; usize::from(self.ranks)]),
            plans: (0..self.ranks).map(|rank| self.plan(Rank(rank))).collect(),
            left: AtomicU64::new(self.due(me)),
        });
        let (handled, awaited) = (Arc::clone(&receiver), Arc::clone(&receiver));
        let asked = Mailbox::new(engine, PORTS[0])?;
        let handled = Port::new(engine, PORTS[1], move |message| handled.take(1, message))?;
        let awaited = Port::with_async(engine, PORTS[2], move |mut message| {
            let receiver = Arc::clone(&awaited);
            async move {
                let deed = receiver.begin(2, &message);
                if receiver.drops(deed, &message) {
                    return receiver.end();
                }
                // What a lost rank did not send is no fault.
                let Ok(bytes) = message.bytes().await else { return };
                receiver.check(deed, 2, &message, &bytes);
                receiver.end();
            }
        })?;
        let ports: [&Port; 3] = [&asked, &handled, &awaited];
        ports.iter().for_each(|port| port.rendezvous_from(self.rendezvous_from));
        meet()?;
        let mut random = Random::part(self.seed ^ 0xacc, u64::from(me.0));
        for (number, deed) in self.plan(me).into_iter().enumerate() {
            engine.packets().work(random.below(2000));
            ports[deed.port].send(deed.to, &self.bytes(me, number, deed.length))?;
            if random.happens(300)
                && let Some(message) = asked.try_receive()?
            {
                receiver.take(ASKED, message);
            }
        }
        while receiver.left() > 0 {
            if let Some(message) = asked.receive_within(Duration::from_millis(1))? {
                receiver.take(ASKED, message);
            }
        }
        meet()?;
        Ok(self.due(me))
    }

    fn plan(&self, from: Rank) -> Vec<Deed> {
        let mut random = Random::part(self.seed, u64::from(from.0));
        let deed = |_| {
            let to = Rank(random.below(u64::from(self.ranks)) as u16);
            let port = random.below(PORTS.len() as u64) as usize;
            let most = if random.happens(500) { 200 } else { self.most_bytes };
            Deed { to, port, length: random.below(most + 1) as usize }
        };
        (0..self.messages).map(deed).collect()
    }

    /// The bytes of message `number` of a rank.
    fn bytes(&self, from: Rank, number: usize, length: usize) -> Vec<u8> {
        let start = self.seed as usize + usize::from(from.0) * 131 + number * 17;
        (0..length).map(|i| (start + i * 7 + i / 256) as u8).collect()
    }
}

impl Receiver {
    fn left(&self) -> u64 {
        self.left.load(Ordering::SeqCst)
    }

    fn end(&self) {
        self.left.fetch_sub(1, Ordering::SeqCst);
    }

    /// The number of the message that is due: the next one of its sender that went this way.
    fn begin(&self, port: usize, message: &Message) -> usize {
        let from = message.source();
        let plan = &self.plans[from.index()];
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let next = &mut next[from.index()][port];
        let here = |deed: &Deed| deed.to == self.me && deed.port == port;
        let due = (*next..plan.len()).find(|number| here(&plan[*number]));
        let Some(number) = due else {
            panic!("rank {from} sent {} more than was due", PORTS[port])
        };
        *next = number + 1;
        assert_eq!(message.len(), plan[number].length, "message {number} of rank {from}");
        number
    }

    fn drops(&self, number: usize, message: &Message) -> bool {
        let which = u64::from(message.source().0) << 32 | number as u64;
        Random::part(self.storm.seed ^ 0xd70, which).happens(self.storm.dropped_per_mille)
    }

    fn take(&self, port: usize, mut message: Message) {
        let number = self.begin(port, &message);
        if self.drops(number, &message) {
            if number.is_multiple_of(2) {
                // Half of them after half of it. That its sender was lost is no fault.
                let _ = message.skip(message.len() / 2);
            }
        } else if let Ok(bytes) = message.read_to_vec() {
            self.check(number, port, &message, &bytes);
        } else {
            return;
        }
        drop(message);
        self.end();
    }

    fn check(&self, number: usize, port: usize, message: &Message, bytes: &[u8]) {
        let expected = self.storm.bytes(message.source(), number, message.len());
        let what = (message.source(), PORTS[port]);
        assert!(bytes == expected, "message {number} of {what:?} was changed");
    }
}
