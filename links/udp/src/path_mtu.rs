//! Path MTU: the largest packets that reach another host unfragmented.

use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use weft_link::MtuExceeded;
use weft_wire::Rank;

/// Bytes that a packet from `from` to `to` may have, its IP header included, as far as the system
/// knows: what the interface takes, or less if something on the way has said so (RFC 1191).
pub fn path_mtu(from: IpAddr, to: IpAddr) -> Option<u32> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    // Nothing is sent: the system only looks up the way.
    socket.connect((to, 9)).ok()?;
    let asked = if from.is_ipv4() { ip_mtu(&socket) } else { ipv6_mtu(&socket) };
    asked.ok()
}

/// A datagram that the system refused because it is too long for the path MTU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooLong {
    pub to: Rank,
    /// Bytes of it, without the headers of UDP and IP.
    pub bytes: usize,
}

impl TooLong {
    /// Path that it exceeds, if its MTU is still too small.
    pub fn judge(self, from: SocketAddr, to: SocketAddr) -> Option<MtuExceeded> {
        let TooLong { to: rank, bytes } = self;
        let mtu = path_mtu(from.ip(), to.ip())?;
        let bytes = bytes + crate::link::headers(&from);
        let is_exceeded = (mtu as usize) < bytes;
        let limited = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
        is_exceeded.then_some(MtuExceeded {
            to: rank,
            bytes: limited(bytes),
            mtu: limited(mtu as usize),
        })
    }
}
