//! Judgement of what the hosts of a job have found out about one another over UDP.

use std::net::SocketAddr;

use crate::error::LaunchError;
use crate::messages::hosts::Candidate;
use crate::messages::reached::{Reached, Unmet};
use crate::mtu::Mtu;

/// A host, and what it has found when it tried to reach all others.
pub(crate) struct Findings<'a> {
    /// Its name, for people.
    pub name: &'a str,
    /// Address at which the others were to reach it.
    pub address: SocketAddr,
    /// Its addresses, as far as they are known.
    pub own: &'a [Candidate],
    /// Its findings.
    pub found: &'a Reached,
}

impl Findings<'_> {
    /// True if something of this host's has arrived at the other, as far as that tells: it does of
    /// hosts that have not answered it.
    fn is_heard_at(&self, other: &Findings<'_>, all: &[Findings<'_>]) -> Option<bool> {
        let is_own = |unmet: &&Unmet| {
            let host = all.get(usize::from(unmet.host));
            host.is_some_and(|host| host.address == self.address)
        };
        other.found.unmet.iter().find(is_own).map(|unmet| unmet.heard)
    }

    fn has(&self, source: SocketAddr) -> bool {
        let is_own = self.own.iter().any(|candidate| candidate.address == source.ip());
        is_own && source.port() == self.address.port()
    }
}

/// Checks that all hosts reach one another, at the addresses that they have. `all` are in the order
/// of their numbers.
///
/// # Errors
/// The first two that do not, and why.
pub(crate) fn judge(all: &[Findings<'_>], mtu: Mtu) -> Result<(), LaunchError> {
    for at in all {
        for &(number, source) in &at.found.translated {
            let Some(host) = all.get(usize::from(number)) else { continue };
            if !host.has(source) {
                return Err(LaunchError::Translated {
                    host: host.name.into(),
                    address: host.address.ip(),
                    at: at.name.into(),
                    seen: source.ip(),
                });
            }
        }
    }
    for at in all {
        let Some(unmet) = at.found.unmet.first() else { continue };
        let Some(other) = all.get(usize::from(unmet.host)) else { continue };
        if unmet.short {
            let (from, to) = (at.name.into(), other.name.into());
            return Err(LaunchError::Narrow { from, to, mtu });
        }
        // What is dropped is dropped on the way to who hears nothing.
        let (from, to) = match at.is_heard_at(other, all) {
            Some(true) if !unmet.heard => (other, at),
            _ => (at, other),
        };
        let back = match (to.is_heard_at(from, all), from.is_heard_at(to, all)) {
            (Some(false), None) => None, // Maybe it has never sent anything there.
            (heard, _) => heard,
        };
        return Err(LaunchError::Unreachable {
            from: from.name.into(),
            from_address: from.address,
            to: to.name.into(),
            to_address: to.address,
            back,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
