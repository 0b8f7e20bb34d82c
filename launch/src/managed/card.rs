//! Card of a rank: what it tells others about itself. All others need the [facts](super::facts) on
//! it.

use std::env;
use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};
use weft_datagram::seal::Protection;

use crate::crew::{self, Bound};
use crate::hosts::candidates;
use crate::messages::hosts::Candidate;
use crate::messages::parts::text;
use crate::messages::{BadMessage, Message, check_protection, draw_job, ensure};
use crate::mtu::Mtu;
use crate::refused::first_refused;

/// The variable that says how long packets between hosts may be.
const MTU: &str = "WEFT_MTU";
/// The variable that says by which link ranks are to reach one another.
const LINK: &str = "WEFT_LINK";
/// Characters of what it says that are passed on: those of a link are three or four.
const LINK_CHARS_MAX: usize = 16;
/// The variable that says whether packets between hosts are encrypted.
const ENCRYPT: &str = "WEFT_ENCRYPT";
/// The variable that says whether all bytes of packets between hosts are authenticated.
const AUTHENTICATE: &str = "WEFT_AUTHENTICATE";
/// The variable that says by which way long packets go between hosts.
const BULK: &str = "WEFT_BULK";
/// The variable that says that the network loses nothing.
const LOSSLESS: &str = "WEFT_LOSSLESS";
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
        let uname = rustix::system::uname();
        let node = uname.nodename().to_string_lossy().into_owned();
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
            mtu: mtu(address)?,
            link: env::var(LINK).unwrap_or_default().chars().take(LINK_CHARS_MAX).collect(),
            protection: protection()?,
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

/// True if this value of a variable such as `WEFT_ENCRYPT` asks for what it names.
///
/// # Errors
/// Values that it may have instead.
pub fn is_wanted(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" | "" => Ok(false),
        _ => Err(format!("{value:?} is neither 1, for yes, nor 0")),
    }
}

/// True if the environment lets long packets go over TCP. Whoever counts on a network that loses
/// nothing would not notice what a broken connection loses.
///
/// # Errors
/// Values that the variable may have instead.
pub(crate) fn wants_tcp() -> io::Result<bool> {
    let lossless = env::var(LOSSLESS).is_ok_and(|value| is_wanted(&value).unwrap_or(true));
    match env::var(BULK).as_deref() {
        Ok("auto" | "tcp" | "") | Err(_) => Ok(!lossless),
        Ok("datagrams") => Ok(false),
        Ok(other) => {
            let what = format!("{BULK}: {other:?} is neither auto nor tcp nor datagrams");
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    }
}

/// Value of a variable, if it is set.
///
/// # Errors
/// The variable's name, and the fault of its value.
pub(super) fn given<T, E: Display>(
    variable: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> io::Result<Option<T>> {
    let Ok(value) = env::var(variable) else { return Ok(None) };
    let wrong = |what| io::Error::new(io::ErrorKind::InvalidInput, format!("{variable}: {what}"));
    parse(&value).map(Some).map_err(wrong)
}

/// Protection that the environment asks for, if any; the least if it asks for no encryption.
fn protection() -> io::Result<Option<Protection>> {
    let authenticates = given(AUTHENTICATE, is_wanted)?.unwrap_or_default();
    Ok(match given(ENCRYPT, is_wanted)? {
        Some(true) => Some(Protection::Encrypted),
        _ if authenticates => Some(Protection::Tagged),
        Some(false) => Some(Protection::Headers),
        None => None,
    })
}

/// MTU that the environment gives, or else that of the interface with this address.
fn mtu(address: Option<SocketAddr>) -> io::Result<Mtu> {
    if let Some(given) = given(MTU, str::parse)? {
        return Ok(given);
    }
    let Some(address) = address else { return Ok(Mtu::USUAL) };
    Ok(interface_of(address.ip())?.map_or(Mtu::USUAL, |candidate| candidate.mtu))
}

/// The interface of this host that has an address.
pub(super) fn interface_of(address: IpAddr) -> io::Result<Option<Candidate>> {
    Ok(candidates()?.into_iter().find(|candidate| candidate.address == address))
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
    crew::bind_socket(address, listens).ok().map(|(bound, _)| bound)
}

#[cfg(test)]
mod tests;
