//! Regions beside other systems of a rank.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};
use weft_threads::{Gate, Job};

/// A home that has no packet for an answer sends it when it has one, though it waits for another
/// system then.
#[test]
fn an_answer_leaves_while_its_home_waits_for_something_else() {
    let [asks, has_read] = [false; 2].map(AtomicBool::new);
    let gate = Gate::default();
    let job = Job { limit: Duration::from_secs(30), ..Job::new(2) };
    job.packets(|packets| {
        let regions = Regions::open(&packets);
        regions.create(64, Policy::default()).unwrap();
        regions.barrier().unwrap();
        if packets.rank() == 0 {
            let mut filled = packets.packet().unwrap();
            filled.put(&[1; 500]).unwrap();
            filled.unicast(Rank(1)).unwrap();
            serve_without_packets(&packets, &asks);
            packets.poll_until(|| has_read.load(Ordering::SeqCst)).unwrap();
        } else {
            // One packet of the other's is here, so that it does not hold all by itself.
            let kept = Arc::new(Mutex::new(None));
            let arrived = Arc::clone(&kept);
            packets.on_packet(move |packet| *arrived.lock().unwrap() = packet.keep());
            packets.poll_until(|| kept.lock().unwrap().is_some()).unwrap();
            asks.store(true, Ordering::SeqCst);
            let words = regions.map::<u64>(RegionId { home: Rank(0), index: 0 }).unwrap();
            assert_eq!(words.read().unwrap()[..], [0; 8]);
            has_read.store(true, Ordering::SeqCst);
        }
        gate.pass(&packets);
        regions.close().unwrap();
    });
}

/// Has the next packet arrive while there is none to answer with.
fn serve_without_packets(packets: &Packets, asks: &AtomicBool) {
    while !asks.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let received = || packets.statistics().protocol.packets_received;
    let before = received();
    let held: Vec<_> = std::iter::from_fn(|| packets.try_packet().unwrap()).collect();
    packets.poll_until(|| received() > before).unwrap();
    drop(held);
}
