//! From a list of hosts to agents whose ranks have been started.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::Signal;

use super::BEAT;
use super::layout::{Between, Copies, HostLayout, HostsSpec, Layout, Multicast};
use super::list::distribute;
use super::pace::{COPIED_FROM, MEETING_LIMIT};
use super::probe::choose;
use super::remote::{Remote, Remotes};
use crate::clock::Clock;
use crate::messages::hosts::{Begin, FarLink, FromAgent, InterfaceState, ToAgent, command_fits};
use crate::messages::{BadMessage, draw_job};
use crate::mtu::Mtu;
use crate::signals::Signals;
use crate::spec::{Binding, JobSpec, LaunchError};
use crate::wait::{Waited, wait_for};
use weft_link_shm::Settings;
use weft_seal::Protection;
use weft_xdp::MacAddress;

/// Reason why there is no job.
pub(super) enum Stop {
    Failed(LaunchError),
    /// Somebody wants no job any more.
    Signal(Signal),
}

impl<E: Into<LaunchError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.into())
    }
}

/// By host: whose greeting to all, by the way that ranks take, it has not heard.
type Unheard = Vec<Vec<u16>>;

/// A job whose ranks have been started.
pub(super) struct Started {
    pub layout: Layout,
    pub remotes: Remotes,
    pub signals: Option<Signals>,
}

pub(super) fn start(
    spec: &JobSpec,
    hosts: &HostsSpec,
    signals: Option<Signals>,
    announce: impl FnOnce(&Layout),
) -> Result<Started, Stop> {
    JobSpec { settings: Settings { ranks: 1, ..spec.settings }, ..spec.clone() }.check()?;
    if !command_fits(&spec.program, &spec.arguments) {
        return Err(LaunchError::Hosts("the program's arguments are too long".into()).into());
    }
    let mut beginning = Beginning::connect(hosts, signals)?;
    let ready = beginning.gather(hosts.patience, |message| match message {
        FromAgent::Ready { cores, candidates, .. } => Some((cores, candidates)),
        _ => None,
    })?;
    let (cores, candidates): (Vec<u16>, Vec<_>) = ready.into_iter().unzip();
    let counts = distribute(&hosts.hosts, &cores, hosts.ranks).map_err(LaunchError::Hosts)?;
    let chosen = choose(&candidates, hosts.interface.as_deref())
        .map_err(|(host, what)| LaunchError::host(&hosts.hosts[host].name, what))?;
    let narrowest = chosen.iter().map(|candidate| candidate.mtu).min();
    let mtu = spec.mtu.or(narrowest).unwrap_or(Mtu::USUAL);
    let mut layout = Layout::new(&hosts.hosts, &counts, &cores, chosen, mtu, spec.protection);
    let far = if layout.hosts.len() == 1 { FarLink::Udp } else { hosts.far };
    if far != hosts.far && hosts.far == FarLink::Xdp {
        let what = "an interface does not hear itself, so that --link xdp takes two hosts or more";
        return Err(LaunchError::Hosts(what.into()).into());
    }
    let wished = hosts.multicast != Multicast::Tree && layout.hosts.len() >= COPIED_FROM;
    let copied = wished && spec.protection == Protection::Tagged;
    beginning.begin(spec, &layout, far, copied)?;
    let (between, unheard) = beginning.meet(hosts.patience, &layout, far)?;
    let copies = match wished == copied {
        true => copies(&layout, copied, &unheard),
        false => Copies::Ranks(Some("what is encrypted is for one rank".into())),
    };
    if hosts.multicast == Multicast::Ethernet
        && let Copies::Ranks(why) = &copies
    {
        let why = why.as_deref().unwrap_or("that takes three hosts or more");
        let what = format!("the network does not copy multicasts: {why}; take --multicast auto");
        return Err(LaunchError::Hosts(what).into());
    }
    (layout.between, layout.copies) = (between, copies);
    announce(&layout);
    beginning.go(hosts.patience, &layout)?;
    let Beginning { remotes, signals, .. } = beginning;
    Ok(Started { layout, remotes, signals })
}

/// Agents that are on their way.
struct Beginning {
    remotes: Remotes,
    signals: Option<Signals>,
    clock: Clock,
    beat_at: Duration,
}

#[derive(Clone, Copy)]
enum Source {
    Signals,
    Agent(usize),
    ToAgent(usize),
    Complaints(usize),
}

impl Beginning {
    fn connect(hosts: &HostsSpec, signals: Option<Signals>) -> Result<Self, Stop> {
        let mut remotes = Remotes::default();
        for host in &hosts.hosts {
            let remote = Remote::start(&host.name, hosts);
            remotes.push(remote.map_err(|what| LaunchError::host(&host.name, what))?);
        }
        Ok(Beginning { remotes, signals, clock: Clock::start(), beat_at: Duration::ZERO })
    }

    /// Sends every agent what it needs to get ready.
    fn begin(
        &mut self,
        spec: &JobSpec,
        layout: &Layout,
        far: FarLink,
        copied: bool,
    ) -> Result<(), Stop> {
        let (job, secret) = draw_job()?;
        let directory: OsString = std::env::current_dir()?.into();
        for ((number, host), remote) in (0..).zip(&layout.hosts).zip(self.remotes.iter_mut()) {
            (remote.first, remote.count) = (host.first, host.ranks);
            remote.send(&ToAgent::Begin(Box::new(Begin {
                host: number,
                first: host.first,
                ranks: layout.ranks(),
                settings: Settings { ranks: host.ranks, ..spec.settings },
                options: spec.options.clone(),
                program: spec.program.clone(),
                directory: directory.clone(),
                arguments: spec.arguments.clone(),
                bound_to_cores: spec.binding == Binding::Core,
                terminal: spec.terminal,
                job,
                secret: secret.clone(),
                protection: layout.protection,
                mtu: layout.mtu,
                address: host.address,
                interface: host.interface.clone(),
                far,
                copied,
            })));
        }
        Ok(())
    }

    /// Has every host reach every other, and says how they do, and whose greeting to all each has
    /// not heard.
    fn meet(
        &mut self,
        patience: Duration,
        layout: &Layout,
        far: FarLink,
    ) -> Result<(Between, Unheard), Stop> {
        let bound = self.gather(patience, |message| match message {
            FromAgent::Bound(meeting, ranks, state) => Some((meeting, ranks, state)),
            _ => None,
        })?;
        let (mut hosts, mut own, mut states) = (Vec::new(), Vec::new(), Vec::new());
        for (host, (meeting, ranks, state)) in layout.hosts.iter().zip(bound) {
            if ranks.len() != usize::from(host.ranks) {
                let what = format!("{} sockets for {} ranks", ranks.len(), host.ranks);
                return Err(LaunchError::host(&host.name, what).into());
            }
            hosts.push(meeting);
            own.extend(ranks);
            states.push(state);
        }
        let (interfaces, between) = ethernet(layout, far, &states);
        let limit_ms = MEETING_LIMIT.as_millis() as u32;
        let message = ToAgent::Meet { limit_ms, hosts, ranks: layout.with_hosts(own), interfaces };
        self.remotes.iter_mut().for_each(|remote| remote.send(&message));
        let missed = self.gather(patience + MEETING_LIMIT, |message| match message {
            FromAgent::Met { udp, ethernet, copied, copied_ethernet } => {
                Some(((udp, ethernet), (copied, copied_ethernet)))
            }
            _ => None,
        })?;
        let (missed, unheard): (Vec<_>, Vec<_>) = missed.into_iter().unzip();
        let (udp, ethernet): (Vec<_>, Vec<_>) = missed.into_iter().unzip();
        let between = decide(layout, far, between, &udp, &ethernet)?;
        let (by_udp, by_ethernet) = unheard.into_iter().unzip();
        let over_ethernet = matches!(between, Between::Xdp(_));
        Ok((between, if over_ethernet { by_ethernet } else { by_udp }))
    }

    fn go(&mut self, patience: Duration, layout: &Layout) -> Result<(), Stop> {
        let message = ToAgent::Go {
            over_ethernet: matches!(layout.between, Between::Xdp(_)),
            copied: layout.copies == Copies::Network,
        };
        self.remotes.iter_mut().for_each(|remote| remote.send(&message));
        let started = self.gather(patience, |message| match message {
            FromAgent::Started(processes) => Some(processes),
            _ => None,
        })?;
        for (remote, processes) in self.remotes.iter_mut().zip(started) {
            remote.processes = processes;
            remote.silent = Duration::ZERO;
        }
        Ok(())
    }

    /// Waits until `pick` has found something in a message of each agent. What an agent says after
    /// that is left for later.
    fn gather<T>(
        &mut self,
        patience: Duration,
        pick: impl Fn(FromAgent) -> Option<T>,
    ) -> Result<Vec<T>, Stop> {
        let deadline = self.clock.now() + patience;
        let mut picked: Vec<Option<T>> = self.remotes.iter().map(|_| None).collect();
        loop {
            for (remote, place) in self.remotes.iter_mut().zip(&mut picked) {
                if place.is_none() {
                    *place = answer(remote, &pick)?;
                }
            }
            let Some(late) = picked.iter().position(Option::is_none) else {
                return Ok(picked.into_iter().flatten().collect());
            };
            let left = deadline.saturating_sub(self.clock.now());
            if left.is_zero() {
                let what = format!("it has not answered within {} s", patience.as_secs_f64());
                return Err(LaunchError::host(&self.remotes[late].name, what).into());
            }
            self.beat();
            self.wait(left.min(BEAT))?;
        }
    }

    /// Says from time to time that the launcher is there: agents may wait for others.
    fn beat(&mut self) {
        if self.clock.now() < self.beat_at {
            return;
        }
        self.beat_at = self.clock.now() + BEAT;
        for remote in self.remotes.iter_mut().filter(|remote| remote.stream.is_flushed()) {
            remote.send(&ToAgent::Beat);
        }
    }

    fn wait(&mut self, limit: Duration) -> Result<(), Stop> {
        for source in wait_for(&self.sources(), Some(limit))? {
            match source {
                Source::Signals => {
                    let arrived = self.signals.as_mut().map(Signals::take).unwrap_or_default();
                    let ends = |signal: &Signal| {
                        matches!(*signal, Signal::INT | Signal::TERM | Signal::HUP | Signal::QUIT)
                    };
                    if let Some(signal) = arrived.into_iter().find(ends) {
                        return Err(Stop::Signal(signal));
                    }
                }
                Source::Agent(number) => {
                    let remote = &mut self.remotes[number];
                    remote.stream.read_some().map_err(|bad| misunderstood(remote, &bad))?;
                }
                Source::ToAgent(number) => self.remotes[number].stream.write_some(),
                Source::Complaints(number) => self.remotes[number].hear_complaints(),
            }
        }
        Ok(())
    }

    fn sources(&self) -> Vec<Waited<'_, Source>> {
        use PollFlags as For;
        let mut all = Vec::new();
        let signals = self.signals.iter();
        all.extend(signals.map(|s| (Source::Signals, s.waits_for().as_fd(), For::IN)));
        for (number, remote) in self.remotes.iter().enumerate() {
            let from = remote.stream.readable().into_iter();
            all.extend(from.map(|from| (Source::Agent(number), from.as_fd(), For::IN)));
            let to = remote.stream.writable().into_iter();
            all.extend(to.map(|to| (Source::ToAgent(number), to.as_fd(), For::OUT)));
            let complaints = remote.complaints.iter();
            all.extend(complaints.map(|from| (Source::Complaints(number), from.as_fd(), For::IN)));
        }
        all
    }
}

/// The interfaces by which hosts may meet, if all have one for that; and how they reach one another
/// if they do.
fn ethernet(
    layout: &Layout,
    far: FarLink,
    states: &[InterfaceState],
) -> (Vec<MacAddress>, Between) {
    if layout.hosts.len() == 1 {
        return (Vec::new(), Between::Nothing);
    }
    let (mut interfaces, mut modes) = (Vec::new(), Vec::new());
    for (host, state) in layout.hosts.iter().zip(states) {
        match state {
            InterfaceState::Taken { interface, mode } => {
                interfaces.push(*interface);
                modes.push(*mode);
            }
            InterfaceState::Without(why) => {
                return (Vec::new(), Between::Udp(Some(format!("host {}: {why}", host.name))));
            }
            InterfaceState::NotAsked => return (Vec::new(), Between::Udp(None)),
        }
    }
    debug_assert!(far != FarLink::Udp, "nobody takes an interface unasked");
    (interfaces, Between::Xdp(modes))
}

/// Network between the hosts, given those that each has missed by either link.
fn decide(
    layout: &Layout,
    far: FarLink,
    between: Between,
    udp: &[Vec<(u16, bool)>],
    ethernet: &[Vec<u16>],
) -> Result<Between, LaunchError> {
    let mtu = layout.mtu;
    let by_udp = match (between, missing(layout, ethernet, |host| *host)) {
        (Between::Xdp(modes), None) => return Ok(Between::Xdp(modes)),
        (Between::Xdp(_), Some((from, to, _))) => {
            let error = LaunchError::NoEthernet {
                from: from.name.clone(),
                from_interface: from.interface.clone(),
                to: to.name.clone(),
                to_interface: to.interface.clone(),
                mtu,
            };
            if far == FarLink::Xdp {
                return Err(error);
            }
            Between::Udp(Some(error.to_string()))
        }
        (other, _) => other,
    };
    match missing(layout, udp, |(host, _)| *host) {
        None => Ok(by_udp),
        Some((from, to, (_, true))) => {
            let (from, to) = (from.name.clone(), to.name.clone());
            Err(LaunchError::Narrow { from, to, mtu })
        }
        Some((from, to, (_, false))) => Err(LaunchError::Unreachable {
            from: from.name.clone(),
            from_address: from.address,
            to: to.name.clone(),
            to_address: to.address,
        }),
    }
}

/// Forwarding of multicasts, given the hosts whose greeting to all each has not heard.
fn copies(layout: &Layout, tried: bool, unheard: &Unheard) -> Copies {
    if !tried {
        return Copies::Ranks(None);
    }
    match missing(layout, unheard, |host| *host) {
        None => Copies::Network,
        Some((to, from, _)) => Copies::Ranks(Some(format!(
            "host {} hears nothing that host {} sends to all",
            to.name, from.name
        ))),
    }
}

/// The first host that has missed another, that other, and what it said of it.
fn missing<'a, T>(
    layout: &'a Layout,
    missed: &'a [Vec<T>],
    host_of: impl Fn(&T) -> u16,
) -> Option<(&'a HostLayout, &'a HostLayout, &'a T)> {
    missed.iter().zip(&layout.hosts).find_map(|(missed, host)| {
        let first = missed.first()?;
        Some((host, layout.hosts.get(usize::from(host_of(first)))?, first))
    })
}

/// Answer that `pick` finds in the next message of an agent, if that was received.
fn answer<T>(
    remote: &mut Remote,
    pick: impl Fn(FromAgent) -> Option<T>,
) -> Result<Option<T>, LaunchError> {
    while let Some(message) = remote.take() {
        match message {
            Ok(FromAgent::Beat) => {}
            Ok(FromAgent::Refused(why)) => return Err(LaunchError::host(&remote.name, why)),
            Ok(message) => match pick(message) {
                Some(picked) => return Ok(Some(picked)),
                None => return Err(misunderstood(remote, &BadMessage::Range("order"))),
            },
            Err(bad) => return Err(misunderstood(remote, &bad)),
        }
    }
    if remote.stream.readable().is_none() {
        let why = remote.explain_end();
        return Err(LaunchError::host(&remote.name, why));
    }
    Ok(None)
}

fn misunderstood(remote: &Remote, bad: &BadMessage) -> LaunchError {
    let what = match bad {
        BadMessage::Mark | BadMessage::Long => {
            "what comes from there is not from weft: does a start-up file of its shell write something? \
             make it silent"
                .into()
        }
        BadMessage::Version { .. } => {
            format!("the weft there is of another release (--remote-weft names another): {bad}")
        }
        other => format!("its agent's message is unusable: {other}"),
    };
    LaunchError::host(&remote.name, what)
}
