//! All systems of a rank in one program, at random, under every preset, on good networks and bad
//! ones. Each kind of traffic has a sum that all ranks compute together: what is lost, doubled or
//! given to the wrong system changes one.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft::collective::Sum;
use weft::prelude::*;
use weft_events::{Destination, Events, Flags, Settings, Source, Status};
use weft_model::random::Random;
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};
use weft_simulator::{Faults, Machine, Options, Preset, Simulation};

const WORDS: u64 = 16;

/// The systems, and how many.
const MESSAGES: usize = 0;
const CALLS: usize = 1;
const ORDERED: usize = 2;
const PACKETS: usize = 3;
const REGIONS: usize = 4;
const EVENTS: usize = 5;
const KINDS: usize = 6;

#[weft::service]
trait Adder {
    fn add(&self, amount: u64) -> u64;
}

#[derive(Clone, Default)]
struct Total(Arc<AtomicU64>);

impl Total {
    fn plus(&self, amount: u64) {
        self.0.fetch_add(amount, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Adder for Total {
    fn add(&self, amount: u64) -> u64 {
        self.plus(amount);
        amount
    }
}

/// The sums that a rank has received, by system.
#[derive(Default)]
struct Received {
    messages: Total,
    calls: Total,
    packets: Total,
    ordered: Arc<Mutex<Vec<u64>>>,
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// A rank with all its systems open.
struct Systems<'a> {
    weft: &'a Weft,
    received: Received,
    port: Port,
    adders: AdderClient,
    order: Order,
    regions: Regions,
    events: Events,
    _server: AdderServer,
}

impl<'a> Systems<'a> {
    fn open(weft: &'a Weft) -> Self {
        let received = Received::default();
        let messages = received.messages.clone();
        let port = weft.port("sum", move |mut message| {
            messages.plus(number(&message.read_to_vec().unwrap()));
        });
        let ordered = Arc::clone(&received.ordered);
        let order = weft.order("log", move |mut message: OrderedMessage| {
            ordered.lock().unwrap().push(number(&message.read_to_vec().unwrap()));
        });
        let packets = received.packets.clone();
        weft.packets().on_packet(move |packet| packets.plus(number(&packet)));
        let regions = Regions::open(weft.packets());
        regions.create(WORDS * 8, Policy::default()).unwrap();
        let events = Events::open(weft.packets(), Settings::default()).unwrap();
        regions.barrier().unwrap();
        Systems {
            _server: AdderServer::new(weft, received.calls.clone()).unwrap(),
            adders: AdderClient::new(weft).unwrap(),
            port: port.unwrap(),
            order: order.unwrap(),
            weft,
            received,
            regions,
            events,
        }
    }

    /// Sends `amount` to rank `to` by the system numbered `kind`.
    fn send(&self, kind: usize, to: Rank, amount: u64) {
        match kind {
            MESSAGES => self.port.send(to, &amount.to_le_bytes()).unwrap(),
            CALLS => drop(self.adders.at(to).add(amount).wait().unwrap()),
            ORDERED => drop(self.order.broadcast(&amount.to_le_bytes()).unwrap()),
            PACKETS => {
                let mut packet = self.weft.packets().packet().unwrap();
                packet.put(&amount.to_le_bytes()).unwrap();
                packet.unicast(to).unwrap();
            }
            _ => {
                let words = self.regions.map::<u64>(RegionId { home: to, index: 0 }).unwrap();
                words.write().unwrap()[(amount % WORDS) as usize] += amount;
            }
        }
    }

    /// Sends `amount` to all others as an event, and returns the sum of theirs.
    fn meet(&self, event: u32, amount: u64) -> u64 {
        let everyone = Destination::Everyone;
        self.events.send(everyone, event, &amount.to_le_bytes(), Flags::CROWD).unwrap();
        let mut sum = 0;
        loop {
            let fragment = self.events.receive(Source::Anyone, event).unwrap();
            sum += number(&fragment);
            if fragment.status() == Status::EventDone {
                return sum;
            }
        }
    }

    /// The sums of all ranks.
    fn all(&self, mut values: [u64; KINDS]) -> [u64; KINDS] {
        self.weft.all_reduce(&mut values, Sum).unwrap();
        values
    }

    /// True if all ranks together have received what is `due`, with `entries` in each log.
    fn has_all(&self, due: &[u64; KINDS], entries: u64) -> bool {
        let log = self.received.ordered.lock().unwrap().clone();
        let mine: u64 = {
            let id = RegionId { home: self.weft.rank(), index: 0 };
            let words = self.regions.map::<u64>(id).unwrap();
            words.read().unwrap().iter().sum()
        };
        let Received { messages, calls, packets, .. } = &self.received;
        let there = self.all([messages.get(), calls.get(), due[ORDERED], packets.get(), mine, 0]);
        // Each rank contributes what is due in the log, so that its sum is left out here.
        let sums = [MESSAGES, CALLS, PACKETS, REGIONS].map(|kind| (there[kind], due[kind]));
        assert!(sums.iter().all(|(there, due)| there <= due), "something came twice: {sums:?}");
        let lengths = self.weft.all_gather(&[log.len() as u64]).unwrap();
        if sums.iter().any(|(there, due)| there < due) || lengths.iter().any(|it| *it < entries) {
            return false;
        }
        assert!(lengths.iter().all(|length| *length == entries), "the order has too many entries");
        assert_eq!(log.iter().sum::<u64>(), due[ORDERED], "the order lost something");
        let fold = |hash: u64, entry: &u64| hash.rotate_left(9).wrapping_add(*entry);
        let digests = self.weft.all_gather(&[log.iter().fold(0, fold)]).unwrap();
        assert!(digests.iter().all(|other| *other == digests[0]), "orders differ: {digests:x?}");
        true
    }
}

fn program(weft: &Weft, seed: u64, steps: u32) {
    let systems = Systems::open(weft);
    let size = weft.size() as u64;
    let mut random = Random::new(seed * 1000 + u64::from(weft.rank().0));
    let (mut sent, mut entries) = ([0; KINDS], 0);
    for step in 0..steps {
        for _ in 0..random.below(6) {
            let to = Rank(random.below(size) as u16);
            let amount = random.below(1 << 20) + 1;
            let kind = random.below(EVENTS as u64) as usize;
            systems.send(kind, to, amount);
            sent[kind] += amount;
            entries += u64::from(kind == ORDERED);
        }
        let amount = random.below(1 << 20);
        let heard = systems.meet(step, amount);
        sent[EVENTS] = sent[EVENTS].wrapping_add(amount * (size - 1)).wrapping_sub(heard);
    }
    let due = systems.all(sent);
    assert_eq!(due[EVENTS], 0, "events were lost or doubled");
    let entries = systems.all([entries, 0, 0, 0, 0, 0])[0];
    while !systems.has_all(&due, entries) {
        weft.poll().unwrap();
    }
    let Systems { events, regions, .. } = systems;
    events.close(steps).unwrap();
    regions.close().unwrap();
    weft.barrier().unwrap();
}

fn assert_right(ranks: u16, preset: Preset, faults: Faults, seed: u64) {
    let mut options = Options::with_preset(Machine::myrinet().unwrap(), ranks, preset);
    (options.faults, options.seed) = (faults, seed);
    let report = Simulation::new(options).unwrap().run(move |weft| {
        program(&weft, seed, 6);
        Ok::<_, weft::Error>(())
    });
    let wrong = report.outcomes.iter().find(|outcome| outcome.returned().is_none());
    assert!(report.is_success(), "{ranks} ranks, {preset}, seed {seed}: {wrong:?}");
}

/// Seeds for each preset; `make soak` tries more.
fn seeds() -> u64 {
    std::env::var("WEFT_SYSTEM_SEEDS").map_or(3, |seeds| seeds.parse().unwrap())
}

#[test]
fn on_good_networks() {
    for preset in Preset::ALL {
        (0..seeds()).for_each(|seed| assert_right(4, preset, Faults::default(), seed));
    }
}

#[test]
fn on_bad_networks() {
    for preset in Preset::RETRANSMITTING {
        for seed in 0..seeds() {
            let faults = Faults {
                loss: 0.01,
                duplication: 0.01,
                reordering: 0.02,
                held_back: Duration::from_micros(100),
                ..Faults::default()
            };
            assert_right(5, preset, faults, seed);
        }
    }
}
