//! Set-up of one rank's attachment.

use crate::batch;
use crate::socket::Socket;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use weft_datagram::seal::Keys;
use weft_datagram::{DatagramBells, DatagramLink, DatagramSettings, memory};
use weft_wire::Rank;

/// A link over UDP.
pub type Udp = DatagramLink<Socket>;

/// Bytes that the kernel is asked to hold for us in each direction; it may give less.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

/// Settings with which a rank attaches.
#[derive(Debug)]
pub struct UdpSettings {
    /// Bound already, so that others can be told where.
    pub socket: UdpSocket,
    /// Addresses of all ranks, by rank; all of the socket's own family.
    pub peers: Vec<SocketAddr>,
    /// Keys of the job, and this rank's number.
    pub keys: Keys,
    /// Bytes of a datagram at most: the narrowest MTU on the way, less what IP and UDP put before
    /// them.
    pub datagram_bytes: usize,
    /// If packets go to one peer only, which: the kernel then looks for the way there once, and
    /// takes nothing from elsewhere.
    pub only: Option<Rank>,
    /// If the sockets of all ranks have [joined](crate::join) one, the group: multicasts to ranks
    /// of other hosts that are bound to the same port leave as one datagram. Not if packets are
    /// encrypted.
    pub group: Option<IpAddr>,
    /// Frames for sending.
    pub frames: usize,
    /// Frames for receiving: a packet in use takes one, unless it arrived together with others. As
    /// many as the receive buffers of the protocol, or it finds fewer than it counts on. Each has
    /// room for all that the kernel hands over at once, 64 KiB, of which memory is taken only for
    /// what was used.
    pub receive_frames: usize,
}

impl UdpSettings {
    /// Datagrams for a path with this MTU, from this kind of address.
    pub fn datagram_bytes(mtu: usize, from: &SocketAddr) -> usize {
        mtu - headers(from)
    }
}

/// Bytes of the headers of UDP and IP before a datagram from this kind of address.
fn headers(from: &SocketAddr) -> usize {
    const UDP_HEADER: usize = 8;
    UDP_HEADER + if from.is_ipv6() { 40 } else { 20 }
}

/// Attaches to a job.
///
/// # Errors
/// Those of the kernel about the socket, or that the settings leave no room for packets.
pub fn attach(settings: UdpSettings) -> io::Result<Udp> {
    let UdpSettings { socket, peers, keys, datagram_bytes, only, group, frames, receive_frames } =
        settings;
    let connected = set_up(&socket, only.and_then(|peer| peers.get(peer.index())))?;
    let group = group.filter(|_| !connected);
    let socket = Arc::new(socket);
    let own = keys.own();
    let settings = DatagramSettings {
        keys,
        ranks: peers.len(),
        room: 0..datagram_bytes,
        header_bytes: headers(&socket.local_addr()?),
        reliable: false,
        frames: memory::places(frames, datagram_bytes, 0)?,
        receive_frames,
        places: memory::places(receive_frames + 1, batch::MOST_JOINED, 0)?,
        bells: Arc::new(DatagramBells::new(Arc::clone(&socket) as _)?),
    };
    let addresses = group.map(|_| ports_of(own, &peers));
    let socket = Socket::new(socket, peers, connected, group, datagram_bytes);
    let most_in_run = socket.most_in_run();
    let link = DatagramLink::new(socket, settings)?.with_runs(most_in_run);
    Ok(match addresses {
        Some(addresses) => link.sharing(addresses),
        None => link,
    })
}

/// By rank: its port, if it is on another host, which a group's datagrams reach. A host does not
/// hear itself.
fn ports_of(own: Rank, peers: &[SocketAddr]) -> Vec<Option<u16>> {
    let here = peers.get(own.index()).map(SocketAddr::ip);
    peers.iter().map(|peer| (Some(peer.ip()) != here).then_some(peer.port())).collect()
}

/// Has the kernel treat a socket as this link needs it; `only` is the one that it talks to. Says
/// whether there is such a one.
fn set_up(socket: &UdpSocket, only: Option<&SocketAddr>) -> io::Result<bool> {
    socket.set_nonblocking(true)?;
    forbid_fragments(socket)?;
    // The kernel has limits of its own; with less, more is lost and sent again.
    let _ = sockopt::set_socket_recv_buffer_size(socket, SOCKET_BUFFER_BYTES);
    let _ = sockopt::set_socket_send_buffer_size(socket, SOCKET_BUFFER_BYTES);
    if let Some(peer) = only {
        socket.connect(peer)?;
    }
    Ok(only.is_some())
}

/// Has the kernel send no datagram in fragments, and believe nothing of what comes from the network
/// about how long they may be.
fn forbid_fragments(socket: &UdpSocket) -> io::Result<()> {
    match socket.local_addr()?.is_ipv6() {
        true => sockopt::set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE)?,
        false => sockopt::set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE)?,
    }
    Ok(())
}
