//! Totally-ordered broadcasts between threads, over real shared memory and over the protocols
//! alone.
use std::sync::Arc;
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Barrier, Engine, OrderStatistics, OrderWindow};
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_simulator::scenarios::{OrderJudge, OrderStorm};
use weft_threads::{Between, Interrupt, Job, Weather};

/// Runs `storm` on every rank of `job`, and returns what each rank's part in each order was.
fn weather(storm: &OrderStorm, job: Job) -> Vec<Vec<OrderStatistics>> {
    let judge = Arc::new(OrderJudge::new());
    let statistics = job.run(
        |packets| {
            let engine = Engine::new(packets);
            let interrupted = Arc::clone(&engine);
            let interrupt = move || interrupted.interrupted();
            let barrier = Barrier::new(&engine).unwrap();
            ((engine, barrier), Box::new(interrupt) as Interrupt)
        },
        |(engine, barrier)| {
            let kept = storm.run(&engine, &judge, || barrier.wait()).unwrap();
            barrier.leave().unwrap();
            kept.statistics()
        },
    );
    assert_eq!(storm.verdict(&judge).map(|messages| messages as u64), Ok(storm.total()), "{job:?}");
    statistics
}

fn jobs(ranks: u16) -> [Job; 5] {
    let job = Job::new(ranks);
    let watched = Job { interrupt_delay: Some(Duration::from_micros(20)), ..job };
    let bad = Between::Udp(Weather::bad(ranks.into(), 0.01));
    let (preset, shape) = (Preset::IrxImc, Shape::Flat);
    [
        job,
        watched,
        Job { between: Between::Plain, ..watched },
        Job { between: bad, preset, shape, ..watched },
        Job { between: bad, preset: Preset::Pupa, shape, ..watched },
    ]
}

#[test]
fn all_ranks_see_one_order() {
    for (seed, ranks) in [1, 2, 4, 7].into_iter().enumerate() {
        for job in jobs(ranks) {
            let statistics = weather(&OrderStorm::new(ranks, 150, seed as u64), job);
            let parts = statistics.iter().flatten();
            let sent: u64 = parts.clone().map(|part| part.sent).sum();
            parts.for_each(|part| assert_eq!(part.delivered, sent));
        }
    }
}

#[test]
fn orders_do_not_disturb_each_other() {
    let of = |members: &[u16]| members.iter().copied().map(Rank).collect::<Vec<_>>();
    let orders = vec![of(&[0, 1, 2, 3, 4]), of(&[0, 2, 4]), of(&[3, 1]), of(&[2]), of(&[4, 3, 2])];
    let storm = OrderStorm { orders, ..OrderStorm::new(5, 60, 5) };
    // The trees are flat: groups may overlap.
    jobs(5).into_iter().for_each(|job| drop(weather(&storm, job)));
}

#[test]
fn long_messages_and_small_windows() {
    for messages in [1, 3] {
        let window = OrderWindow { messages, bytes: 4096 };
        let storm = OrderStorm { most_bytes: 64 << 10, window, ..OrderStorm::new(4, 60, 6) };
        for job in jobs(4) {
            let statistics = weather(&storm, job);
            assert!(statistics.iter().flatten().any(|part| part.stalled > 0));
        }
    }
}
