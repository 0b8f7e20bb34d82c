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

/// Numbers that a rank has received, by system: sums, or all where their order counts.
struct Received {
    messages: Total,
    calls: Total,
    packets: Total,
    ordered: Arc<Mutex<Vec<u64>>>,
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

fn program(weft: &Weft, seed: u64, steps: u32) {
    let (me, size) = (weft.rank(), weft.size() as u64);
    let received = Received {
        messages: Total::default(),
        calls: Total::default(),
        packets: Total::default(),
        ordered: Arc::default(),
    };
    let messages = received.messages.clone();
    let port = weft
        .port("sum", move |mut message| {
            messages.plus(number(&message.read_to_vec().unwrap()));
        })
        .unwrap();
    let _server = AdderServer::new(weft, received.calls.clone()).unwrap();
    let adders = AdderClient::new(weft).unwrap();
    let ordered = Arc::clone(&received.ordered);
    let order = weft
        .order("log", move |mut message: OrderedMessage| {
            ordered.lock().unwrap().push(number(&message.read_to_vec().unwrap()));
        })
        .unwrap();
    let packets = received.packets.clone();
    weft.packets().on_packet(move |packet| packets.plus(number(&packet)));
    let regions = Regions::open(weft.packets());
    regions.create(WORDS * 8, Policy::default()).unwrap();
    let events = Events::open(weft.packets(), Settings::default()).unwrap();
    regions.barrier().unwrap();

    let mut random = Random::new(seed * 1000 + u64::from(me.0));
    let mut sent = [0u64; 6];
    let mut ordered_here = 0;
    for step in 0..steps {
        for _ in 0..random.below(6) {
            let to = Rank(random.below(size) as u16);
            let amount = random.below(1 << 20) + 1;
            let kind = random.below(5) as usize;
            match kind {
                0 => port.send(to, &amount.to_le_bytes()).unwrap(),
                1 => drop(adders.at(to).add(amount).wait().unwrap()),
                2 => {
                    order.broadcast(&amount.to_le_bytes()).unwrap();
                    ordered_here += 1;
                }
                3 => {
                    let mut packet = weft.packets().packet().unwrap();
                    packet.put(&amount.to_le_bytes()).unwrap();
                    packet.unicast(to).unwrap();
                }
                _ => {
                    let words = regions.map::<u64>(RegionId { home: to, index: 0 }).unwrap();
                    words.write().unwrap()[random.below(WORDS) as usize] += amount;
                }
            }
            sent[kind] += amount;
        }
        let amount = random.below(1 << 20);
        sent[5] = sent[5].wrapping_add(amount * (size - 1));
        events.send(Destination::Everyone, step, &amount.to_le_bytes(), Flags::CROWD).unwrap();
        loop {
            let fragment = events.receive(Source::Anyone, step).unwrap();
            sent[5] = sent[5].wrapping_sub(number(&fragment));
            if fragment.status() == Status::EventDone {
                break;
            }
        }
    }

    // Everything that was sent is received before the sums are right, and they stay so.
    let all = |mut values: [u64; 6]| {
        weft.all_reduce(&mut values, Sum).unwrap();
        values
    };
    let due = all(sent);
    let entries = all([ordered_here, 0, 0, 0, 0, 0])[0];
    loop {
        let ordered = received.ordered.lock().unwrap().clone();
        let mine: u64 = {
            let words = regions.map::<u64>(RegionId { home: me, index: 0 }).unwrap();
            words.read().unwrap().iter().sum()
        };
        let (messages, calls) = (received.messages.get(), received.calls.get());
        let there = all([messages, calls, 0, received.packets.get(), mine, 0]);
        let lengths = weft.all_gather(&[ordered.len() as u64]).unwrap();
        if there[..2] == due[..2]
            && there[3..5] == due[3..5]
            && lengths.iter().all(|length| *length == entries)
        {
            assert_eq!(ordered.iter().sum::<u64>(), due[2], "an order lost or doubled something");
            let digest =
                ordered.iter().fold(0u64, |hash, entry| hash.rotate_left(9).wrapping_add(*entry));
            let digests = weft.all_gather(&[digest]).unwrap();
            assert!(digests.iter().all(|other| *other == digest), "orders differ: {digests:x?}");
            break;
        }
        assert!(there.iter().zip(&due).all(|(there, due)| there <= due), "something came twice");
        weft.poll().unwrap();
    }
    assert_eq!(due[5], 0, "events were lost or doubled");
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
