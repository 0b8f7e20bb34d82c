//! The agent of a host: starts its ranks, watches over them, and does what the launcher asks for.
//!
//! It decides nothing by itself but this: when the connection to the launcher ends, so do its
//! ranks.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use weft_trace::part_of;

use super::probe::UdpProbe;
use super::sockets::Sockets;
use super::stream::Stream;
use super::tcp::TcpProbe;
use crate::access::{Access, Bound};
use crate::crew::Part;
use crate::door::Door;
use crate::error::LaunchError;
use crate::hosts::addresses::candidates;
use crate::hosts::liveness::{FLUSH_LIMIT, LAUNCHER_SILENCE};
use crate::limits::allow_descriptors;
use crate::messages::hosts::{Begin, FarLink, FromAgent, Subtree, ToAgent};
use crate::messages::{BadMessage, DoorKey, JobNetwork};
use crate::program::Found;
use crate::recording::{Recording, describe_job};
use crate::roll::StacksOf;
use crate::signals::Signals;
use crate::spec::JobSpec;
use crate::this_host;

mod error;
mod meet;
mod naming;
mod prepare;
mod relay;
mod supervision;
mod uplink;

use error::AgentError;
use meet::{Agreed, Meet};
use prepare::{attach, prepare};
use relay::Relay;
use supervision::Supervision;
use uplink::Uplink;

/// Reason for an end before the launcher has said anything.
const NO_INPUT: &str = "the remote shell passes on no standard input there: docker exec, podman exec and kubectl exec \
                        take -i for that, systemd-run --pipe";

/// Is the agent of this host, for the launcher at the other end of standard input and output.
pub(crate) fn run(stacks_of: Option<StacksOf>) -> ExitCode {
    if io::stdin().is_terminal() {
        eprintln!("weft: this command is for weft run --hosts, which starts it on each host");
        return ExitCode::FAILURE;
    }
    let (from, to) =
        (io::stdin().as_fd().try_clone_to_owned(), io::stdout().as_fd().try_clone_to_owned());
    let connected = from.and_then(|from| Stream::new(from, to?));
    let mut connection = match connected {
        Ok(stream) => Connection::new(stream),
        Err(error) => {
            eprintln!("weft: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = connection.serve(stacks_of);
    let Connection { mut uplink, relay, .. } = connection;
    let status = match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(AgentError::Gone) => ExitCode::FAILURE,
        Err(other) => {
            uplink.send(&FromAgent::Refused(other.to_string()));
            // If the launcher does not take it, it is told by the end of the connection.
            let _ = uplink.stream.flush(FLUSH_LIMIT);
            ExitCode::FAILURE
        }
    };
    drop(uplink);
    // Agents below may have more to say; it ends with them, or with the connection above.
    let relayed = relay.map_or(Ok(()), JoinHandle::join);
    if relayed.is_ok() { status } else { ExitCode::FAILURE }
}

/// Connection to the launcher: direct, or by the relay that this process is besides.
struct Connection {
    uplink: Uplink,
    relay: Option<JoinHandle<()>>,
    /// Hosts behind this one.
    behind: usize,
}

impl Connection {
    fn new(stream: Stream) -> Self {
        Connection { uplink: Uplink::new(stream, LAUNCHER_SILENCE), relay: None, behind: 0 }
    }

    fn serve(&mut self, stacks_of: Option<StacksOf>) -> Result<(), AgentError> {
        let signals = Signals::collect()?;
        self.uplink.send(&ready()?);
        let mut first = match self.uplink.next() {
            // If it is the launcher that has gone nobody reads this.
            Err(AgentError::Gone) => return Err(AgentError::Refused(NO_INPUT.into())),
            other => other?,
        };
        if let ToAgent::Subtree(subtree) = first {
            self.take_place(&subtree)?;
            first = self.uplink.next()?;
        }
        let ToAgent::Begin(begin) = first else { return Err(AgentError::out_of_order()) };
        allow_descriptors(usize::from(begin.settings.ranks) + self.behind);
        serve(&mut self.uplink, signals, *begin, stacks_of)
    }

    /// Takes this host's place among others.
    fn take_place(&mut self, subtree: &Subtree) -> Result<(), AgentError> {
        self.uplink.is_given_up_after(subtree.silence_above);
        self.behind = subtree.hosts.len();
        if !subtree.hosts.is_empty() {
            allow_descriptors(self.behind);
            self.relay = Some(Relay::start(&mut self.uplink, subtree)?);
        }
        Ok(())
    }
}

fn serve(
    uplink: &mut Uplink,
    signals: Signals,
    begin: Begin,
    stacks_of: Option<StacksOf>,
) -> Result<(), AgentError> {
    let mut prepared = prepare(&begin)?;
    prepared.spec.stacks_of = stacks_of;
    let (mut attachment, state) = attach(&begin)?;
    let listens = prepared.sockets.listen();
    let Sockets { meeting: (meeting, listener), address, ranks: own, group } = prepared.sockets;
    let addresses = own.iter().map(|(_, address)| *address).collect();
    uplink.send(&FromAgent::Bound(address, addresses, state));
    let ToAgent::Meet { limit_ms, hosts, ranks, interfaces } = uplink.next()? else {
        return Err(AgentError::out_of_order());
    };
    let count = hosts.len();
    let all_have_interfaces = interfaces.is_empty() || interfaces.len() == count;
    if usize::from(begin.host) >= count
        || ranks.len() != usize::from(begin.room)
        || !all_have_interfaces
    {
        return Err(BadMessage::Range("number of hosts").into());
    }
    let job = (begin.job, begin.secret.clone());
    let tcp = TcpProbe::new(begin.host, &hosts, listener.filter(|_| listens));
    let meeting = UdpProbe::new(meeting, begin.host, job, hosts, group, begin.mtu)?;
    let greeting = match &mut attachment {
        Some(own) if !interfaces.is_empty() => Some(own.greet(interfaces.clone())?),
        _ => None,
    };
    let meet = Meet { meeting, greeting, tcp, needs_udp: begin.far != FarLink::Xdp };
    let Agreed { over_ethernet, copied, bulk } =
        meet.run(uplink, Duration::from_millis(limit_ms.into()))?;
    let (hosts, addresses) = ranks.into_iter().unzip();
    let network = JobNetwork {
        job: begin.job,
        secret: begin.secret.clone(),
        protection: begin.protection,
        mtu: begin.mtu,
        addresses,
        hosts,
        ethernet: None,
        copied,
        bulk,
    };
    let beside = begin.here.first().map(|first| network.ranks_beside(*first));
    if !beside.into_iter().flatten().eq(begin.here.iter().copied()) {
        return Err(BadMessage::Range("number of ranks here").into());
    }
    let access = match (over_ethernet, &mut attachment) {
        (false, _) => {
            drop(attachment.take());
            let access = |(socket, listener): Bound| Access::Udp(socket, listener.filter(|_| bulk));
            own.into_iter().map(|(bound, _)| access(bound)).collect()
        }
        (true, Some(attachment)) => {
            let ports = attachment.open(&interfaces, copied).into_iter();
            let listeners = own.into_iter().map(|((_, listener), _)| listener.filter(|_| bulk));
            let ways = ports.zip(listeners);
            ways.map(|((ethernet, port), listener)| Access::Xdp(ethernet, port, listener)).collect()
        }
        (true, None) => return Err(AgentError::out_of_order()),
    };
    let (spec, programs) = (&prepared.spec, &prepared.programs);
    let recording = record(&begin, (spec, programs), &network)?;
    let (door, network) = (open_door(begin.door.as_ref())?, Some((network, access)));
    let part = Part { here: begin.here, founders: begin.founders, network, door };
    Supervision::start(uplink, signals, spec, programs, part, recording, begin.launcher)?.run()
}

/// Opens the door to this host; `None` if the job has none, or if another agent of the job has
/// opened it, on the same machine.
fn open_door(key: Option<&DoorKey>) -> io::Result<Option<Door>> {
    match key.map(Door::open).transpose() {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        opened => opened,
    }
}

/// Begins this host's part of the job's trace, if that is wanted.
fn record(
    begin: &Begin,
    (spec, programs): (&JobSpec, &Found),
    network: &JobNetwork,
) -> Result<Option<Recording>, AgentError> {
    let Some(file) = spec.trace() else { return Ok(None) };
    // Hosts may have one name, or none; their numbers differ.
    let hosts = network.hosts.iter().map(|host| format!("host {host}")).collect();
    let run = describe_job(spec, hosts, network.host_count());
    let spared = Recording::check_spared(programs, file);
    let recording = spared.and_then(|()| Recording::create_part(file, begin.host, &run));
    let failed = |error| LaunchError::Trace { path: part_of(file, begin.host), error };
    Ok(Some(recording.map_err(failed)?))
}

fn ready() -> io::Result<FromAgent> {
    Ok(FromAgent::Ready {
        cores: u16::try_from(this_host::cores()).unwrap_or(u16::MAX),
        name: this_host::name(),
        candidates: candidates()?,
    })
}
