//! Storms over real shared memory, and over UDP in fair and bad weather.
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use weft_endpoint::Rank;
use weft_link::wrap::FaultPlan;
use weft_protocol::Preset;
use weft_simulator::scenarios::{Mix, Storm, Verdict};
use weft_threads::{Between, Job, Weather};

fn storm(ranks: u16, seed: u64) -> Storm {
    let most_bytes = 500;
    let mix = Mix::default();
    let (groups, late_groups) = (vec![], false);
    Storm { ranks, deeds: 400, most_bytes, groups, late_groups, mix, most_operations: 1, seed }
}

fn assert_clean(storm: &Storm, job: &Job) {
    let plan = storm.plan();
    let judge = Arc::new(plan.judge());
    let left = AtomicU16::new(storm.ranks);
    job.packets(|packets| {
        plan.run(&packets, &judge).unwrap();
        // Others may still want to add to its variables.
        left.fetch_sub(1, Ordering::Relaxed);
        while left.load(Ordering::Relaxed) > 0 {
            packets.poll().unwrap();
            std::thread::yield_now();
        }
    });
    assert_eq!(judge.verdict(), Verdict::Clean { packets: plan.packets() });
}

#[test]
fn shared_memory_weathers_storms() {
    for seed in 0..4 {
        assert_clean(&storm(2 + seed as u16, seed), &Job::new(2 + seed as u16));
        assert_clean(
            &storm(2 + seed as u16, seed),
            &Job { between: Between::Plain, ..Job::new(2 + seed as u16) },
        );
    }
}

#[test]
fn udp_weathers_storms_whatever_the_network_does() {
    for (seed, preset) in (10..).zip(Preset::RETRANSMITTING) {
        let fair = Job::over_udp(3, preset);
        let bad = Between::Udp(Weather::bad(seed, 0.02));
        let plan = FaultPlan { seed, loss: 0.05, duplication: 0.05 };
        let faulty = Between::Faulty(plan);
        for job in [fair, Job { between: bad, ..fair }, Job { between: faulty, ..fair }] {
            assert_clean(&storm(3, seed), &job);
        }
    }
}

#[test]
fn groups_may_be_created_at_any_time() {
    let late = |seed| {
        let groups = vec![vec![Rank(0), Rank(2)], vec![Rank(2), Rank(1), Rank(0)]];
        Storm { groups, late_groups: true, ..storm(3, seed) }
    };
    for (seed, preset) in (20..).zip(Preset::RETRANSMITTING) {
        assert_clean(&late(seed), &Job::over_udp(3, preset));
        assert_clean(&late(seed), &Job::new(3));
        assert_clean(&late(seed), &Job { between: Between::Plain, ..Job::new(3) });
    }
}

#[test]
fn groups_that_do_not_overlap_are_safe() {
    let group = |members: [u16; 3]| members.map(Rank).to_vec();
    let groups = vec![group([0, 2, 4]), group([5, 1, 3])];
    assert_clean(&Storm { groups, ..storm(6, 9) }, &Job { between: Between::Plain, ..Job::new(6) });
}
