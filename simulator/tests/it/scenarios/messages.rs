//! Storms of messages between threads, over shared memory and over bad networks.
use std::sync::Arc;
use std::time::Duration;
use weft_messaging::{Barrier, Engine};
use weft_protocol::Preset;
use weft_simulator::scenarios::MessageStorm;
use weft_threads::{Between, Interrupt, Job, Weather};

/// Runs `storm` on every rank of `job`; says how many messages asked first.
fn weather(storm: MessageStorm, job: Job) -> u64 {
    let asked = job.run(
        |packets| {
            let engine = Engine::new(packets);
            let interrupted = Arc::clone(&engine);
            let interrupt = move || interrupted.interrupted();
            let barrier = Barrier::new(&engine).unwrap();
            ((engine, barrier), Box::new(interrupt) as Interrupt)
        },
        |(engine, barrier)| {
            storm.run(&engine, || barrier.wait()).unwrap();
            barrier.leave().unwrap();
            engine.statistics().requests
        },
    );
    asked.into_iter().sum()
}

fn jobs(ranks: u16) -> [Job; 4] {
    let mut small = Job::new(ranks);
    (small.memory.frames, small.memory.frame_bytes) = (32, 512);
    let watched = Job { interrupt_delay: Some(Duration::from_micros(20)), ..Job::new(ranks) };
    let bad = Between::Udp(Weather::bad(ranks.into(), 0.01));
    let lossy = Job { interrupt_delay: watched.interrupt_delay, ..Job::new(ranks) };
    [
        small,
        watched,
        Job { between: bad, preset: Preset::IrxImc, ..lossy },
        Job { between: bad, preset: Preset::HrxHmc, ..lossy },
    ]
}

#[test]
fn whatever_asks_first_everything_arrives_once_and_in_order() {
    for (seed, rendezvous_from) in [None, Some(10_000), Some(1)].into_iter().enumerate() {
        for job in jobs(4) {
            let storm = MessageStorm::new(4, 60, seed as u64);
            let asked = weather(MessageStorm { rendezvous_from, ..storm }, job);
            assert_eq!(asked > 0, rendezvous_from.is_some(), "{job:?}");
        }
    }
}
