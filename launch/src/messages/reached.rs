//! Findings of a host that has tried to reach the others over UDP, as agents and ranks tell them.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::bounds::HOSTS_MAX;
use super::checks::at_most;
use super::format::BadMessage;

/// Findings of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// The hosts that have not answered.
    pub unmet: Vec<Unmet>,
    /// Hosts whose packets have another source address than theirs, and that address.
    pub translated: Vec<(u16, SocketAddr)>,
}

/// Another host that has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmet {
    /// Its number.
    pub host: u16,
    /// True if it has answered short packets.
    pub short: bool,
    /// True if packets of its own arrive.
    pub heard: bool,
}

impl Reached {
    pub(crate) fn check(&self) -> Result<(), BadMessage> {
        at_most(&self.unmet, HOSTS_MAX)?;
        at_most(&self.translated, HOSTS_MAX)
    }
}

#[cfg(test)]
pub(crate) mod tests;
