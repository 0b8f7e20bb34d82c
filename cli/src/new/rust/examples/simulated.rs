//! Simulated ranks that run the same program, in virtual time. A seed fixes all that is random;
//! with a part of packets that are lost, protocols are used that send them again.
//!
//! `cargo run --release --example simulated -- RANKS SEED LOSS`

use my_program::program;
use std::error::Error;
use weft_simulator::{Faults, MachineModel, Options, Preset, Simulation};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ranks = words.first().map_or(Ok(64), |word| word.parse())?;
    let seed = words.get(1).map_or(Ok(1), |word| word.parse())?;
    let loss = words.get(2).map_or(Ok(0.0), |word| word.parse())?;

    let preset = if loss > 0.0 { Preset::IrxImc } else { Preset::NrxImc };
    let mut options = Options::with_preset(MachineModel::myrinet()?, ranks, preset);
    options.seed = seed;
    options.faults = Faults { loss, ..Faults::default() };

    let program = |weft| program(&weft).map_err(|error| error.to_string());
    let report = Simulation::new(options)?.run_joined(program);
    let (time, packets, again) = (report.virtual_time, report.packets(), report.retransmissions());
    println!("simulated {time:?}, {packets} packets, {again} sent again");
    println!("trace     {:016x} of {} events", report.trace_hash, report.events);
    println!("{:?} (ranks: {ranks})", report.into_values()?[0]);
    Ok(())
}
