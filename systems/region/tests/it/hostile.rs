//! A member of the job that lies about what it has put where another waits for a region's bytes:
//! the miss ends with an error that names it, and nobody reads what it put.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use weft_endpoint::{Packets, Protocol, Rank};
use weft_protocol::Preset;
use weft_region::coherence::{Message, MessageKind, Version};
use weft_region::format::{Header, Notice};
use weft_region::{DataWay, Error, RegionId, Regions, Settings};
use weft_threads::{Gate, Job};

const BYTES: u64 = 4096;
const REGION: RegionId = RegionId { home: Rank(1), index: 0 };

/// Attack of a region's home, instead of an answer.
#[derive(Clone, Copy, Debug)]
struct Lie {
    /// Puts of so many bytes at these places.
    puts: &'static [(usize, usize)],
    /// So many bytes, it says, packets have put there.
    says: u64,
    /// So many come with that message.
    last: usize,
    /// Offset in its heap, of 8,192 bytes, at which it lends the region instead.
    lends: Option<u64>,
    /// True if rank 2, whom nobody asked, has put something there before.
    meddled: bool,
    /// Rank that is to be named.
    culprit: Rank,
}

const LIE: Lie = Lie { puts: &[], says: 0, last: 0, lends: None, meddled: false, culprit: Rank(1) };

const LIES: [Lie; 9] = [
    // More than came, or less.
    Lie { says: BYTES, ..LIE },
    Lie { puts: &[(0, 1000)], says: BYTES, ..LIE },
    Lie { puts: &[(0, 1000), (0, 1000)], says: 1000, ..LIE },
    // Last bytes that are not the last, or more than there are.
    Lie { puts: &[(0, 1000)], says: 1000, last: 100, ..LIE },
    Lie {
        puts: &[(0, 1000), (1000, 1000), (2000, 1000), (3000, 1000)],
        says: 4000,
        last: 97,
        ..LIE
    },
    // Memory that it has not, or in which no region begins.
    Lie { lends: Some(BYTES + 64), ..LIE },
    Lie { lends: Some(u64::MAX - 63), ..LIE },
    Lie { lends: Some(4), ..LIE },
    // All as it should be, but for another's bytes.
    Lie {
        puts: &[(0, 1000), (1000, 1000), (2000, 1000), (3000, 1000)],
        says: 4000,
        last: 96,
        lends: None,
        meddled: true,
        culprit: Rank(2),
    },
];

/// Message between the home and the meddler: the landing's number and 1, and that something has
/// been put there.
#[derive(Default)]
struct Plot {
    landing: AtomicU32,
    meddled: AtomicBool,
}

#[test]
fn who_lies_about_what_it_has_put_is_named() {
    for lie in LIES {
        let xdp = Job::over_xdp(3, Preset::Pupa);
        for job in [Job::new(3), Job::over_udp(3, Preset::Pupa)].into_iter().chain(xdp) {
            let (gate, plot) = (Gate::default(), Plot::default());
            job.packets(|packets| {
                match packets.rank().0 {
                    0 => victim(&packets, lie),
                    1 => home(&packets, &plot, lie),
                    _ if lie.meddled => meddler(&packets, &plot),
                    _ => {}
                }
                gate.pass(&packets);
            });
        }
    }
}

/// Its questions would be answered for ever, if it takes no answers and goes on asking.
#[test]
fn who_asks_and_takes_no_answers_is_named() {
    let gate = Gate::default();
    let unknown = RegionId { home: Rank(0), index: 0 };
    Job::new(2).packets(|packets| {
        if packets.rank() == Rank(0) {
            let regions = Regions::open(&packets);
            let refused = loop {
                if let Err(error) = regions.poll() {
                    break error;
                }
            };
            assert!(matches!(refused, Error::Packet(Rank(1))), "{refused}");
        } else {
            let packets = packets.of(Protocol::REGIONS);
            for _ in 0..6000 {
                let mut packet = packets.packet().unwrap();
                packet.put(&Notice::Map.emit(unknown)).unwrap();
                packet.unicast(Rank(0)).unwrap();
            }
        }
        gate.pass(&packets);
    });
}

fn victim(packets: &Packets, lie: Lie) {
    let data = if lie.lends.is_some() { DataWay::Loans } else { DataWay::Puts };
    let regions = Regions::open_with(packets, Settings { data, ..Settings::default() });
    let region = regions.map::<u8>(REGION).unwrap();
    let outcome = region.read().map(|bytes| bytes.len());
    let Err(Error::Packet(culprit)) = outcome else { panic!("{lie:?}: {outcome:?}") };
    assert_eq!(culprit, lie.culprit, "{lie:?}");
}

/// Answers as a home does until it is asked for the bytes.
fn home(packets: &Packets, plot: &Plot, lie: Lie) {
    let packets = &packets.of(Protocol::REGIONS);
    let received = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&received);
    packets.on_packet(move |packet| heard.lock().unwrap().push(packet.to_vec()));
    let hear = |wanted: &dyn Fn(&[u8]) -> bool| {
        let mut found = None;
        packets
            .poll_until(|| {
                found = received.lock().unwrap().iter().find(|packet| wanted(packet)).cloned();
                found.is_some()
            })
            .unwrap();
        found.unwrap()
    };
    let say = |front: &[u8], rest: &[u8]| {
        let mut packet = packets.packet().unwrap();
        packet.put(front).unwrap().put(rest).unwrap();
        packet.unicast(Rank(0)).unwrap();
    };
    hear(&|packet| matches!(Notice::parse(packet, 3), Some((REGION, Notice::Map))));
    let heap = lie.lends.and_then(|_| packets.puts().heap(2 * BYTES as usize));
    if let Some(heap) = &heap {
        say(&Notice::Heap(heap.name()).emit(RegionId { home: Rank(0), index: 0 }), &[]);
    }
    say(&Notice::Mapped { version: Version::default(), bytes: BYTES }.emit(REGION), &[]);
    let destination =
        |packet: &[u8]| Header::parse(packet, 3).and_then(|(header, _)| header.destination());
    let landing = destination(&hear(&|packet| destination(packet).is_some())).unwrap().number;
    if lie.meddled {
        plot.landing.store(landing + 1, Ordering::SeqCst);
        packets.poll_until(|| plot.meddled.load(Ordering::SeqCst)).unwrap();
    }
    for &(offset, bytes) in lie.puts {
        packets.packet().unwrap().land(Rank(0), landing, offset, &vec![7; bytes]).unwrap();
    }
    let message =
        Message { kind: MessageKind::DataShared, version: Version::default(), party: REGION.home };
    let header = Header::new(REGION, message);
    let header = lie.lends.map_or(header.landed(lie.says), |offset| header.lent(offset));
    say(&header.emit(), &vec![7; lie.last]);
}

/// Puts a byte where nobody has asked it for one. That it is there is known when what came later is
/// refused.
fn meddler(packets: &Packets, plot: &Plot) {
    // What comes after a packet that nobody takes waits with it.
    packets.on_packet(|_| ());
    packets.poll_until(|| plot.landing.load(Ordering::SeqCst) > 0).unwrap();
    let landing = plot.landing.load(Ordering::SeqCst) - 1;
    for offset in [0, BYTES as usize] {
        packets.packet().unwrap().land(Rank(0), landing, offset, &[0xEE]).unwrap();
    }
    packets.poll_until(|| packets.puts().landing_refused().is_some()).unwrap();
    plot.meddled.store(true, Ordering::SeqCst);
}
