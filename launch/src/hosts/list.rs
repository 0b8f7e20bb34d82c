//! Hosts of a job, and the number of ranks of each.

use std::net::Ipv6Addr;

use weft_link_shm::MAX_RANKS;

use crate::messages::hosts::is_host_name;
use crate::messages::{HOSTS_MAX, RANKS_MAX};

/// A host that a job is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWish {
    /// Its name, as the remote shell knows it.
    pub name: String,
    /// Its ranks; `None` for its share.
    pub ranks: Option<u16>,
}

/// Reads a list such as `a,b:4,[fd00::1]:2`, or the lines of a host file, where `#` begins a
/// comment and a host may be followed by `slots=4`, as in those of MPI libraries. A host that comes
/// several times has as many ranks as it is given in all, one where there is no number.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn parse_hosts(text: &str) -> Result<Vec<HostWish>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let words = lines.flat_map(|line| line.split([',', ' ', '\t'])).filter(|word| !word.is_empty());
    let mut hosts: Vec<HostWish> = Vec::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let mut wish = parse_host(word)?;
        while let Some((name, number)) = words.peek().and_then(|next| next.split_once('=')) {
            match name {
                "slots" => wish.ranks = Some(in_bounds(number, word)?),
                _ => return Err(format!("{name}={number}: of a host only slots=N is understood")),
            }
            words.next();
        }
        match hosts.iter_mut().find(|host| host.name == wish.name) {
            Some(host) => {
                let sum = host.ranks.unwrap_or(1).saturating_add(wish.ranks.unwrap_or(1));
                host.ranks = Some(sum);
            }
            None => hosts.push(wish),
        }
    }
    match hosts.len() {
        0 => Err("there is no host in the list".into()),
        count if count > HOSTS_MAX => Err(format!("{count} hosts: a job has {HOSTS_MAX} at most")),
        _ => Ok(hosts),
    }
}

fn parse_host(word: &str) -> Result<HostWish, String> {
    let (name, number) = split(word)?;
    let ranks = number.map(|number| in_bounds(number, word)).transpose()?;
    if !is_host_name(name) {
        return Err(format!("{word:?} is no host"));
    }
    Ok(HostWish { name: name.to_owned(), ranks })
}

/// The number of ranks of the host that is `word`.
fn in_bounds(number: &str, word: &str) -> Result<u16, String> {
    let number = number.parse().ok().filter(|n| (1..=MAX_RANKS).contains(n));
    number.ok_or_else(|| format!("{word}: a host has 1 to {MAX_RANKS} ranks"))
}

/// The name of a host and its number of ranks. An IPv6 address has colons of its own, so that a
/// number behind it needs brackets around it (RFC 3986).
fn split(word: &str) -> Result<(&str, Option<&str>), String> {
    // What follows a percent sign is the zone, the name of an interface (RFC 4007).
    let is_address = |text: &str| {
        let (address, zone) = text.split_once('%').unwrap_or((text, "-"));
        let of_name = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
        address.parse::<Ipv6Addr>().is_ok() && zone.chars().all(of_name)
    };
    if is_address(word) {
        return Ok((word, None));
    }
    if let Some((address, rest)) = word.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && is_address(address)
    {
        match (rest, rest.strip_prefix(':')) {
            ("", _) => return Ok((address, None)),
            (_, Some(number)) => return Ok((address, Some(number))),
            _ => return Err(format!("{word:?} is no host")),
        }
    }
    match word.rsplit_once(':') {
        Some((name, number)) if name.contains(':') => Err(format!(
            "{word:?} is no host: ranks on an IPv6 address are written [{}]:{number}",
            name.trim_matches(['[', ']'])
        )),
        Some((name, number)) => Ok((name, Some(number))),
        None => Ok((word, None)),
    }
}

/// Numbers of ranks of each host: what it was given; of `asked` in all the hosts without a number
/// share the rest, the first of them one more if it does not divide; without `asked` they get a
/// rank per core.
///
/// # Errors
/// What does not fit, for a person.
pub(crate) fn distribute(
    hosts: &[HostWish],
    cores: &[u16],
    asked: Option<u16>,
) -> Result<Vec<u16>, String> {
    let given: u32 = hosts.iter().filter_map(|host| host.ranks).map(u32::from).sum();
    let open = hosts.iter().filter(|host| host.ranks.is_none()).count() as u32;
    let mut counts: Vec<u32> = Vec::new();
    if let Some(asked) = asked {
        let rest = u32::from(asked).checked_sub(given).filter(|&rest| rest >= open);
        let rest = rest.filter(|&rest| open > 0 || rest == 0).ok_or_else(|| {
            let needed = given + open;
            let relation = if open > 0 { "at least " } else { "" };
            let were = if asked == 1 { "rank was" } else { "ranks were" };
            format!("{asked} {were} asked for, and the list of hosts has {relation}{needed}")
        })?;
        let mut opened = 0;
        for host in hosts {
            counts.push(host.ranks.map_or_else(
                || {
                    opened += 1;
                    rest / open + u32::from(opened <= rest % open)
                },
                u32::from,
            ));
        }
    } else {
        let own = |(host, cores): (&HostWish, &u16)| {
            u32::from(host.ranks.unwrap_or((*cores).clamp(1, MAX_RANKS)))
        };
        counts.extend(hosts.iter().zip(cores).map(own));
    }
    if let Some((host, count)) = hosts.iter().zip(&counts).find(|(_, c)| **c > MAX_RANKS.into()) {
        return Err(format!("{count} ranks on {}: a host has 1 to {MAX_RANKS}", host.name));
    }
    let sum: u32 = counts.iter().sum();
    if sum > RANKS_MAX.into() {
        return Err(format!("{sum} ranks: a job has {RANKS_MAX} at most"));
    }
    Ok(counts.into_iter().map(|count| count as u16).collect())
}

#[cfg(test)]
mod tests;
