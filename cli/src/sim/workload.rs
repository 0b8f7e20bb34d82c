//! What runs in the simulator: the programs of this repository, and scenarios.

use super::arguments::Arguments;
use super::report::Run;
use anyhow::{Result, bail};
use clap::Parser;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use weft::{Packets, Rank};
use weft_scenarios::patterns::{self, Times};
use weft_scenarios::{Mix, Storm};
use weft_simulator::Simulation;

/// What runs, with its own arguments.
pub enum Workload {
    Asp(weft_asp::Options),
    Sor(weft_sor::Options),
    Storm(StormArguments),
    Pattern(Pattern, PatternArguments),
}

/// A pattern of communication that measures itself.
#[derive(Clone, Copy)]
pub enum Pattern {
    Ping,
    Stream,
    Broadcast,
    AllToAll,
    Barrier,
}

/// Everything at once: unicasts, multicasts, fetch-and-adds, computing; judged by a reference model
#[derive(Parser, Clone)]
#[command(name = "weft sim storm")]
pub struct StormArguments {
    /// Things that each rank does
    #[arg(long, value_name = "COUNT", default_value = "200")]
    deeds: usize,
    /// The longest packet [default: what a packet of the machine holds]
    #[arg(long, value_name = "BYTES")]
    bytes: Option<u16>,
    /// Multicast to groups of this many ranks that do not overlap, instead of to all
    #[arg(long, value_name = "RANKS")]
    groups_of: Option<u16>,
    /// Computations are of up to this many operations
    #[arg(long, value_name = "COUNT", default_value = "2000")]
    operations: u64,
}

/// One pattern of communication, measured
#[derive(Parser, Clone)]
#[command(name = "weft sim ping|stream|broadcast|all-to-all|barrier")]
pub struct PatternArguments {
    /// How often
    #[arg(long, value_name = "COUNT", default_value = "10")]
    rounds: u64,
    /// User bytes of each packet
    #[arg(long, value_name = "BYTES", default_value = "0")]
    bytes: u16,
}

impl Workload {
    /// The program or scenario that was asked for.
    pub fn named(arguments: &Arguments) -> Result<Self> {
        let words = || std::iter::once(&arguments.what).chain(&arguments.rest);
        let pattern = |pattern| {
            let parsed = PatternArguments::try_parse_from(words());
            parsed.map(|parsed| Workload::Pattern(pattern, parsed))
        };
        let parsed = match arguments.what.as_str() {
            "asp" => weft_asp::Options::try_parse_from(words()).map(Workload::Asp),
            "sor" => weft_sor::Options::try_parse_from(words()).map(Workload::Sor),
            "storm" => StormArguments::try_parse_from(words()).map(Workload::Storm),
            "ping" => pattern(Pattern::Ping),
            "stream" => pattern(Pattern::Stream),
            "broadcast" => pattern(Pattern::Broadcast),
            "all-to-all" => pattern(Pattern::AllToAll),
            "barrier" => pattern(Pattern::Barrier),
            unknown => bail!(
                "there is no program or scenario '{unknown}'; there are asp, sor, storm, ping, \
                 stream, broadcast, all-to-all and barrier"
            ),
        };
        let workload = parsed?;
        if let Workload::Pattern(Pattern::Ping | Pattern::Stream, _) = workload
            && arguments.ranks < 2
        {
            bail!("{} needs two ranks: -n 2", arguments.what);
        }
        Ok(workload)
    }

    /// Runs it.
    pub fn run(&self, simulation: Simulation, seed: u64) -> Result<Run> {
        Ok(match self {
            Workload::Asp(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_asp::run(&weft, &options)))
            }
            Workload::Sor(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_sor::run(&weft, &options)))
            }
            Workload::Storm(storm) => run_storm(simulation, storm, seed)?,
            Workload::Pattern(pattern, arguments) => run_pattern(simulation, *pattern, arguments)?,
        })
    }
}

fn run_storm(simulation: Simulation, arguments: &StormArguments, seed: u64) -> Result<Run> {
    let (ranks, packet_bytes) = (simulation.ranks(), simulation.packet_bytes());
    let bytes = arguments.bytes.unwrap_or(packet_bytes);
    check_bytes(bytes, packet_bytes)?;
    let groups = match arguments.groups_of {
        None => vec![],
        Some(0) => bail!("--groups-of 0: a group has members"),
        Some(size) => {
            let all: Vec<Rank> = (0..ranks).map(Rank).collect();
            all.chunks(size.into()).map(<[Rank]>::to_vec).collect()
        }
    };
    let storm = Storm {
        ranks,
        deeds: arguments.deeds,
        most_bytes: bytes.into(),
        groups,
        mix: Mix::default(),
        most_operations: arguments.operations,
        seed,
    };
    let plan = Arc::new(storm.plan());
    let judge = Arc::new(plan.judge());
    let judged = Arc::clone(&judge);
    let report = simulation.run_packets(move |packets| plan.run(&packets, &judged));
    Ok(Run::judged(report, judge.verdict()))
}

fn run_pattern(
    simulation: Simulation,
    pattern: Pattern,
    arguments: &PatternArguments,
) -> Result<Run> {
    check_bytes(arguments.bytes, simulation.packet_bytes())?;
    let (rounds, bytes) = (arguments.rounds, usize::from(arguments.bytes));
    let times = Times::new();
    let noted = Arc::clone(&times);
    let report = match pattern {
        Pattern::Barrier => simulation.run(move |weft| {
            for _ in 0..rounds {
                let start = weft.now();
                weft.barrier()?;
                if weft.rank() == 0 {
                    noted.note(weft.now() - start);
                }
            }
            weft::Result::Ok(())
        }),
        _ => {
            let last = Arc::new(AtomicU64::new(0));
            simulation.run_packets(move |packets: Packets| match pattern {
                Pattern::Ping => patterns::ping(&packets, rounds, bytes, &noted),
                Pattern::Stream => patterns::stream(&packets, rounds, bytes, &noted),
                Pattern::Broadcast => patterns::broadcast(&packets, rounds, bytes, &last, &noted),
                _ => patterns::all_to_all(&packets, rounds, bytes, &noted),
            })
        }
    };
    Ok(Run::measured(report, pattern.what(), &times))
}

fn check_bytes(bytes: u16, most: u16) -> Result<()> {
    if bytes > most {
        bail!("--bytes {bytes}: a packet of this machine holds {most}");
    }
    Ok(())
}

impl Pattern {
    /// What its times are.
    fn what(self) -> &'static str {
        match self {
            Pattern::Ping => "one way",
            Pattern::Stream => "from the first to the last packet",
            Pattern::Broadcast => "until the last rank has it",
            Pattern::AllToAll => "for all broadcasts of all ranks",
            Pattern::Barrier => "a barrier",
        }
    }
}
