//! Arguments of `orcac sim`, and programs on simulated ranks.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

/// Simulated ranks, their network, and a program.
#[derive(Args)]
pub struct Simulated {
    /// Number of processors: each is a simulated rank
    #[arg(short, long, default_value_t = 64, value_name = "NUMBER")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..i64::from(u16::MAX)))]
    n: u16,
    /// The protocols: nrx-imc, nrx-hmc, irx-imc, irx-hmc, hrx-imc, hrx-hmc or pupa
    #[arg(long, default_value = "nrx-imc", value_name = "NAME")]
    preset: String,
    /// The costs of everything: myrinet, myrinet-compared, host, fast-ethernet or medusa
    #[arg(long, default_value = "myrinet", value_name = "NAME")]
    machine: String,
    /// Fixes everything that is random
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// The part of all packets that is lost: 0 to 1
    #[arg(long, default_value_t = 0.0, value_name = "PART")]
    loss: f64,
    /// The part that arrives twice
    #[arg(long, default_value_t = 0.0, value_name = "PART")]
    duplicate: f64,
    /// The part that is held back, so that others overtake it
    #[arg(long, default_value_t = 0.0, value_name = "PART")]
    reorder: f64,
    /// The part in which bits flip
    #[arg(long, default_value_t = 0.0, value_name = "PART")]
    corrupt: f64,
    /// The files of the program
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

impl Simulated {
    /// Command that runs a program which was compiled for simulated ranks.
    pub fn command(&self, program: &Path) -> Command {
        // `runtime/program.h` reads them in this order.
        let Simulated { n, preset, machine, seed, loss, duplicate, reorder, corrupt, .. } = self;
        let mut command = Command::new(program);
        command.args([n.to_string(), preset.clone(), machine.clone(), seed.to_string()]);
        command.args([loss, duplicate, reorder, corrupt].map(ToString::to_string));
        command
    }
}
