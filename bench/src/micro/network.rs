//! Benchmarks between two hosts, beside their floors: spinning TCP and UDP sockets over the same
//! wire, and bare AF_XDP over another, since an interface has one user of that.
//!
//! Without `--hosts`, the hosts are two network namespaces of this machine on a veth pair. Either
//! way the job is one of [`weft_launch::run_on_hosts`], and rank `i` runs on core `i`.

use crate::micro::launch::{Kind, Spec, job};
use crate::micro::pair::hello::{beside_messages, beside_packets};
use crate::micro::pair::raw::RawXdp;
use crate::micro::pair::sockets::Sockets;
use crate::micro::pair::wefts::{CallLine, MessageLine, PacketLine, end_of};
use crate::micro::pair::{End, Line, Measured, Pattern, Shape, Unit, bind_to_core, measure};
use crate::micro::report::{Floor, Row};
use crate::micro::switches::system_call_tracepoint;
use crate::micro::{
    after_pause, coexist, congestion, events, fairness, linda, meeting, object, put, region,
    rendezvous,
};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::time::Duration;
use weft_launch::{
    FarLink, HostsSpec, JobOutcome, Mtu, Protection, RemoteShell, parse_hosts, run_on_hosts,
};
use weft_netns::{Cluster, Options};
use weft_xdp::ETHERTYPE;

/// Bytes of the largest message that is measured between hosts.
const SIZE_MAX: usize = 64 << 20;

/// The silence after which the other end is lost: longer than processors of machines that are
/// shared stand still, and nobody waits here for a host that is gone.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

/// The wire between the hosts that are made here over which bare AF_XDP is measured.
const FLOOR_INTERFACE: &str = "floor0";

/// Hosts to measure between, if not in the memory of this machine.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Between two hosts")]
pub struct Hosts {
    /// Two hosts, as the remote shell knows them [default: two network namespaces on this one]
    #[arg(long, value_name = "A,B")]
    hosts: Option<String>,
    /// The remote shell; it is given a host, in the place of {} if it has that, and a command
    /// [default: ssh -o BatchMode=yes -o ConnectTimeout=10]
    #[arg(long, env = "WEFT_RSH", value_name = "COMMAND")]
    rsh: Option<RemoteShell>,
    /// Path of weft on the other hosts [default: where it is on this one]
    #[arg(long, value_name = "PATH")]
    remote_weft: Option<OsString>,
    /// By which interface, or in the network of which address, hosts reach one another
    #[arg(long, value_name = "NAME|ADDRESS")]
    interface: Option<String>,
    /// Bytes of the longest packet, its IP header included [default: 1500 between namespaces, what
    /// the interfaces take between hosts that exist]
    #[arg(long, value_name = "BYTES")]
    mtu: Option<Mtu>,
    /// Authenticate all bytes of packets between hosts, long ones too
    #[arg(long)]
    authenticate: bool,
    /// Encrypt packets between hosts
    #[arg(long)]
    encrypt: bool,
}

impl Hosts {
    /// True if hosts were named.
    pub fn are_given(&self) -> bool {
        self.hosts.is_some()
    }

    fn spec(&self, names: &str, link: &str, ranks: u16) -> Result<HostsSpec> {
        let hosts = parse_hosts(names).map_err(anyhow::Error::msg)?;
        if hosts.len() != 2 {
            bail!("a benchmark is between two hosts: --hosts a,b");
        }
        let mut spec = HostsSpec::new(hosts);
        spec.ranks = Some(ranks);
        spec.far = if link == "xdp" { FarLink::Xdp } else { FarLink::Udp };
        spec.remote_weft.clone_from(&self.remote_weft);
        spec.interface.clone_from(&self.interface);
        if let Some(shell) = &self.rsh {
            spec.remote_shell = shell.clone();
        }
        Ok(spec)
    }
}

/// Link that is measured.
pub(crate) fn link(spec: &Spec) -> &'static str {
    match spec.link.as_str() {
        "xdp" => "xdp",
        "fabric" => "fabric",
        _ => "udp",
    }
}

/// Shape of a sample of `spec`, if it can be measured between hosts.
fn shape(spec: &Spec) -> Option<Shape> {
    // A floor cannot send nothing.
    let size = spec.size().max(1);
    let (pattern, count, unit) = match spec.kind {
        Kind::Latency | Kind::Message => (Pattern::PingPong, 100, Unit::OneWay),
        Kind::Rpc => (Pattern::PingPong, 100, Unit::RoundTrip),
        Kind::Rate => (Pattern::Stream, 4096, Unit::PerSecond),
        Kind::Bandwidth => (Pattern::Stream, 8, Unit::BytesPerSecond),
        _ => return None,
    };
    Some(Shape { pattern, size, count, unit, each: pattern == Pattern::PingPong })
}

/// Checks that `spec` can be measured between hosts.
fn check(spec: &Spec) -> Result<()> {
    let apart = [
        Kind::AfterPause,
        Kind::Coexist,
        Kind::Events,
        Kind::Fairness,
        Kind::Linda,
        Kind::Object,
        Kind::Put,
        Kind::PutRpc,
        Kind::Region,
        Kind::Rendezvous,
    ]
    .contains(&spec.kind);
    if shape(spec).is_none() && !apart {
        bail!(
            "between hosts there are latency, message, rate, bandwidth, rpc, put, put-rpc, rendezvous, region, object, linda, events, fairness, coexist and after-pause"
        );
    }
    if spec.kind == Kind::Events {
        events::check(spec, 2)?;
    }
    if spec.protocols.loss > 0.0 && spec.hosts.are_given() {
        bail!("--loss is for hosts that are made here, of network namespaces");
    }
    if spec.ranks.is_some_and(|ranks| ranks != 2) && spec.kind != Kind::Fairness {
        bail!("between hosts, benchmarks have two ranks");
    }
    if !(1..=SIZE_MAX).contains(&spec.size().max(1)) {
        bail!("--size {} is outside 1 to {SIZE_MAX} bytes for this benchmark", spec.size());
    }
    Ok(())
}

/// Runs a benchmark between two hosts.
///
/// # Errors
/// It cannot be, or the job cannot be started.
pub fn run(spec: &Spec) -> Result<JobOutcome> {
    check(spec)?;
    let mut job = job(spec)?;
    job.set_silence(SILENCE);
    job.arguments.extend(["--link".into(), link(spec).into()]);
    if link(spec) == "fabric" {
        let options = [("link", Some("fabric")), ("provider", spec.provider.as_deref())];
        let given =
            options.into_iter().filter_map(|(name, value)| Some((name.into(), value?.into())));
        job.options.extend(given);
    }
    if let Some(interface) = &spec.hosts.interface {
        job.arguments.extend(["--interface".into(), interface.into()]);
    }
    let tracepoint = system_call_tracepoint().filter(|_| spec.kind == Kind::AfterPause);
    if let Some(number) = tracepoint {
        job.arguments.extend(["--tracepoint".into(), number.to_string().into()]);
    }
    job.mtu = spec.hosts.mtu;
    if spec.hosts.authenticate {
        job.protection = Protection::Tagged;
    }
    if spec.hosts.encrypt {
        job.protection = Protection::Encrypted;
    }
    if let Some(names) = &spec.hosts.hosts {
        let hosts = spec.hosts.spec(names, link(spec), job.settings.ranks)?;
        return Ok(run_on_hosts(&job, &hosts, |_| {})?);
    }
    let loss = spec.protocols.loss;
    let mtu = spec.hosts.mtu.unwrap_or(Mtu::USUAL).bytes().into();
    let cluster = Cluster::new(2, Options { bridge: loss > 0.0, mtu }).context(
        "two hosts are made of network namespaces here, unless --hosts names two real ones",
    )?;
    cluster.add_wire(FLOOR_INTERFACE)?;
    if loss > 0.0 {
        lose(&cluster, loss)?;
        job.arguments.extend(["--loss".into(), loss.to_string().into()]);
    }
    job.arguments.extend(["--floor".into(), FLOOR_INTERFACE.into()]);
    let ranks = job.settings.ranks;
    let names = format!("a:{},b:{}", ranks.div_ceil(2), ranks / 2);
    let mut hosts = spec.hosts.spec(&names, link(spec), ranks)?;
    hosts.remote_shell = cluster.remote_shell().into();
    // Only the main thread can be told of signals.
    job.dedicated = false;
    Ok(cluster.host(0).enter(|| run_on_hosts(&job, &hosts, |_| {}))??)
}

/// From here on this share of Weft's frames is lost, of either link's.
fn lose(cluster: &Cluster, share: f64) -> Result<()> {
    cluster.lose_frames(ETHERTYPE, share)?;
    Ok(cluster.hosts().iter().try_for_each(|host| host.lose_datagrams(share))?)
}

/// A rank's part of a benchmark between two hosts.
///
/// # Errors
/// It could not join, or the other was lost.
pub fn rank(spec: &Spec) -> Result<()> {
    let interface = spec.hosts.interface.as_deref();
    match spec.kind {
        Kind::AfterPause => return after_pause::rank(spec, interface),
        Kind::Coexist => return coexist::rank(spec, interface),
        Kind::Congestion => return congestion::rank(spec),
        Kind::Put | Kind::PutRpc => return put::rank(spec, interface),
        Kind::Events => return meeting::between_hosts(spec, interface, events::run),
        Kind::Rendezvous => return rendezvous::rank(spec, interface),
        Kind::Linda => return meeting::between_hosts(spec, interface, linda::run),
        Kind::Object => return meeting::between_hosts(spec, interface, object::run),
        Kind::Region => return meeting::between_hosts(spec, interface, region::run),
        Kind::Fairness => return fairness::rank(spec, link(spec)),
        _ => {}
    }
    let shape = shape(spec).context("ranks are started by `weft bench`")?;
    if matches!(spec.kind, Kind::Latency | Kind::Rate) {
        let job = weft::join_packets()?;
        let packets = job.packets();
        bind_to_core(packets.rank().0.into())?;
        let mut sockets = beside_packets(packets, interface)?;
        let mut line = PacketLine::new(packets);
        compare(spec, &shape, end_of(packets.rank()), &mut line, &mut sockets)?;
        return Ok(job.leave()?);
    }
    let weft = weft::join()?;
    bind_to_core(weft.rank().0.into())?;
    let mut sockets = beside_messages(&weft, interface)?;
    let end = end_of(weft.rank());
    if spec.kind == Kind::Rpc {
        compare(spec, &shape, end, &mut CallLine::new(&weft)?, &mut sockets)?;
    } else {
        compare(spec, &shape, end, &mut MessageLine::new(&weft)?, &mut sockets)?;
    }
    Ok(weft.leave()?)
}

/// Measures Weft beside its floors, and prints it at the first end.
fn compare(
    spec: &Spec,
    shape: &Shape,
    end: End,
    weft: &mut dyn Line,
    sockets: &mut Sockets,
) -> Result<()> {
    let Sockets { side, tcp, udp } = sockets;
    let mut raw = match &spec.floor {
        Some(interface) => RawXdp::open(interface, end, side)?,
        None => Err("on hosts that exist it would take an interface of its own".into()),
    };
    // Datagrams that are lost are lost for good.
    let mut udp = if spec.protocols.loss > 0.0 { Err(NEVER_AGAIN.to_owned()) } else { Ok(udp) };
    let mut lines: Vec<&mut dyn Line> = vec![weft, tcp];
    lines.extend(udp.as_mut().ok().map(|udp| &mut **udp as &mut dyn Line));
    lines.extend(raw.as_mut().ok().map(|raw| raw as &mut dyn Line));
    let mut measured = measure(&mut lines, shape, spec.rounds, end, side)?.into_iter();
    let mut next = || measured.next().context("each line is measured");
    let (weft, tcp) = (next()?, next()?);
    let mut floor = |line: std::result::Result<(), String>| -> Result<Floored> {
        line.map_or_else(|why| Ok(Err(why)), |()| next().map(Ok))
    };
    let (udp, raw) = (floor(udp.map(drop))?, floor(raw.map(drop))?);
    if end == End::First {
        row(spec, shape, weft, [("af_xdp", raw), ("udp", udp), ("tcp", Ok(tcp))]).print(spec);
    }
    Ok(())
}

/// A floor, or why it was not measured.
type Floored = std::result::Result<Measured, String>;

/// Reason why a floor is not measured.
const NEVER_AGAIN: &str = "it sends nothing again that is lost";

fn row(spec: &Spec, shape: &Shape, weft: Measured, floors: [(&'static str, Floored); 3]) -> Row {
    let kind = spec.kind.to_possible_value().map(|value| value.get_name().to_owned());
    let (ranks, unit) = ((2, shape.size), shape.unit.name());
    let row = Row::new(kind.unwrap_or_default(), ranks, unit, weft.samples, Vec::new());
    let mut row = row.with_processor(weft.processor_ns);
    row.link = link(spec);
    for (what, floor) in floors {
        match floor {
            Ok(floor) => {
                row.beside(Floor::measured(what, row.unit, floor.samples), floor.processor_ns)
            }
            Err(why) => row.floors.push(Floor::missing(what, why)),
        }
    }
    row
}

#[cfg(test)]
mod tests;
