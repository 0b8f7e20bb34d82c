use super::{RANKS, round_trip_us, write_miss_us};
use crate::cluster::{INSTRUCTION_NS, REGION_INSTRUCTIONS};

/// Time of giving a packet back (`links/sim/machines/myrinet.toml`).
const RELEASE_US: f64 = 0.7;

/// All of a miss is its packets, and what is charged for the protocol's computation; and the home
/// answers in its upcall, before it gives the packet back.
#[test]
fn a_miss_without_readers_takes_what_bare_packets_take() {
    let bare = round_trip_us(64).expect("packets come");
    let miss = write_miss_us(RANKS, 64, 0, false).expect("a miss ends");
    let charged = (REGION_INSTRUCTIONS * INSTRUCTION_NS) as f64 / 1e3;
    assert!((bare + charged - miss - RELEASE_US).abs() < 0.05, "{bare}, {miss}");
}

/// Figure 7.18: each reader adds as much as the one before, and less if it is told with others.
#[test]
fn each_reader_adds_as_much_and_less_with_a_multicast() {
    let of = |multicast| {
        [32, 40, 48]
            .map(|readers| write_miss_us(RANKS, 64, readers, multicast).expect("a miss ends"))
    };
    let (one_by_one, together) = (of(false), of(true));
    for [first, second, third] in [one_by_one, together] {
        assert!(second > first && (third - second) / (second - first) < 1.05);
    }
    assert!(together[2] < 0.6 * one_by_one[2], "{together:?}, {one_by_one:?}");
}
