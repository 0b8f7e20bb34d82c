//! Ethernet interfaces of the hosts, for ranks that a process manager started.
//!
//! The first rank of each host, its holder, takes the interface for all of them. Three times the
//! holders say through the store how far they are ([`Record`]), and all ranks draw the same
//! conclusion: the interfaces are taken; the hosts have greeted each other, by the same greetings
//! as those of `weft run --hosts`; each rank has a port. If one of that fails the job goes by UDP,
//! or does not go if `WEFT_LINK` asks for xdp.
//!
//! Then a holder hands ports to the others of its host, with copies of what keeps the interface: it
//! is given back when the last of them has ended, however they end.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use crate::pmi::PmiClient;
use weft_wire::Rank;
use weft_xdp::{MacAddress, XdpPort};

use super::environment::by_environment;
use super::error::{LIMIT, ManagedError, MeetError};
use super::facts::Facts;
use super::holders::{Greetings, holders, round};
use super::meet::{Peer, ToPeer};
use super::record::Record;
use crate::error::LaunchError;
use crate::hosts::addresses::interface_of;
use crate::hosts::ethernet::{Attachment, Purpose};
use crate::hosts::pace::COPIED_FROM;
use crate::messages::hosts::FarLink;
use crate::messages::{BadMessage, EthernetAccess, HOSTS_MAX, JobNetwork, Message as _};

/// State of an attempt, which all ranks know.
pub(super) struct Attempt<'a> {
    pub own: Rank,
    pub facts: &'a [Facts],
    pub network: &'a JobNetwork,
    pub far: FarLink,
}

/// That the ranks of other hosts are reached over Ethernet, and this rank's part in it.
pub(super) struct Agreed {
    pub interfaces: Vec<MacAddress>,
    /// True if the network copies multicasts.
    pub copied: bool,
    /// Ports of the ranks of this host, by rank, if this one is to hand them out.
    ports: Option<Ports>,
}

/// Ports that a holder has for the ranks of its host.
struct Ports {
    of_ranks: Vec<(EthernetAccess, [OwnedFd; 2])>,
    keepers: Vec<OwnedFd>,
}

/// A rank's way to those of other hosts.
pub(super) struct Way {
    pub ethernet: EthernetAccess,
    pub port: XdpPort,
    /// Descriptors that keep the interface for the job as long as a rank of this host has them.
    pub keepers: Vec<OwnedFd>,
}

/// Finds out together with all other ranks whether they can reach those of other hosts over
/// Ethernet. `None` if they go by UDP.
///
/// Blocks until all are as far. The process manager ends ranks that wait for one that failed.
pub(super) fn agree(
    attempt: &Attempt<'_>,
    exchange: &mut dyn PmiClient,
) -> Result<Option<Agreed>, ManagedError> {
    let agreed = match attempt.run(exchange) {
        Ok(agreed) => Ok(agreed),
        Err(Obstacle::Known(why)) => Err(why),
        Err(Obstacle::Failed(error)) => return Err(error),
    };
    // From here on ranks may end; see `join`.
    exchange.fence()?;
    match agreed {
        Ok(agreed) => Ok(Some(agreed)),
        Err(why) if attempt.far == FarLink::Xdp => Err(MeetError::NoXdp(why).into()),
        Err(why) => {
            if attempt.own == Rank(0) {
                // Without a standard error there is nobody to tell.
                let _ = writeln!(io::stderr(), "weft: udp between hosts, not xdp: {why}");
            }
            Ok(None)
        }
    }
}

/// Reason why the ranks do not go over Ethernet.
#[derive(Debug)]
enum Obstacle {
    /// All know it, and may go by UDP.
    Known(String),
    /// This rank cannot go on.
    Failed(ManagedError),
}

impl<E: Into<ManagedError>> From<E> for Obstacle {
    fn from(error: E) -> Self {
        Obstacle::Failed(error.into())
    }
}

impl Agreed {
    /// Hands ports to the `peers` of this host, or takes this rank's from the first of them.
    pub fn share(self, peers: &[Peer]) -> Result<Way, MeetError> {
        let Some(ports) = self.ports else { return take(peers, self.interfaces.len()) };
        let Ports { of_ranks, keepers } = ports;
        // In the order of ranks, as peers are; the first is this rank's own.
        let mut of_ranks = of_ranks.into_iter();
        let (ethernet, port) = of_ranks.next().ok_or(BadMessage::Range("number of ports"))?;
        for (peer, (ethernet, port)) in peers.iter().zip(of_ranks) {
            let all: Vec<_> = port.iter().chain(&keepers).map(AsFd::as_fd).collect();
            peer.send(&ToPeer::Port(ethernet), &all)?;
        }
        let port = XdpPort::from_parts(ethernet.port, port);
        Ok(Way { ethernet, port, keepers })
    }
}

/// This rank's way, from the holder.
fn take(peers: &[Peer], hosts: usize) -> Result<Way, MeetError> {
    let holder = peers.first().ok_or(BadMessage::Range("number of ranks here"))?;
    let received = holder.receive(Instant::now() + LIMIT)?;
    let ToPeer::Port(ethernet) = ToPeer::parse(&received.bytes)? else {
        return Err(BadMessage::Range("order").into());
    };
    if ethernet.interfaces.len() != hosts {
        return Err(BadMessage::Range("number of interfaces").into());
    }
    let got = received.descriptors.len();
    let mut descriptors = received.descriptors.into_iter();
    let (Some(socket), Some(memory), true) = (descriptors.next(), descriptors.next(), got > 2)
    else {
        return Err(BadMessage::Descriptors { got, needed: 3 }.into());
    };
    let port = XdpPort::from_parts(ethernet.port, [socket, memory]);
    Ok(Way { ethernet, port, keepers: descriptors.collect() })
}

impl Attempt<'_> {
    fn run(&self, exchange: &mut dyn PmiClient) -> Result<Agreed, Obstacle> {
        if usize::from(self.network.host_count()) > HOSTS_MAX {
            return Err(Obstacle::Known(format!("a job over it has {HOSTS_MAX} hosts at most")));
        }
        let holders = holders(&self.network.hosts);
        let holds = holders.contains(&self.own);
        let (mut attachment, record) = if holds { self.attach() } else { (None, Record::Ready) };
        let all = round(exchange, "station", holds.then_some(&record), &holders)?;
        let (names, interfaces) = self.interfaces(&holders, all)?;
        let all = match &mut attachment {
            Some(attachment) => greet(attachment, &interfaces, exchange, &holders)?,
            None => round(exchange, "met", None, &holders)?,
        };
        let copied = self.met(&holders, &names, all)?;
        let (ports, record) = match &mut attachment {
            Some(attachment) => open(attachment, &interfaces, copied),
            None => (None, Record::Ready),
        };
        let all = round(exchange, "ready", holds.then_some(&record), &holders)?;
        for (host, record) in (0..).zip(all) {
            match record {
                Record::Ready => {}
                record => return Err(self.other(&holders, host, record)),
            }
        }
        Ok(Agreed { interfaces, copied, ports })
    }

    /// Takes the interface of this host.
    fn attach(&self) -> (Option<Attachment>, Record) {
        let address = self.network.addresses[self.own.index()].ip();
        let interface = match interface_of(address) {
            Ok(Some(candidate)) => candidate.interface,
            Ok(None) => return (None, Record::Without(format!("no interface has {address}"))),
            Err(error) => return (None, Record::Without(error.to_string())),
        };
        let purpose = Purpose {
            interface: interface.clone(),
            far: self.far,
            mtu: self.network.mtu,
            host: self.network.hosts[self.own.index()],
            here: self.network.ranks_beside(self.own).collect(),
            ranks: self.network.ranks(),
            job: self.network.job,
            secret: self.network.secret.clone(),
            copied: self.asks_for_copies(),
        };
        match Attachment::take(purpose) {
            Ok(attachment) => {
                let address = attachment.address();
                (Some(attachment), Record::Taken { interface, address })
            }
            Err(error) => (None, Record::Without(error.to_string())),
        }
    }

    /// True if the network is to copy multicasts: what is encrypted is for one rank.
    fn asks_for_copies(&self) -> bool {
        let hosts = usize::from(self.network.host_count());
        hosts >= COPIED_FROM && !self.network.protection.encrypts()
    }

    /// The names and the addresses of all interfaces, if all are taken.
    fn interfaces(
        &self,
        holders: &[Rank],
        records: Vec<Record>,
    ) -> Result<(Vec<String>, Vec<MacAddress>), Obstacle> {
        let mut interfaces = (Vec::new(), Vec::new());
        for (host, record) in (0..).zip(records) {
            match record {
                Record::Taken { interface, address } => {
                    interfaces.0.push(interface);
                    interfaces.1.push(address);
                }
                record => return Err(self.other(holders, host, record)),
            }
        }
        Ok(interfaces)
    }

    /// True if the network copies multicasts; an error unless each host has met all others.
    fn met(
        &self,
        holders: &[Rank],
        names: &[String],
        records: Vec<Record>,
    ) -> Result<bool, Obstacle> {
        let mut copied = self.asks_for_copies();
        for (host, record) in (0..).zip(records) {
            let (missed, uncopied) = match record {
                Record::Met { missed, uncopied } => (missed, uncopied),
                record => return Err(self.other(holders, host, record)),
            };
            copied &= uncopied.is_empty();
            let Some(&other) = missed.first() else { continue };
            if usize::from(other) >= holders.len() {
                return Err(MeetError::from(BadMessage::Range("host")).into());
            }
            let name = |host: u16| names[usize::from(host)].clone();
            let error = LaunchError::NoEthernet {
                from: self.node(holders, host),
                from_interface: name(host),
                to: self.node(holders, other),
                to_interface: name(other),
                mtu: self.network.mtu,
            };
            return Err(Obstacle::Known(by_environment(&error.to_string())));
        }
        Ok(copied)
    }

    /// Obstacle that follows from a holder's answer other than the expected one.
    fn other(&self, holders: &[Rank], host: u16, record: Record) -> Obstacle {
        match record {
            Record::Without(why) => {
                let node = self.node(holders, host);
                Obstacle::Known(format!("host {node}: {}", by_environment(&why)))
            }
            _ => MeetError::from(BadMessage::Range("order")).into(),
        }
    }

    fn node(&self, holders: &[Rank], host: u16) -> String {
        self.facts[holders[usize::from(host)].index()].node.clone()
    }
}

/// Greets the other hosts, and says which it has met; answers them until all have said that.
fn greet(
    attachment: &mut Attachment,
    interfaces: &[MacAddress],
    exchange: &mut dyn PmiClient,
    holders: &[Rank],
) -> Result<Vec<Record>, ManagedError> {
    const KEY: &str = "met";
    let met = attachment.greet(interfaces.to_vec()).and_then(Greetings::begin);
    let greetings = match met {
        Ok(greetings) => greetings,
        Err(error) => {
            return round(exchange, KEY, Some(&Record::Without(error.to_string())), holders);
        }
    };
    let (missed, uncopied) = (greetings.probe().missed(), greetings.probe().uncopied());
    let record = Record::Met { missed: missed.collect(), uncopied: uncopied.collect() };
    greetings.answer_during(|| round(exchange, KEY, Some(&record), holders))
}

/// A port for each rank of this host.
fn open(
    attachment: &mut Attachment,
    interfaces: &[MacAddress],
    copied: bool,
) -> (Option<Ports>, Record) {
    let of_ranks = attachment.open(interfaces, copied);
    match attachment.keepers() {
        Ok(keepers) => (Some(Ports { of_ranks, keepers }), Record::Ready),
        Err(error) => (None, Record::Without(error.to_string())),
    }
}

#[cfg(test)]
mod tests;
