//! UDP between the hosts of ranks that a process manager started: tried before the job begins, so
//! that a firewall or a translator of addresses is named, and not the silence that it makes.
//!
//! The first rank of each host greets those of the others from its own socket, as agents of `weft
//! run --hosts` do, and tells all through the store what it has found.

use std::io;
use std::net::UdpSocket;

use crate::pmi::PmiClient;
use weft_wire::Rank;

use super::environment::by_environment;
use super::error::{ManagedError, MeetError};
use super::facts::Facts;
use super::holders::{Greetings, holders, round};
use super::record::Record;
use crate::hosts::probe::UdpProbe;
use crate::hosts::reached::{Findings, judge};
use crate::messages::{BadMessage, HOSTS_MAX, JobNetwork};

/// Key of what hosts have found.
const KEY: &str = "reached";

/// Checks together with all other ranks that the hosts reach one another. `socket` is this rank's.
///
/// Blocks until all are as far.
///
/// # Errors
/// [`MeetError::Unreached`] at all ranks if two hosts do not.
pub(super) fn check(
    own: Rank,
    facts: &[Facts],
    network: &JobNetwork,
    socket: &UdpSocket,
    exchange: &mut dyn PmiClient,
) -> Result<(), ManagedError> {
    let holders = holders(&network.hosts);
    if holders.len() > HOSTS_MAX {
        return Ok(());
    }
    let records = match holders.iter().position(|holder| *holder == own) {
        Some(host) => {
            let addresses = holders.iter().map(|rank| network.addresses[rank.index()]).collect();
            let job = (network.job, network.secret.clone());
            let socket = socket.try_clone();
            let probe = socket.and_then(|socket| {
                UdpProbe::new(socket, host as u16, job, addresses, None, network.mtu)
            });
            greet(probe, exchange, &holders)?
        }
        None => round(exchange, KEY, None, &holders)?,
    };
    // From here on ranks may end; see `join`.
    exchange.fence()?;
    conclude(facts, network, &holders, &records)
}

fn greet(
    probe: io::Result<UdpProbe>,
    exchange: &mut dyn PmiClient,
    holders: &[Rank],
) -> Result<Vec<Record>, ManagedError> {
    match probe.and_then(Greetings::begin) {
        Ok(greetings) => {
            let record = Record::Reached(greetings.probe().reached());
            greetings.answer_during(|| round(exchange, KEY, Some(&record), holders))
        }
        Err(error) => round(exchange, KEY, Some(&Record::Without(error.to_string())), holders),
    }
}

fn conclude(
    facts: &[Facts],
    network: &JobNetwork,
    holders: &[Rank],
    records: &[Record],
) -> Result<(), ManagedError> {
    let mut all = Vec::new();
    for (holder, record) in holders.iter().zip(records) {
        let name = &*facts[holder.index()].node;
        let found = match record {
            Record::Reached(found) => found,
            Record::Without(why) => {
                return Err(MeetError::Unreached(format!("host {name}: {why}")).into());
            }
            _ => return Err(MeetError::from(BadMessage::Range("order")).into()),
        };
        // A socket is bound to one address, so that whatever comes from another is translated.
        let address = network.addresses[holder.index()];
        all.push(Findings { name, address, own: &[], found });
    }
    let judged = judge(&all, network.mtu);
    judged.map_err(|error| MeetError::Unreached(by_environment(&error.to_string())).into())
}

#[cfg(test)]
mod tests;
