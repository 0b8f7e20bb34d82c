//! Every example on simulated ranks: few and many, every preset, good networks and bad ones.
//!
//! An example asserts its own result, so that a run in which all ranks return is a right one.

use clap::Parser;
use std::time::Duration;
use weft_examples::{ALL, Example, ExampleOptions, Program};
use weft_simulator::{Faults, MachineModel, Options, Outcome, Preset, Report, Simulation};

fn run(example: Example, ranks: u16, preset: Preset, faults: Faults, seed: u64) -> Report<()> {
    let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), ranks, preset);
    (options.faults, options.seed) = (faults, seed);
    let simulation = Simulation::new(options).unwrap();
    match example.run {
        Program::Messages(run) => simulation.run(run),
        Program::Objects(run) => simulation.run(run),
        Program::WithOptions => {
            let options = ExampleOptions::try_parse_from(["weft-example", example.name]).unwrap();
            simulation.run(move |weft| options.run(weft))
        }
        Program::Regions(run) => simulation.run_packets(move |packets| run(&packets)),
    }
}

fn succeeds(example: Example, ranks: u16, preset: Preset, faults: Faults, seed: u64) -> u64 {
    let report = run(example, ranks, preset, faults, seed);
    let wrong = report.outcomes.iter().find(|outcome| outcome.returned().is_none());
    let what = example.name;
    assert!(report.is_success(), "{what}, {ranks} ranks, {preset}, seed {seed}: {wrong:?}");
    report.trace_hash
}

#[test]
fn on_1_to_64_ranks() {
    for example in ALL {
        for ranks in [1, 2, 3, 8, 64] {
            succeeds(example, ranks, Preset::NrxImc, Faults::default(), 1);
        }
    }
}

#[test]
fn under_every_preset() {
    for example in ALL {
        for preset in Preset::ALL {
            succeeds(example, 5, preset, Faults::default(), 2);
        }
    }
}

#[test]
fn on_networks_that_lose_double_and_reorder() {
    for example in ALL {
        for preset in Preset::RETRANSMITTING {
            succeeds(example, 6, preset, Faults::unreliable(), 3);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for example in ALL {
        let trace = |seed| {
            let faults = Faults { loss: 0.02, ..Faults::default() };
            succeeds(example, 4, Preset::IrxImc, faults, seed)
        };
        assert_eq!(trace(5), trace(5), "{}", example.name);
        assert_ne!(trace(5), trace(6), "{}", example.name);
    }
}

#[test]
fn a_rank_that_dies_stops_the_others_with_an_error() {
    for example in ALL {
        let mut faults = Faults::default();
        faults.crashes.push((weft::Rank(1), Duration::from_micros(20)));
        let report = run(example, 4, Preset::NrxImc, faults, 1);
        assert_eq!(report.outcomes[1], Outcome::Crashed, "{}", example.name);
        for (rank, outcome) in report.outcomes.iter().enumerate().filter(|(rank, _)| *rank != 1) {
            let name = example.name;
            assert!(matches!(outcome, Outcome::Victim(_)), "{name}, rank {rank}: {outcome:?}");
        }
    }
}
