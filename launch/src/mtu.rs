//! Longest packets of a job (MTU).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use weft_udp::path_mtu;

/// Bytes of the longest packet between the hosts of a job, its IP header included. At most what
/// jumbo frames hold, because memory that ranks share has frames of that size
/// (`Settings::beside_network`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16")]
pub struct Mtu(u16);

impl Mtu {
    /// MTU that every IPv4 host takes (RFC 791).
    pub const LEAST: Mtu = Mtu(576);
    /// Ethernet's own.
    pub const USUAL: Mtu = Mtu(1500);
    /// Jumbo frames.
    pub const MOST: Mtu = Mtu(9000);

    /// An MTU of so many bytes, if a job can have it.
    pub fn new(bytes: u16) -> Option<Self> {
        Some(Mtu(bytes)).filter(|mtu| (Mtu::LEAST..=Mtu::MOST).contains(mtu))
    }

    /// Number of bytes.
    pub fn bytes(self) -> u16 {
        self.0
    }

    /// That of the interface with this address, the usual one if that cannot be told.
    pub(crate) fn of_interface(address: IpAddr, prefix_bits: u8) -> Self {
        // A neighbour's address leads to the interface. Some are none's: a network's own, its
        // broadcast.
        let bytes = neighbours(address, prefix_bits).find_map(|other| path_mtu(address, other));
        let limited = |bytes: u32| Mtu(bytes.try_into().unwrap_or(u16::MAX));
        bytes.map_or(Mtu::USUAL, |bytes| limited(bytes).clamp(Mtu::LEAST, Mtu::MOST))
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// No such MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an MTU is a number from {} to {}", Mtu::LEAST, Mtu::MOST)]
pub struct NoMtu;

impl TryFrom<u16> for Mtu {
    type Error = NoMtu;

    fn try_from(bytes: u16) -> Result<Self, NoMtu> {
        Mtu::new(bytes).ok_or(NoMtu)
    }
}

impl FromStr for Mtu {
    type Err = NoMtu;

    fn from_str(text: &str) -> Result<Self, NoMtu> {
        text.parse().ok().and_then(Mtu::new).ok_or(NoMtu)
    }
}

/// Some other addresses of the same network.
fn neighbours(address: IpAddr, prefix_bits: u8) -> impl Iterator<Item = IpAddr> {
    let width = if address.is_ipv4() { 32 } else { 128 };
    let most = match width - prefix_bits.min(width) {
        0 => 0,
        1 => 1,
        _ => 3,
    };
    (1..=most).map(move |difference| match address {
        IpAddr::V4(four) => IpAddr::V4((four.to_bits() ^ difference).into()),
        IpAddr::V6(six) => IpAddr::V6((six.to_bits() ^ u128::from(difference)).into()),
    })
}

#[cfg(test)]
mod tests;
