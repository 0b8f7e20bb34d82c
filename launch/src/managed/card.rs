//! Card of a rank: what it tells others about itself. All others need the [facts](super::facts) on
//! it.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};
use weft_datagram::seal::Protection;

use super::environment;
use crate::access::{self, Bound};
use crate::hosts::candidates;
use crate::messages::parts::text;
use crate::messages::{BadMessage, Message, check_protection, draw_job, ensure};
use crate::mtu::Mtu;
use crate::refused::first_refused;
use crate::this_host;

/// Characters of the longest list of cores: a bit each.
const CORES_CHARS_MAX: usize = CpuSet::MAX_CPU / 4;

/// A rank's card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Card {
    /// Name of the host: the same for two processes if they can share memory over an abstract
    /// socket. It is made of the running kernel, its name, the namespaces of networks and
    /// processes.
    #[serde(with = "text")]
    pub host: String,
    /// The host's name, for people.
    #[serde(with = "text")]
    pub node: String,
    /// The process.
    pub process: u32,
    /// The abstract name of the socket on which it waits for its peers.
    #[serde(with = "text")]
    pub socket: String,
    /// The cores that it may use: a bit each, in hexadecimal digits, the lowest first.
    #[serde(with = "text")]
    pub cores: String,
    /// Address of its socket for datagrams, if other hosts can be reached.
    pub address: Option<SocketAddr>,
    /// Longest packets from there.
    pub mtu: Mtu,
    /// The link that its environment asks for; nothing if it leaves that open.
    #[serde(with = "text")]
    pub link: String,
    /// The protection that its environment asks for, if any.
    pub protection: Option<Protection>,
    /// The job's public number, if this is rank 0.
    pub job: u32,
    /// Key under which rank 0 hands it the job's secret (`secret`).
    pub public_key: [u8; 32],
    /// True if it listens for TCP connections at its address, too.
    pub listens: bool,
    /// Answer of the system to a call that it refuses to this process, and that every rank needs;
    /// nothing if it refuses none.
    #[serde(with = "text")]
    pub refused: String,
}

impl Card {
    /// This process's, which does not listen.
    pub fn of_this_process(
        socket: &str,
        address: Option<SocketAddr>,
        public_key: [u8; 32],
    ) -> io::Result<Self> {
        let node = this_host::name();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let namespace = |name: &str| -> io::Result<String> {
            let link = std::fs::read_link(Path::new("/proc/self/ns").join(name))?;
            Ok(link.to_string_lossy().into_owned())
        };
        let host = format!("{} {node} {} {}", boot.trim(), namespace("net")?, namespace("pid")?);
        let (job, _) = draw_job()?;
        Ok(Card {
            host,
            node,
            process: std::process::id(),
            socket: socket.to_owned(),
            cores: own_cores()?,
            address,
            mtu: environment::mtu(address)?,
            link: environment::link(),
            protection: environment::protection()?,
            job,
            public_key,
            listens: false,
            refused: first_refused().unwrap_or_default(),
        })
    }

    /// Name of the machine: that of its running kernel.
    pub fn machine(&self) -> &str {
        self.host.split(' ').next().unwrap_or_default()
    }

    /// The core that the rank is bound to, if it may use one only.
    pub fn only_core(&self) -> Option<u16> {
        let digits = (0..).zip(self.cores.chars().filter_map(|char| char.to_digit(16)));
        let mut some = digits.filter(|(_, bits)| *bits != 0);
        let (place, bits) = some.next().filter(|(_, bits)| bits.is_power_of_two())?;
        some.next().is_none().then(|| place * 4 + bits.trailing_zeros() as u16)
    }
}

impl Message for Card {
    const KIND: u16 = 7;

    fn check(&self) -> Result<(), BadMessage> {
        let digits = self.cores.bytes().all(|byte| byte.is_ascii_hexdigit());
        ensure(digits && self.cores.len() <= CORES_CHARS_MAX, "list of cores")?;
        self.protection.map_or(Ok(()), check_protection)
    }
}

/// Number of cores that all ranks together may use.
pub(crate) fn cores_of_all<'a>(cards: impl Iterator<Item = &'a Card>) -> usize {
    let mut all = [0; CORES_CHARS_MAX];
    for card in cards {
        for (bits, char) in all.iter_mut().zip(card.cores.chars()) {
            *bits |= char.to_digit(16).unwrap_or_default();
        }
    }
    all.iter().map(|bits| bits.count_ones() as usize).sum::<usize>().max(1)
}

fn own_cores() -> io::Result<String> {
    let allowed = sched_getaffinity(None)?;
    let bit = |core: usize| u32::from(allowed.is_set(core));
    let digit = |first: usize| (0..4).map(|index| bit(first + index) << index).sum();
    let digits: String = (0..CpuSet::MAX_CPU)
        .step_by(4)
        .filter_map(|first| char::from_digit(digit(first), 16))
        .collect();
    Ok(digits.trim_end_matches('0').to_owned())
}

/// A socket for datagrams, bound to the address from which this host reaches others: that of its
/// default route, or else the first that it has. Something listens there too, if that is wished for
/// and can be. `None` if it reaches none.
pub(crate) fn bind_socket(listens: bool) -> Option<Bound> {
    // Addresses that no host has (RFC 5737, RFC 3849). Nothing is sent: the system only looks up
    // the way.
    let by_route = [("0.0.0.0", "192.0.2.1"), ("::", "2001:db8::1")].into_iter();
    let mut by_route = by_route.filter_map(|(any, nowhere)| {
        let probe = UdpSocket::bind((any, 0)).ok()?;
        probe.connect((nowhere, 9)).ok()?;
        Some(probe.local_addr().ok()?.ip())
    });
    let first = || Some(candidates().ok()?.first()?.address);
    let address = by_route.next().or_else(first)?;
    access::bind_socket(address, listens).ok().map(|(bound, _)| bound)
}

#[cfg(test)]
mod tests;
