//! The sockets of a host: one for meeting other hosts, and one for each rank.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use nix::net::if_::if_nametoindex;
use weft_udp::{group_of, join};

use crate::access::{Bound, bind_socket, bind_sockets};
use crate::messages::hosts::Begin;

/// Ports that the system gives to nobody by itself, for sockets that must have the same on every
/// host.
const FIRST_PORT: u16 = 61_000;
const JOBS: u32 = 3_500;

/// Sockets that others know of.
#[derive(Debug)]
pub(super) struct Sockets {
    pub meeting: Bound,
    /// Its address.
    pub address: SocketAddr,
    /// Of the ranks here, and where.
    pub ranks: Vec<(Bound, SocketAddr)>,
    /// Group address at which the meeting sockets of all hosts hear what the network copies, if
    /// this one does.
    pub group: Option<SocketAddr>,
}

impl Sockets {
    /// True if something listens at all addresses.
    pub fn listen(&self) -> bool {
        let mut all = self.ranks.iter().map(|(bound, _)| bound).chain([&self.meeting]);
        all.all(|(_, listener)| listener.is_some())
    }

    /// Binds them to the host's address; or, if they are to hear what the network copies and the
    /// system lets them, to ports that are the same on every host.
    ///
    /// # Errors
    /// What the system says.
    pub fn bind(begin: &Begin) -> io::Result<Self> {
        if begin.copied
            && let Ok(sockets) = bind_together(begin)
        {
            return Ok(sockets);
        }
        let (meeting, address) = bind_socket(begin.address, begin.bulk)?;
        let ranks = bind_sockets(begin.address, begin.settings.ranks, begin.bulk)?;
        Ok(Sockets { meeting, address, ranks, group: None })
    }
}

fn bind_together(begin: &Begin) -> io::Result<Sockets> {
    let group = group_of(begin.job, begin.address);
    let at = (begin.address, if_nametoindex(begin.interface.as_str())?);
    let any: IpAddr = match begin.address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let bind = |port: u16| -> io::Result<(Bound, SocketAddr)> {
        let socket = UdpSocket::bind((any, port))?;
        join(&socket, group, at)?;
        // Without it long packets go by datagram.
        let listener = TcpListener::bind((begin.address, port)).ok().filter(|_| begin.bulk);
        Ok(((socket, listener), (begin.address, port).into()))
    };
    let port = FIRST_PORT + (begin.job % JOBS) as u16;
    let (meeting, address) = bind(port)?;
    let ranks = (port + 1..).take(begin.settings.ranks.into()).map(bind);
    let ranks = ranks.collect::<io::Result<_>>()?;
    Ok(Sockets { meeting, address, ranks, group: Some((group, port).into()) })
}

const _: () =
    assert!(FIRST_PORT as u32 + JOBS + weft_link_shm::MAX_RANKS as u32 <= u16::MAX as u32);
