//! Path MTU: the largest packets that reach another host unfragmented.

use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use std::net::{IpAddr, UdpSocket};

/// Bytes that a packet from `from` to `to` may have, its IP header included, as far as the system
/// knows: what the interface takes, or less if something on the way has said so (RFC 1191).
pub fn path_mtu(from: IpAddr, to: IpAddr) -> Option<u32> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    // Nothing is sent: the system only looks up the way.
    socket.connect((to, 9)).ok()?;
    let asked = if from.is_ipv4() { ip_mtu(&socket) } else { ipv6_mtu(&socket) };
    asked.ok()
}
