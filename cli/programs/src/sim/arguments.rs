//! The arguments of `weft sim`.

use clap::{CommandFactory, Parser};
use std::time::Duration;
use weft_app_common::{Recorded, command_line};
use weft_launch::{ANY_TIME, time_in};
use weft_protocol::tree::Shape;
use weft_protocol::{Adaptive, Preset, Recovery, Settings};

/// Run a program or a scenario on a simulated machine, in virtual time
#[derive(Parser)]
#[command(name = "weft sim", bin_name = "weft sim", after_help = EXAMPLES)]
#[command(arg_required_else_help = true, disable_help_flag = true)]
pub struct Arguments {
    /// Ranks of the job: 1 to 65,534
    #[arg(short = 'n', long, value_name = "P", default_value = "64", value_parser = ranks)]
    pub ranks: u16,
    /// Ranks that the job has at most: those that are not there at first programs may ask for
    /// [default: as many as at first]
    #[arg(long, value_name = "P", value_parser = ranks)]
    pub room: Option<u16>,
    /// The protocol: nrx, irx or hrx (who retransmits), and imc or hmc (who forwards multicasts)
    #[arg(long, value_name = "NAME", default_value_t)]
    pub preset: Preset,
    /// The shape of multicast trees [binary, binomial, chain, flat or relay]
    #[arg(long, value_name = "SHAPE", default_value_t)]
    pub tree: Shape,
    /// Packets on the way for each ordered pair, or adaptive: 1 to 32 by demand, out of a POOL of
    /// receive buffers that all senders share [default: what the machine has buffers for]
    #[arg(long, value_name = "PACKETS|adaptive[:POOL]", value_parser = window)]
    pub window: Option<Window>,
    /// Receive buffers of each rank, for presets that retransmit [default: what the machine has]
    #[arg(long, value_name = "PACKETS")]
    pub receive_buffers: Option<usize>,
    /// The suspicion of a deadlock, for presets that do not retransmit: off, at-once, or after a
    /// time
    #[arg(long, value_name = "WHEN", default_value = "off", value_parser = recovery)]
    pub recovery: Recovery,
    /// The costs of everything: myrinet, myrinet-compared, host, fast-ethernet, medusa, or a file
    /// that lists them
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "myrinet")]
    pub machine: String,
    /// Fixes everything that is random
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,
    /// Run with this many seeds, from --seed on, until one fails
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = positive)]
    #[arg(conflicts_with = "trace")]
    pub seeds: u64,
    /// The part of all packets that is lost: 0 to 1, or 1%
    #[arg(long, value_name = "PART", default_value = "0", allow_negative_numbers = true, value_parser = part)]
    pub loss: f64,
    /// The part that arrives twice
    #[arg(long, value_name = "PART", default_value = "0", allow_negative_numbers = true, value_parser = part)]
    pub duplicate: f64,
    /// The part that is held back, so that others overtake it
    #[arg(long, value_name = "PART", default_value = "0", allow_negative_numbers = true, value_parser = part)]
    pub reorder: f64,
    /// For how long at most
    #[arg(long, value_name = "TIME", default_value = "200us", value_parser = time, requires = "reorder")]
    pub hold_back: Duration,
    /// The part in which bits flip
    #[arg(long, value_name = "PART", default_value = "0", allow_negative_numbers = true, value_parser = part)]
    pub corrupt: f64,
    /// Cut ranks off from all others for a time, such as 0-3,7@10ms..25ms
    #[arg(long, value_name = "RANKS@FROM..UNTIL")]
    pub partition: Vec<String>,
    /// Make a rank's own work take so many times as long, such as 3x10
    #[arg(long, value_name = "RANKxTIMES")]
    pub slow_rank: Vec<String>,
    /// Stop a rank, such as 5@12ms
    #[arg(long, value_name = "RANK@TIME")]
    pub crash: Vec<String>,
    /// Charge computation as measured here, not as the program declares it: no two runs are alike
    #[arg(long)]
    pub measured: bool,
    /// Stop after this much virtual time
    #[arg(long, value_name = "TIME", value_parser = limit)]
    pub limit: Option<Duration>,
    /// If the run fails, print the last events of the ranks concerned
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub recorded: Recorded,
    /// One object a line; what programs print goes to standard error
    #[arg(long)]
    pub json: bool,
    /// Print help; behind a name, that of the program or scenario
    #[arg(short = 'h', long)]
    pub help: bool,
    /// A program (asp, awari, qr, sor, leq, tsp, puzzle, weft-game, fft, radix, lu, barnes, water,
    /// weft-application, weft-example) or a scenario (storm, ping, stream, broadcast, all-to-all,
    /// barrier)
    #[arg(value_name = "PROGRAM|SCENARIO")]
    pub what: Option<String>,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub rest: Vec<String>,
}

/// Largest number of packets on the way between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// This number, always.
    Static(u16),
    /// One that follows demand, out of a pool of so many buffers; if not given, of those that there
    /// are.
    Adaptive(Option<u32>),
}

impl Window {
    /// The largest window that follows demand.
    const MOST: u16 = 32;

    /// Makes `settings` so, where an NI has `buffers` receive buffers.
    pub fn apply(self, settings: &mut Settings, buffers: usize) {
        match self {
            Window::Static(window) => settings.window_packets = window,
            Window::Adaptive(pool) => {
                let Adaptive { floor_packets, pool_packets } = Adaptive::new(Self::MOST, 8);
                let floors = usize::from(settings.ranks - 1) * usize::from(floor_packets);
                let left = u32::try_from(buffers.saturating_sub(floors)).unwrap_or(u32::MAX);
                let pool_packets = pool.unwrap_or(left.max(pool_packets));
                settings.window_packets = Self::MOST;
                settings.adaptive = Some(Adaptive { floor_packets, pool_packets });
            }
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  weft sim asp -n 64                            a program of this project, on 64 simulated ranks
  weft sim weft-example -n 64 kv                one of the guide's examples; weft sim weft-example --help
  weft sim storm -n 16 --preset irx-imc --loss 0.01 --seed 7
                                                everything at once, judged, on a bad network
  weft sim storm --preset hrx-hmc --corrupt 0.02 --partition 0-3@5ms..20ms --seeds 20
  weft sim all-to-all --tree chain --recovery at-once --rounds 64
  weft sim sor -n 16 --trace                    write down what happens; then weft report weft.trace
  weft sim storm -n 512 --window adaptive       windows that follow demand
  weft sim broadcast -n 10000 --machine my-machine.toml

What is run has arguments of its own (weft sim storm --help), which come last.
A program of your own simulates itself: weft new makes one that does, in C or in Rust, and
docs/guide/simulating-your-own.md says how (weft_simulate(3), weft_simulator::Simulation).
The same arguments give the same run on every machine: the trace number printed at the end
says so. A run that fails prints the command that repeats it.";

fn ranks(text: &str) -> Result<u16, String> {
    let ranks = text.parse().ok().filter(|ranks| (1..u16::MAX).contains(ranks));
    ranks.ok_or_else(|| "a simulated job has 1 to 65534 ranks".into())
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    time_in(text, ANY_TIME)
}

/// A part of a whole: a number, or one of a hundred with a percent sign.
fn part(text: &str) -> Result<f64, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let number: Option<f64> = number.trim().parse().ok();
    number.map(|number| number / of).ok_or_else(|| "it is 0 to 1, such as 0.01, or 1%".into())
}

fn limit(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err("in no time nothing can happen".into()),
        limit => Ok(limit),
    }
}

pub(super) fn positive(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "it is a number from 1 on".into())
}

fn window(text: &str) -> Result<Window, String> {
    let refused = |_| "it is a number of packets, adaptive, or adaptive:POOL".to_owned();
    match text.strip_prefix("adaptive") {
        None => text.parse().map(Window::Static).map_err(refused),
        Some("") => Ok(Window::Adaptive(None)),
        Some(pool) => {
            let pool = pool.strip_prefix(':').unwrap_or("?").parse();
            pool.map(|pool| Window::Adaptive(Some(pool))).map_err(refused)
        }
    }
}

fn recovery(text: &str) -> Result<Recovery, String> {
    match text {
        "off" => Ok(Recovery::Off),
        "at-once" => Ok(Recovery::AtOnce),
        _ => time(text)
            .map(|after| Recovery::After(after.as_nanos() as u64))
            .map_err(|_| "it is off, at-once, or a time such as 500us".into()),
    }
}

impl Arguments {
    /// Ranks that the job has at most.
    pub fn room(&self) -> u16 {
        self.room.unwrap_or(self.ranks)
    }

    /// The help of `weft sim`.
    pub fn help() -> clap::builder::StyledStr {
        Self::command().render_help()
    }

    /// The command that runs this again, with `seed` alone.
    pub fn again(&self, seed: u64) -> String {
        let given: Vec<String> = std::env::args().collect();
        // What follows are the arguments of what is run.
        let own = given.len() - self.rest.len();
        let mut words = match given[0].strip_suffix("-sim") {
            Some(weft) => vec![weft.to_owned(), "sim".into()],
            None => vec![given[0].clone()],
        };
        words.extend(["--seed".into(), seed.to_string()]);
        let mut left = given[..own].iter().skip(1);
        while let Some(word) = left.next() {
            match word.as_str() {
                "--seed" | "--seeds" => drop(left.next()),
                _ if word.starts_with("--seed=") || word.starts_with("--seeds=") => {}
                _ => words.push(word.clone()),
            }
        }
        words.extend_from_slice(&given[own..]);
        command_line(words.iter())
    }
}
