//! Findings of a host that has tried to reach the others over UDP, as agents and ranks tell them.
//!
//! ```text
//! hosts that were not met (2) x { host (2), by short packets only (1), their own arrive (1) }
//! | hosts whose packets have another source address than theirs (2) x { host (2), address }
//! ```

use std::net::SocketAddr;

use super::BadMessage;
use super::bytes::{Body, put_address};
use super::hosts::{HOSTS_MAX, put_list};

/// Findings of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The hosts that have not answered.
    pub unmet: Vec<Unmet>,
    /// Hosts whose packets have another source address than theirs, and that address.
    pub translated: Vec<(u16, SocketAddr)>,
}

/// Another host that has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// Its number.
    pub host: u16,
    /// True if it has answered short packets.
    pub short: bool,
    /// True if packets of its own arrive.
    pub heard: bool,
}

impl Reached {
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        put_list(bytes, &self.unmet, |bytes, unmet| {
            bytes.extend(unmet.host.to_le_bytes());
            bytes.extend([unmet.short, unmet.heard].map(u8::from));
        });
        put_list(bytes, &self.translated, |bytes, (host, address)| {
            bytes.extend(host.to_le_bytes());
            put_address(bytes, *address);
        });
    }

    pub(crate) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        let unmet = |body: &mut Body<'_>| {
            Ok(Unmet { host: body.u16()?, short: body.flag()?, heard: body.flag()? })
        };
        let translated = |body: &mut Body<'_>| Ok((body.u16()?, body.address()?));
        let unmet = body.list(HOSTS_MAX, unmet)?;
        Ok(Reached { unmet, translated: body.list(HOSTS_MAX, translated)? })
    }
}

#[cfg(test)]
pub(crate) mod tests;
