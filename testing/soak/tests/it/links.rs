//! All systems of a rank in one program, at random, on real links.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft::{Backend, Guard, Packets, Weft};
use weft_model::random::Random;
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_soak::systems::SystemStorm;
use weft_threads::{Between, FaultPlan, Interrupt, Job, Way, Weather};

const RANKS: u16 = 4;
/// Longest time of a storm, of which most take less than 0.1 s.
const LIMIT: Duration = Duration::from_secs(120);

/// The place of a rank that is a thread: what interrupts do is left for who starts the upcall
/// thread.
#[derive(Clone, Default)]
struct Place(Arc<Mutex<Option<Interrupt>>>);

impl Place {
    fn interrupt(&self) -> Option<Interrupt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Backend for Place {
    fn begin(&self, interrupt: Interrupt) -> weft::Result<Guard> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(interrupt);
        Ok(Box::new(()))
    }

    fn leave(&self) -> weft::Result<()> {
        Ok(())
    }

    fn end_if_lost(&self) {}
}

fn connect(packets: Packets) -> (Weft, Interrupt) {
    let place = Place::default();
    let weft = Weft::assemble(packets, Box::new(place.clone())).unwrap();
    (weft, place.interrupt().unwrap())
}

/// Runs the storm of a seed on `job`; half of the jobs have upcall threads, and a third check all
/// invariants after each packet.
fn assert_right(job: Job, seed: u64) {
    let interrupted = Random::part(seed, 1).happens(500);
    let interrupt_delay = interrupted.then_some(Duration::from_micros(50));
    let checks_all = seed.is_multiple_of(3);
    let job = Job { interrupt_delay, checks_all, seed: Some(seed), limit: LIMIT, ..job };
    job.run(connect, |weft| {
        SystemStorm::new(seed).run(&weft).unwrap();
        weft.leave().unwrap();
    });
}

/// Seeds for each link; `make soak` tries more, and a search for a fault begins with its seed.
fn seeds() -> std::ops::Range<u64> {
    let number = |name, usual| std::env::var(name).map_or(usual, |set| set.parse().unwrap());
    let first = number("WEFT_SYSTEM_FIRST", 0);
    first..first + number("WEFT_SYSTEM_SEEDS", 12)
}

fn careful(seed: u64) -> Preset {
    Preset::CAREFUL[seed as usize / 2 % 2]
}

fn retransmitting(seed: u64) -> Preset {
    Preset::RETRANSMITTING[seed as usize % 5]
}

#[test]
fn on_shared_memory() {
    for seed in seeds() {
        let between = if seed % 2 == 0 { Between::Memory } else { Between::Plain };
        let shape = *Random::part(seed, 2).choose(&[Shape::Flat, Shape::Binary, Shape::Binomial]);
        assert_right(Job { preset: careful(seed), shape, between, ..Job::new(RANKS) }, seed);
    }
}

#[test]
fn on_udp() {
    for seed in seeds() {
        let weather = match seed % 3 {
            0 => Weather { encrypted: true, ..Weather::default() },
            _ => Weather::bad(seed, 0.01),
        };
        let job = Job::over_udp(RANKS, retransmitting(seed));
        assert_right(Job { between: Between::Udp(weather), ..job }, seed);
    }
}

/// Between hosts of a rank each, at a bridge that may copy multicasts, and between hosts of two
/// ranks that share memory.
#[test]
fn on_ethernet() {
    for seed in seeds() {
        let preset = retransmitting(seed);
        let faults = FaultPlan { seed, loss: 0.01, duplication: 0.01 };
        let between = match seed % 4 {
            0 => Between::Xdp(faults),
            1 => Between::Copied(Way::Xdp, 0.01, faults),
            2 => Between::Copied(Way::Udp, 0.01, faults),
            _ => Between::Hosts(2, 0.01),
        };
        let Some(job) = Job::over_xdp(RANKS, preset) else { return };
        let shape = if seed % 4 == 0 { job.shape } else { Shape::Flat };
        assert_right(Job { between, shape, ..job }, seed);
    }
}
