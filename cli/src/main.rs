//! The `weft` command. Each subcommand is a module with its arguments and a function that runs it;
//! the work is done in the crates below.

#![deny(unsafe_code)]

mod doctor;
mod mpi;
mod mpirun;
mod run;
mod shell;
mod sim;
mod usage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Parallel computing over user-level packets, on one machine.
#[derive(Parser)]
#[command(name = "weft", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Weft {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- asp --from AMS --to HBA    run a program of this project on 4 ranks
  weft run -- ./my-program                    run your own, a rank per core
  weft mpirun -n 4 ./my-mpi-program           run an MPI program, as it is
  weft sim storm -n 16 --preset irx-imc --loss 0.01
                                              everything at once on a simulated bad network
  weft bench latency                          how fast a packet is here, and its floor
  weft compare                                the same beside Open MPI, MPICH, UCX, libfabric, TCP
  weft doctor                                 what works on this machine, and what it costs";

const BENCH_EXAMPLES: &str = "\
Examples:
  weft bench latency                    one way of 8 bytes between two ranks
  weft bench bandwidth --size 65536     in messages of 64 KiB
  weft bench barrier -n 8 --json        for programs: one object a line
  weft bench message --link udp --size 1400    on Ethernet, between two network namespaces
  weft bench latency --link xdp                the same past the kernel's network stack
  weft bench rpc --hosts a,b            between two hosts, reached by ssh
  weft bench coexist                    beside a TCP stream of 1 Gbit/s on the same interface
  weft bench events -n 4                a message around the ring under the careful and the traditional protocol
  weft bench rate --link udp --preset irx-imc --window 8 --loss 0.01
                                        a protocol with so large windows, where packets are lost
  weft bench hostile --frames 1000000   beside frames of strangers, a million of them

A figure is the median of many samples. Its floor is the same movement of data by the barest means,
measured in turns with it. For figures that mean something, leave the machine alone meanwhile.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  weft compare                          in memory and on Ethernet, everybody who is installed
  weft compare --on ethernet --only tcp,mpich --turns 9
  weft compare --json --plot figures.svg

Everybody has turns, each of a few tenths of a second, with the same message sizes. A figure is the median
of the turns' medians. Two network namespaces make the Ethernet, which takes root. For figures that mean
something, leave the machine alone meanwhile.";

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Mpirun(mpirun::Arguments),
    Doctor(doctor::Arguments),
    Sim(sim::Arguments),
    /// Measure this machine: each figure beside its floor
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(weft_bench::Spec),
    /// One rank of `weft bench`
    #[command(hide = true)]
    BenchRank(weft_bench::Spec),
    /// Compare with the libraries that are installed, and with TCP
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(weft_compare::Spec),
    /// A process of `weft compare`
    #[command(hide = true)]
    CompareRank(weft_bench::pair::program::Program),
    /// What `weft doctor` runs as a trial
    #[command(name = doctor::TRIAL, hide = true)]
    DoctorRank,
    /// A process of `weft doctor --mpi`, which loads a libfabric
    #[command(name = doctor::FABRIC, hide = true)]
    DoctorFabric(doctor::Candidate),
}

fn main() -> ExitCode {
    if let Some(code) = weft_launch::start_if_asked() {
        return code;
    }
    let weft = match Weft::try_parse() {
        Ok(weft) => weft,
        Err(error) => return usage::explain(&error),
    };
    let done = match weft.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Mpirun(arguments) => mpirun::run(arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Sim(arguments) => sim::run(&arguments),
        Command::Bench(spec) => weft_bench::run(&spec).map(run::finish),
        Command::BenchRank(spec) => weft_bench::rank(&spec).map(|()| ExitCode::SUCCESS),
        Command::Compare(spec) => weft_compare::run(&spec).map(|()| ExitCode::SUCCESS),
        Command::CompareRank(program) => {
            weft_bench::pair::program::run(&program).map(|()| ExitCode::SUCCESS)
        }
        Command::DoctorRank => return doctor::trial_rank(),
        Command::DoctorFabric(candidate) => doctor::look_into(&candidate),
    };
    done.unwrap_or_else(|error| match error.downcast_ref::<clap::Error>() {
        Some(error) => usage::explain(error),
        None => {
            eprintln!("weft: {error:#}");
            ExitCode::FAILURE
        }
    })
}
