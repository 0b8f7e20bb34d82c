//! Adversaries on the wire: frames that are forged, replayed, cut short, sent back or of others, as
//! many as they can send, beside real traffic.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_datagram::seal::FrameRefused;
use weft_endpoint::{Packets, Rank};
use weft_protocol::Preset;
use weft_threads::{Attack, Between, Job, Tap, Weather};

const RANKS: u16 = 3;
const PACKETS: u64 = 2000;
/// Frames of each kind that adversaries send at least.
const ATTACKS: u64 = 2000;

fn bytes(from: u64, number: u64) -> Vec<u8> {
    let rest = (0..from * 40 + number % 60).map(|i| (number * 7 + i) as u8);
    number.to_le_bytes().into_iter().chain(rest).collect()
}

/// Sends to all others until there were enough attacks, and checks what comes from each: all, once,
/// in order. Returns how many packets it sent.
fn exchange(packets: &Packets, tap: &Tap) -> u64 {
    let me = u64::from(packets.rank().0);
    let mut next = [0; RANKS as usize];
    packets.on_packet(move |packet| {
        let from = packet.source().index();
        assert_eq!(packet.to_vec(), bytes(from as u64, next[from]), "packet of rank {from}");
        next[from] += 1;
    });
    let enough = || Attack::ALL.iter().all(|&kind| tap.attacks(kind) >= ATTACKS);
    let mut number = 0;
    while number < PACKETS || !enough() {
        for to in (0..RANKS).filter(|&to| u64::from(to) != me) {
            let mut packet = packets.packet().unwrap();
            packet.put(&bytes(me, number)).unwrap();
            packet.unicast(Rank(to)).unwrap();
        }
        number += 1;
        packets.poll().unwrap();
    }
    packets.flush().unwrap();
    number * u64::from(RANKS - 1)
}

#[test]
fn strangers_are_refused_and_everything_real_arrives() {
    for (preset, weather) in [
        (Preset::Pupa, Weather::default()),
        (Preset::IrxImc, Weather::bad(3, 0.01)),
        (Preset::Pupa, Weather { encrypted: true, ..Weather::default() }),
    ] {
        let tap = Tap::new();
        let [sent, seen, ended] = [const { AtomicU64::new(0) }; 3];
        tap.set_hostile(true);
        let interrupt_delay = Some(Duration::from_micros(50));
        let between = Between::Udp(weather);
        let job = Job::over_udp(RANKS, preset);
        let job = Job { between, interrupt_delay, tap: Some(tap), ..job };
        job.packets(|packets| {
            sent.fetch_add(exchange(&packets, tap), Ordering::SeqCst);
            ended.fetch_add(1, Ordering::SeqCst);
            packets.poll_until(|| ended.load(Ordering::SeqCst) == u64::from(RANKS)).unwrap();
            // All that was acknowledged is here, or on its way through the upcall.
            let all = packets.statistics().protocol.packets_delivered;
            packets.poll_until(|| packets.statistics().packets_processed == all).unwrap();
            seen.fetch_add(all, Ordering::SeqCst);
        });
        assert_eq!(seen.into_inner(), sent.into_inner());
        judge(tap, weather);
    }
}

/// Checks that the refused frames are those of the adversaries, by kind: no more, unless the
/// weather did it, and fewer only by those for which the kernel had no room.
fn judge(tap: &Tap, weather: Weather) {
    let refused = |reason: FrameRefused| -> u64 {
        tap.counters().iter().map(|counters| counters.refused.of(reason)).sum()
    };
    for kind in Attack::ALL {
        let (attacks, refused) = (tap.attacks(kind), refused(kind.refused()));
        assert!(attacks >= ATTACKS, "{kind:?}: only {attacks}");
        assert!(refused > attacks / 100, "{kind:?}: {refused} of {attacks} were counted");
        let fair = weather.loss == 0.0;
        assert!(!fair || refused <= attacks, "{kind:?}: {refused} of {attacks} were counted");
    }
}
