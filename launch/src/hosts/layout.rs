//! Description and layout of a job on several hosts.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use weft_xdp::Mode;

use super::list::HostWish;
use super::tree::FAN_OUT;
use crate::messages::hosts::{Candidate, FarLink, RemoteShell};
use crate::mtu::Mtu;
use weft_datagram::seal::Protection;
use weft_wire::Rank;

/// The hosts of a job, and how to get there.
#[derive(Clone, Debug)]
pub struct HostsSpec {
    /// The hosts.
    pub hosts: Vec<HostWish>,
    /// The ranks in all; `None` for what the hosts say: their number, or a rank per core.
    pub ranks: Option<u16>,
    /// The ranks that the job may have, with those that come later; `None` for no more than it
    /// begins with.
    pub room: Option<u16>,
    /// The remote shell.
    pub remote_shell: RemoteShell,
    /// The `weft` to run on the other hosts; `None` for the path of this executable.
    pub remote_weft: Option<OsString>,
    /// By which links hosts may reach one another.
    pub far: FarLink,
    /// Forwarding of multicasts, as wished.
    pub multicast: Multicast,
    /// The interface, or an address in the network, by which hosts are to reach one another.
    pub interface: Option<String>,
    /// Longest time that a host has to answer at each step of the start.
    pub patience: Duration,
    /// Connections that the launcher and each agent have at most: with more hosts, agents start
    /// those of others.
    pub fan_out: u16,
}

impl HostsSpec {
    /// These hosts, in which everything else is as usual.
    pub fn new(hosts: Vec<HostWish>) -> Self {
        HostsSpec {
            hosts,
            ranks: None,
            room: None,
            remote_shell: RemoteShell::default(),
            remote_weft: None,
            far: FarLink::default(),
            multicast: Multicast::default(),
            interface: None,
            patience: Duration::from_secs(30),
            fan_out: FAN_OUT,
        }
    }
}

/// Layout of the ranks of a job.
#[derive(Clone, Debug)]
pub struct RankLayout {
    /// The hosts in the order of their ranks.
    pub hosts: Vec<HostLayout>,
    /// Network between them.
    pub between: Between,
    /// Forwarding of multicasts between them.
    pub copies: Copies,
    /// Way of long packets between them.
    pub bulk: LongPackets,
    /// Longest packets between them.
    pub mtu: Mtu,
    /// Protection of these packets.
    pub protection: Protection,
}

/// Forwarding of packets for ranks of several hosts, as wished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multicast {
    /// The network, if it does that between all hosts; else ranks.
    #[default]
    Auto,
    /// Ranks, along trees.
    Tree,
    /// The network.
    Ethernet,
}

/// Forwarding of packets for ranks of several hosts, as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Ranks do, along trees: because of this, or because nobody would gain anything else, or wants
    /// it.
    Ranks(Option<String>),
    /// The network does.
    Network,
}

/// Way of long packets between hosts, as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LongPackets {
    /// Datagrams, as all packets: because of this, or because nobody wants anything else.
    Datagrams(Option<String>),
    /// A TCP connection for each pair of ranks that has any.
    Tcp,
}

/// Network between the hosts of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// There is one host.
    Nothing,
    /// Over UDP: because of this, or because it was asked for.
    Udp(Option<String>),
    /// Over AF_XDP: how the interface of each host is used, by host.
    Xdp(Vec<Mode>),
}

/// A host of a job.
#[derive(Clone, Debug)]
pub struct HostLayout {
    /// Its name in the list of hosts.
    pub name: String,
    /// Its first rank.
    pub first: u16,
    /// Number of ranks that the job begins with here.
    pub ranks: u16,
    /// Ranks that are started here if the program asks for more. Hosts have them in turn.
    pub vacant: Vec<Rank>,
    /// Its cores.
    pub cores: u16,
    /// The interface by which it reaches the others.
    pub interface: String,
    /// Its address there.
    pub address: IpAddr,
}

impl RankLayout {
    /// The ranks that the job begins with.
    pub fn ranks(&self) -> u16 {
        self.hosts.iter().map(|host| host.ranks).sum()
    }

    /// The ranks that the job may have.
    pub fn room(&self) -> u16 {
        self.hosts.iter().map(HostLayout::room).sum()
    }

    pub(super) fn new(
        hosts: &[HostWish],
        (counts, room): (&[u16], u16),
        cores: &[u16],
        chosen: Vec<Candidate>,
        mtu: Mtu,
        protection: Protection,
    ) -> Self {
        let (mut first, founders) = (0, counts.iter().sum::<u16>());
        let mut laid_out: Vec<HostLayout> = Vec::new();
        for (((host, &ranks), &cores), candidate) in hosts.iter().zip(counts).zip(cores).zip(chosen)
        {
            let Candidate { interface, address, .. } = candidate;
            laid_out.push(HostLayout {
                name: host.name.clone(),
                first,
                ranks,
                vacant: Vec::new(),
                cores,
                interface,
                address,
            });
            first += ranks;
        }
        for rank in founders..room {
            let host = usize::from(rank - founders) % laid_out.len();
            laid_out[host].vacant.push(Rank(rank));
        }
        RankLayout {
            hosts: laid_out,
            between: Between::Nothing,
            copies: Copies::Ranks(None),
            bulk: LongPackets::Datagrams(None),
            mtu,
            protection,
        }
    }

    /// The number of each rank's host and its address, given the addresses by host.
    pub(super) fn by_rank(&self, addresses: Vec<Vec<SocketAddr>>) -> Vec<(u16, SocketAddr)> {
        let of_hosts = (0..).zip(&self.hosts).zip(addresses);
        let mut all: Vec<_> = of_hosts
            .flat_map(|((number, host), of_host)| {
                host.all().zip(of_host).map(move |(rank, address)| (rank, number, address))
            })
            .collect();
        all.sort_by_key(|(rank, ..)| *rank);
        all.into_iter().map(|(_, number, address)| (number, address)).collect()
    }
}

impl HostLayout {
    /// Number of ranks that may be here.
    pub fn room(&self) -> u16 {
        self.ranks + self.vacant.len() as u16
    }

    /// The ranks here in their order, with those that may come later.
    pub(super) fn all(&self) -> impl Iterator<Item = Rank> {
        (self.first..self.first + self.ranks).map(Rank).chain(self.vacant.iter().copied())
    }
}
