//! Multicasts that the network copies, under the protocols: what they cost, and that all arrives.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::{Packets, Rank};
use weft_protocol::Preset;
use weft_threads::{Between, FaultPlan, Gate, Job, Tap, Way};

const RANKS: u16 = 4;

/// Every rank broadcasts so many packets and takes those of all others; returns the packets of
/// each.
fn all_broadcast(packets: &Packets, count: u32) -> Vec<Vec<u32>> {
    let got = std::sync::Arc::new(Mutex::new(vec![Vec::new(); RANKS.into()]));
    let seen = std::sync::Arc::clone(&got);
    packets.on_packet(move |packet| {
        let bytes = packet.to_vec();
        let number = u32::from_le_bytes(bytes[..4].try_into().unwrap());
        assert!(bytes[4..].iter().all(|byte| *byte == number as u8), "packet {number} was changed");
        seen.lock().unwrap()[packet.source().index()].push(number);
    });
    for number in 0..count {
        let mut packet = packets.packet().unwrap();
        packet.limit_to_multicast_payload();
        packet.put(&number.to_le_bytes()).unwrap();
        let size = if number % 3 == 0 { packet.room() } else { number as usize % 40 };
        packet.put(&vec![number as u8; size]).unwrap();
        packet.broadcast().unwrap();
        packets.poll().unwrap();
    }
    let all = usize::from(RANKS - 1) * count as usize;
    packets.poll_until(|| got.lock().unwrap().iter().map(Vec::len).sum::<usize>() == all).unwrap();
    got.lock().unwrap().clone()
}

fn assert_each_once_and_in_order(results: &[Vec<Vec<u32>>], count: u32) {
    let expected: Vec<u32> = (0..count).collect();
    for (own, got) in results.iter().enumerate() {
        for (from, numbers) in got.iter().enumerate() {
            let expected = if from == own { &[][..] } else { &expected };
            assert_eq!(numbers, expected, "at {own} from {from}");
        }
    }
}

/// Packets at all ranks together that may wait while the next is sent: none is without buffers,
/// however late it runs.
const FEW: u64 = 64;

#[test]
fn a_broadcast_of_many_packets_costs_about_as_many_frames() {
    Way::ALL.into_iter().for_each(costs_about_as_many_frames);
}

fn costs_about_as_many_frames(way: Way) {
    const COUNT: u32 = 400;
    let (tap, arrived) = (Tap::new(), std::sync::Arc::new(AtomicU64::new(0)));
    let Some(job) = Job::over_multicast(way, RANKS, Preset::Pupa) else { return };
    let job = Job { tap: Some(tap), ..job };
    let got = job.packets(|packets| {
        let broadcasts = packets.rank() == Rank(0);
        let count = if broadcasts { COUNT } else { 0 };
        let expected = if broadcasts { 0 } else { COUNT as usize };
        let got = std::sync::Arc::new(Mutex::new(Vec::new()));
        let seen = std::sync::Arc::clone(&got);
        let counted = std::sync::Arc::clone(&arrived);
        packets.on_packet(move |packet| {
            seen.lock().unwrap().push(packet.to_vec()[0]);
            counted.fetch_add(1, Ordering::Relaxed);
        });
        for number in 0..count {
            let mut packet = packets.packet().unwrap();
            packet.put(&[number as u8; 500]).unwrap();
            packet.broadcast().unwrap();
            let sent = u64::from(number + 1) * (u64::from(RANKS) - 1);
            packets.poll_until(|| arrived.load(Ordering::Relaxed) + FEW > sent).unwrap();
        }
        packets.poll_until(|| got.lock().unwrap().len() == expected).unwrap();
        let sent_again = packets.statistics().protocol.retransmissions;
        let got = got.lock().unwrap().clone();
        (got, sent_again)
    });
    let (got, sent_again): (Vec<_>, Vec<_>) = got.into_iter().unzip();
    let expected: Vec<u8> = (0..COUNT).map(|number| number as u8).collect();
    assert!(got[1..].iter().all(|got| *got == expected));
    let counters = tap.counters();
    let several: u64 = counters.iter().map(|link| link.sent.several).sum();
    let spared: u64 = counters.iter().map(|link| link.sent.spared).sum();
    // All but what some receiver had no buffers for at the time, and gets by itself.
    let half = u64::from(COUNT) / 2;
    assert!(several >= half, "{several} frames for several");
    assert!(spared >= 2 * half, "{spared} datagrams not needed");
    // Whoever is kept waiting by other work sends again what was under way.
    let root = counters.iter().map(|link| link.sent.datagrams).max().unwrap() - sent_again[0];
    assert!(2 * root < 5 * u64::from(COUNT), "{root} datagrams for {COUNT} packets to three ranks");
}

/// A broadcast to ranks that share hosts is one frame for each other host, or for all of them; the
/// ranks that get it forward it.
#[test]
fn a_broadcast_crosses_to_each_host_once() {
    const COUNT: u32 = 200;
    const EACH: u16 = 3;
    for hosts in [2, 3] {
        let (tap, arrived) = (Tap::new(), std::sync::Arc::new(AtomicU64::new(0)));
        let Some(job) = Job::on_hosts(EACH * hosts, EACH, Preset::Pupa) else { return };
        let counters = Job { tap: Some(tap), ..job }.packets(|packets| {
            let got = std::sync::Arc::new(Mutex::new(Vec::new()));
            let seen = std::sync::Arc::clone(&got);
            let counted = std::sync::Arc::clone(&arrived);
            packets.on_packet(move |packet| {
                seen.lock().unwrap().push(packet.to_vec());
                counted.fetch_add(1, Ordering::Relaxed);
            });
            let root = packets.rank() == Rank(1);
            for number in (0..COUNT).filter(|_| root) {
                let mut packet = packets.packet().unwrap();
                packet.put(&[number as u8; 900]).unwrap();
                packet.broadcast().unwrap();
                let sent = u64::from(number + 1) * u64::from(EACH * hosts - 1);
                let few_wait = || arrived.load(Ordering::Relaxed) + FEW > sent;
                packets.poll_until(few_wait).unwrap();
            }
            let expected = if root { 0 } else { COUNT as usize };
            packets.poll_until(|| got.lock().unwrap().len() == expected).unwrap();
            let right = |(number, packet): (u32, &Vec<u8>)| *packet == [number as u8; 900];
            assert!((0..).zip(got.lock().unwrap().iter()).all(right), "another packet, or order");
            packets.flush().unwrap();
            packets.statistics().protocol
        });
        let passes_on = |rank: u16| rank >= EACH && rank.is_multiple_of(EACH);
        let expected = |rank| if passes_on(rank) { COUNT * u32::from(EACH - 1) } else { 0 };
        let expected: Vec<u64> = (0..EACH * hosts).map(|rank| expected(rank).into()).collect();
        let forwards: Vec<u64> = counters.iter().map(|counters| counters.forwards).collect();
        assert_eq!(forwards, expected, "the first of each other host forwards");
        let sent: Vec<_> = tap.counters().iter().map(|link| link.sent).collect();
        // What a host had no buffers for at the time it gets by itself: a frame for each other host
        // at most, where ranks of their own would take two or three times as many.
        let again = counters[1].retransmissions;
        let root = sent.iter().map(|sent| sent.datagrams).max().unwrap().saturating_sub(again);
        let (count, several) =
            (u64::from(COUNT), sent.iter().map(|sent| sent.several).sum::<u64>());
        let frames = format!("{root} frames and {again} again for {COUNT} packets");
        let most = count * u64::from(hosts - 1) * 3 / 2;
        assert!(root + again >= count && root < most, "{frames}");
        assert!(if hosts == 2 { several == 0 } else { several >= count / 4 }, "{several}");
    }
}

#[test]
fn all_arrive_once_and_in_order_where_ranks_share_hosts() {
    for (preset, loss) in Preset::RETRANSMITTING.into_iter().zip([0.0, 0.03, 0.0, 0.03, 0.03]) {
        let Some(job) = Job::on_hosts(RANKS, 2, preset) else { return };
        let job = Job { between: Between::Hosts(2, loss), ..job };
        let results = job.packets(|packets| all_broadcast(&packets, 200));
        assert_each_once_and_in_order(&results, 200);
    }
}

#[test]
fn all_arrive_once_and_in_order_under_every_preset() {
    let both = Way::ALL.into_iter().flat_map(|way| Preset::RETRANSMITTING.map(|one| (way, one)));
    for (way, preset) in both {
        let Some(job) = Job::over_multicast(way, RANKS, preset) else { return };
        let results = job.packets(|packets| all_broadcast(&packets, 300));
        assert_each_once_and_in_order(&results, 300);
    }
}

#[test]
fn what_is_lost_is_sent_again_to_those_who_missed_it() {
    let both = Way::ALL.into_iter().flat_map(|way| Preset::RETRANSMITTING.map(|one| (way, one)));
    for (seed, (way, preset)) in (1..).zip(both) {
        let Some(job) = Job::over_multicast(way, RANKS, preset) else { return };
        let faults = FaultPlan { seed, loss: 0.03, duplication: 0.03 };
        let job = Job { between: Between::Copied(way, 0.05, faults), ..job };
        let gate = Gate::default();
        let results = job.packets(|packets| {
            let got = all_broadcast(&packets, 200);
            packets.flush().unwrap();
            // One that leaves takes acknowledgements with it that were lost.
            gate.pass(&packets);
            assert!(packets.statistics().protocol.retransmissions > 0, "nothing was lost");
            got
        });
        assert_each_once_and_in_order(&results, 200);
    }
}
