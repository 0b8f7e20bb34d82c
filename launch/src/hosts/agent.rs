//! The agent of a host: starts its ranks, watches over them, and does what the launcher asks for.
//!
//! It decides nothing by itself but this: when the connection to the launcher ends, so do its
//! ranks.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::num::NonZero;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use weft_trace::part_of;
use weft_wire::Rank;

use super::probe::{UdpProbe, candidates};
use super::sockets::Sockets;
use super::stream::{Stream, make_nonblocking};
use super::tcp::TcpProbe;
use super::{BEAT, FLUSH_LIMIT, LAUNCHER_SILENCE};
use crate::clock::Clock;
use crate::crew::{Access, Bound, Crew, Part, Pipes};
use crate::event::Event;
use crate::limits::allow_descriptors;
use crate::messages::hosts::{Begin, FarLink, FromAgent, Subtree, ToAgent};
use crate::messages::{BadMessage, Network};
use crate::output::Kind;
use crate::recording::{self, Recording, describe_job};
use crate::roll::{StacksOf, TakenStacks};
use crate::signals::Signals;
use crate::spec::{JobSpec, LaunchError};
use crate::wait::{Waited, wait_for};

mod meet;
mod naming;
mod prepare;
mod relay;
mod uplink;

use meet::{Agreed, Meet};
use naming::Namings;
use prepare::{attach, prepare};
use relay::Relay;
use uplink::Uplink;

/// Bytes of output that may be under way to the launcher from all hosts, which share them; and from
/// one at least and at most.
const OUTPUT_BYTES: usize = 4 * 1024 * 1024;
const WINDOW_BYTES_LEAST: usize = 2 * READ_BYTES;
const WINDOW_BYTES_MOST: usize = 256 * 1024;
/// Bytes read from a rank at once.
const READ_BYTES: usize = 16 * 1024;
/// Bytes read from a rank that has ended: more than a pipe holds unless somebody still writes.
const LAST_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Most bytes of output that the agent of so many ranks sends before the launcher has taken any:
/// its window, and what it reads beyond that of each stream, once, or all when it `finishes`.
pub(super) fn unacknowledged_bytes_max(ranks: u16, finishes: bool) -> usize {
    let beyond = if finishes { LAST_BYTES_MAX } else { READ_BYTES };
    WINDOW_BYTES_MOST + 2 * usize::from(ranks) * beyond
}

/// Reason for an end before the launcher has said anything.
const NO_INPUT: &str = "the remote shell passes on no standard input there: docker exec, podman exec and kubectl exec \
                        take -i for that, systemd-run --pipe";

/// Reason why an agent ends before its work is done.
#[derive(Debug, thiserror::Error)]
enum AgentError {
    /// The launcher is gone, or wants nothing more.
    #[error("the launcher is gone")]
    Gone,
    #[error("the launcher's message is unusable: {0}")]
    Bad(#[from] BadMessage),
    /// This host cannot take part.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<LaunchError> for AgentError {
    fn from(error: LaunchError) -> Self {
        AgentError::Refused(error.to_string())
    }
}

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
    // Those below may have more to say; it ends with them, or with the connection to who is above.
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
            self.be_between(&subtree)?;
            first = self.uplink.next()?;
        }
        let ToAgent::Begin(begin) = first else { return Err(out_of_order()) };
        allow_descriptors(usize::from(begin.settings.ranks) + self.behind);
        serve(&mut self.uplink, signals, *begin, stacks_of)
    }

    /// Takes this host's place among others.
    fn be_between(&mut self, subtree: &Subtree) -> Result<(), AgentError> {
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
        return Err(out_of_order());
    };
    let count = hosts.len();
    let all_have_interfaces = interfaces.is_empty() || interfaces.len() == count;
    if usize::from(begin.host) >= count
        || ranks.len() != usize::from(begin.ranks)
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
    let needs_udp = begin.far != FarLink::Xdp;
    let meet = Meet { meeting, greeting, tcp, needs_udp };
    let Agreed { over_ethernet, copied, bulk } =
        meet.run(uplink, Duration::from_millis(limit_ms.into()))?;
    let (hosts, addresses) = ranks.into_iter().unzip();
    let network = Network {
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
    let here = network.ranks_beside(Rank(begin.first)).count();
    if here != usize::from(begin.settings.ranks) {
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
        (true, None) => return Err(out_of_order()),
    };
    let recording = record(&begin, (&prepared.spec, &prepared.program), &network)?;
    let part = Part { first: begin.first, size: begin.ranks, network: Some((network, access)) };
    Agent::start(uplink, signals, &prepared.spec, prepared.program, part, recording)?.run()
}

/// Begins this host's part of the job's trace, if that is wanted.
fn record(
    begin: &Begin,
    (spec, program): (&JobSpec, &Path),
    network: &Network,
) -> Result<Option<Recording>, AgentError> {
    let Some(file) = spec.trace() else { return Ok(None) };
    // Hosts may have one name, or none; their numbers differ.
    let hosts = network.hosts.iter().map(|host| format!("host {host}")).collect();
    let run = describe_job(spec, hosts, network.host_count());
    let spared = Recording::check_spared(program, file);
    let recording = spared.and_then(|()| Recording::create_part(file, begin.host, &run));
    let failed = |error| LaunchError::Trace { path: part_of(file, begin.host), error };
    Ok(Some(recording.map_err(failed)?))
}

fn ready() -> io::Result<FromAgent> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    Ok(FromAgent::Ready {
        cores: u16::try_from(cores).unwrap_or(u16::MAX),
        name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        candidates: candidates()?,
    })
}

fn out_of_order() -> AgentError {
    BadMessage::Range("order").into()
}

/// Sources of events, to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Signals,
    Launcher,
    ToLauncher,
    Naming(usize),
    Channel(Rank),
    Stream(usize),
    Input,
    Exit(Rank),
}

/// A rank's standard output or standard error.
struct Pipe {
    rank: Rank,
    kind: Kind,
    /// `None` once everybody has closed it.
    from: Option<OwnedFd>,
}

/// Standard input of rank 0, if it is here.
#[derive(Default)]
struct Input {
    /// `None` once nothing more comes, or nobody reads.
    to: Option<OwnedFd>,
    pending: Vec<u8>,
}

/// An agent whose ranks have been started.
struct Agent<'a> {
    uplink: &'a mut Uplink,
    signals: Signals,
    crew: Crew<'a>,
    pipes: Vec<Pipe>,
    input: Input,
    under_way_bytes: usize,
    /// Bytes of output that may be under way.
    window_bytes: usize,
    clock: Clock,
    beat_at: Duration,
    finishing: bool,
    stacks_of: Option<StacksOf>,
    /// Stacks of ranks here that are to be sent.
    namings: Namings,
    /// Part of the job's trace, if that is wanted.
    recording: Option<Recording>,
}

impl<'a> Agent<'a> {
    fn start(
        uplink: &'a mut Uplink,
        signals: Signals,
        spec: &'a JobSpec,
        program: PathBuf,
        part: Part,
        recording: Option<Recording>,
    ) -> Result<Self, AgentError> {
        let first = part.first;
        let hosts = part.network.as_ref().map_or(1, |(network, _)| network.host_count());
        let window_bytes = OUTPUT_BYTES / usize::from(hosts.max(1));
        let window_bytes = window_bytes.clamp(WINDOW_BYTES_LEAST, WINDOW_BYTES_MOST);
        let (stdin, to) = match first {
            0 => pipe_with(PipeFlags::CLOEXEC)
                .map(|(from, to)| (from, Some(to)))
                .map_err(io::Error::from)?,
            _ => (File::open("/dev/null")?.into(), None),
        };
        to.as_ref().map(make_nonblocking).transpose()?;
        let (crew, pipes) = Crew::start(spec, program, part, stdin)?;
        let pipes = (first..).map(Rank).zip(pipes).flat_map(pipes_of).collect::<Vec<_>>();
        for pipe in &pipes {
            pipe.from.as_ref().map(make_nonblocking).transpose()?;
        }
        uplink.send(&FromAgent::Started(crew.process_ids().collect()));
        Ok(Agent {
            uplink,
            signals,
            crew,
            pipes,
            input: Input { to, pending: Vec::new() },
            under_way_bytes: 0,
            window_bytes,
            clock: Clock::start(),
            beat_at: Duration::ZERO,
            finishing: false,
            stacks_of: spec.stacks_of,
            namings: Namings::default(),
            recording,
        })
    }

    fn run(mut self) -> Result<(), AgentError> {
        let mut done = Ok(());
        while !self.finishing && done.is_ok() {
            done = self.step();
        }
        self.end_recording();
        if done.is_err() {
            // Nobody is left to ask for it: the ranks end, and what they have left behind.
            self.crew.kill();
            self.crew.clean_up();
            return done;
        }
        self.finish()
    }

    /// Waits for something to happen, and passes it on.
    fn step(&mut self) -> Result<(), AgentError> {
        let until_beat = self.beat_at.saturating_sub(self.clock.now());
        let record = self.recording.as_ref().map(|_| recording::EVERY);
        let sooner = [self.crew.retry_after(), record].into_iter().flatten().min();
        let timeout = sooner.map_or(until_beat, |sooner| sooner.min(until_beat));
        let mut ended = Vec::new();
        for source in wait_for(&self.sources()?, Some(timeout))? {
            match source {
                Source::Signals => self.take_signals()?,
                Source::Launcher => self.uplink.stream.read_some()?,
                Source::ToLauncher => self.uplink.stream.write_some(),
                Source::Naming(number) => self.send_stacks(number),
                Source::Channel(rank) => self.take_messages(rank),
                Source::Stream(number) => drop(self.pass_on(number)),
                Source::Input => self.feed(),
                Source::Exit(rank) => {
                    self.take_messages(rank);
                    let ending = self.crew.collect(rank)?;
                    ended.extend(ending.map(|ending| (rank, ending)));
                }
            }
        }
        if !ended.is_empty() {
            self.tell(Event::Ended(ended));
        }
        while let Some(message) = self.uplink.take()? {
            self.obey(message)?;
        }
        self.crew.reap();
        if let Some(recording) = &mut self.recording {
            recording.take(self.crew.traces(), false);
        }
        self.crew.welcome_again();
        self.beat()
    }

    fn sources(&self) -> Result<Vec<Waited<'_, Source>>, AgentError> {
        use PollFlags as For;
        let from = self.uplink.stream.readable().ok_or(AgentError::Gone)?;
        let mut all = vec![
            (Source::Signals, self.signals.waits_for().as_fd(), For::IN),
            (Source::Launcher, from.as_fd(), For::IN),
        ];
        let to = self.uplink.stream.writable().into_iter();
        all.extend(to.map(|to| (Source::ToLauncher, to.as_fd(), For::OUT)));
        let namings = self.namings.waits_for();
        all.extend(namings.map(|(number, done)| (Source::Naming(number), done, For::IN)));
        let channels = self.crew.channels();
        all.extend(channels.map(|(rank, fd)| (Source::Channel(rank), fd.as_fd(), For::IN)));
        if self.under_way_bytes < self.window_bytes {
            let open = self.pipes.iter().enumerate();
            let open = open.filter_map(|(number, pipe)| Some((number, pipe.from.as_ref()?)));
            all.extend(open.map(|(n, from)| (Source::Stream(n), from.as_fd(), For::IN)));
        }
        let input = self.input.to.iter().filter(|_| !self.input.pending.is_empty());
        all.extend(input.map(|to| (Source::Input, to.as_fd(), For::OUT)));
        let ends = self.crew.exits();
        all.extend(ends.map(|(rank, exit)| (Source::Exit(rank), exit.as_fd(), For::IN)));
        Ok(all)
    }

    /// Ends this host's part of the trace. Of one that is not whole only this host knows.
    fn end_recording(&mut self) {
        let Some(mut recording) = self.recording.take() else { return };
        recording.take(self.crew.traces(), true);
        recording.finish().complain();
    }

    /// Whoever ends the agent ends the host's part of the job.
    fn take_signals(&mut self) -> Result<(), AgentError> {
        for signal in self.signals.take() {
            match signal {
                Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => {
                    return Err(AgentError::Gone);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take_messages(&mut self, rank: Rank) {
        for event in self.crew.take_messages(rank) {
            self.tell(event);
        }
    }

    fn tell(&mut self, event: Event) {
        self.uplink.send(&FromAgent::Event(event));
    }

    /// Passes on what a rank has written. Returns whether there was something.
    fn pass_on(&mut self, number: usize) -> bool {
        let pipe = &mut self.pipes[number];
        let Some(from) = &pipe.from else { return false };
        let mut bytes = vec![0; READ_BYTES];
        match retry_on_intr(|| read(from, &mut bytes)) {
            Err(Errno::AGAIN) => false,
            Ok(0) | Err(_) => {
                pipe.from = None;
                false
            }
            Ok(count) => {
                bytes.truncate(count);
                self.under_way_bytes += count;
                self.uplink.send(&FromAgent::Output(pipe.rank, pipe.kind, bytes));
                true
            }
        }
    }

    fn obey(&mut self, order: ToAgent) -> Result<(), AgentError> {
        match order {
            ToAgent::Welcome(rank) => self.crew.welcome(self.own(rank)?),
            ToAgent::Loss(lost, cause) => self.crew.announce_loss(lost, cause),
            ToAgent::Signal(rank, signal) => self.crew.signal(self.own(rank)?, signal),
            ToAgent::Taken(count) => {
                self.under_way_bytes = self.under_way_bytes.saturating_sub(count as usize);
            }
            ToAgent::Input(bytes) => {
                if bytes.is_empty() {
                    self.input.to = None;
                } else {
                    self.input.pending = bytes;
                    self.feed();
                }
            }
            ToAgent::RollCall { number, stacks } => self.answer(number, stacks),
            ToAgent::Look(number) => {
                self.uplink.send(&FromAgent::Seen(number, self.crew.snapshot()));
            }
            ToAgent::Finish => self.finishing = true,
            ToAgent::Begin(_)
            | ToAgent::Meet { .. }
            | ToAgent::Go { .. }
            | ToAgent::Beat
            | ToAgent::Pause
            | ToAgent::Subtree(_)
            | ToAgent::For(..)
            | ToAgent::ForAll(_) => return Err(out_of_order()),
        }
        Ok(())
    }

    /// Says what the ranks here do. Stacks are taken before anything else is obeyed, such as a
    /// signal for the ranks, and sent when they have names.
    fn answer(&mut self, number: u32, stacks: bool) {
        let standings = self.crew.roll_call();
        self.uplink.send(&FromAgent::Roll(number, standings.clone()));
        let Some(stacks_of) = self.stacks_of.filter(|_| stacks && self.namings.has_room()) else {
            return self.uplink.send(&FromAgent::Stacks(number, Vec::new()));
        };
        if self.namings.begin(number, TakenStacks::of(&standings, stacks_of)).is_err() {
            self.uplink.send(&FromAgent::Stacks(number, Vec::new()));
        }
    }

    fn send_stacks(&mut self, naming: usize) {
        let (number, stacks) = self.namings.take(naming);
        self.uplink.send(&FromAgent::Stacks(number, stacks));
    }

    fn own(&self, rank: Rank) -> Result<Rank, AgentError> {
        if self.crew.has(rank) { Ok(rank) } else { Err(BadMessage::Range("rank").into()) }
    }

    /// Gives rank 0 what it takes of what it is to read, and says so when it has taken everything.
    fn feed(&mut self) {
        let Input { to, pending } = &mut self.input;
        let written = match &*to {
            Some(to) => retry_on_intr(|| write(to, pending.as_slice())),
            None => Ok(pending.len()),
        };
        match written {
            Ok(count) => drop(pending.drain(..count)),
            Err(Errno::AGAIN) => {}
            Err(_) => {
                *to = None;
                pending.clear();
            }
        }
        if pending.is_empty() {
            self.uplink.send(&FromAgent::InputTaken);
        }
    }

    /// Says that this agent is there, and gives up a launcher that has not said so for long.
    fn beat(&mut self) -> Result<(), AgentError> {
        let now = self.clock.now();
        if now >= self.beat_at {
            self.beat_at = now + BEAT;
            if self.uplink.stream.is_flushed() {
                self.uplink.send(&FromAgent::Beat);
            }
        }
        self.uplink.check()
    }

    /// Cleans up, passes on what is left, and says that this is all.
    fn finish(mut self) -> Result<(), AgentError> {
        let stuck = self.crew.clean_up();
        for (number, stacks) in self.namings.take_all() {
            self.uplink.send(&FromAgent::Stacks(number, stacks));
        }
        for number in 0..self.pipes.len() {
            for _ in 0..LAST_BYTES_MAX / READ_BYTES {
                if !self.pass_on(number) {
                    break;
                }
            }
        }
        self.uplink.send(&FromAgent::Finished(stuck));
        self.uplink.flush()
    }
}

fn pipes_of((rank, (out, err)): (Rank, Pipes)) -> [Pipe; 2] {
    [(Kind::Out, out), (Kind::Err, err)].map(|(kind, from)| Pipe { rank, kind, from: Some(from) })
}
