//! The protocols in whole worlds, and the worlds' own judges.

mod adaptive;
mod atomics;
mod deadlock;
mod early;
mod explore;
mod faults;
mod interleavings;
mod mixed;
mod recovery;
mod room;
mod scenarios;

use crate::{Options, Step, World};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use weft_protocol::tree::Shape;
use weft_protocol::{Preset, Settings};
use weft_wire::{Atomic, GroupId, Rank};

/// `cases` cases, the same in every run; or other ones, as `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` say, for a longer search.
fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
        config.rng_seed = RngSeed::Fixed(0x4c46_4331_3939_3900);
    }
    config
}

fn options(ranks: u16, window_packets: u16, preset: Preset, shape: Shape) -> Options {
    let settings = Settings { preset, shape, ..Settings::new(ranks, window_packets) };
    Options { settings, send_buffers: 4, groups: vec![], late_groups: false, hosts: None }
}

/// `ranks` ranks under the default preset.
fn world(ranks: u16, window_packets: u16, shape: Shape) -> World {
    World::new(options(ranks, window_packets, Preset::NrxImc, shape))
}

fn ranks(numbers: &[u16]) -> Vec<Rank> {
    numbers.iter().copied().map(Rank).collect()
}

fn unicast(from: u16, to: u16) -> Step {
    Step::Unicast { from: Rank(from), to: Rank(to) }
}

fn multicast(from: u16, group: GroupId) -> Step {
    Step::Multicast { from: Rank(from), group }
}

fn broadcast(from: u16) -> Step {
    multicast(from, GroupId::ALL)
}

fn fetch_add(from: u16, home: u16, amount: u64) -> Step {
    let operation = Atomic::Add(amount);
    Step::Atomic { from: Rank(from), home: Rank(home), variable: 7, operation }
}

fn arrive(from: u16, to: u16) -> Step {
    Step::Arrive { from: Rank(from), to: Rank(to) }
}

fn process(at: u16) -> Step {
    Step::Process { at: Rank(at) }
}

fn release(at: u16) -> Step {
    Step::Release { at: Rank(at), index: 0 }
}

fn take_all(world: &mut World, steps: &[Step]) {
    for &step in steps {
        world.take(step);
    }
}

/// Takes what happens by itself, the first possible step first, until nothing does.
fn settle(world: &mut World) {
    while let Some(&step) = world.possible().first() {
        world.take(step);
    }
}
