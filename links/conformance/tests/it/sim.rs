//! The suite on simulated links that are used by themselves, without NIs and programs.

use weft_link_sim::{Faults, MachineModel, Setup, Sim, SimulatedNetwork};
use weft_wire::Rank;

fn links(ranks: u16, faults: Faults) -> Vec<Sim> {
    let setup = Setup { faults, ..Setup::new(MachineModel::named("myrinet").unwrap(), ranks) };
    let network = SimulatedNetwork::new(setup).unwrap();
    (0..ranks).map(|rank| network.link(Rank(rank))).collect()
}

#[test]
fn a_good_network_conforms() {
    weft_link_conformance::in_one_thread(|ranks| links(ranks, Faults::default()));
}
