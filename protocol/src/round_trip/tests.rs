//! Time-outs, sample by sample.

use super::*;

const SETTINGS: fn() -> Settings = || Settings {
    retransmit_after: 1_000_000,
    retransmit_at_least: Some(1_000),
    acknowledge_after: 50_000,
    ..Settings::new(2, 8)
};

#[test]
fn the_wait_follows_what_is_measured_and_what_the_receiver_may_wait() {
    let mut round_trip = RoundTrip::default();
    let settings = SETTINGS();
    assert_eq!(round_trip.timeout(&settings, true), 1_000_000, "nothing is known");
    round_trip.left(0, 100);
    round_trip.left(1, 5_000);
    round_trip.acknowledged(2, 10_100);
    // The first sample: 10 us, varying by half as much.
    assert_eq!(round_trip.timeout(&settings, true), 30_000);
    assert_eq!(round_trip.timeout(&settings, false), 80_000);
    for number in 2..100 {
        round_trip.left(number, 0);
        round_trip.acknowledged(number + 1, 10_000);
    }
    let steady = round_trip.timeout(&settings, true);
    assert!((10_000..10_020).contains(&steady), "{steady}");
    round_trip.left(100, 0);
    round_trip.acknowledged(101, 50_000);
    assert!(round_trip.timeout(&settings, true) > 50_000, "an outlier widens it");
}

#[test]
fn it_is_never_shorter_than_the_floor_and_fixed_without_one() {
    let mut round_trip = RoundTrip::default();
    round_trip.left(u32::MAX, 0);
    round_trip.acknowledged(0, 8);
    let settings = SETTINGS();
    assert_eq!(round_trip.timeout(&settings, true), 1_000);
    let fixed = Settings { retransmit_at_least: None, ..settings };
    assert_eq!(round_trip.timeout(&fixed, true), 1_000_000);
}

#[test]
fn packets_that_were_sent_again_are_not_timed() {
    let mut round_trip = RoundTrip::default();
    let settings = SETTINGS();
    round_trip.left(5, 0);
    round_trip.acknowledged(5, 70);
    assert_eq!(round_trip.timeout(&settings, true), 1_000_000, "5 is not acknowledged");
    round_trip.void();
    round_trip.acknowledged(6, 20_000);
    assert_eq!(round_trip.timeout(&settings, true), 1_000_000);
}

#[test]
fn the_time_is_smoothed() {
    let mut round_trip = RoundTrip::default();
    assert_eq!(round_trip.time(), None);
    round_trip.left(0, 100);
    round_trip.acknowledged(1, 900);
    assert_eq!(round_trip.time(), Some(800));
    round_trip.left(1, 1_000);
    round_trip.acknowledged(2, 2_600);
    assert_eq!(round_trip.time(), Some(900));
}
