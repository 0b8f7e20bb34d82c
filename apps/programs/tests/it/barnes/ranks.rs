//! Barnes-Hut on ranks that are threads, and on simulated ones. Each run compares all bits with one
//! rank's, and forces with sums over all bodies.

use clap::Parser;
use weft_app_common::RegionRank;
use weft_apps::barnes::{Error, Options, run};
use weft_simulator::Simulation;
use weft_threads::Job;

fn options(arguments: &str) -> Options {
    let program = ["barnes", "--verify"].into_iter();
    Options::try_parse_from(program.chain(arguments.split_whitespace())).unwrap()
}

#[test]
fn any_number_of_threads_gives_the_bits_of_one() {
    for (ranks, arguments) in [
        (1, "--bodies 300 --steps 2"),
        (2, "--bodies 300 --steps 3 --hint update"),
        (3, "--bodies 257 --steps 2 --prefetch --two-party --theta 1"),
        (4, "--bodies 200 --steps 2 --hint migratory --seed 7"),
        (4, "--bodies 100 --steps 1 --theta 0"),
        (4, "--bodies 2 --steps 1"),
    ] {
        let options = options(arguments);
        Job::new(ranks).packets(|packets| {
            RegionRank::run(&packets, |shared| run(shared, &options)).unwrap();
        });
    }
}

#[test]
fn simulated_ranks_give_the_bits_of_one() {
    let options = options("--bodies 200 --steps 1 --prefetch");
    let simulated = weft_simulator::Options::new(8).unwrap();
    let report = Simulation::new(simulated).unwrap().run_packets(move |packets| {
        RegionRank::run(&packets, |shared| run(shared, &options))
            .map_err(|error: Error| error.to_string())
    });
    assert!(report.is_success(), "{:?}", report.outcomes);
}
