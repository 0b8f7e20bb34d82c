//! Networks by which hosts may reach one another, and the means of each host for them.

use weft_xdp::{Attached, MacAddress, Mode};

use crate::messages::bytes::{Body, put_text};
use crate::messages::{BadMessage, cut};

/// By which links hosts may reach one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterfaceState {
    /// Nobody asked.
    NotAsked,
    /// It cannot have it, or had better not; why.
    Without(String),
    /// Its interface is taken.
    Taken {
        /// The interface's address.
        interface: MacAddress,
        /// Mode in which it is used.
        mode: Mode,
    },
}

impl FarLink {
    pub(super) fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(match self {
            FarLink::Udp => 0,
            FarLink::Xdp => 1,
            FarLink::Auto => 2,
        });
    }

    pub(super) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        match body.u8()? {
            0 => Ok(FarLink::Udp),
            1 => Ok(FarLink::Xdp),
            2 => Ok(FarLink::Auto),
            _ => Err(BadMessage::Range("link")),
        }
    }
}

impl InterfaceState {
    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        match self {
            InterfaceState::NotAsked => bytes.push(0),
            InterfaceState::Without(why) => {
                bytes.push(1);
                put_text(bytes, cut(why));
            }
            InterfaceState::Taken { interface, mode } => {
                bytes.push(2);
                bytes.extend(interface.0);
                bytes.push((mode.attached == Attached::Native).into());
                bytes.push(mode.zero_copy.into());
            }
        }
    }

    pub(super) fn take(body: &mut Body<'_>) -> Result<Self, BadMessage> {
        Ok(match body.u8()? {
            0 => InterfaceState::NotAsked,
            1 => InterfaceState::Without(body.text()?),
            2 => InterfaceState::Taken {
                interface: MacAddress(body.take()?),
                mode: Mode {
                    attached: if body.flag()? { Attached::Native } else { Attached::Generic },
                    zero_copy: body.flag()?,
                },
            },
            _ => return Err(BadMessage::Range("link")),
        })
    }
}
