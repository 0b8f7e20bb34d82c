//! Facts that a rank must know to reach ranks on other hosts.

use std::io;
use std::net::SocketAddr;

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use weft_datagram::seal::{Protection, Secret};
use weft_wire::Rank;
use weft_xdp::{MacAddress, PortPlan};
use zeroize::Zeroizing;

use super::bounds::{HOSTS_MAX, RANKS_MAX};
use super::checks::{at_most, check_protection, ensure};
use super::format::BadMessage;
use super::parts;
use crate::mtu::Mtu;

/// The number and the secret of a new job, from the system's randomness.
pub(crate) fn draw_job() -> io::Result<(u32, Secret)> {
    let (mut job, mut secret) = ([0; 4], Zeroizing::new([0; 16]));
    for bytes in [&mut job[..], &mut secret[..]] {
        let filled = getrandom(&mut *bytes, GetRandomFlags::empty())?;
        // Up to 256 bytes the kernel fills at once.
        assert_eq!(filled, bytes.len(), "getrandom fills what is short");
    }
    Ok((u32::from_le_bytes(job), Secret::new(*secret)))
}

/// Network between the ranks of a job that share no memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobNetwork {
    /// The job's number, public and most likely like no other's.
    pub job: u32,
    /// Secret of the job's members; passed on over descriptors only.
    #[serde(with = "parts::secret")]
    pub secret: Secret,
    /// Protection of packets.
    pub protection: Protection,
    /// Longest packets.
    pub mtu: Mtu,
    /// Address of each rank's socket, by rank.
    pub addresses: Vec<SocketAddr>,
    /// The host of each rank, by rank: a number from 0.
    pub hosts: Vec<u16>,
    /// Ethernet to ranks of other hosts, if they are reached without IP; otherwise it is by UDP.
    pub ethernet: Option<EthernetAccess>,
    /// True if the network copies multicasts: the sockets of all ranks have joined the job's group
    /// ([`weft_udp::group_of`]), or the interfaces of all hosts have ([`weft_xdp::group_of`]).
    pub copied: bool,
    /// True if each rank listens for TCP connections at its address too, over which long packets go
    /// (`weft-bulk`).
    pub bulk: bool,
}

/// Means by which a rank reaches those of other hosts over AF_XDP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthernetAccess {
    /// The address of each host's interface, by host.
    pub interfaces: Vec<MacAddress>,
    /// Port of this rank, without its descriptors.
    pub port: PortPlan,
}

impl EthernetAccess {
    pub(crate) fn check(&self) -> Result<(), BadMessage> {
        at_most(&self.interfaces, HOSTS_MAX)?;
        ensure(self.port.is_sound(), "port")
    }
}

impl JobNetwork {
    /// The ranks of the job.
    pub fn ranks(&self) -> u16 {
        self.hosts.len() as u16
    }

    /// Number of hosts that the job spans.
    pub fn host_count(&self) -> u16 {
        self.hosts.iter().max().map_or(0, |last| last + 1)
    }

    /// Number of ranks of the host that has most of them.
    pub(crate) fn most_ranks_of_a_host(&self) -> u16 {
        let mut ranks = vec![0; self.host_count().into()];
        self.hosts.iter().for_each(|host| ranks[usize::from(*host)] += 1);
        ranks.into_iter().max().unwrap_or_default()
    }

    /// The ranks on the host of `rank`, itself included: those that share memory, in their order
    /// there.
    pub fn ranks_beside(&self, rank: Rank) -> impl Iterator<Item = Rank> + '_ {
        let host = self.hosts.get(rank.index()).copied();
        let ranks = (0..).map(Rank).zip(&self.hosts);
        ranks.filter(move |(_, other)| Some(**other) == host).map(|(rank, _)| rank)
    }

    /// Number of its descriptors: a socket for UDP, or a port's two; and one that listens, if any.
    pub(super) fn descriptors(&self) -> usize {
        let ways = if self.ethernet.is_some() { 2 } else { 1 };
        ways + usize::from(self.bulk)
    }

    pub(super) fn check(&self) -> Result<(), BadMessage> {
        at_most(&self.hosts, RANKS_MAX.into())?;
        ensure(self.addresses.len() == self.hosts.len(), "number of addresses")?;
        ensure(self.hosts.iter().all(|host| *host < RANKS_MAX), "host")?;
        check_protection(self.protection)?;
        let Some(ethernet) = &self.ethernet else { return Ok(()) };
        ethernet.check()?;
        ensure(ethernet.interfaces.len() == usize::from(self.host_count()), "number of interfaces")
    }
}
