//! Connections to the agents that this process has started: those of the launcher, or of an agent
//! with others below it. Each leads to one host and to all behind that.
//!
//! Nothing here blocks but the end: messages [arrive](Arrival) in the order in which they
//! were sent, what is sent waits for room, and a connection that ends or is silent is lost with all
//! hosts behind it that have not finished.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::remote::{Means, Shell};
use super::stream::Stream;
use super::tree::{LAUNCHER, branches};
use crate::hosts::liveness::{CHECK_INTERVAL, FLUSH_LIMIT, HEARTBEAT, LAUNCHER_SILENCE};
use crate::messages::hosts::{Below, FromAgent, Subtree, ToAgent};
use crate::messages::{BadMessage, HOST_MESSAGE_BYTES_MAX, Message as _, open};
use crate::this_host;
use crate::wait::Waited;

/// Longest time that the remote shells of a launcher have to end once their agents have been let
/// go, all together.
pub(crate) const END_LIMIT: Duration = Duration::from_secs(2);
/// Longest time that a remote shell whose connection has ended has to say why.
const EXPLAIN_LIMIT: Duration = Duration::from_millis(300);
/// Messages for each host that may wait for room in its connection.
const WAITING_MAX: usize = 2;

/// Message from below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Message of the agent of a host.
    Message(u16, Vec<u8>),
    /// These hosts are gone; why the first of them is, for a person.
    Lost(Vec<u16>, String),
}

/// Source of events, to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    From(usize),
    To(usize),
    Stderr(usize),
    Exit(usize),
}

/// Times that connections have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Silence after which one is lost, from when the ranks at its end have been started.
    pub silence: Duration,
    /// Longest time that remote shells have to end once their agents have been let go.
    pub end: Duration,
}

impl Limits {
    /// Time that those have whose hosts have finished.
    fn done(&self) -> Duration {
        self.end / 5
    }
}

/// Connection to an agent.
#[derive(Debug)]
struct Branch {
    /// Its host, then those behind it.
    hosts: Vec<u16>,
    /// Those that have neither finished nor been lost.
    open: BTreeSet<u16>,
    stream: Stream,
    /// `None` for an agent in this process.
    shell: Option<Shell>,
    /// True if its silence counts.
    is_watched: bool,
    silent: Duration,
    /// Time by which the remote shell is to have ended: to say why its connection has, or because
    /// all hosts have finished.
    end_by: Option<Duration>,
    is_gone: bool,
}

impl Branch {
    fn new(hosts: Vec<u16>, stream: Stream, shell: Option<Shell>) -> Self {
        Branch {
            open: hosts.iter().copied().collect(),
            hosts,
            stream,
            shell,
            is_watched: false,
            silent: Duration::ZERO,
            end_by: None,
            is_gone: false,
        }
    }

    /// True if messages pass.
    fn is_open(&self) -> bool {
        self.stream.readable().is_some()
    }

    /// Bytes that may wait for room.
    fn waiting_max(&self) -> usize {
        WAITING_MAX * HOST_MESSAGE_BYTES_MAX * self.hosts.len()
    }
}

/// All connections to agents below.
#[derive(Debug)]
pub(crate) struct Branches {
    /// Host of this process, in whose own agent it is; or the launcher.
    root: u16,
    all: Vec<Branch>,
    /// Connection that leads to each host.
    branch_of: BTreeMap<u16, usize>,
    arrivals: VecDeque<Arrival>,
    limits: Limits,
    ticked_at: Duration,
    heartbeat_at: Duration,
}

impl Branches {
    /// None yet.
    pub fn new(root: u16, limits: Limits) -> Self {
        Branches {
            root,
            all: Vec::new(),
            branch_of: BTreeMap::new(),
            arrivals: VecDeque::new(),
            limits,
            ticked_at: Duration::ZERO,
            heartbeat_at: Duration::ZERO,
        }
    }

    /// Starts the agents of the hosts that are directly below, and has them start those behind
    /// them. Hosts whose agent cannot be started are lost.
    pub fn start(&mut self, hosts: &[Below], means: &Means) {
        for branch in branches(self.root, hosts) {
            let (head, behind) = branch.split_first().expect("a branch has a host");
            let numbers = branch.iter().map(|below| below.host).collect();
            match Shell::start(&head.name, means) {
                Ok((shell, stream)) => {
                    self.add(Branch::new(numbers, stream, Some(shell)));
                    if !behind.is_empty() || self.root != LAUNCHER {
                        let subtree = self.subtree(head.host, behind.to_vec(), means);
                        self.send(head.host, &ToAgent::Subtree(Box::new(subtree)));
                    }
                }
                Err(why) => {
                    self.arrivals.push_back(Arrival::Lost(numbers, self.seen_from_here(why)))
                }
            }
        }
    }

    /// Facts that an agent with hosts behind it has to know.
    fn subtree(&self, host: u16, hosts: Vec<Below>, means: &Means) -> Subtree {
        let Limits { silence, end } = self.limits;
        // A launcher may be stopped by hand, and says so to nobody that SIGSTOP was sent to.
        let silence_above = if self.root == LAUNCHER { LAUNCHER_SILENCE } else { silence };
        let (shell, weft) = (means.shell.clone(), means.weft.clone());
        let (silence_below, end_limit) = (silence, end / 2);
        Subtree { host, hosts, shell, weft, silence_above, silence_below, end_limit }
    }

    /// Adds the agent of a host that is in this process.
    pub fn add_own(&mut self, host: u16, stream: Stream) {
        self.add(Branch::new(vec![host], stream, None));
    }

    fn add(&mut self, branch: Branch) {
        let number = self.all.len();
        self.branch_of.extend(branch.hosts.iter().map(|host| (*host, number)));
        self.all.push(branch);
    }

    /// Sends the agent of a host a message.
    pub fn send(&mut self, host: u16, message: &ToAgent) {
        self.pass_on(host, &message.emit());
    }

    /// Sends all agents a message.
    pub fn send_all(&mut self, message: &ToAgent) {
        self.pass_on_to_all(&message.emit());
    }

    /// Sends the agent of a host a message; if it is none of those below, nobody.
    pub fn pass_on(&mut self, host: u16, message: &[u8]) {
        let Some(&number) = self.branch_of.get(&host) else { return };
        let branch = &mut self.all[number];
        match branch.hosts.first() == Some(&host) {
            true => branch.stream.send(message),
            false => branch.stream.send(&ToAgent::For(host, message.to_vec()).emit()),
        }
        self.check_room(number);
    }

    /// Sends all agents a message.
    pub fn pass_on_to_all(&mut self, message: &[u8]) {
        let enclosed = ToAgent::ForAll(message.to_vec()).emit();
        for number in 0..self.all.len() {
            let branch = &mut self.all[number];
            branch.stream.send(if branch.hosts.len() == 1 { message } else { &enclosed });
            self.check_room(number);
        }
    }

    /// Sends those at the ends of connections a message and waits until it has left, for a moment.
    /// Those who do not take it find this process silent, which they bear for a while.
    pub fn send_and_flush(&mut self, message: &ToAgent) {
        for branch in &mut self.all {
            branch.stream.send(&message.emit());
            let _ = branch.stream.flush(FLUSH_LIMIT);
        }
    }

    fn check_room(&mut self, number: usize) {
        let branch = &self.all[number];
        if branch.stream.queued_bytes() > branch.waiting_max() {
            self.lose(number, "it does not take what it is sent".into());
        }
    }

    /// Sources of events; `receives` says whether messages are taken in now.
    pub fn sources(&self, receives: bool) -> impl Iterator<Item = Waited<'_, Source>> {
        use PollFlags as For;
        let open = self.all.iter().enumerate().filter(|(_, branch)| !branch.is_gone);
        open.flat_map(move |(number, branch)| {
            let shell = branch.shell.as_ref();
            let from = branch.stream.readable().filter(|_| receives);
            let to = branch.stream.writable();
            let stderr = shell.and_then(Shell::stderr);
            let exit = shell.filter(|_| branch.end_by.is_some()).map(Shell::exit);
            let waited = |source, fd, flags| Option::map(fd, |fd| (source, AsFd::as_fd(fd), flags));
            [
                waited(Source::From(number), from, For::IN),
                waited(Source::To(number), to, For::OUT),
                waited(Source::Stderr(number), stderr, For::IN),
                waited(Source::Exit(number), exit, For::IN),
            ]
            .into_iter()
            .flatten()
        })
    }

    /// Attends to a source that is ready.
    pub fn attend(&mut self, source: Source, now: Duration) {
        match source {
            Source::From(number) => self.receive(number, now),
            Source::To(number) => self.all[number].stream.write_some(),
            Source::Stderr(number) => {
                self.all[number].shell.iter_mut().for_each(Shell::read_stderr);
            }
            Source::Exit(number) => self.end(number),
        }
    }

    /// Takes in what has arrived at all connections.
    pub fn receive_all(&mut self, now: Duration) {
        (0..self.all.len()).for_each(|number| self.receive(number, now));
    }

    /// The next message from below.
    pub fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    /// True if nothing more will arrive.
    pub fn are_done(&self) -> bool {
        self.arrivals.is_empty() && self.all.iter().all(|branch| branch.is_gone)
    }

    /// From time to time: sends heartbeats, and gives up connections that have been silent for
    /// long; `receives` says whether messages are taken in now. To be called every
    /// [`CHECK_INTERVAL`] at least.
    pub fn tick(&mut self, now: Duration, receives: bool) {
        let elapsed = now.saturating_sub(self.ticked_at);
        if elapsed < CHECK_INTERVAL {
            return;
        }
        self.ticked_at = now;
        let beats = now.saturating_sub(self.heartbeat_at) >= HEARTBEAT;
        if beats {
            self.heartbeat_at = now;
        }
        for number in 0..self.all.len() {
            let branch = &mut self.all[number];
            if branch.is_gone && branch.shell.as_ref().is_some_and(Shell::has_ended) {
                branch.shell = None;
            }
            if beats && branch.is_open() && branch.stream.is_flushed() {
                branch.stream.send(&ToAgent::Heartbeat.emit());
            }
            if branch.end_by.is_some_and(|end_by| now >= end_by) && !branch.is_gone {
                branch.shell.iter().for_each(Shell::kill);
                self.end(number);
                continue;
            }
            if receives && branch.is_watched && branch.is_open() && !branch.open.is_empty() {
                // Unless this process itself was asleep: a machine that stood still must not take
                // its peers for dead.
                branch.silent += elapsed.min(HEARTBEAT);
                if branch.silent > self.limits.silence {
                    let seconds = self.limits.silence.as_secs_f64();
                    self.lose(number, format!("nothing has been heard of it for {seconds} s"));
                }
            }
        }
    }

    /// Has messages of a host mean nothing any more, because of what it has said.
    pub fn refuse(&mut self, host: u16, why: String) {
        match self.branch_of.get(&host) {
            Some(&number) if self.all[number].hosts.first() == Some(&host) => {
                self.lose(number, why)
            }
            _ => self.arrivals.push_back(Arrival::Lost(vec![host], why)),
        }
    }

    fn receive(&mut self, number: usize, now: Duration) {
        let branch = &mut self.all[number];
        branch.silent = Duration::ZERO;
        let mut read = branch.stream.read_some();
        while read.is_ok()
            && let Some(message) = self.all[number].stream.take()
        {
            read = self.sort(number, message, now);
        }
        if let Err(bad) = read {
            let why = unusable(&bad, self.all[number].is_watched);
            return self.lose(number, why);
        }
        let branch = &mut self.all[number];
        if branch.is_open() || branch.is_gone {
            return;
        }
        branch.stream.close();
        match &branch.shell {
            None => self.end(number),
            Some(_) => {
                let limit = if branch.open.is_empty() { self.limits.done() } else { EXPLAIN_LIMIT };
                branch.end_by.get_or_insert(now + limit);
            }
        }
    }

    /// Takes in a message at a connection: of its host, of one behind it, or of the way there.
    fn sort(&mut self, number: usize, bytes: Vec<u8>, now: Duration) -> Result<(), BadMessage> {
        // What is no message of an agent's though it begins as one is the launcher's to refuse.
        open(&bytes, HOST_MESSAGE_BYTES_MAX)?;
        let is_last = |message| matches!(message, Ok(FromAgent::Finished(_)));
        let branch = &mut self.all[number];
        let is_behind = |host: &u16| branch.hosts[1..].contains(host);
        match FromAgent::parse(&bytes) {
            Ok(FromAgent::Heartbeat) => return Ok(()),
            Ok(FromAgent::From(host, _)) if !is_behind(&host) => {
                return Err(BadMessage::Range("host"));
            }
            Ok(FromAgent::From(host, message)) => {
                if is_last(FromAgent::parse(&message)) {
                    branch.open.remove(&host);
                }
                self.arrivals.push_back(Arrival::Message(host, message));
            }
            Ok(FromAgent::Lost(hosts, why)) => {
                if hosts.is_empty() || !hosts.iter().all(|host| branch.hosts.contains(host)) {
                    return Err(BadMessage::Range("host"));
                }
                branch.open.retain(|host| !hosts.contains(host));
                self.arrivals.push_back(Arrival::Lost(hosts, why));
            }
            own => {
                branch.is_watched |= matches!(own, Ok(FromAgent::Started(_)));
                let head = branch.hosts[0];
                if is_last(own) {
                    branch.open.remove(&head);
                }
                self.arrivals.push_back(Arrival::Message(head, bytes));
            }
        }
        if self.all[number].open.is_empty() {
            self.all[number].end_by.get_or_insert(now + self.limits.done());
        }
        Ok(())
    }

    /// A remote shell has ended, or an agent of this process.
    fn end(&mut self, number: usize) {
        let branch = &mut self.all[number];
        if branch.open.is_empty() {
            branch.is_gone = true;
            return branch.stream.close();
        }
        let why = match &mut branch.shell {
            Some(shell) => shell.explain(),
            None => "its agent has ended".into(),
        };
        self.lose(number, why);
    }

    /// All hosts behind a connection that have not finished are gone.
    fn lose(&mut self, number: usize, why: String) {
        let branch = &mut self.all[number];
        branch.stream.close();
        if branch.is_gone {
            return;
        }
        branch.is_gone = true;
        branch.shell.iter().for_each(Shell::kill);
        let open = std::mem::take(&mut branch.open);
        let lost: Vec<u16> = branch.hosts.iter().copied().filter(|h| open.contains(h)).collect();
        let why = match (branch.is_watched, lost.len()) {
            (false, _) => self.seen_from_here(why),
            (true, 0 | 1) => why,
            (true, 2) => format!("{why} (and one host behind it)"),
            (true, count) => format!("{why} (and {} hosts behind it)", count - 1),
        };
        if !lost.is_empty() {
            self.arrivals.push_back(Arrival::Lost(lost, why));
        }
    }

    /// Reason why an agent was not started, with the host that was to start it unless that is where
    /// the user is.
    fn seen_from_here(&self, why: String) -> String {
        if self.root == LAUNCHER {
            return why;
        }
        let here = this_host::name();
        format!(
            "{why} (seen from {here}, which was to start it; --fan-out 256 has all started from where you are)"
        )
    }
}

impl Drop for Branches {
    /// All are let go at once, so that they have one deadline.
    fn drop(&mut self) {
        let now = Instant::now();
        for branch in &mut self.all {
            branch.stream.close();
            let limit = if branch.open.is_empty() { self.limits.done() } else { self.limits.end };
            let limit = if branch.is_gone { Duration::ZERO } else { limit };
            branch.shell.iter_mut().for_each(|shell| shell.is_to_end_by(now + limit));
        }
    }
}

/// Reason why a message is unusable, for a person. Before ranks are started it may not be an
/// agent's at all.
pub(crate) fn unusable(bad: &BadMessage, has_started: bool) -> String {
    match bad {
        BadMessage::Mark | BadMessage::Long if !has_started => {
            "what comes from there is not from weft: does a start-up file of its shell write something? \
             make it silent"
                .into()
        }
        BadMessage::Version { .. } => {
            format!("the weft there is of another release (--remote-weft names another): {bad}")
        }
        other => format!("its agent's message is unusable: {other}"),
    }
}

#[cfg(test)]
mod tests;
