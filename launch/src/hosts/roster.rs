//! The hosts of a job, as the launcher knows them.

use std::collections::VecDeque;
use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use weft_wire::Rank;

use super::branches::{Arrival, Branches, END_LIMIT, Limits, unusable};
use super::layout::HostsSpec;
use super::remote::{Means, is_here};
use super::tree::{LAUNCHER, plan};
use super::window::unacknowledged_bytes_max;
use crate::messages::Message as _;
use crate::messages::hosts::{FromAgent, ToAgent};

/// Bytes of messages of an agent that may wait while the launcher listens to others: of output no
/// more than a window is under way, in messages of a byte each at worst.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A host of the job.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its name in the list of hosts.
    pub name: String,
    /// The ranks here in their order, those that may come later among them.
    pub ranks: Vec<Rank>,
    /// The processes of the first ones of them, which have been started.
    pub processes: Vec<u32>,
    /// Messages of its agent that have not been taken.
    pub messages: VecDeque<FromAgent>,
    /// Bytes of its messages since the last time that all was taken.
    waiting_bytes: usize,
    /// Bytes of output that have arrived and have not been acknowledged.
    pub owed_bytes: u32,
    /// True if its agent has been told that all its ranks have ended.
    pub is_finishing: bool,
    /// Processes that could not be ended, once the agent has said that it is done.
    pub finished: Option<Vec<u32>>,
    /// True if its end has been noticed.
    pub is_lost: bool,
}

impl Host {
    fn new(name: &str) -> Self {
        Host {
            name: name.into(),
            ranks: Vec::new(),
            processes: Vec::new(),
            messages: VecDeque::new(),
            waiting_bytes: 0,
            owed_bytes: 0,
            is_finishing: false,
            finished: None,
            is_lost: false,
        }
    }

    /// True if this rank is here.
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks.binary_search(&rank).is_ok()
    }

    /// The process of a rank here, if it has been started.
    pub fn process_of(&self, rank: Rank) -> Option<u32> {
        self.processes.get(self.ranks.binary_search(&rank).ok()?).copied()
    }

    /// Takes in that further ranks have these processes.
    ///
    /// # Errors
    /// They are more than there may be, for a person.
    pub fn add_processes(&mut self, processes: Vec<u32>) -> Result<(), String> {
        self.processes.extend(processes);
        match self.processes.len() <= self.ranks.len() {
            true => Ok(()),
            false => Err("it has started more ranks than it was told to".into()),
        }
    }

    /// Notes that `bytes` of output have come.
    ///
    /// # Errors
    /// It may not have sent as many yet, for a person.
    pub fn owe(&mut self, bytes: usize) -> Result<(), String> {
        let owed = self.owed_bytes as usize + bytes;
        if owed > unacknowledged_bytes_max(self.ranks.len() as u16, self.is_finishing) {
            return Err("it sends more output than there is room for".into());
        }
        self.owed_bytes = owed as u32;
        Ok(())
    }

    /// Has a message of so many bytes wait until it is taken.
    ///
    /// # Errors
    /// Too many wait, for a person.
    fn keep(&mut self, message: FromAgent, bytes: usize) -> Result<(), String> {
        let waiting = if self.messages.is_empty() { 0 } else { self.waiting_bytes };
        self.waiting_bytes = waiting + bytes;
        if self.waiting_bytes > WAITING_BYTES_MAX {
            return Err("its agent sends more than there is room for".into());
        }
        self.messages.push_back(message);
        Ok(())
    }
}

/// All hosts by their numbers, and the connections to their agents.
#[derive(Debug)]
pub(crate) struct Roster {
    all: Vec<Host>,
    pub branches: Branches,
    /// Hosts that are gone and of which nobody was told yet, and why the first of each is.
    pub lost: VecDeque<(Vec<u16>, String)>,
}

impl Deref for Roster {
    type Target = Vec<Host>;

    fn deref(&self) -> &Vec<Host> {
        &self.all
    }
}

impl DerefMut for Roster {
    fn deref_mut(&mut self) -> &mut Vec<Host> {
        &mut self.all
    }
}

impl Roster {
    /// Starts the agents of all hosts, which are given up after this silence.
    ///
    /// # Errors
    /// What the system says about this executable.
    pub fn start(spec: &HostsSpec, silence: Duration) -> io::Result<Self> {
        let named = |name: &String| (name.clone(), is_here(name));
        let names: Vec<_> = spec.hosts.iter().map(|host| named(&host.name)).collect();
        let names: Vec<_> = names.iter().map(|(name, here)| (name.as_str(), *here)).collect();
        let mut branches = Branches::new(LAUNCHER, Limits { silence, end: END_LIMIT });
        branches.start(&plan(&names, spec.fan_out), &Means::of_launcher(spec)?);
        let all = names.iter().map(|(name, _)| Host::new(name)).collect();
        Ok(Roster { all, branches, lost: VecDeque::new() })
    }

    /// Sends the agent of a host a message.
    pub fn send(&mut self, host: u16, message: &ToAgent) {
        self.branches.send(host, message);
    }

    /// Sends the agent of a rank's host a message.
    pub fn send_to_rank(&mut self, rank: Rank, message: &ToAgent) {
        if let Some(host) = self.host_of(rank) {
            self.branches.send(host, message);
        }
    }

    /// Hosts that have ranks, and are there.
    pub fn there(&self) -> impl Iterator<Item = u16> + Clone {
        let there = (0..).zip(&self.all).filter(|(_, it)| !it.is_lost && !it.is_finishing);
        there.map(|(host, _)| host)
    }

    /// Number of a rank's host.
    pub fn host_of(&self, rank: Rank) -> Option<u16> {
        self.all.iter().position(|host| host.has(rank)).map(|host| host as u16)
    }

    /// Takes in what has arrived: messages by host, and hosts that are gone.
    pub fn take_arrivals(&mut self) {
        while let Some(arrival) = self.branches.next_arrival() {
            match arrival {
                Arrival::Lost(hosts, why) => self.lost.push_back((hosts, why)),
                Arrival::Message(number, bytes) => {
                    let host = &mut self.all[usize::from(number)];
                    let kept = match FromAgent::parse(&bytes) {
                        Ok(message) => host.keep(message, bytes.len()),
                        Err(bad) => Err(unusable(&bad, !host.processes.is_empty())),
                    };
                    if let Err(why) = kept {
                        self.branches.refuse(number, why);
                    }
                }
            }
        }
    }
}
