//! Water on ranks that are threads, and on simulated ones. Each run is compared with one rank's,
//! and forces with the slope of the energy.

use clap::Parser;
use weft_app_common::RegionRank;
use weft_apps::water::{Error, Options, run};
use weft_simulator::Simulation;
use weft_threads::Job;

fn options(arguments: &str) -> Options {
    let program = ["water", "--verify"].into_iter();
    Options::try_parse_from(program.chain(arguments.split_whitespace())).unwrap()
}

#[test]
fn any_number_of_threads_comes_to_what_one_does() {
    for (ranks, arguments) in [
        (1, "--molecules 64"),
        (2, "--molecules 64 --hint update"),
        (3, "--molecules 37 --prefetch --two-party"),
        (4, "--molecules 30 --hint migratory --steps 30 --seed 7"),
        (4, "--molecules 3 --steps 0"),
        (2, "--molecules 1"),
    ] {
        let options = options(arguments);
        Job::new(ranks).packets(|packets| {
            RegionRank::run(&packets, |shared| run(shared, &options)).unwrap();
        });
    }
}

#[test]
fn simulated_ranks_come_to_what_one_does() {
    let options = options("--molecules 64 --steps 2 --prefetch");
    let simulated = weft_simulator::Options::new(8).unwrap();
    let report = Simulation::new(simulated).unwrap().run_packets(move |packets| {
        RegionRank::run(&packets, |shared| run(shared, &options))
            .map_err(|error: Error| error.to_string())
    });
    assert!(report.is_success(), "{:?}", report.outcomes);
}
