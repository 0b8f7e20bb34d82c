//! Packets that are held back, so that they share a datagram, and those that must not be.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_protocol::Preset;
use weft_threads::{Job, Tap};

fn watched(tap: &'static Tap) -> Job {
    let interrupt_delay = Some(Duration::from_micros(50));
    Job { interrupt_delay, tap: Some(tap), ..Job::over_udp(2, Preset::Pupa) }
}

fn send(packets: &Packets, byte: u8) {
    let mut packet = packets.packet().unwrap();
    packet.put(&[byte]).unwrap();
    packet.unicast(Rank(1)).unwrap();
}

/// Rank 0 sends so many packets in a row and then computes, as far as Weft can see, until rank 1
/// has them. Returns how many datagrams passed until then.
fn sent_in_a_row(count: u64) -> u64 {
    let (tap, arrived) = (Tap::new(), AtomicU64::new(0));
    let passed = watched(tap).packets(|packets| {
        if packets.rank() == Rank(0) {
            for number in 0..count {
                send(&packets, number as u8);
            }
            while arrived.load(Ordering::SeqCst) < count {
                std::thread::yield_now();
            }
            return tap.passed();
        }
        let delivered = || packets.statistics().protocol.packets_delivered;
        packets.on_packet(|_| {});
        packets.poll_until(|| delivered() == count).unwrap();
        arrived.store(count, Ordering::SeqCst);
        0
    });
    passed[0]
}

#[test]
fn the_last_of_a_row_leaves_though_the_program_computes() {
    for count in [1, 2, 3] {
        sent_in_a_row(count);
    }
}

#[test]
fn packets_in_a_row_share_datagrams() {
    let passed = sent_in_a_row(30);
    assert!(passed < 30, "{passed} datagrams");
}
