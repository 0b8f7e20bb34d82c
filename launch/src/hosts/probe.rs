//! By which addresses hosts reach one another: chosen, then tried.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use siphasher::sip::SipHasher24;
use weft_datagram::seal::Secret;
use weft_udp::UdpSettings;

use super::pace::{Probe, Progress, TAKEN_AT_ONCE, asked, greeters};
use crate::messages::hosts::{CANDIDATES_MAX, Candidate};
use crate::messages::reached::{Reached, Unmet};
use crate::mtu::Mtu;

/// The addresses of this host by which others may reach it, IPv4 before IPv6.
///
/// # Errors
/// What the system says about its interfaces.
pub fn candidates() -> io::Result<Vec<Candidate>> {
    let mut all = Vec::new();
    for entry in getifaddrs()? {
        let up = entry.flags.contains(InterfaceFlags::IFF_UP);
        if !up || entry.flags.contains(InterfaceFlags::IFF_LOOPBACK) {
            continue;
        }
        let address = entry.address.as_ref().and_then(ip);
        let Some(address) = address.filter(|address| !is_link_local(*address)) else { continue };
        let prefix_bits = entry.netmask.as_ref().and_then(ip).map_or(0, leading_bits);
        let mtu = Mtu::of_interface(address, prefix_bits);
        all.push(Candidate { interface: entry.interface_name, address, prefix_bits, mtu });
    }
    all.sort_by_key(|candidate| candidate.address.is_ipv6());
    all.truncate(CANDIDATES_MAX);
    Ok(all)
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let four = address.as_sockaddr_in().map(|four| IpAddr::from(four.ip()));
    four.or_else(|| address.as_sockaddr_in6().map(|six| IpAddr::from(six.ip())))
        .filter(|_| address.family().is_some())
}

/// True if an address means nothing without the interface, so that it cannot be passed on.
fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}

fn leading_bits(mask: IpAddr) -> u8 {
    let ones = match mask {
        IpAddr::V4(four) => four.to_bits().leading_ones(),
        IpAddr::V6(six) => six.to_bits().leading_ones(),
    };
    ones as u8
}

/// The beginning that all addresses of a network have.
fn network_of(candidate: &Candidate) -> (bool, u128) {
    let (bits, width) = match candidate.address {
        IpAddr::V4(four) => (u128::from(four.to_bits()), 32),
        IpAddr::V6(six) => (six.to_bits(), 128),
    };
    let host_bits = width - u32::from(candidate.prefix_bits);
    let network = bits.checked_shr(host_bits).unwrap_or_default();
    (width == 32, network << 8 | u128::from(candidate.prefix_bits))
}

/// Chooses an address for each host: of the interface or the address that was wished for, or else
/// of a network that all hosts are in, or else the first of a kind (IPv4, IPv6) that all have.
///
/// # Errors
/// The host that has none, and what it lacks.
pub(crate) fn choose(
    hosts: &[Vec<Candidate>],
    wish: Option<&str>,
) -> Result<Vec<Candidate>, (usize, String)> {
    let wished: Vec<Vec<Candidate>> = hosts.iter().map(|all| of_wish(all, wish)).collect();
    for (host, (some, all)) in wished.iter().zip(hosts).enumerate() {
        if some.is_empty() {
            return Err((host, nothing_to_choose(all, wish)));
        }
    }
    if let [only] = wished.as_slice() {
        return Ok(vec![only[0].clone()]);
    }
    // Bridges of virtual machines and containers have the same address on every host, and lead
    // nowhere.
    let ambiguous = |address: IpAddr| {
        let has = |host: &&Vec<Candidate>| host.iter().any(|one| one.address == address);
        hosts.iter().filter(has).count() > 1
    };
    let usable: Vec<Vec<&Candidate>> = wished
        .iter()
        .map(|host| host.iter().filter(|one| !ambiguous(one.address)).collect())
        .collect();
    let with_all = |fits: &dyn Fn(&Candidate) -> bool| -> Option<Vec<Candidate>> {
        let pick = |host: &Vec<&Candidate>| host.iter().find(|one| fits(one)).copied().cloned();
        usable.iter().map(pick).collect()
    };
    let of_first = usable.first().map(Vec::as_slice).unwrap_or_default();
    let shared =
        of_first.iter().find_map(|first| with_all(&|one| network_of(one) == network_of(first)));
    let same_kind = || {
        with_all(&|one| one.address.is_ipv4()).or_else(|| with_all(&|one| one.address.is_ipv6()))
    };
    shared.or_else(same_kind).ok_or_else(|| {
        if let Some(host) = usable.iter().position(Vec::is_empty) {
            return (host, only_of_several(&wished[host]));
        }
        let lacking = usable.iter().position(|host| host.iter().all(|one| one.address.is_ipv6()));
        (lacking.unwrap_or_default(), "no kind of address that the other hosts have too".into())
    })
}

fn of_wish(all: &[Candidate], wish: Option<&str>) -> Vec<Candidate> {
    let Some(wish) = wish else { return all.to_vec() };
    // An address names its network as well, so that one wish does for all hosts.
    let exact = wish.split('/').next().and_then(|address| address.parse::<IpAddr>().ok());
    let fits = |one: &&Candidate| match exact {
        Some(address) => {
            one.address == address
                || network_of(one) == network_of(&Candidate { address, ..(*one).clone() })
        }
        None => one.interface == wish,
    };
    let same_kind =
        |one: &&Candidate| exact.is_none_or(|address| address.is_ipv4() == one.address.is_ipv4());
    all.iter().filter(same_kind).filter(fits).cloned().collect()
}

/// Reason why hosts cannot be told apart, each of whose addresses others have as well.
fn only_of_several(all: &[Candidate]) -> String {
    let have: Vec<String> =
        all.iter().map(|one| format!("{} ({})", one.interface, one.address)).collect();
    format!(
        "other hosts have the same addresses as it, {}, as machines behind translators (NAT) do: give each one \
         of its own, in a network of all of them",
        have.join(", ")
    )
}

fn nothing_to_choose(all: &[Candidate], wish: Option<&str>) -> String {
    let have: Vec<String> =
        all.iter().map(|one| format!("{} ({})", one.interface, one.address)).collect();
    match (wish, have.is_empty()) {
        (_, true) => "it has no address that others could reach: bring an interface up".into(),
        (Some(wish), false) => {
            format!("it has no interface or network {wish:?}; it has {}", have.join(", "))
        }
        (None, false) => unreachable!("without a wish, what there is will do"),
    }
}

/// Purpose of the key for greetings.
const GREETINGS: &str = "Weft, greetings of hosts over UDP, version 1";
/// Bytes of a datagram by which hosts meet: mark, kind, from, to, job, tag. A wide question goes on
/// with zeros, up to the longest datagram that the job has.
const HELLO_BYTES: usize = 24;
const HELLO_MARK: [u8; 7] = *b"weft-hi";
const QUESTION: u8 = 0;
const ANSWER: u8 = 1;
const WIDE_QUESTION: u8 = 2;
const WIDE_ANSWER: u8 = 3;
/// To all hosts at once, if the network copies it; as long as a wide question.
const COPIED: u8 = 4;
const ALL: u16 = u16::MAX;

/// One host's part in finding out who reaches whom, with packets as long as the job has: each asks
/// every other until that has answered. Outsiders are not answered.
#[derive(Debug)]
pub(crate) struct UdpProbe {
    socket: UdpSocket,
    own: u16,
    job: u32,
    key: Secret,
    hosts: Vec<SocketAddr>,
    /// Bytes of a wide question.
    wide_bytes: usize,
    /// Hosts that have answered no wide question, and those that have answered no other either.
    missed: BTreeSet<u16>,
    unheard: BTreeSet<u16>,
    /// Source addresses of hosts of which something has arrived: their own, if anything came from
    /// there.
    sources: BTreeMap<u16, SocketAddr>,
    /// Group address at which all hosts hear what the network copies, if this one does; and the
    /// hosts of which it has heard nothing there.
    group: Option<SocketAddr>,
    /// True if this host greets all at once itself.
    greets: bool,
    uncopied: BTreeSet<u16>,
}

impl UdpProbe {
    /// The part of host `own` of `hosts`.
    ///
    /// # Errors
    /// What the system says about the socket.
    pub fn new(
        socket: UdpSocket,
        own: u16,
        of: (u32, Secret),
        hosts: Vec<SocketAddr>,
        group: Option<SocketAddr>,
        mtu: Mtu,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        // What is too long is to be lost, as it will be later, and what anybody on the network says
        // of lengths is not believed.
        match address.is_ipv4() {
            true => sockopt::set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?,
            false => sockopt::set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?,
        }
        let wide_bytes = UdpSettings::datagram_bytes(mtu.bytes().into(), &address);
        let missed = asked(own, hosts.len() as u16);
        let (unheard, mut uncopied) = (missed.clone(), greeters(hosts.len() as u16));
        let greets = uncopied.remove(&own);
        let (job, secret) = of;
        Ok(UdpProbe {
            socket,
            own,
            job,
            key: secret.derive(GREETINGS),
            hosts,
            wide_bytes,
            missed,
            unheard,
            sources: BTreeMap::new(),
            group,
            greets,
            uncopied,
        })
    }

    /// Findings so far.
    pub fn reached(&self) -> Reached {
        let unmet = self.missed.iter().map(|&host| Unmet {
            host,
            short: !self.unheard.contains(&host),
            heard: self.sources.contains_key(&host),
        });
        let sources = self.sources.iter().map(|(host, source)| (*host, *source));
        let is_translated =
            |(host, source): &(u16, SocketAddr)| self.hosts[usize::from(*host)] != *source;
        Reached { unmet: unmet.collect(), translated: sources.filter(is_translated).collect() }
    }

    /// The hosts whose greeting to all has not been heard.
    pub fn uncopied(&self) -> impl Iterator<Item = u16> + '_ {
        self.uncopied.iter().copied()
    }

    fn send(&self, kind: u8, to: u16) {
        let bytes = self.hello(kind, self.own, to);
        // What is lost is asked again; what cannot be sent is what this is to find out.
        let _ = self.socket.send_to(&bytes, self.hosts[usize::from(to)]);
    }

    fn open(&self, bytes: &[u8]) -> Option<(u8, u16)> {
        let kind = *bytes.get(7)?;
        let from = u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]);
        let known = kind <= COPIED && usize::from(from) < self.hosts.len() && from != self.own;
        let to = if kind == COPIED { ALL } else { self.own };
        (known && bytes == self.hello(kind, from, to)).then_some((kind, from))
    }

    fn hello(&self, kind: u8, from: u16, to: u16) -> Vec<u8> {
        let wide = matches!(kind, WIDE_QUESTION | COPIED);
        let mut bytes = vec![0; if wide { self.wide_bytes } else { HELLO_BYTES }];
        bytes[..7].copy_from_slice(&HELLO_MARK);
        bytes[7] = kind;
        bytes[8..10].copy_from_slice(&from.to_le_bytes());
        bytes[10..12].copy_from_slice(&to.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.job.to_le_bytes());
        let mut tag = SipHasher24::new_with_key(self.key.expose());
        tag.write(&bytes[..16]);
        bytes[16..HELLO_BYTES].copy_from_slice(&tag.finish().to_le_bytes());
        bytes
    }
}

impl Probe for UdpProbe {
    fn arrivals(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn ask(&mut self) {
        if let Some(group) = self.group.filter(|_| self.greets) {
            let _ = self.socket.send_to(&self.hello(COPIED, self.own, ALL), group);
        }
        self.missed.iter().for_each(|&host| self.send(WIDE_QUESTION, host));
        self.unheard.iter().for_each(|&host| self.send(QUESTION, host));
    }

    fn take_in(&mut self) {
        let mut bytes = vec![0; self.wide_bytes + 1];
        for _ in 0..TAKEN_AT_ONCE {
            let Ok((length, source)) = self.socket.recv_from(&mut bytes) else { return };
            let Some((kind, from)) = self.open(&bytes[..length]) else { continue };
            // What an outsider sends again from elsewhere is not to hide that it came from there.
            if source == self.hosts[usize::from(from)] {
                self.sources.insert(from, source);
            } else {
                self.sources.entry(from).or_insert(source);
            }
            match kind {
                QUESTION => self.send(ANSWER, from),
                WIDE_QUESTION => self.send(WIDE_ANSWER, from),
                WIDE_ANSWER => drop(self.missed.remove(&from)),
                COPIED => drop(self.uncopied.remove(&from)),
                _ => drop(self.unheard.remove(&from)),
            }
        }
    }

    fn progress(&self) -> Progress {
        let copies = self.group.is_some();
        Progress {
            met_all: self.missed.is_empty(),
            copies: copies && self.greets,
            heard_all: !copies || self.uncopied.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests;
