//! Preconditions for the use of an interface.

use crate::error::{MOST_MTU, XdpError};
use crate::memory::{Hardware, hardware};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
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

    /// Its address.
    pub fn mac(&self) -> MacAddress {
        self.mac
    }

    /// Bytes of a packet at most, without its Ethernet header.
    pub fn mtu(&self) -> usize {
        self.mtu
    }
}

/// Checks that kernel and capabilities are enough for [`crate::XdpHost::attach`], as far as one can
/// see.
///
/// # Errors
/// What is missing.
pub fn permitted() -> Result<(), XdpError> {
    check_kernel()?;
    let system = |error: rustix::io::Errno| XdpError::System {
        interface: "this host".into(),
        doing: "asking for capabilities",
        error: error.into(),
    };
    let has = capabilities(None).map_err(system)?.effective;
    // Before there was CAP_BPF, CAP_SYS_ADMIN stood for it, and it still does.
    let bpf = CapabilitySet::BPF | CapabilitySet::SYS_ADMIN;
    let missing: Vec<&str> = [
        (CapabilitySet::NET_RAW, "CAP_NET_RAW"),
        (bpf, "CAP_BPF"),
        (CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN"),
    ]
    .into_iter()
    .filter(|(any, _)| !has.intersects(*any))
    .map(|(_, name)| name)
    .collect();
    if missing.is_empty() { Ok(()) } else { Err(XdpError::NotPermitted(missing.join(" and "))) }
}

/// Gives up what [`crate::XdpHost::attach`] and [`crate::XdpHost::open`] needed, for this thread
/// and what it starts, unless that has capabilities of its own. Ports need none.
///
/// # Errors
/// What the kernel says.
pub fn give_up_capabilities() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    let needed = CapabilitySet::NET_RAW | CapabilitySet::BPF | CapabilitySet::NET_ADMIN;
    for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
        set.remove(needed);
    }
    Ok(set_capabilities(None, sets)?)
}

/// Links of XDP programs exist since Linux 5.9, what sockets need since 5.4.
fn check_kernel() -> Result<(), XdpError> {
    let names = rustix::system::uname();
    let release = names.release().to_string_lossy();
    if is_new_enough(&release) { Ok(()) } else { Err(XdpError::OldKernel(release.into_owned())) }
}

fn is_new_enough(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
    let mut next = || -> u32 { numbers.next().flatten().unwrap_or(0) };
    (next(), next()) >= (5, 9)
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn kernels_are_told_apart() {
        for old in ["4.19.0-26-amd64", "5.8.18", "3.10", "", "linux"] {
            assert!(!is_new_enough(old), "{old}");
        }
        for new in ["5.9", "5.10.0-28-amd64", "6.18.44-fc-v669", "10.0"] {
            assert!(is_new_enough(new), "{new}");
        }
    }
}
