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
        // Losses are rare.
        let is_crash = |step: &Step| matches!(step, Step::Crash(_));
        let crashes = possible.iter().filter(|step| is_crash(step)).count();
        if (1..possible.len()).contains(&crashes) && !random.happens(10) {
            possible.retain(|step| !is_crash(step));
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
    let written: u64 = (0..1_000).map(|seed| run(&options(seed), seed)).sum();
    assert!(written > 20_000, "{written} writes are few");
}

/// Jobs that go on, and lose up to all nodes but one, homes among them.
#[test]
fn random_programs_see_one_memory_of_which_parts_are_lost() {
    let mut written = 0;
    for seed in 0..1_000 {
        let mut options = options(seed);
        options.policy.three_party = false;
        let lost = 1 + seed as u16 % (options.nodes - 1);
        options.mortal =
            (0..options.nodes).filter(|node| (node + seed as u16) % options.nodes < lost).collect();
        written += run(&options, seed);
    }
    assert!(written > 10_000, "{written} writes are few");
}

/// A world that its seed fixes.
fn options(seed: u64) -> Options {
    let mut random = Random::part(seed, 1);
    let hint = *random.choose(&[Hint::Invalidate, Hint::Update, Hint::Migratory]);
    let policy = Policy { hint, three_party: random.happens(500) };
    let mut calls = vec![Call::StartRead, Call::StartWrite, Call::StartRead, Call::StartWrite];
    calls.extend([Call::Prefetch, Call::PrefetchWrite, Call::Flush]);
    let nodes = 2 + random.below(5) as u16;
    let homes = (0..1 + random.below(3)).map(|_| random.below(nodes.into()) as u16).collect();
    Options {
        policy,
        calls,
        homes,
        nesting: 3,
        forgetful: random.happens(500),
        multicast: *random.choose(&[Multicast::InOrder, Multicast::Sometimes, Multicast::Freely]),
        ..Options::new(nodes, 70)
    }
}
