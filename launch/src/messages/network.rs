//! Facts that a rank must know to reach ranks on other hosts.

use std::io;
use std::net::SocketAddr;

use rustix::rand::{GetRandomFlags, getrandom};
use weft_seal::{Protection, Secret};
use weft_wire::Rank;
use weft_xdp::{MacAddress, PortPlan};
use zeroize::Zeroizing;

use super::BadMessage;
use super::bytes::{Body, put_address, put_bytes, put_mtu, put_protection};
use super::hosts::HOSTS_MAX;
use crate::mtu::Mtu;

/// The most ranks of a job that spans hosts.
pub const RANKS_MAX: u16 = 1024;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The job's number, public and most likely like no other's.
    pub job: u32,
    /// Secret of the job's members; passed on over descriptors only.
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
    pub ethernet: Option<Ethernet>,
    /// True if the network copies multicasts: the sockets of all ranks have joined the job's group
    /// ([`weft_udp::group_of`]), or the interfaces of all hosts have ([`weft_xdp::group_of`]).
    pub copied: bool,
    /// True if each rank listens for TCP connections at its address too, over which long packets go
    /// (`weft-bulk`).
    pub bulk: bool,
}

/// Means by which a rank reaches those of other hosts over AF_XDP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ethernet {
    /// The address of each host's interface, by host.
    pub interfaces: Vec<MacAddress>,
    /// Port of this rank, without its descriptors.
    pub port: PortPlan,
}

impl Ethernet {
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        put_interfaces(bytes, &self.interfaces);
        let plan = postcard::to_allocvec(&self.port);
        put_bytes(bytes, &plan.expect("a plan is numbers, which can be written"));
    }

    pub(crate) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        let interfaces = take_interfaces(body)?;
        let port = postcard::from_bytes(body.bytes()?).ok();
        let port = port.filter(PortPlan::is_sound).ok_or(BadMessage::Range("port"))?;
        Ok(Ethernet { interfaces, port })
    }
}

pub(super) fn put_interfaces(bytes: &mut Vec<u8>, interfaces: &[MacAddress]) {
    bytes.extend((interfaces.len() as u16).to_le_bytes());
    interfaces.iter().for_each(|interface| bytes.extend(interface.0));
}

pub(super) fn take_interfaces(body: &mut Body<'_>) -> Result<Vec<MacAddress>, BadMessage> {
    body.list(HOSTS_MAX, |body| body.take().map(MacAddress))
}

impl Network {
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

    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.job.to_le_bytes());
        bytes.extend(self.secret.expose());
        put_protection(bytes, self.protection);
        put_mtu(bytes, self.mtu);
        bytes.extend(self.ranks().to_le_bytes());
        for (host, address) in self.hosts.iter().zip(&self.addresses) {
            bytes.extend(host.to_le_bytes());
            put_address(bytes, *address);
        }
        bytes.push(self.ethernet.is_some().into());
        if let Some(ethernet) = &self.ethernet {
            ethernet.put(bytes);
        }
        bytes.push(self.copied.into());
        bytes.push(self.bulk.into());
    }

    pub(super) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        let job = body.u32()?;
        let secret = Secret::new(body.take()?);
        let (protection, mtu) = (body.protection()?, body.mtu()?);
        let ranks = body.list(RANKS_MAX.into(), |body| Ok((body.u16()?, body.address()?)))?;
        let (hosts, addresses): (Vec<u16>, _) = ranks.into_iter().unzip();
        if hosts.iter().any(|&host| host >= RANKS_MAX) {
            return Err(BadMessage::Range("host"));
        }
        let ethernet = if body.flag()? { Some(Ethernet::take(body)?) } else { None };
        let (copied, bulk) = (body.flag()?, body.flag()?);
        let network =
            Network { job, secret, protection, mtu, addresses, hosts, ethernet, copied, bulk };
        let interfaces = network.ethernet.as_ref().map(|ethernet| ethernet.interfaces.len());
        if interfaces.is_some_and(|count| count != usize::from(network.host_count())) {
            return Err(BadMessage::Range("number of interfaces"));
        }
        Ok(network)
    }
}
