//! Everything at once over UDP, through a network that loses, doubles, reorders and changes
//! datagrams: whatever is sent arrives once, in order and unchanged.

use crate::common::{Member, run};
use std::time::Duration;
use weft_endpoint::{Group, Rank, Variable};
use weft_messaging::Orders;
use weft_messaging::rpc::{Client, Rpc, Service};
use weft_protocol::Preset;
use weft_threads::{Between, Job, Weather};

const RANKS: u16 = 3;
const ROUNDS: u64 = 60;

fn stormy(preset: Preset, weather: Weather) -> Job {
    let interrupt_delay = Some(Duration::from_micros(50));
    Job { between: Between::Udp(weather), interrupt_delay, ..Job::over_udp(RANKS, preset) }
}

fn bytes(from: u64, round: u64) -> Vec<u8> {
    let size = [8, 9, 100, 1400, 5000][(round % 5) as usize];
    let rest = (8..size).map(|i| (from * 17 + round * 31 + i) as u8);
    round.to_le_bytes().into_iter().chain(rest).collect()
}

/// Sends to all others and to the group, and checks what comes from each, in order.
fn exchange(member: &Member) {
    let (unicast, multicast) = (member.mailbox("unicast"), member.mailbox("multicast"));
    let me = member.rank() as u64;
    let others = || (0..u64::from(RANKS)).filter(move |other| *other != me);
    let mut next = [0; RANKS as usize];
    let mut next_to_all = [0; RANKS as usize];
    for round in 0..ROUNDS {
        for to in others() {
            unicast.send(Rank(to as u16), &bytes(me, round)).unwrap();
        }
        multicast.multicast(Group::ALL, &bytes(100 + me, round)).unwrap();
        for _ in others() {
            let mut message = unicast.receive().unwrap();
            let from = message.source().index();
            assert_eq!(message.read_to_vec().unwrap(), bytes(from as u64, next[from]));
            next[from] += 1;
            let mut message = multicast.receive().unwrap();
            let from = message.source().index();
            assert_eq!(message.read_to_vec().unwrap(), bytes(100 + from as u64, next_to_all[from]));
            next_to_all[from] += 1;
        }
    }
    assert_eq!(next.iter().sum::<u64>(), ROUNDS * 2);
}

/// Every rank adds to a variable of rank 1; no addition is lost or made twice.
fn count(member: &Member) {
    let counter = Variable { home: Rank(1), index: 3 };
    let packets = member.engine.packets();
    let mut last = None;
    for _ in 0..ROUNDS {
        let before = packets.fetch_and_add(counter, 1).unwrap();
        assert!(last < Some(before), "{last:?} and then {before}");
        last = Some(before);
    }
    member.barrier.wait().unwrap();
    assert_eq!(packets.fetch_and_add(counter, 0).unwrap(), ROUNDS * u64::from(RANKS));
    member.barrier.wait().unwrap();
}

/// All broadcast in one order, and each asks each other rank for a reply to every message that it
/// sees.
fn order_and_ask(member: &Member) {
    let orders = Orders::new(&member.engine);
    let ordered = orders.mailbox("ordered").unwrap();
    let rpc = Rpc::new(&member.engine).unwrap();
    let service = Service::new(&rpc, "double", |mut request| {
        let bytes = request.message().read_to_vec().unwrap();
        request.reply(&[&bytes[..], &bytes].concat()).unwrap();
    });
    let client = Client::new(&rpc, "double").unwrap();
    let me = member.rank() as u64;
    for round in 0..ROUNDS / 2 {
        ordered.broadcast(&bytes(me, round)).unwrap();
    }
    let mut next = [0; RANKS as usize];
    for number in 0..ROUNDS / 2 * u64::from(RANKS) {
        let mut message = ordered.receive().unwrap();
        assert_eq!(message.number(), number);
        let (from, seen) = (message.source(), message.read_to_vec().unwrap());
        assert_eq!(seen, bytes(from.0.into(), next[from.index()]));
        next[from.index()] += 1;
        if from.index() != member.rank() {
            let reply = client.call(from, &seen).unwrap().wait().unwrap().read_to_vec().unwrap();
            assert_eq!(reply, [&seen[..], &seen].concat());
        }
    }
    member.barrier.wait().unwrap();
    drop(service);
}

#[test]
fn everything_survives_every_weather_under_every_preset() {
    for preset in Preset::RETRANSMITTING {
        for weather in [
            Weather::bad(1, 0.01),
            Weather { loss: 0.2, seed: 2, ..Weather::default() },
            Weather { encrypted: true, ..Weather::bad(3, 0.05) },
        ] {
            run(stormy(preset, weather), |member| {
                exchange(member);
                count(member);
                order_and_ask(member);
            });
        }
    }
}
