//! The `weft` command. Each subcommand is a module with its arguments and a function that runs it,
//! or in a program of its own (`weft sim` is `weft-sim`, `weft top` is in `weft-inspect`); the work
//! is done in the crates below. The program is [`main`]; manual pages are made of [`command`].

#![deny(unsafe_code)]

mod beside;
mod cores;
mod deadlocks;
mod doctor;
mod foreign;
mod mpi;
mod mpirun;
mod new;
mod run;
mod stacks;
mod surroundings;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

/// Parallel computing over user-level packets, on one machine or several.
#[derive(Parser)]
#[command(name = "weft", version = release(), after_help = EXAMPLES, arg_required_else_help = true)]
struct Weft {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  weft new my-program --c                     make a project of your own, also --rust, --mpi, --orca
  weft run -n 4 -- asp --from AMS --to HBA    run a program of this project on 4 ranks
  weft run -- ./my-program                    run your own, a rank per core
  weft mpirun -n 4 ./my-mpi-program           run an MPI program, as it is
  weft sim storm -n 16 --preset irx-imc --loss 0.01
                                              everything at once on a simulated bad network
  weft bench latency                          how fast a packet is here, and its floor
  weft compare                                the same beside Open MPI, MPICH, UCX, libfabric, TCP
  weft application all -n 4                   the ten applications, and how much faster 4 ranks are
  weft ps                                     which jobs run here
  weft top                                    what the ranks of a job do, live
  weft why                                    what the ranks of a job wait for
  weft kill 4711                              end a job, and wait until nothing of it is left
  weft report run.weft                        a page about a run, of the trace of `weft run --trace`
  weft doctor                                 what works on this machine, and what it costs";

#[derive(Subcommand)]
enum Command {
    New(new::Arguments),
    Run(Box<run::Arguments>),
    Mpirun(mpirun::Arguments),
    Doctor(doctor::Arguments),
    /// List the jobs of yours that run on this host: launcher, ranks, program, time
    Ps(beside::Words),
    /// Say what the ranks of a job wait for, the odd one first
    Why(beside::Words),
    /// Show the ranks of a job live: what each does, its packets and bytes a second, its memory
    Top(beside::Words),
    /// End jobs, as their launchers do: nothing of them is left behind
    Kill(beside::Words),
    /// Make a page of a run's trace: who waits for whom, what is on the critical path, who sends
    /// what
    Report(beside::Words),
    /// Run a program or a scenario on a simulated machine, in virtual time
    Sim(beside::Words),
    /// Measure this machine: each figure beside its floor
    Bench(beside::Words),
    /// Run the applications of the thesis: speed-ups, beside bare threads, traffic, waits
    Application(beside::Words),
    /// Compare with the libraries that are installed, and with TCP
    Compare(beside::Words),
    /// Say which release this is, as --version does
    #[command(hide = true)]
    Version,
    /// A rank of the trial of `weft doctor`
    #[command(name = doctor::TRIAL, hide = true)]
    DoctorRank,
    /// A process of `weft doctor --mpi`, which loads a libfabric
    #[command(name = doctor::FABRIC, hide = true)]
    DoctorFabric(doctor::Candidate),
}

/// The release, and the versions of what its programs say to those of other builds: all that talk
/// to one another need the same.
fn release() -> &'static str {
    let (frames, messages) = (weft_wire::envelope::VERSION, weft_launch::MESSAGES_VERSION);
    let packets = weft_wire::network::VERSION;
    let release = env!("CARGO_PKG_VERSION");
    format!("{release} (protocol: messages {messages}, frames {frames}, packets {packets})").leak()
}

/// The answer to `--version`.
fn version() -> clap::Error {
    let asked = Weft::try_parse_from(["weft", "--version"]).err();
    asked.unwrap_or_else(|| clap::Error::new(ErrorKind::DisplayVersion))
}

/// The command's arguments, for manual pages and shells. Those of subcommands that are programs of
/// their own are theirs to say.
pub fn command() -> clap::Command {
    Weft::command()
}

/// The program `weft`.
pub fn main() -> ExitCode {
    if let Some(code) = weft_launch::start_if_asked(Some(stacks::of_threads)) {
        return code;
    }
    let weft = match Weft::try_parse_from(beside::with_help_last(std::env::args_os().collect())) {
        Ok(weft) => weft,
        Err(error) => return misunderstood(&error),
    };
    let done = match weft.command {
        Command::New(arguments) => new::run(&arguments),
        Command::Run(arguments) => run::run(*arguments),
        Command::Mpirun(arguments) => mpirun::run(arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Ps(words) => beside::become_inspect("ps", &words),
        Command::Why(words) => beside::become_inspect("why", &words),
        Command::Top(words) => beside::become_inspect("top", &words),
        Command::Kill(words) => beside::become_inspect("kill", &words),
        Command::Report(words) => beside::become_inspect("report", &words),
        Command::Sim(words) => beside::become_command("sim", &words),
        Command::Bench(words) => beside::become_command("bench", &words),
        Command::Compare(words) => beside::become_command("compare", &words),
        Command::Application(words) => beside::become_command("application", &words),
        Command::Version => return weft_app_common::explain(&version()),
        Command::DoctorRank => return doctor::trial_rank(),
        Command::DoctorFabric(candidate) => doctor::look_into(&candidate),
    };
    weft_app_common::finish(done)
}

/// Says what is wrong with the command line, or prints the help that was asked for.
fn misunderstood(error: &clap::Error) -> ExitCode {
    match foreign::advice(error) {
        Some(advice) => weft_app_common::explain(&clap::Error::raw(error.kind(), advice)),
        None => weft_app_common::explain(error),
    }
}
