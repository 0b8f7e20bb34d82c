//! Packets whose bytes leave from where the program has them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_endpoint::Rank;
use weft_protocol::Preset;
use weft_threads::{Between, Job};

/// User bytes of a packet that no datagram holds.
const BYTES: usize = 40_000;

#[test]
fn a_packet_ends_with_what_is_lent_to_it() {
    let job = Job { between: Between::Long, ..Job::over_udp(2, Preset::Pupa) };
    let pattern: Vec<u8> = (0..BYTES).map(|i| (i * 7 + i / 251) as u8).collect();
    job.packets(|packets| {
        if packets.rank() == Rank(0) {
            let mut lent = pattern.clone();
            packets.memory().lend(&lent, |lent| {
                let mut packet = packets.packet().unwrap();
                packet.put(&[1; 8]).unwrap().put_lent(lent, 0..BYTES).unwrap();
                assert_eq!(packet.room(), 0);
                packet.put_lent(lent, 5..5).unwrap();
                assert!(packet.put_lent(lent, 0..1).is_err(), "nothing comes behind it");
                packet.unicast(Rank(1)).unwrap();
            });
            // Nobody reads it any more.
            lent.fill(0xee);
            packets.flush().unwrap();
        } else {
            let (seen, expected) = (Arc::new(AtomicBool::new(false)), pattern.clone());
            let here = Arc::clone(&seen);
            packets.on_packet(move |packet| {
                assert!(packet[..8] == [1; 8] && packet[8..] == expected);
                here.store(true, Ordering::Relaxed);
            });
            packets.poll_until(|| seen.load(Ordering::Relaxed)).unwrap();
        }
    });
}
