//! `weft run`: a program on some ranks.

mod fabric;
mod hosts;
mod losses;
mod nested;
mod programs;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use weft_app_common::Recorded;
use weft_launch::{
    ANY_TIME, Binding, BulkWish, FULL_WINDOW_RANKS, JobSpec, MAX_RANKS, Mtu, PROGRESS_LIMIT,
    Program, Protection, RANKS_MAX, Settings, Verdict, is_wanted, time_in,
};
use weft_protocol::tree::Shape;
use weft_protocol::{Preset, UnknownPreset};

use crate::cores::{Cores, WAITS_ALONE};
use crate::deadlocks::Deadlocks;
use crate::surroundings::{Surroundings, Variable};
use losses::Losses;

/// Run a program on some ranks
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Ranks, 1 to 1024 [default: one per core]
    #[arg(short = 'n', long, value_name = "P", value_parser = ranks, allow_negative_numbers = true)]
    ranks: Option<u16>,
    /// Ranks that the job has at most: those that are not there at first programs may have started,
    /// on each host in turn [default: as many as at first]
    #[arg(long, value_name = "P", value_parser = ranks, env = "WEFT_ROOM")]
    room: Option<u16>,
    /// File that says, while the job runs, where its door is: processes started otherwise, with
    /// WEFT_DOOR=FILE, wait there until its program lets them in; needs --room
    #[arg(long, value_name = "FILE")]
    door: Option<PathBuf>,
    /// Link that packets take; auto takes the best that works here
    #[arg(long, value_enum, default_value_t = Link::Auto)]
    link: Link,
    /// Way of long packets between hosts
    #[arg(long, env = "WEFT_BULK", value_enum, default_value_t = LongPackets::Auto)]
    bulk: LongPackets,
    /// Provider of libfabric, for --link fabric [default: the best one with hardware of its own;
    /// weft doctor lists all]
    #[arg(long, value_name = "NAME", env = "WEFT_PROVIDER")]
    provider: Option<String>,
    /// File of the libfabric to load on each host, for --link fabric [default: libfabric.so.1,
    /// where the system finds it]
    #[arg(long, value_name = "FILE", env = "WEFT_LIBFABRIC")]
    libfabric: Option<String>,
    /// The protocol: who retransmits, who forwards multicasts [default: nrx-imc within a host, pupa
    /// between hosts]
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<Preset>,
    /// The network between the ranks loses nothing, so that presets that never send again will do
    #[arg(long)]
    lossless: bool,
    /// The shape of multicast trees, of hosts where there are several [flat, binary, binomial,
    /// chain or relay; default: the link's best]
    #[arg(long, value_name = "SHAPE")]
    tree: Option<Shape>,
    /// Time that an arrival waits for the program to poll before it is interrupted
    #[arg(long, value_name = "N")]
    interrupt_delay_us: Option<u64>,
    /// Packets that a rank may have under way to another: a power of two from 2 to 4096
    #[arg(long, value_name = "PACKETS", value_parser = window)]
    window: Option<u16>,
    /// The longest packets between ranks, with their IP header [default: the narrowest interface's]
    #[arg(long, value_name = "BYTES")]
    mtu: Option<Mtu>,
    /// Authenticate all bytes of packets between hosts, which takes time; without it nobody else
    /// gets in, but whoever is on the path can change what is in long packets
    #[arg(long, env = "WEFT_AUTHENTICATE", value_parser = is_wanted)]
    authenticate: bool,
    /// Encrypt packets between hosts, which takes more time, and has ranks copy multicasts; without
    /// it whoever is on the path can read them
    #[arg(long, env = "WEFT_ENCRYPT", value_parser = is_wanted)]
    encrypt: bool,
    #[command(flatten)]
    losses: Losses,
    #[command(flatten)]
    deadlocks: Deadlocks,
    /// Check all invariants of the protocols after each packet, which takes time; one that is
    /// broken ends the job with its name and the numbers. Some are always checked, the others now
    /// and then
    #[arg(long, env = "WEFT_CHECK", value_parser = is_wanted)]
    check: bool,
    /// Have ranks say on standard error, when they leave, which shared objects they had, and rank 0
    /// in a table what each sent, received and waited for
    #[arg(long, env = "WEFT_STATISTICS", value_parser = is_wanted)]
    statistics: bool,
    #[command(flatten)]
    recorded: Recorded,
    /// Begin every line of output with the rank that wrote it
    #[arg(long, conflicts_with = "output_dir")]
    label: bool,
    /// Write the output to rank-N.out and rank-N.err in this directory
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Placement of ranks: core puts rank i on the i-th core
    #[arg(long, value_enum, default_value_t = Bind::None)]
    bind: Bind,
    /// Seconds that the program has to join the job; 0 for ever
    #[arg(long, value_name = "S", default_value = "30", value_parser = time, allow_negative_numbers = true)]
    join_limit: Duration,
    /// Do not say first what is run, where, by which link, and how ranks wait
    #[arg(short, long, env = "WEFT_QUIET", value_parser = is_wanted)]
    quiet: bool,
    /// Say it also where WEFT_QUIET is set
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    surroundings: Surroundings,
    #[command(flatten)]
    hosts: hosts::Hosts,
    /// The program, a path or a name (looked for beside weft, then in PATH), and its arguments;
    /// after a colon another program, for ranks of its own
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
    #[arg(skip)]
    later: Vec<Program>,
}

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- asp --from AMS --to HBA       4 ranks of a program that comes with weft
  weft run -n 4 -- weft-example hello            one of the guide's examples; weft-example lists them
  weft run -- ./my-program input.dat             your own program, a rank per core
  weft run -n 2 --room 8 -- ./my-program         a program that may have six more ranks started
  weft run -n 2 --room 8 --door door -- ./my-program    and ranks from elsewhere: WEFT_DOOR=door ./my-program
  weft run -n 1 -- ./master : -n 7 -- ./worker   rank 0 runs one program, ranks 1 to 7 another
  weft run -n 8 --label -- ./my-program          say which rank wrote each line
  weft run -n 8 --output-dir runs -- ./my-program    keep the output of each rank in files
  weft run -n 4 --statistics -- weft-example jobs    say what each rank sent, and its shared objects
  weft run -n 4 --trace -- sor                   write down what happens; then weft report weft.trace
  weft run -n 2 --bind core --preset nrx-hmc -- ./my-program    one core each, another protocol
  weft run -n 8 --on-loss continue -- ./my-program    go on without ranks that are lost
  weft run -x DEBUG=1 --chdir /data -- ./my-program    a variable and a directory of the ranks
  weft run --time-limit 10m -- ./my-program      end the job after ten minutes
  weft run --hosts a,b -- ./my-program           on two hosts, a rank per core of each
  weft run --hosts a:2,b:4 --interface eth1 -- ./my-program    so many each, over their eth1
  weft run --hosts a,b -n 8 --rsh \"ssh -p 2222\" -- ./my-program    4 each, by another shell
  weft run --hosts box1,box2 --rsh \"docker exec -i\" -- my-program    in two containers

Rank 0 reads what weft is given on standard input, unless that is a terminal. Ctrl-C ends all
ranks. The exit status is that of the first rank that failed, 128 + N if signal N ended it, and 0
if all ranks ended cleanly. With --on-loss continue it is 0 if one did, else that of the last.";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Link {
    /// shm within a host; between hosts fabric if this one has hardware for it, else xdp where all
    /// of them can, else udp
    Auto,
    /// Shared memory, on one host
    Shm,
    /// UDP between hosts; on one host between all ranks
    Udp,
    /// Ethernet without the kernel's network stack (AF_XDP) between hosts
    Xdp,
    /// A provider of libfabric between hosts; on one host between all ranks
    Fabric,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LongPackets {
    /// TCP connections if all hosts reach one another so, else datagrams
    Auto,
    /// TCP connections
    Tcp,
    /// Datagrams, as all packets
    Datagrams,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bind {
    None,
    Core,
}

fn ranks(text: &str) -> std::result::Result<u16, String> {
    let ranks = text.parse().ok().filter(|ranks| (1..=RANKS_MAX).contains(ranks));
    ranks.ok_or_else(|| match text.parse::<f64>() {
        // All that `-np 4` leaves of mpirun's option.
        Err(_) if text == "p" => "mpirun's -np is -n here: weft run -n 4 ./program".into(),
        Err(_) => format!("that is no number; a job has 1 to {RANKS_MAX} ranks"),
        Ok(_) => format!("a job has 1 to {RANKS_MAX} ranks"),
    })
}

fn time(text: &str) -> std::result::Result<Duration, String> {
    time_in(text, ANY_TIME)
}

fn window(text: &str) -> std::result::Result<u16, String> {
    match text {
        "adaptive" => {
            Err("windows that follow demand are for NIs whose receive buffers all senders \
                           share, as in weft sim; real links have buffers for each pair"
                .into())
        }
        _ => {
            let packets = text
                .parse()
                .ok()
                .filter(|packets: &u16| packets.is_power_of_two() && (2..=4096).contains(packets));
            packets.ok_or_else(|| "it is a number of packets: a power of two, 2 to 4096".into())
        }
    }
}

fn preset(name: &str) -> std::result::Result<Preset, String> {
    name.parse().map_err(|unknown: UnknownPreset| unknown.to_string())
}

impl Arguments {
    /// Takes apart what several programs are given.
    fn divide(&mut self) -> Result<(), clap::Error> {
        (self.later, self.ranks) = programs::divide(self.ranks, &mut self.command)?;
        Ok(())
    }

    /// True if some ranks reach one another over a network, which may lose packets.
    fn needs_network(&self) -> bool {
        self.hosts.are_given() || matches!(self.link, Link::Udp | Link::Fabric)
    }

    /// True if no link between ranks loses packets.
    fn is_lossless(&self) -> bool {
        self.lossless || self.link == Link::Fabric
    }

    fn preset(&self) -> Preset {
        let lossy = self.needs_network() && !self.is_lossless();
        let usual = if lossy { Preset::Pupa } else { Preset::default() };
        self.preset.unwrap_or(usual)
    }

    /// Takes the fabric that `find` finds if the link is open: between hosts, and where nothing was
    /// asked for that only Weft's own links have. Returns the reason.
    fn take_fabric(&mut self, find: impl FnOnce() -> Option<String>) -> Option<String> {
        let wants_own = self.lossless
            || self.mtu.is_some()
            || self.bulk != LongPackets::Auto
            || self.provider.is_some()
            || self.room.is_some()
            || self.preset.is_some_and(Preset::retransmits);
        if self.link != Link::Auto || !self.hosts.are_given() || wants_own {
            return None;
        }
        let provider = find()?;
        let why = format!("{provider}, with hardware of its own");
        (self.link, self.provider) = (Link::Fabric, Some(provider));
        Some(why)
    }

    /// True if long packets go the way of all others. That a TCP connection is lost, nobody would
    /// notice on a link that loses nothing; a fabric carries long packets itself.
    fn keeps_to_link(&self) -> bool {
        self.lossless || self.link == Link::Fabric
    }

    /// The option of a fabric that is typed where the link is another.
    fn option_of_fabric(&self) -> Option<&'static str> {
        // In the environment it may be for other jobs.
        let is_typed = |given: &Option<String>, variable| {
            given.is_some() && *given != std::env::var(variable).ok()
        };
        let may_be_fabric = self.link == Link::Auto && self.hosts.are_given();
        match self.link {
            Link::Fabric => None,
            _ if is_typed(&self.provider, "WEFT_PROVIDER") => Some("--provider"),
            _ if !may_be_fabric && is_typed(&self.libfabric, "WEFT_LIBFABRIC") => {
                Some("--libfabric")
            }
            _ => None,
        }
    }

    /// The variable that says the same as an option, if this is one, and that option.
    fn option_of(variable: &Variable) -> Option<(String, String)> {
        let name = variable.name.to_str()?;
        let option = name.strip_prefix("WEFT_")?.to_lowercase().replace('_', "-");
        let command = Arguments::augment_args(clap::Command::new("run"));
        let is_option = command.get_arguments().any(|it| it.get_long() == Some(option.as_str()));
        is_option.then(|| (name.to_owned(), option))
    }

    /// Checks that the arguments go together.
    fn check(&self) -> Result<(), clap::Error> {
        let wrong = |what: &str| Err(clap::Error::raw(ErrorKind::ValueValidation, what));
        let preset = self.preset();
        if let Some((name, option)) = self.surroundings.variables().iter().find_map(Self::option_of)
        {
            return wrong(&format!(
                "{name} is --{option} of weft run, by which all ranks have it: leave out --env"
            ));
        }
        if let Some(option) = self.option_of_fabric() {
            return wrong(&format!(
                "{option} is for --link fabric: add that, or leave {option} out"
            ));
        }
        if self.hosts.are_given() && self.link == Link::Shm {
            return wrong(
                "hosts share no memory; take --link auto, which uses shm within each host",
            );
        }
        if !self.hosts.are_given() && self.link == Link::Xdp {
            return wrong(
                "an interface does not hear itself; name other hosts with --hosts, or take --link udp",
            );
        }
        if self.bulk == LongPackets::Tcp && self.keeps_to_link() {
            return wrong(
                "long packets go over TCP beside --link udp and xdp where packets may be lost; leave out --bulk, \
                 or --lossless or --link fabric",
            );
        }
        if self.room.is_some() && self.link == Link::Fabric {
            return wrong(
                "over a fabric ranks find one another when all begin: --room is for shm, udp and xdp",
            );
        }
        if self.door.is_some() && self.room.is_none() {
            return wrong(
                "--door is for ranks that come later: say with --room how many there may be",
            );
        }
        if let (Some(room), Some(ranks)) = (self.room, self.ranks)
            && room < ranks
        {
            return wrong(&format!(
                "--room {room} is less than the {ranks} ranks that the job begins with"
            ));
        }
        match (self.needs_network(), preset.retransmits()) {
            (false, true) => wrong(
                "shared memory loses nothing, so nothing is ever sent again there; take nrx-imc or nrx-hmc",
            ),
            (true, false) if !self.is_lossless() => wrong(&format!(
                "a network loses packets, and {preset} never sends one again; take pupa, irx-imc or another \
                 that does, or say --lossless if yours loses none"
            )),
            (false, false) if self.lossless => {
                wrong("--lossless is about a network, and these ranks share memory")
            }
            (false, _) if self.mtu.is_some() => {
                wrong("--mtu is about a network, and these ranks share memory")
            }
            (false, _) if self.losses.silence.is_some() => {
                wrong("--silence is about a network, and these ranks share memory")
            }
            _ => Ok(()),
        }
    }
}

/// Runs the job; the exit code is the job's.
pub fn run(mut arguments: Arguments) -> Result<ExitCode> {
    arguments.divide()?;
    let why = arguments.take_fabric(fabric::by_itself);
    arguments.check()?;
    let says_first = arguments.verbose || !arguments.quiet;
    let cores = available_parallelism()?.get();
    let (preset, link) = (arguments.preset(), arguments.link);
    let hosts = arguments.hosts.spec((arguments.ranks, arguments.room), link)?;
    let mut spec = spec(arguments, cores);
    nested::refuse(&spec)?;
    programs::take_from_here(&mut spec);
    if let Some(remark) = nested::remark(|name| std::env::var(name).ok()).filter(|_| says_first) {
        eprintln!("weft: {remark}");
    }
    let Some(hosts) = hosts else {
        // What cannot be run is not announced.
        if let Err(error) = spec.check_whole() {
            return programs::refused(&spec, error);
        }
        let announce = || {
            if says_first {
                let line = first_line(spec.founders(), &Cores::look(), link, preset);
                eprintln!("weft: {line}");
            }
        };
        let outcome = weft_launch::run(&spec, announce)?;
        let code = outcome.exit_code();
        if matches!(outcome.verdict, Verdict::NotWeft { .. }) {
            programs::say_if_mpi(&spec);
        }
        return Ok(code);
    };
    let fabric = (link == Link::Fabric).then(|| why.as_deref().unwrap_or("asked for"));
    let announce = |layout: &weft_launch::RankLayout| {
        if says_first {
            eprintln!("weft: {}", hosts::first_line(layout, fabric, preset));
        } else if let Some(fall_back) = hosts::fall_back(layout) {
            eprintln!("weft: {fall_back}");
        }
    };
    Ok(weft_launch::run_on_hosts(&spec, &hosts, announce)?.exit_code())
}

fn spec(arguments: Arguments, cores: usize) -> JobSpec {
    let preset = arguments.preset().to_string();
    let keeps_to_link = arguments.keeps_to_link();
    let needs_network = arguments.needs_network();
    let default_ranks = u16::try_from(cores).unwrap_or(MAX_RANKS).min(MAX_RANKS);
    let ranks = arguments.ranks.or(arguments.room.map(|room| room.min(default_ranks)));
    let ranks = ranks.unwrap_or(default_ranks);
    let room = arguments.room.unwrap_or(ranks);
    let mut settings = match arguments.hosts.are_given() {
        // How many of them share a host is found out later, and how long windows may be there.
        true => Settings::new(room.min(FULL_WINDOW_RANKS)),
        false => Settings::new(room),
    };
    if needs_network {
        settings = settings.beside_network();
    }
    settings.window_packets = arguments.window.unwrap_or(settings.window_packets);
    let mut command = arguments.command.into_iter();
    let mut spec = JobSpec::new(settings, command.next().unwrap_or_default());
    // On several hosts it is known later how many are to begin.
    spec.vacant = if arguments.hosts.are_given() { 0 } else { room - ranks };
    spec.door = arguments.door;
    spec.arguments = command.collect();
    spec.later = arguments.later;
    spec.binding = match arguments.bind {
        Bind::None => Binding::None,
        Bind::Core => Binding::Core,
    };
    spec.output.label = arguments.label;
    spec.output.directory = arguments.output_dir;
    if let Some(file) = &arguments.recorded.trace {
        spec.set_trace(file);
    }
    spec.join_limit = Some(arguments.join_limit).filter(|limit| !limit.is_zero());
    spec.dedicated = true;
    spec.sockets = needs_network && !arguments.hosts.are_given();
    spec.mtu = arguments.mtu;
    spec.bulk = match arguments.bulk {
        _ if keeps_to_link => BulkWish::Datagrams,
        LongPackets::Auto => BulkWish::Auto,
        LongPackets::Tcp => BulkWish::Tcp,
        LongPackets::Datagrams => BulkWish::Datagrams,
    };
    spec.protection = match (arguments.encrypt, arguments.authenticate) {
        (true, _) => Protection::Encrypted,
        (false, true) => Protection::Tagged,
        (false, false) => Protection::Headers,
    };
    let options = [
        ("preset", Some(preset)),
        ("all-far", spec.sockets.then(|| "true".to_owned())),
        ("link", (arguments.link == Link::Fabric).then(|| "fabric".to_owned())),
        ("provider", arguments.provider),
        ("libfabric", arguments.libfabric),
        ("lossless", arguments.lossless.then(|| "true".to_owned())),
        ("check", arguments.check.then(|| "true".to_owned())),
        ("statistics", arguments.statistics.then(|| "true".to_owned())),
        ("tree", arguments.tree.map(|tree| tree.to_string())),
        ("interrupt-delay-us", arguments.interrupt_delay_us.map(|delay| delay.to_string())),
    ];
    let given = options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    spec.options.extend(given);
    let Deadlocks { progress_limit, on_deadlock } = arguments.deadlocks;
    spec.progress_limit = Some(progress_limit.unwrap_or(PROGRESS_LIMIT));
    spec.on_deadlock = on_deadlock.unwrap_or_default();
    spec.stacks_of = Some(crate::stacks::of_threads);
    arguments.losses.apply_to(&mut spec);
    arguments.surroundings.apply_to(&mut spec);
    spec
}

/// The ranks and their link, their cores, and how they wait: `4 ranks on 1 host, shm, nrx-imc, 2
/// cores shared by 4 ranks: waiting yields`. A link that is not the best here was asked for.
fn first_line(ranks: u16, cores: &Cores, link: Link, preset: Preset) -> String {
    let count = usize::from(ranks);
    let (all_ranks, all_cores) = (many(count, "rank"), many(cores.count, "core"));
    let shared =
        if count > cores.count { format!(" shared by {all_ranks}") } else { String::new() };
    let waiting = cores.waiting(count).unwrap_or_else(|| WAITS_ALONE.into());
    let link = match link {
        Link::Udp => "udp (asked for)",
        Link::Fabric => "fabric (asked for)",
        Link::Auto | Link::Shm | Link::Xdp => "shm",
    };
    format!("{all_ranks} on 1 host, {link}, {preset}, {all_cores}{shared}: {waiting}")
}

fn many(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests;
