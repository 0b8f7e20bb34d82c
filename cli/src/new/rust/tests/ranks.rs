//! The program on 4 ranks of this machine, and on simulated ranks.

use my_program::{Found, program};
use std::process::Command;
use weft_simulator::{Faults, MachineModel, Options, Preset, Simulation};

const FOUND: Found = Found { primes: 9592, widest_gap: 72 };

#[test]
fn on_4_ranks() {
    let weft = std::env::var_os("WEFT").unwrap_or_else(|| "weft".into());
    let mut command = Command::new(&weft);
    command.args(["run", "-q", "-n", "4", "--", env!("CARGO_BIN_EXE_my-program")]);
    let output = command.output().expect("weft is in PATH, or WEFT names it");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, "9592 primes below 100000, the widest gap is 72 (ranks: 4)\n");
}

/// Runs the program twice with the same options: all ranks find the right values, and both runs
/// are the same one, which the result stands for.
fn simulated(options: impl Fn() -> Options) -> u64 {
    let run = || {
        let simulation = Simulation::new(options()).expect("options that can be");
        let report = simulation.run_joined(|weft| program(&weft).map_err(|e| e.to_string()));
        (report.trace_hash, report.into_values())
    };
    let (trace, values) = run();
    let values = values.expect("all ranks return");
    assert!(values.iter().all(|found| *found == FOUND), "{values:?}");
    assert_eq!(run().0, trace);
    trace
}

#[test]
fn on_64_simulated_ranks() {
    simulated(|| Options::new(64).expect("64 ranks"));
}

#[test]
fn on_networks_that_lose_double_and_reorder_packets() {
    let bad = |seed| {
        let machine = MachineModel::myrinet().expect("a machine that is known");
        let mut options = Options::with_preset(machine, 16, Preset::IrxImc);
        (options.seed, options.faults) = (seed, Faults::unreliable());
        options
    };
    let traces = [1, 2, 3].map(|seed| simulated(|| bad(seed)));
    assert!(traces[0] != traces[1] && traces[1] != traces[2], "{traces:?}");
}
