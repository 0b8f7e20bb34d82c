//! Conclusions that all ranks draw alike from the facts about all of them.

use std::collections::BTreeMap;

use weft_datagram::seal::{Protection, Secret};

use super::error::MeetError;
use super::facts::Facts;
use crate::messages::JobNetwork;
use crate::messages::hosts::FarLink;
use crate::mtu::Mtu;

/// The first rank to which the system refuses what it needs.
pub(super) fn refused(all: &[Facts]) -> Option<MeetError> {
    let (rank, facts) = (0..).zip(all).find(|(_, facts)| !facts.refused.is_empty())?;
    Some(MeetError::Refused { rank, host: facts.node.clone(), why: facts.refused.clone() })
}

/// The hosts of the ranks, numbered as they first appear.
fn hosts(facts: &[Facts]) -> Vec<u16> {
    let mut known = BTreeMap::new();
    let mut number_of = |facts: &Facts| {
        let next = known.len() as u16;
        *known.entry(facts.host).or_insert(next)
    };
    facts.iter().map(&mut number_of).collect()
}

/// True if the ranks are on several hosts.
pub(super) fn spans_hosts<H: PartialEq>(mut hosts: impl Iterator<Item = H>) -> bool {
    let first = hosts.next();
    hosts.any(|host| Some(host) != first)
}

/// Network between the ranks of several hosts.
pub(super) fn network(all: &[Facts], job: u32, secret: Secret) -> Result<JobNetwork, MeetError> {
    let kind = all[0].address.map(|address| address.is_ipv6());
    let address = |(rank, facts): (u16, &Facts)| {
        let address = facts.address.filter(|address| Some(address.is_ipv6()) == kind);
        address.ok_or_else(|| MeetError::Address { rank, host: facts.node.clone() })
    };
    let addresses = (0..).zip(all).map(address).collect::<Result<_, _>>()?;
    let mtu = all.iter().map(|facts| facts.mtu).min().unwrap_or(Mtu::USUAL);
    Ok(JobNetwork {
        job,
        secret,
        protection: protection(all)?,
        mtu,
        addresses,
        hosts: hosts(all),
        ethernet: None,
        copied: false,
        bulk: all.iter().all(|facts| facts.listens),
    })
}

/// Protection of packets between hosts: the most that any rank asks for, unless one asks for
/// encryption and another for none.
fn protection(all: &[Facts]) -> Result<Protection, MeetError> {
    let of = |wanted| (0..).zip(all).find(|(_, facts)| facts.protection == Some(wanted));
    if let (Some((encrypts, _)), Some((other, _))) =
        (of(Protection::Encrypted), of(Protection::Headers))
    {
        return Err(MeetError::Protection { encrypts, other });
    }
    Ok(all.iter().filter_map(|facts| facts.protection).max().unwrap_or_default())
}

/// By which links the ranks are to reach those of other hosts: what `WEFT_LINK` says, for whichever
/// ranks it does.
pub(super) fn wish(all: &[Facts], several: bool, manager: &str) -> Result<FarLink, MeetError> {
    let mut asked = (0..).zip(all).filter(|(_, facts)| !facts.link.is_empty());
    let Some((rank, first)) = asked.next() else { return Ok(FarLink::Auto) };
    let one = first.link.clone();
    if let Some((other_rank, other)) = asked.find(|(_, other)| other.link != one) {
        return Err(MeetError::Links { rank, one, other_rank, other: other.link.clone() });
    }
    match (&*one, several) {
        ("auto", _) | ("shm", false) => Ok(FarLink::Auto),
        ("xdp", true) => Ok(FarLink::Xdp),
        // Ranks tell one another over UDP where on the fabric they are.
        ("udp" | "fabric", true) => Ok(FarLink::Udp),
        _ => {
            let have = match several {
                false => "are on one host, and share memory (shm)",
                true => "are on several hosts, and use xdp, udp or fabric between them",
            };
            Err(MeetError::Link { asked: one, manager: manager.into(), have })
        }
    }
}

#[cfg(test)]
mod tests;
