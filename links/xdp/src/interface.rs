//! Preconditions for the use of an interface.

use crate::error::{MOST_MTU, XdpError};
use crate::memory::{Hardware, hardware};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::io;

/// The address of an interface on Ethernet.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct MacAddress(pub [u8; 6]);

impl std::fmt::Display for MacAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl std::fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MacAddress({self})")
    }
}

/// An Ethernet interface that XDP can have.
#[derive(Clone, Debug)]
pub struct Interface {
    pub(crate) name: String,
    pub(crate) index: u32,
    pub(crate) mac: MacAddress,
    pub(crate) mtu: usize,
}

impl Interface {
    /// Looks at the interface called `name`.
    ///
    /// # Errors
    /// If there is none, or it is no Ethernet, or its MTU is too large.
    pub fn find(name: &str) -> Result<Self, XdpError> {
        let system = |error: io::Error| XdpError::System {
            interface: name.into(),
            doing: "looking at it",
            error,
        };
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)
            .map_err(|error| system(error.into()))?;
        let Ok(index) = netdevice::name_to_index(&socket, name) else {
            return Err(XdpError::NoInterface(name.into()));
        };
        let Hardware { ethernet, mac, mtu } = hardware(&socket, name).map_err(system)?;
        if !ethernet {
            return Err(XdpError::NotEthernet(name.into()));
        }
        if mtu > MOST_MTU {
            return Err(XdpError::Mtu { interface: name.into(), mtu });
        }
        Ok(Interface { name: name.into(), index, mac: MacAddress(mac), mtu })
    }

    /// Looks at the interface with this number.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn numbered(index: u32) -> Result<Self, XdpError> {
        let none = || XdpError::NoInterface(format!("with the number {index}"));
        let flags = SocketFlags::CLOEXEC;
        let socket =
            socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None).map_err(|_| none())?;
        let name = netdevice::index_to_name(&socket, index).map_err(|_| none())?;
        let found = Self::find(&name)?;
        // Another one may have got the name meanwhile.
        if found.index == index { Ok(found) } else { Err(none()) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number on this host.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its address.
    pub fn mac(&self) -> MacAddress {
        self.mac
    }

    /// Bytes of a packet at most, without its Ethernet header.
    pub fn mtu(&self) -> usize {
        self.mtu
    }
}
