//! Ways of ranks to a network: sockets, or ports of an interface.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::messages::EthernetAccess;

/// A rank's way to a network.
#[derive(Debug)]
pub(crate) enum Access {
    /// Bound to its address; and what listens there, if there is that.
    Udp(UdpSocket, Option<TcpListener>),
    /// Of an interface that is ours; and what listens, if there is that.
    Xdp(EthernetAccess, [OwnedFd; 2], Option<TcpListener>),
}

impl Access {
    /// Descriptors that the rank is given.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let (mut descriptors, listener): (Vec<_>, _) = match self {
            Access::Udp(socket, listener) => (vec![socket.as_fd()], listener),
            Access::Xdp(_, port, listener) => (port.iter().map(OwnedFd::as_fd).collect(), listener),
        };
        descriptors.extend(listener.iter().map(TcpListener::as_fd));
        descriptors
    }

    /// The rank's part of an interface, without its descriptors.
    pub fn ethernet(&self) -> Option<&EthernetAccess> {
        match self {
            Access::Udp(..) => None,
            Access::Xdp(ethernet, ..) => Some(ethernet),
        }
    }
}

/// Ports that are tried for one that is free for both kinds of sockets.
const PORTS_TRIED: usize = 32;

/// Binds a socket for each of some ranks to an address of this host, and has something listen at
/// the same, if that is wished for.
pub(crate) fn bind_sockets(
    address: IpAddr,
    count: u16,
    listens: bool,
) -> io::Result<Vec<(Bound, SocketAddr)>> {
    (0..count).map(|_| bind_socket(address, listens)).collect()
}

/// A socket, and what listens at its address.
pub(crate) type Bound = (UdpSocket, Option<TcpListener>);

/// Binds one.
pub(crate) fn bind_socket(address: IpAddr, listens: bool) -> io::Result<(Bound, SocketAddr)> {
    // Those that have been tried stay bound, so that another port is tried next.
    let mut tried = Vec::new();
    loop {
        let socket = UdpSocket::bind((address, 0))?;
        let bound = socket.local_addr()?;
        if !listens {
            return Ok(((socket, None), bound));
        }
        match TcpListener::bind(bound) {
            Ok(listener) => return Ok(((socket, Some(listener)), bound)),
            Err(_) if tried.len() < PORTS_TRIED => tried.push(socket),
            Err(_) => return Ok(((socket, None), bound)),
        }
    }
}
