//! All systems of a rank in one program, at random, under every preset, on good networks and bad
//! ones.

use weft_simulator::{Faults, MachineModel, Options, Preset, Simulation};
use weft_soak::systems::SystemStorm;

fn assert_right(ranks: u16, preset: Preset, faults: Faults, seed: u64) {
    let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), ranks, preset);
    (options.faults, options.seed) = (faults, seed);
    let report =
        Simulation::new(options).unwrap().run(move |weft| SystemStorm::new(seed).run(&weft));
    let wrong = report.outcomes.iter().find(|outcome| outcome.returned().is_none());
    assert!(report.is_success(), "{ranks} ranks, {preset}, seed {seed}: {wrong:?}");
}

/// Seeds for each preset; `make soak` tries more.
fn seeds() -> u64 {
    std::env::var("WEFT_SYSTEM_SEEDS").map_or(10, |seeds| seeds.parse().unwrap())
}

#[test]
fn on_good_networks() {
    for preset in Preset::ALL {
        (0..seeds()).for_each(|seed| assert_right(4, preset, Faults::default(), seed));
    }
}

#[test]
fn on_bad_networks() {
    for preset in Preset::RETRANSMITTING {
        for seed in 0..seeds() {
            assert_right(5, preset, Faults::unreliable(), seed);
        }
    }
}
