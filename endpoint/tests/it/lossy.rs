//! Duties that must not depend on the program where packets are lost: timers and acknowledgements.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_protocol::{Preset, Silence};
use weft_threads::{Between, Job, Weather};

const PACKETS: usize = 20;

/// Two ranks with upcall threads, where half of all datagrams are lost.
fn half(preset: Preset) -> Job {
    let weather = Weather { seed: 9, loss: 0.5, ..Weather::default() };
    let interrupt_delay = Some(Duration::from_micros(50));
    // Who ends may lose all that would tell the other so, which then waits for this long.
    let silence = Some(Silence { heartbeat_after: 200_000_000, lost_after: 5_000_000_000 });
    Job { between: Between::Udp(weather), interrupt_delay, silence, ..Job::over_udp(2, preset) }
}

fn send_all(packets: &Packets) {
    for number in 0..PACKETS {
        let mut packet = packets.packet().unwrap();
        packet.put(&[number as u8]).unwrap();
        packet.unicast(Rank(1)).unwrap();
    }
}

/// Computes, as far as Weft can see.
fn compute_until(done: impl Fn() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

#[test]
fn lost_packets_are_sent_again_while_their_sender_computes() {
    for preset in Preset::RETRANSMITTING {
        let received = AtomicUsize::new(0);
        half(preset).packets(|packets| {
            if packets.rank() == Rank(0) {
                // Not even interrupts.
                let _off = packets.interrupts_off();
                send_all(&packets);
                compute_until(|| received.load(Ordering::SeqCst) == PACKETS);
                assert!(packets.statistics().protocol.retransmissions > 0, "nothing was lost");
            } else {
                let mut next = 0;
                packets.on_packet(move |packet| {
                    assert_eq!(packet.to_vec(), [next]);
                    next += 1;
                });
                let mut seen = 0;
                packets
                    .poll_until(|| {
                        seen = packets.statistics().protocol.packets_delivered as usize;
                        seen == PACKETS
                    })
                    .unwrap();
                received.store(seen, Ordering::SeqCst);
            }
        });
    }
}

#[test]
fn packets_are_acknowledged_while_their_receiver_computes() {
    for preset in Preset::RETRANSMITTING {
        let acknowledged = AtomicBool::new(false);
        half(preset).packets(|packets| {
            if packets.rank() == Rank(0) {
                send_all(&packets);
                packets.flush().unwrap();
                acknowledged.store(true, Ordering::SeqCst);
            } else {
                let off = packets.interrupts_off();
                compute_until(|| acknowledged.load(Ordering::SeqCst));
                assert_eq!(packets.statistics().packets_processed, 0, "only drained");
                drop(off);
            }
        });
    }
}

#[test]
fn a_rank_that_ends_first_sends_again_what_was_lost() {
    for preset in Preset::RETRANSMITTING {
        let delivered = half(preset).packets(|packets| {
            if packets.rank() == Rank(0) {
                send_all(&packets);
                return 0;
            }
            packets.on_packet(|_| {});
            let delivered = || packets.statistics().protocol.packets_delivered as usize;
            packets.poll_until(|| delivered() == PACKETS).unwrap();
            delivered()
        });
        assert_eq!(delivered, [0, PACKETS]);
    }
}
