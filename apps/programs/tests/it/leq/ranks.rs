//! `leq` on simulated ranks, few and many, on good networks and bad ones. Each run compares all
//! bits with one rank's, and checks the residual.

use clap::Parser;
use std::time::Duration;
use weft_apps::leq::{Options, run};
use weft_simulator::{Faults, MachineModel, Preset, Rank, Report, Simulation};

fn simulate(ranks: u16, preset: Preset, faults: Faults, arguments: &str) -> Report<()> {
    let words = ["leq", "--verify"].into_iter().chain(arguments.split_whitespace());
    let program = Options::try_parse_from(words).unwrap();
    let machine = MachineModel::myrinet().unwrap();
    let mut options = weft_simulator::Options::with_preset(machine, ranks, preset);
    options.faults = faults;
    Simulation::new(options).unwrap().run(move |weft| run(&weft, &program))
}

fn succeeds(ranks: u16, preset: Preset, faults: Faults, arguments: &str) {
    let report = simulate(ranks, preset, faults, arguments);
    assert!(report.is_success(), "{ranks} ranks, {preset}: {:?}", report.outcomes);
}

#[test]
fn any_number_of_ranks_gives_the_bits_of_one() {
    for (ranks, arguments) in [
        (1, "--unknowns 30"),
        (2, "--unknowns 31 --seed 7"),
        (7, "--unknowns 5"),
        (64, "--unknowns 128 --tolerance 1e-3 --speedup"),
    ] {
        succeeds(ranks, Preset::NrxImc, Faults::default(), arguments);
    }
}

#[test]
fn under_every_preset_and_on_networks_that_lose_double_and_reorder() {
    for preset in Preset::ALL {
        succeeds(4, preset, Faults::default(), "--unknowns 40 --tolerance 1e-4");
    }
    for preset in Preset::RETRANSMITTING {
        succeeds(5, preset, Faults::unreliable(), "--unknowns 40 --tolerance 1e-4");
    }
}

#[test]
fn a_rank_that_dies_stops_the_others_with_an_error() {
    let crashes = vec![(Rank(1), Duration::from_micros(300))];
    let faults = Faults { crashes, ..Faults::default() };
    let report = simulate(4, Preset::NrxImc, faults, "--unknowns 200");
    assert_eq!(report.all_tell_of(Rank(1)), Ok(()));
}
