//! Addresses of hosts, and the choice of those by which hosts reach one another.

use std::io;
use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{SockaddrLike, SockaddrStorage};

use crate::messages::CANDIDATES_MAX;
use crate::messages::hosts::Candidate;
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

/// The interface of this host that has an address.
pub(crate) fn interface_of(address: IpAddr) -> io::Result<Option<Candidate>> {
    Ok(candidates()?.into_iter().find(|candidate| candidate.address == address))
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
         of its own, in a network of all of them; or, if they are one machine by several names, name it once",
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

#[cfg(test)]
mod tests;
