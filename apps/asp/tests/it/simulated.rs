//! `asp` on simulated ranks, by broadcasts and by a shared object: Dijkstra's algorithm checks all
//! distances.

use clap::Parser;
use weft_asp::{Options, run};
use weft_simulator::{Faults, MachineModel, Preset, Simulation};

fn succeeds(ranks: u16, preset: Preset, faults: Faults, arguments: &str) {
    let words = ["asp", "--to", "JFK", "--check", "99"].into_iter();
    let program = Options::try_parse_from(words.chain(arguments.split_whitespace())).unwrap();
    let machine = MachineModel::myrinet().unwrap();
    let mut options = weft_simulator::Options::with_preset(machine, ranks, preset);
    (options.faults, options.stack_bytes) = (faults, 1 << 20);
    let report = Simulation::new(options).unwrap().run(move |weft| run(&weft, &program));
    assert!(report.is_success(), "{ranks} ranks, {preset}: {:?}", report.outcomes);
}

#[test]
fn any_number_of_ranks_finds_the_shortest_ways() {
    for (ranks, arguments) in [
        (3, "--sample 70"),
        (1, "--sample 60 --on objects"),
        (2, "--sample 60 --on objects --speedup"),
        (7, "--sample 61 --on objects"),
        (64, "--sample 60 --on objects"),
    ] {
        succeeds(ranks, Preset::NrxImc, Faults::default(), arguments);
    }
}

#[test]
fn under_every_preset_and_where_packets_are_lost() {
    for preset in Preset::ALL {
        let loss = if preset.retransmits() { 0.02 } else { 0.0 };
        let faults = Faults { loss, ..Faults::default() };
        succeeds(4, preset, faults, "--sample 60 --on objects");
    }
}
