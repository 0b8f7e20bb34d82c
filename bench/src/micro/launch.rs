//! Starting a benchmark: the command's side and the ranks'.

use crate::micro::arena::{self, Arena};
use crate::micro::protocols::Protocols;
use crate::micro::{
    authentication, congestion, events, fairness, hostile, linda, meeting, network, object, orca,
    put, region, rendezvous, rpc, stream, trace, upcalls,
};
use crate::micro::{
    bandwidth, barrier, fetch_add, latency, loggp, message, multicast, order, poll, rate,
};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use weft_endpoint::machine;
use weft_launch::{Binding, JobOutcome, JobSpec, Verdict};
use weft_link_shm::Settings;

/// Kind of measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Kind {
    /// One way of a packet between two ranks, through credits, upcall and release.
    Latency,
    /// One way of a message between ports, beside a packet
    Message,
    /// Bytes a second in large messages, against packets with the same bytes
    Stream,
    /// Large messages that ask their receiver first, beside those that are sent at once
    Rendezvous,
    /// A message to a plain handler, one that waits, one on a thread of its own.
    Upcalls,
    /// Packets a second from one rank to another.
    Rate,
    /// Bytes a second in large messages, freshly written and then read.
    Bandwidth,
    /// A fetch-and-add on another rank's variable.
    FetchAdd,
    /// A multicast packet until the last receiver has it, against unicasts to all of them.
    Multicast,
    /// A barrier of all ranks.
    Barrier,
    /// The sum of one number of each rank, at all ranks.
    AllReduce,
    /// Totally-ordered broadcasts a second, all ranks sending and receiving.
    Order,
    /// Operations on shared objects: at another rank against a call, everywhere against an ordered
    /// broadcast, and on the copy here
    Object,
    /// Tuples a second through a bag of tasks, a master and workers, against calls
    Linda,
    /// Sequential loops that orcac compiled, against the same in Rust
    Orca,
    /// A poll that finds nothing.
    Poll,
    /// An event that a traced rank writes down
    Trace,
    /// A call of another rank, there and back, against two packets.
    Rpc,
    /// Calls a second, 64 of them at once.
    RpcRate,
    /// Bytes placed where their sender says, with notice: against a packet, or from 64 KiB on
    /// against a message
    Put,
    /// A call by puts: the request is placed, and so is the reply; against a call by messages
    PutRpc,
    /// A message around the ring of ranks and Jacobi's method, under both protocols of events.
    Events,
    /// Hits and misses of shared regions, against packets there and back, and against shared pages
    Region,
    /// Shares of ranks that all want something of one at once: most over least, and waits
    Fairness,
    /// On Ethernet: what authenticating frames takes of a round trip
    Authentication,
    /// On Ethernet: a TCP stream of 1 Gbit/s and messages on one interface, both alone and together
    Coexist,
    /// On Ethernet: shares of a narrow link, small messages beside a stream, many senders to one
    Congestion,
    /// On Ethernet: the first messages after both ends have computed, and all that the kernel does
    /// for them
    AfterPause,
    /// On Ethernet: goodput beside forged, replayed, cut and foreign frames, beside unrelated ones,
    /// and alone
    Hostile,
    /// The LogGP parameters: overheads, latency, gap, bandwidth.
    #[value(name = "loggp")]
    LogGp,
}

impl Kind {
    /// Bytes of a message if the user does not say.
    fn default_size(self) -> usize {
        match self {
            Kind::Bandwidth | Kind::Stream | Kind::Rendezvous => 1 << 20,
            Kind::Multicast => 1 << 10,
            Kind::Barrier
            | Kind::Poll
            | Kind::Trace
            | Kind::Rpc
            | Kind::RpcRate
            | Kind::Fairness => 0,
            Kind::LogGp => 16,
            Kind::Latency | Kind::Message | Kind::Upcalls | Kind::AllReduce => 8,
            Kind::Put
            | Kind::PutRpc
            | Kind::Rate
            | Kind::FetchAdd
            | Kind::Object
            | Kind::Linda
            | Kind::Orca
            | Kind::Authentication
            | Kind::Coexist
            | Kind::Congestion
            | Kind::AfterPause => 8,
            Kind::Order | Kind::Region => 64,
            Kind::Events => 4,
            Kind::Hostile => 1400,
        }
    }

    fn default_ranks(self) -> u16 {
        match self {
            Kind::Linda | Kind::Multicast | Kind::Object | Kind::Order => 4,
            Kind::Barrier | Kind::AllReduce => 8,
            Kind::Fairness => 12,
            _ => 2,
        }
    }
}

/// A benchmark to run.
#[derive(Args, Clone, Debug)]
pub struct Spec {
    /// Kind of measurement
    pub kind: Kind,
    /// Ranks [default: 2; 4 for multicast, order and, on one host, object and linda, 8 for
    /// barrier, 12 for fairness]
    #[arg(short = 'n', long)]
    pub ranks: Option<u16>,
    /// Bytes of each message [default: 8; none for rpc, 4 for events, 16 for loggp, 64 for order
    /// and region, 1 KiB for multicast, 1 MiB for bandwidth, stream and rendezvous]
    #[arg(long)]
    pub size: Option<usize>,
    /// Samples of each thing measured
    #[arg(long, default_value_t = 301)]
    pub rounds: usize,
    /// The link to measure; auto is shm unless there are hosts
    #[arg(long, default_value = "auto", value_parser = ["auto", "shm", "udp", "xdp", "fabric"])]
    pub link: String,
    /// Provider of libfabric, for --link fabric [default: the best one with hardware of its own]
    #[arg(long, value_name = "NAME", env = "WEFT_PROVIDER")]
    pub provider: Option<String>,
    /// Have the ranks write down what they do meanwhile, to see what that takes
    #[arg(long)]
    pub traced: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Cores that the ranks are put on, one after the other, such as 0,5 [default: all that there
    /// are]. Two that share a physical core, two of one chip and two of different ones have figures
    /// of their own
    #[arg(long, value_name = "CORE,CORE", value_delimiter = ',')]
    pub cores: Vec<usize>,
    /// For loggp: write what was measured as a machine description for the simulator
    #[arg(long, value_name = "FILE.toml")]
    pub machine: Option<PathBuf>,
    /// For events: points on a side of the grid of Jacobi's method
    #[arg(long, value_name = "POINTS", default_value_t = 16)]
    pub grid: usize,
    /// For hostile: frames that adversaries send
    #[arg(long, default_value_t = 1_000_000)]
    pub frames: u64,
    /// Choices of congestion
    #[command(flatten)]
    pub(crate) congestion: congestion::Options,
    /// Place of a rank of congestion
    #[command(flatten)]
    pub(crate) seat: congestion::Seat,
    /// Descriptor at which the ranks find the arena; set by the launcher
    #[arg(long, hide = true)]
    pub arena: Option<i32>,
    /// Nanoseconds of a line's way between the first two cores; set by the launcher
    #[arg(long, hide = true)]
    pub line: Option<f64>,
    /// The interface for the floor of AF_XDP; set by the launcher
    #[arg(long, hide = true)]
    pub floor: Option<String>,
    /// The tracepoint of system calls; set by the launcher
    #[arg(long, hide = true)]
    pub tracepoint: Option<u64>,
    /// Protocols of the job
    #[command(flatten)]
    pub protocols: Protocols,
    /// Hosts of the job
    #[command(flatten)]
    pub hosts: network::Hosts,
}

impl Spec {
    pub(crate) fn size(&self) -> usize {
        self.size.unwrap_or(self.kind.default_size())
    }

    pub(crate) fn settings(&self) -> Settings {
        // Two hosts have a rank each.
        let apart = matches!(self.kind, Kind::Linda | Kind::Object) && self.is_on_network();
        let usual = if apart { 2 } else { self.kind.default_ranks() };
        let settings = Settings::new(self.ranks.unwrap_or(usual));
        let window_packets = self.protocols.window.unwrap_or(settings.window_packets);
        let settings = Settings { window_packets, ..settings };
        if self.traced || self.kind == Kind::Trace { settings.traced() } else { settings }
    }

    /// True if this is between hosts.
    fn is_on_network(&self) -> bool {
        let on_network = matches!(self.link.as_str(), "udp" | "xdp" | "fabric");
        let always = matches!(self.kind, Kind::Coexist | Kind::AfterPause);
        always || on_network || self.hosts.are_given()
    }

    fn check(&self, settings: &Settings) -> Result<()> {
        let alone = matches!(self.kind, Kind::Barrier | Kind::Poll | Kind::Trace | Kind::Events);
        let least = if alone { 1 } else { 2 };
        if settings.ranks < least {
            bail!("this benchmark needs at least {least} ranks (-n {least})");
        }
        if matches!(
            self.kind,
            Kind::LogGp
                | Kind::Message
                | Kind::Stream
                | Kind::Rendezvous
                | Kind::Upcalls
                | Kind::Put
                | Kind::PutRpc
        ) && settings.ranks != 2
        {
            bail!("this benchmark measures the link between two ranks (-n 2)");
        }
        if self.kind == Kind::Events {
            events::check(self, settings.ranks)?;
        }
        if self.protocols.loss > 0.0 {
            bail!("--loss is about a network, and these ranks share memory");
        }
        if self.machine.is_some() && self.kind != Kind::LogGp {
            bail!("--machine is what `weft bench loggp` writes");
        }
        let most = match self.kind {
            Kind::Bandwidth
            | Kind::Linda
            | Kind::Object
            | Kind::Stream
            | Kind::Rendezvous
            | Kind::Put => arena::BULK_BYTES / 2,
            Kind::Message | Kind::Upcalls => settings.frame_bytes as usize - 16,
            Kind::Events => settings.frame_bytes as usize - events::HEADER_BYTES,
            _ => settings.frame_bytes as usize,
        };
        if !(1..=most).contains(&self.size().max(1)) {
            bail!("--size {} is outside 1 to {most} bytes for this benchmark", self.size());
        }
        Ok(())
    }
}

/// The first argument of a rank of a benchmark.
pub const RANK: &str = "rank";

/// Runs the benchmark: starts its ranks, whose program is this executable with the arguments
/// [`RANK`], then those of `spec`. Rank 0 prints.
///
/// # Errors
/// The benchmark cannot be, or the job cannot be started.
pub fn run(spec: &Spec) -> Result<JobOutcome> {
    if !spec.cores.is_empty() {
        use_only(&spec.cores)?;
    }
    let line = machine::two_cores().and_then(machine::line_ns);
    let spec = &Spec { line, ..spec.clone() };
    match spec.kind {
        Kind::Authentication => return authentication::measure_all(spec).map(|()| completed()),
        Kind::Congestion => return congestion::measure_all(spec).map(|()| completed()),
        Kind::Orca => return orca::measure_all(spec).map(|()| completed()),
        Kind::Hostile => return hostile::measure_all(spec).map(|()| completed()),
        _ => {}
    }
    if spec.is_on_network() {
        return network::run(spec);
    }
    let settings = spec.settings();
    settings.check().map_err(anyhow::Error::msg)?;
    spec.check(&settings)?;
    let arena = arena::create().context("cannot make shared memory for the floors")?;
    let mut job = job(spec)?;
    job.arguments.extend(["--arena".into(), arena.as_raw_fd().to_string().into()]);
    if let Some(path) = &spec.machine {
        job.arguments.extend(["--machine".into(), path.into()]);
    }
    if spec.kind == Kind::LogGp {
        let delay = loggp::INTERRUPT_DELAY.as_micros().to_string();
        job.options.insert("interrupt-delay-us".into(), delay);
    }
    job.binding = Binding::Core;
    Ok(weft_launch::run(&job, || {})?)
}

/// Has this process and those that it starts run on these cores alone.
fn use_only(cores: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    let missing = cores.iter().find(|&&core| core >= CpuSet::MAX_CPU);
    if let Some(core) = missing {
        bail!("--cores: there is no core {core}");
    }
    cores.iter().for_each(|&core| set.set(core));
    sched_setaffinity(None, &set).context("--cores: this process may not use them")?;
    // The kernel leaves out cores that there are not.
    let allowed = sched_getaffinity(None)?;
    match cores.iter().find(|&&core| !allowed.is_set(core)) {
        Some(core) => {
            bail!("--cores: this process may not use core {core} (weft doctor says which)")
        }
        None => Ok(()),
    }
}

/// Outcome of a benchmark without ranks.
fn completed() -> JobOutcome {
    JobOutcome {
        verdict: Verdict::Completed,
        lost: Vec::new(),
        stuck: Vec::new(),
        output_lost: false,
        roll_call: Vec::new(),
        recorded: None,
    }
}

/// The job of a benchmark: its program is this executable.
pub(crate) fn job(spec: &Spec) -> Result<JobSpec> {
    let mut job = JobSpec::new(spec.settings(), std::env::current_exe()?);
    let kind = spec.kind.to_possible_value().map(|value| value.get_name().to_owned());
    job.arguments.push(RANK.into());
    job.arguments.extend(kind.map(Into::into));
    for (name, value) in [("--rounds", spec.rounds), ("--size", spec.size()), ("--grid", spec.grid)]
    {
        job.arguments.extend([name.into(), value.to_string().into()]);
    }
    if let Some(line) = spec.line {
        job.arguments.extend(["--line".into(), line.to_string().into()]);
    }
    if spec.json {
        job.arguments.push("--json".into());
    }
    spec.protocols.choose(&mut job);
    job.dedicated = true;
    Ok(job)
}

/// One rank's part of a benchmark.
///
/// # Errors
/// It could not join, or another rank was lost.
pub fn rank(spec: &Spec) -> Result<()> {
    let Some(number) = spec.arena else {
        return network::rank(spec);
    };
    let arena = Arc::new(Arena::inherited(number)?);
    match spec.kind {
        Kind::Latency => latency::rank(spec, &arena),
        Kind::Message => message::rank(spec, &arena),
        Kind::Rate => rate::rank(spec, &arena),
        Kind::Bandwidth => bandwidth::rank(spec, &arena),
        Kind::FetchAdd => fetch_add::rank(spec, &arena),
        Kind::Multicast => multicast::rank(spec, &arena),
        Kind::Barrier | Kind::AllReduce => barrier::rank(spec, &arena),
        Kind::Stream => stream::rank(spec, &arena),
        Kind::Rendezvous => rendezvous::rank(spec, None),
        Kind::Upcalls => upcalls::rank(spec, &arena),
        Kind::Order => order::rank(spec, &arena),
        Kind::Poll => poll::rank(spec, &arena),
        Kind::Trace => trace::rank(spec),
        Kind::Rpc | Kind::RpcRate => rpc::rank(spec, &arena),
        Kind::Put | Kind::PutRpc => put::rank(spec, None),
        Kind::LogGp => loggp::rank(spec, &arena),
        Kind::Events => meeting::in_memory(spec, &arena, events::run),
        Kind::Linda => meeting::in_memory(spec, &arena, linda::run),
        Kind::Object => meeting::in_memory(spec, &arena, object::run),
        Kind::Region => meeting::in_memory(spec, &arena, region::run),
        Kind::Fairness => fairness::rank(spec, "shm"),
        Kind::Authentication
        | Kind::AfterPause
        | Kind::Coexist
        | Kind::Congestion
        | Kind::Hostile
        | Kind::Orca => bail!("these use no arena"),
    }
}
