//! From a list of hosts to agents whose ranks have been started.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::Signal;

use super::branches::{Source as Below, unusable};
use super::layout::{Between, Copies, HostLayout, HostsSpec, LongPackets, Multicast, RankLayout};
use super::list::distribute;
use super::pace::{COPIED_FROM, MEETING_LIMIT};
use super::reached::{Findings, judge};
use super::roster::{Host, Roster};
use crate::clock::Clock;
use crate::door::DoorFile;
use crate::error::LaunchError;
use crate::hosts::addresses::choose;
use crate::hosts::liveness::CHECK_INTERVAL;
use crate::messages::hosts::commands_fit;
use crate::messages::hosts::{Begin, Candidate, FarLink, FromAgent, InterfaceState, ToAgent};
use crate::messages::{BadMessage, DoorKey, LauncherPlace, RANKS_MAX, draw_job};
use crate::mtu::Mtu;
use crate::output::Output;
use crate::signals::Signals;
use crate::spec::{Binding, BulkWish, JobSpec};
use crate::this_host;
use crate::wait::{Waited, wait_for};
use weft_link_shm::Settings;
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
    pub layout: RankLayout,
    pub roster: Roster,
    pub signals: Option<Signals>,
    pub door_file: Option<DoorFile>,
    /// Places for the ranks' output.
    pub output: Output,
}

pub(super) fn start(
    spec: &JobSpec,
    hosts: &HostsSpec,
    signals: Option<Signals>,
    announce: impl FnOnce(&RankLayout),
) -> Result<Started, Stop> {
    JobSpec { settings: Settings { ranks: 1, ..spec.settings }, ..spec.clone() }.check()?;
    let commands = spec.commands().map(|(_, program, arguments)| (program, arguments));
    if !commands_fit(commands, &spec.environment) {
        let what = "the program's arguments, and what is given by --env, are too long";
        return Err(LaunchError::Hosts(what.into()).into());
    }
    let mut beginning = Beginning::connect(spec, hosts, signals)?;
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
    let room = room(hosts, counts.iter().sum())?;
    let mut layout =
        RankLayout::new(&hosts.hosts, (&counts, room), &cores, chosen, mtu, spec.protection);
    let far = if layout.hosts.len() == 1 { FarLink::Udp } else { hosts.far };
    if far != hosts.far && hosts.far == FarLink::Xdp {
        let what = "an interface does not hear itself, so that --link xdp takes two hosts or more";
        return Err(LaunchError::Hosts(what.into()).into());
    }
    let wished = hosts.multicast != Multicast::Tree && layout.hosts.len() >= COPIED_FROM;
    let why_not = if spec.protection.encrypts() {
        Some("what is encrypted is for one rank")
    } else {
        (room > layout.ranks()).then_some("what is copied would reach ranks that come later, too")
    };
    let copied = wished && why_not.is_none();
    let door = spec.draw_door()?;
    beginning.begin(spec, &layout, (far, copied), door)?;
    let (between, unheard, cut) = beginning.meet(hosts.patience, &layout, far, &candidates)?;
    layout.bulk = long_packets(&layout, spec.bulk, &cut)?;
    let copies = match wished == copied {
        true => copies(&layout, copied, &unheard),
        false => Copies::Ranks(why_not.map(str::to_owned)),
    };
    if hosts.multicast == Multicast::Ethernet
        && let Copies::Ranks(why) = &copies
    {
        let why = why.as_deref().unwrap_or("that takes three hosts or more");
        let what = format!("the network does not copy multicasts: {why}; take --multicast auto");
        return Err(LaunchError::Hosts(what).into());
    }
    (layout.between, layout.copies) = (between, copies);
    let output = Output::open(&spec.output, room)
        .map_err(|(path, error)| LaunchError::Output { path, error })?;
    announce(&layout);
    beginning.go(hosts.patience, &layout)?;
    let door_file = spec.show_door(door.as_ref())?;
    let Beginning { roster, signals, .. } = beginning;
    Ok(Started { layout, roster, signals, door_file, output })
}

/// Agents that are on their way.
struct Beginning {
    roster: Roster,
    signals: Option<Signals>,
    clock: Clock,
}

#[derive(Clone, Copy)]
enum Source {
    Signals,
    Below(Below),
}

impl Beginning {
    fn connect(spec: &JobSpec, hosts: &HostsSpec, signals: Option<Signals>) -> Result<Self, Stop> {
        let roster = Roster::start(hosts, spec.silence)?;
        Ok(Beginning { roster, signals, clock: Clock::start() })
    }

    /// Sends every agent what it needs to get ready.
    fn begin(
        &mut self,
        spec: &JobSpec,
        layout: &RankLayout,
        (far, copied): (FarLink, bool),
        door: Option<DoorKey>,
    ) -> Result<(), Stop> {
        let (job, secret) = draw_job()?;
        let directory = spec.directory.clone().map_or_else(std::env::current_dir, Ok)?;
        let directory = OsString::from(directory);
        let launcher = LauncherPlace { host: this_host::name(), process: std::process::id() };
        let most = layout.hosts.iter().map(HostLayout::room).max().unwrap_or_default();
        let settings = spec.settings.bounded_for(most);
        for (number, host) in (0..).zip(&layout.hosts) {
            let known = &mut self.roster[usize::from(number)];
            known.ranks = host.all().collect();
            let begin = Begin {
                host: number,
                here: known.ranks.clone(),
                founders: layout.ranks(),
                room: layout.room(),
                settings: Settings { ranks: host.room(), ..settings },
                options: spec.options.clone(),
                program: spec.program.clone(),
                directory: directory.clone(),
                arguments: spec.arguments.clone(),
                later: spec.later.clone(),
                environment: spec.environment.clone(),
                launcher: launcher.clone(),
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
                bulk: spec.bulk != BulkWish::Datagrams && layout.hosts.len() > 1,
                door,
            };
            self.roster.send(number, &ToAgent::Begin(Box::new(begin)));
        }
        Ok(())
    }

    /// Has every host reach every other, and says how they do, and whose greeting to all each has
    /// not heard.
    fn meet(
        &mut self,
        patience: Duration,
        layout: &RankLayout,
        far: FarLink,
        candidates: &[Vec<Candidate>],
    ) -> Result<(Between, Unheard, Unheard), Stop> {
        let bound = self.gather(patience, |message| match message {
            FromAgent::Bound(meeting, ranks, state) => Some((meeting, ranks, state)),
            _ => None,
        })?;
        let (mut hosts, mut own, mut states) = (Vec::new(), Vec::new(), Vec::new());
        for (host, (meeting, ranks, state)) in layout.hosts.iter().zip(bound) {
            if ranks.len() != usize::from(host.room()) {
                let what = format!("{} sockets for {} ranks", ranks.len(), host.room());
                return Err(LaunchError::host(&host.name, what).into());
            }
            hosts.push(meeting);
            own.push(ranks);
            states.push(state);
        }
        let (interfaces, between) = ethernet(layout, far, &states);
        let (limit_ms, addresses) = (MEETING_LIMIT.as_millis() as u32, hosts.clone());
        let message = ToAgent::Meet { limit_ms, hosts, ranks: layout.by_rank(own), interfaces };
        self.roster.branches.send_all(&message);
        let missed = self.gather(patience + MEETING_LIMIT, |message| match message {
            FromAgent::Met { udp, ethernet, copied, copied_ethernet, tcp } => {
                Some(((udp, ethernet), ((copied, copied_ethernet), tcp)))
            }
            _ => None,
        })?;
        let (missed, unheard): (Vec<_>, Vec<_>) = missed.into_iter().unzip();
        let (udp, ethernet): (Vec<_>, Vec<_>) = missed.into_iter().unzip();
        let between = by_ethernet(layout, far, between, &ethernet)?;
        if let Between::Nothing | Between::Udp(_) = between {
            let of_hosts = layout.hosts.iter().zip(addresses).zip(candidates).zip(&udp);
            let findings = of_hosts.map(|(((host, address), own), found)| Findings {
                name: &host.name,
                address,
                own,
                found,
            });
            judge(&findings.collect::<Vec<_>>(), layout.mtu)?;
        }
        let (unheard, cut): (Vec<_>, _) = unheard.into_iter().unzip();
        let (by_udp, by_ethernet) = unheard.into_iter().unzip();
        let over_ethernet = matches!(between, Between::Xdp(_));
        Ok((between, if over_ethernet { by_ethernet } else { by_udp }, cut))
    }

    fn go(&mut self, patience: Duration, layout: &RankLayout) -> Result<(), Stop> {
        let message = ToAgent::Go {
            over_ethernet: matches!(layout.between, Between::Xdp(_)),
            copied: layout.copies == Copies::Network,
            bulk: layout.bulk == LongPackets::Tcp,
        };
        self.roster.branches.send_all(&message);
        let started = self.gather(patience, |message| match message {
            FromAgent::Started(processes) => Some(processes),
            _ => None,
        })?;
        for (host, processes) in self.roster.iter_mut().zip(started) {
            host.processes = processes;
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
        let mut picked: Vec<Option<T>> = self.roster.iter().map(|_| None).collect();
        loop {
            self.roster.take_arrivals();
            for (host, place) in self.roster.iter_mut().zip(&mut picked) {
                if place.is_none() {
                    *place = answer(host, &pick)?;
                }
            }
            self.check_lost(&picked)?;
            let Some(late) = picked.iter().position(Option::is_none) else {
                return Ok(picked.into_iter().flatten().collect());
            };
            let left = deadline.saturating_sub(self.clock.now());
            if left.is_zero() {
                let what = format!("it has not answered within {} s", patience.as_secs_f64());
                return Err(LaunchError::host(&self.roster[late].name, what).into());
            }
            self.wait(left.min(CHECK_INTERVAL))?;
            self.roster.branches.tick(self.clock.now(), true);
        }
    }

    /// Checks that no host is gone that has yet to answer; others are left for later.
    fn check_lost<T>(&self, picked: &[Option<T>]) -> Result<(), LaunchError> {
        let is_waited_for = |host: &u16| picked[usize::from(*host)].is_none();
        let mut lost = self.roster.lost.iter();
        match lost.find(|(hosts, _)| hosts.iter().any(is_waited_for)) {
            Some((hosts, why)) => {
                Err(LaunchError::host(&self.roster[usize::from(hosts[0])].name, why))
            }
            None => Ok(()),
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
                Source::Below(source) => self.roster.branches.attend(source, self.clock.now()),
            }
        }
        Ok(())
    }

    fn sources(&self) -> Vec<Waited<'_, Source>> {
        let mut all: Vec<Waited<'_, Source>> = Vec::new();
        let signals = self.signals.iter();
        all.extend(signals.map(|s| (Source::Signals, s.waits_for().as_fd(), PollFlags::IN)));
        let below = self.roster.branches.sources(true);
        all.extend(below.map(|(source, fd, flags)| (Source::Below(source), fd, flags)));
        all
    }
}

/// Number of ranks that a job may have which begins with `founders`.
fn room(hosts: &HostsSpec, founders: u16) -> Result<u16, LaunchError> {
    match hosts.room.unwrap_or(founders) {
        room if room > RANKS_MAX => {
            Err(LaunchError::Hosts(format!("room for {room} ranks: a job has {RANKS_MAX} at most")))
        }
        room if room < founders => Err(LaunchError::Hosts(format!(
            "room for {room} ranks is less than the {founders} that the job begins with"
        ))),
        room => Ok(room),
    }
}

/// The interfaces by which hosts may meet, if all have one for that; and how they reach one another
/// if they do.
fn ethernet(
    layout: &RankLayout,
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

/// Network between the hosts, given those that each has missed over Ethernet.
fn by_ethernet(
    layout: &RankLayout,
    far: FarLink,
    between: Between,
    missed: &[Vec<u16>],
) -> Result<Between, LaunchError> {
    let (Between::Xdp(_), Some((from, to))) = (&between, missing(layout, missed)) else {
        return Ok(between);
    };
    let error = LaunchError::NoEthernet {
        from: from.name.clone(),
        from_interface: from.interface.clone(),
        to: to.name.clone(),
        to_interface: to.interface.clone(),
        mtu: layout.mtu,
    };
    if far == FarLink::Xdp { Err(error) } else { Ok(Between::Udp(Some(error.to_string()))) }
}

/// Way of long packets, given the hosts to which each had no TCP connection.
fn long_packets(
    layout: &RankLayout,
    wish: BulkWish,
    cut: &Unheard,
) -> Result<LongPackets, LaunchError> {
    if wish == BulkWish::Datagrams || layout.hosts.len() == 1 {
        return Ok(LongPackets::Datagrams(None));
    }
    let Some((from, to)) = missing(layout, cut) else {
        return Ok(LongPackets::Tcp);
    };
    let why = format!("host {} has no TCP connection to host {}", from.name, to.name);
    if wish == BulkWish::Tcp {
        let advice = "let connections through between them, or take --bulk auto";
        return Err(LaunchError::Hosts(format!("bulk cannot go over TCP: {why}; {advice}")));
    }
    Ok(LongPackets::Datagrams(Some(why)))
}

/// Forwarding of multicasts, given the hosts whose greeting to all each has not heard.
fn copies(layout: &RankLayout, tried: bool, unheard: &Unheard) -> Copies {
    if !tried {
        return Copies::Ranks(None);
    }
    match missing(layout, unheard) {
        None => Copies::Network,
        Some((to, from)) => Copies::Ranks(Some(format!(
            "host {} hears nothing that host {} sends to all",
            to.name, from.name
        ))),
    }
}

/// The first host that has missed another, and that other.
fn missing<'a>(
    layout: &'a RankLayout,
    missed: &[Vec<u16>],
) -> Option<(&'a HostLayout, &'a HostLayout)> {
    missed
        .iter()
        .zip(&layout.hosts)
        .find_map(|(missed, host)| Some((host, layout.hosts.get(usize::from(*missed.first()?))?)))
}

/// Answer that `pick` finds in the next message of an agent, if that was received.
fn answer<T>(
    host: &mut Host,
    pick: impl Fn(FromAgent) -> Option<T>,
) -> Result<Option<T>, LaunchError> {
    match host.messages.pop_front() {
        None => Ok(None),
        Some(FromAgent::Refused(why)) => Err(LaunchError::host(&host.name, why)),
        Some(message) => pick(message).map(Some).ok_or_else(|| {
            LaunchError::host(&host.name, unusable(&BadMessage::Range("order"), false))
        }),
    }
}
