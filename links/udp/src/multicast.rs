//! The network's own multicast: one datagram leaves, and switches copy it.
//!
//! A socket that takes part is bound to a port and to no address, because the kernel gives a
//! group's datagrams to no socket that has an address of its own. All ranks at one port get a copy,
//! so ranks of one host have ports of their own, and the *n*-th ranks of all hosts the same.

use crate::batch;
use rustix::net::sockopt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsFd;

/// Time to live of multicast datagrams: they reach the hosts on the same network, and cross no
/// router.
const HOPS: u32 = 1;

/// The group of the job with this number, of the kind of that address: of the local scope (RFC
/// 2365), or a transient one of the link (RFC 4291 2.7). Other jobs may have the same; their frames
/// have another number in them, and other keys.
pub fn group_of(job: u32, kind: IpAddr) -> IpAddr {
    let [first, second, third, fourth] = job.to_be_bytes();
    let word = |high, low| u16::from_be_bytes([high, low]);
    match kind {
        IpAddr::V4(_) => Ipv4Addr::new(239, 255, third, fourth).into(),
        IpAddr::V6(_) => {
            let [high, low] = [word(first, second), word(third, fourth)];
            Ipv6Addr::new(0xff12, 0, 0, 0, 0, 0, high, low).into()
        }
    }
}

/// Has a socket that is bound to no address hear the datagrams to `group`, and send its own to the
/// network of the interface with this address and index. It hears none of its own host.
///
/// # Errors
/// What the kernel says, for instance that it has no multicast there.
pub fn join(socket: &UdpSocket, group: IpAddr, (at, index): (IpAddr, u32)) -> io::Result<()> {
    match (group, at) {
        (IpAddr::V4(group), IpAddr::V4(at)) => {
            batch::hear_joined_only(socket.as_fd())?;
            sockopt::set_ip_multicast_if(socket, &at)?;
            sockopt::set_ip_multicast_ttl(socket, HOPS)?;
            sockopt::set_ip_multicast_loop(socket, false)?;
            socket.join_multicast_v4(&group, &at)
        }
        (IpAddr::V6(group), IpAddr::V6(_)) => {
            sockopt::set_ipv6_multicast_if(socket, index)?;
            sockopt::set_ipv6_multicast_hops(socket, HOPS)?;
            sockopt::set_ipv6_multicast_loop(socket, false)?;
            socket.join_multicast_v6(&group, index)
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "addresses of two kinds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_within_their_scopes() {
        let v4 = group_of(0x0102_03ff, Ipv4Addr::LOCALHOST.into());
        assert_eq!(v4, IpAddr::from([239, 255, 3, 255]));
        let v6 = group_of(0x0102_03ff, Ipv6Addr::LOCALHOST.into());
        assert_eq!(v6.to_string(), "ff12::102:3ff");
        assert!(v4.is_multicast() && v6.is_multicast());
    }
}
