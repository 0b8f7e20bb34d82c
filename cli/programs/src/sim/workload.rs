//! Workloads of the simulator: the programs of this repository, and scenarios.

use super::arguments::{Arguments, positive};
use super::report::Run;
use anyhow::{Result, anyhow, bail};
use clap::Parser;
use clap::error::{ContextKind, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use weft::{Packets, Rank};
use weft_app_common::RegionRank;
use weft_examples::{Example, ExampleOptions, Program};
use weft_simulator::Simulation;
use weft_simulator::scenarios::patterns::{self, Times};
use weft_simulator::scenarios::{Mix, Storm};

/// A program or a scenario, with its own arguments.
pub enum Workload {
    Asp(weft_asp::Options),
    Awari(weft_apps::awari::Options),
    Qr(weft_apps::qr::Options),
    Sor(weft_apps::sor::Options),
    Leq(weft_apps::leq::Options),
    Tsp(weft_apps::tsp::Options),
    Puzzle(weft_apps::puzzle::Options),
    Game(weft_apps::games::Options),
    Fft(weft_apps::fft::Options),
    Radix(weft_apps::radix::Options),
    Lu(weft_apps::lu::Options),
    Barnes(weft_apps::barnes::Options),
    Water(weft_apps::water::Options),
    Application(weft_bench::application::Options),
    Example(weft_examples::Messages),
    ExampleOnObjects(weft_examples::ObjectProgram),
    ExampleOnRegions(weft_examples::Regions),
    ExampleWithOptions(ExampleOptions),
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
    #[arg(long, value_name = "COUNT", default_value = "200", value_parser = positive)]
    deeds: u64,
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
#[command(name = "weft sim PATTERN", after_help = PATTERNS)]
pub struct PatternArguments {
    /// Number of rounds
    #[arg(long, value_name = "COUNT", default_value = "10", value_parser = positive)]
    rounds: u64,
    /// User bytes of each packet
    #[arg(long, value_name = "BYTES", default_value = "0")]
    bytes: u16,
}

/// A program of the guide
#[derive(Parser, Clone)]
#[command(name = "weft sim weft-example", after_help = format!("Examples:\n{}", weft_examples::list()))]
pub struct ExampleArguments {
    /// Name of the example
    #[arg(value_parser = example)]
    name: Example,
    /// Options of the example, if it has some: weft-example farm --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

impl ExampleArguments {
    fn workload(self) -> Result<Workload> {
        let Example { name, run, .. } = self.name;
        match run {
            Program::WithOptions => {
                let name = ["weft-example", name].map(String::from).into_iter();
                let options = ExampleOptions::try_parse_from(name.chain(self.options))?;
                Ok(Workload::ExampleWithOptions(options))
            }
            _ if !self.options.is_empty() => {
                bail!("{name} has no options (weft sim weft-example --help)")
            }
            Program::Messages(run) => Ok(Workload::Example(run)),
            Program::Objects(run) => Ok(Workload::ExampleOnObjects(run)),
            Program::Regions(run) => Ok(Workload::ExampleOnRegions(run)),
        }
    }
}

fn example(name: &str) -> Result<Example, String> {
    weft_examples::named(name).ok_or_else(|| "weft sim weft-example --help lists them".into())
}

const PATTERNS: &str = "\
Patterns:
  ping        ranks 0 and 1 send to each other in turn: one way
  stream      rank 0 sends to rank 1 as fast as it can: from the first to the last packet
  broadcast   rank 0 broadcasts, all others answer: until the last rank has it
  all-to-all  all ranks broadcast as fast as they can: until rank 0 has everything
  barrier     all ranks wait for one another";

impl Workload {
    /// The program or scenario `name`.
    pub fn named(name: &str, arguments: &Arguments) -> Result<Self> {
        let pattern =
            |pattern| parse(name, arguments).map(|parsed| Workload::Pattern(pattern, parsed));
        let workload = match name {
            "asp" => parse(name, arguments).map(Workload::Asp),
            "awari" => parse(name, arguments).map(Workload::Awari),
            "qr" => parse(name, arguments).map(Workload::Qr),
            "sor" => parse(name, arguments).map(Workload::Sor),
            "leq" => parse(name, arguments).map(Workload::Leq),
            "tsp" => parse(name, arguments).map(Workload::Tsp),
            "puzzle" => parse(name, arguments).map(Workload::Puzzle),
            "weft-game" => parse(name, arguments).map(Workload::Game),
            "fft" => parse(name, arguments).map(Workload::Fft),
            "radix" => parse(name, arguments).map(Workload::Radix),
            "lu" => parse(name, arguments).map(Workload::Lu),
            "barnes" => parse(name, arguments).map(Workload::Barnes),
            "water" => parse(name, arguments).map(Workload::Water),
            "weft-application" => parse(name, arguments).and_then(rank).map(Workload::Application),
            "weft-example" => {
                parse::<ExampleArguments>(name, arguments).and_then(ExampleArguments::workload)
            }
            "storm" => parse(name, arguments).map(Workload::Storm),
            "ping" => pattern(Pattern::Ping),
            "stream" => pattern(Pattern::Stream),
            "broadcast" => pattern(Pattern::Broadcast),
            "all-to-all" => pattern(Pattern::AllToAll),
            "barrier" => pattern(Pattern::Barrier),
            own if Path::new(own).is_file() => bail!(
                "weft sim runs what comes with it, and '{own}' is a file: a program of your own simulates \
                 itself, in C by weft_simulate(3), in Rust by weft_simulator::Simulation, as those that \
                 weft new makes do (docs/guide/simulating-your-own.md)"
            ),
            unknown => bail!(
                "there is no program or scenario '{unknown}'; there are asp, awari, qr, sor, leq, tsp, \
                 puzzle, weft-game, fft, radix, lu, barnes, water, weft-application, weft-example, \
                 storm, ping, stream, broadcast, all-to-all and barrier"
            ),
        }?;
        if let Workload::Pattern(Pattern::Ping | Pattern::Stream, _) = workload
            && arguments.ranks < 2
        {
            bail!("{name} needs two ranks: -n 2");
        }
        Ok(workload)
    }

    /// Checks that `simulation` can run it.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, simulation: &Simulation) -> Result<()> {
        let most = simulation.packet_bytes();
        let bytes = match self {
            Workload::Storm(storm) if storm.groups_of == Some(0) => {
                bail!("--groups-of 0: a group has members")
            }
            Workload::Storm(storm) => storm.bytes.unwrap_or(0),
            Workload::Pattern(_, pattern) => pattern.bytes,
            _ => 0,
        };
        if bytes > most {
            bail!("--bytes {bytes}: a packet of this machine holds {most}");
        }
        Ok(())
    }

    /// True if it shows by itself how far it is.
    pub fn shows_progress(&self) -> bool {
        !matches!(self, Workload::Storm(_) | Workload::Pattern(..))
    }

    /// Runs it.
    pub fn run(&self, simulation: Simulation, seed: u64) -> Run {
        match self {
            Workload::Asp(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_asp::run(&weft, &options)))
            }
            Workload::Awari(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::awari::run(&weft, &options)))
            }
            Workload::Qr(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::qr::run(&weft, &options)))
            }
            Workload::Sor(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::sor::run(&weft, &options)))
            }
            Workload::Leq(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::leq::run(&weft, &options)))
            }
            Workload::Tsp(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::tsp::run(&weft, &options)))
            }
            Workload::Puzzle(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::puzzle::run(&weft, &options)))
            }
            Workload::Game(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_apps::games::run(&weft, &options)))
            }
            Workload::Fft(options) => on_regions(simulation, options, weft_apps::fft::run),
            Workload::Radix(options) => on_regions(simulation, options, weft_apps::radix::run),
            Workload::Lu(options) => on_regions(simulation, options, weft_apps::lu::run),
            Workload::Barnes(options) => on_regions(simulation, options, weft_apps::barnes::run),
            Workload::Water(options) => on_regions(simulation, options, weft_apps::water::run),
            Workload::Application(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| weft_bench::application::rank(&weft, &options)))
            }
            Workload::Example(run) => Run::of(simulation.run(*run)),
            Workload::ExampleOnObjects(run) => Run::of(simulation.run(*run)),
            Workload::ExampleOnRegions(run) => {
                let run = *run;
                Run::of(simulation.run_packets(move |packets| run(&packets)))
            }
            Workload::ExampleWithOptions(options) => {
                let options = options.clone();
                Run::of(simulation.run(move |weft| options.run(weft)))
            }
            Workload::Storm(storm) => run_storm(simulation, storm, seed),
            Workload::Pattern(pattern, arguments) => run_pattern(simulation, *pattern, arguments),
        }
    }
}

/// The arguments of what is called `name`.
fn parse<P: Parser>(name: &str, arguments: &Arguments) -> Result<P> {
    let help = arguments.help.then_some("--help");
    let words = [name].into_iter().chain(help).chain(arguments.rest.iter().map(String::as_str));
    let command = P::command().bin_name(format!("weft sim {name}"));
    let found = command.try_get_matches_from(words).and_then(|found| P::from_arg_matches(&found));
    found.map_err(|error| match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(word)) => anyhow!(
            "{name} has no argument {word} (weft sim {name} --help); those of weft sim come before \
             those of {name}"
        ),
        _ => error.into(),
    })
}

/// Options of applications whose ranks are simulated, which start none themselves.
fn rank(options: weft_bench::application::Options) -> Result<weft_bench::application::Options> {
    match options.is_rank() {
        true => Ok(options),
        false => bail!(
            "weft-application runs on the ranks that weft sim starts: say -n before its name, and \
             neither --bare nor --list"
        ),
    }
}

/// Runs a program on shared regions.
fn on_regions<O: Clone + 'static, E>(
    simulation: Simulation,
    options: &O,
    program: fn(&RegionRank, &O) -> std::result::Result<(), E>,
) -> Run
where
    E: std::fmt::Display + From<weft_region::Error> + 'static,
{
    let options = options.clone();
    let run = move |packets| RegionRank::run(&packets, |shared| program(shared, &options));
    Run::of(simulation.run_packets(run))
}

fn run_storm(simulation: Simulation, arguments: &StormArguments, seed: u64) -> Run {
    let ranks = simulation.ranks();
    let bytes = arguments.bytes.unwrap_or(simulation.packet_bytes());
    let groups = match arguments.groups_of {
        None => vec![],
        Some(size) => {
            let all: Vec<Rank> = (0..ranks).map(Rank).collect();
            all.chunks(size.into()).map(<[Rank]>::to_vec).collect()
        }
    };
    let storm = Storm {
        ranks,
        deeds: arguments.deeds as usize,
        most_bytes: bytes.into(),
        groups,
        late_groups: false,
        mix: Mix::default(),
        most_operations: arguments.operations,
        seed,
    };
    let plan = Arc::new(storm.plan());
    let judge = Arc::new(plan.judge());
    let judged = Arc::clone(&judge);
    let report = simulation.run_packets(move |packets| plan.run(&packets, &judged));
    Run::judged(report, judge.verdict())
}

fn run_pattern(simulation: Simulation, pattern: Pattern, arguments: &PatternArguments) -> Run {
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
    Run::measured(report, pattern.what(), &times)
}

impl Pattern {
    /// The noun for its times.
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
