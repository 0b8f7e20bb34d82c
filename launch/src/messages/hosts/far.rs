//! Networks by which hosts may reach one another, and the means of each host for them.

use serde::{Deserialize, Serialize};
use weft_xdp::{MacAddress, Mode};

use crate::messages::parts::text;

/// By which links hosts may reach one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FarLink {
    /// UDP.
    Udp,
    /// AF_XDP or nothing.
    Xdp,
    /// AF_XDP where every host can have it without loss of speed, else UDP.
    #[default]
    Auto,
}

/// State of a host's interface for AF_XDP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InterfaceState {
    /// Nobody asked.
    NotAsked,
    /// It cannot have it, or had better not; why.
    Without(#[serde(with = "text")] String),
    /// Its interface is taken.
    Taken {
        /// The interface's address.
        interface: MacAddress,
        /// Mode in which it is used.
        mode: Mode,
    },
}
