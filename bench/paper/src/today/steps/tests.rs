//! That every step is done, over both links.

use super::{BATCH, Between, STEPS, batch, in_memory, over_udp, repeated, run};
use std::sync::atomic::Ordering;

#[test]
fn a_batch_delivers_all_of_its_packets() {
    for ranks in [in_memory(), over_udp()] {
        let ranks = ranks.unwrap();
        for done in 1..=40 {
            let times = batch(&ranks).unwrap();
            assert_eq!(times.len(), STEPS.len());
            assert_eq!(ranks[1].1.load(Ordering::Relaxed), done * BATCH as u64);
        }
        let counters = ranks[1].0.statistics().protocol;
        assert_eq!((counters.packets_delivered, counters.no_buffer), (40 * BATCH as u64, 0));
    }
}

#[test]
fn links_are_named_and_steps_counted() {
    assert_eq!("udp".parse(), Ok(Between::Udp));
    let error = "xdp".parse::<Between>().unwrap_err();
    assert_eq!(error, "there are steps of shm and udp, none of 'xdp'");
    assert_eq!(repeated(3), 3 * BATCH);
    assert!(run(Between::Shm, 3).unwrap().iter().all(|&time| time.is_finite()));
}
