//! Long random programs on more nodes and regions than can be explored.

use crate::world::{Multicast, Options, Step, World};
use weft_model::random::Random;
use weft_region::coherence::{Call, Hint, Policy};

/// Runs a random program of `seed` in random order to its end. Returns the writes.
fn run(options: &Options, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let mut world = World::new(options);
    // Arrivals are more or less likely than calls: a slow network, or a quick one.
    let slow = random.below(4) == 0;
    loop {
        let mut possible = world.possible(options);
        if possible.is_empty() {
            break;
        }
        let calls: Vec<Step> =
            possible.iter().copied().filter(|step| !matches!(step, Step::Arrive(_))).collect();
        if slow && !calls.is_empty() && random.happens(800) {
            possible = calls;
        }
        let step = *random.choose(&possible);
        world.take(options, step);
        world.check();
    }
    assert!(world.is_idle(), "seed {seed}: {:?}", world.stuck(options));
    (0..options.homes.len()).map(|region| world.written(region)).sum()
}

#[test]
fn random_programs_see_one_memory() {
    let mut written = 0;
    for seed in 0..1_000 {
        let mut random = Random::part(seed, 1);
        let hint = *random.choose(&[Hint::Invalidate, Hint::Update, Hint::Migratory]);
        let policy = Policy { hint, three_party: random.happens(500) };
        let mut calls = vec![Call::StartRead, Call::StartWrite, Call::StartRead, Call::StartWrite];
        calls.extend([Call::Prefetch, Call::PrefetchWrite, Call::Flush]);
        let nodes = 2 + random.below(5) as u16;
        let homes = (0..1 + random.below(3)).map(|_| random.below(nodes.into()) as u16).collect();
        let options = Options {
            policy,
            calls,
            homes,
            nesting: 3,
            forgetful: random.happens(500),
            multicast: *random.choose(&[
                Multicast::InOrder,
                Multicast::Sometimes,
                Multicast::Freely,
            ]),
            ..Options::new(nodes, 70)
        };
        written += run(&options, seed);
    }
    assert!(written > 20_000, "{written} writes are few");
}
