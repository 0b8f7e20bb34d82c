//! The floors of Ethernet that every program can have: TCP and UDP sockets, looked at again and
//! again.

use super::datagrams::Datagrams;
use super::side::Side;
use super::spin::{ready, spin};
use super::{End, Line};
use anyhow::{Context, Result, bail};
use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

/// Bytes taken from a connection at once.
const READ_BYTES: usize = 256 * 1024;
/// Bytes of UDP and IP headers in a packet on Ethernet, version 4 and 6.
const HEADERS: (usize, usize) = (28, 48);
/// Jumbo frames. The loopback takes more, which no Ethernet does.
const MOST_MTU: u32 = 9000;
/// Receive buffer that the kernel is asked for.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;
/// Longest time that an address has to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Connections of two ends: a side connection and one line of each kind.
pub struct Sockets {
    /// For meeting.
    pub side: Side,
    /// A TCP connection.
    pub tcp: Tcp,
    /// UDP datagrams.
    pub udp: Udp,
}

/// Socket at which the second end waits for the first.
pub struct Waiting(TcpListener);

impl Waiting {
    /// Listens at `port`, or at any if that is 0.
    ///
    /// # Errors
    /// What the system says.
    pub fn at(port: u16) -> Result<Self> {
        // On most systems, version 6 takes version 4 in.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
            .with_context(|| format!("cannot listen at port {port}"))?;
        Ok(Waiting(listener))
    }

    /// The port.
    ///
    /// # Errors
    /// What the system says.
    pub fn port(&self) -> Result<u16> {
        Ok(self.0.local_addr()?.port())
    }

    /// Waits for the first end.
    ///
    /// # Errors
    /// What the system says.
    pub fn accept(self) -> Result<Sockets> {
        let (side, _) = self.0.accept()?;
        let (tcp, _) = self.0.accept()?;
        Sockets::new(side, tcp, End::Second)
    }
}

impl Sockets {
    /// Connects to the second end, at the first of its addresses that answers.
    ///
    /// # Errors
    /// None does.
    pub fn connect(port: u16, addresses: &[IpAddr]) -> Result<Self> {
        let connect = |address: &IpAddr| {
            TcpStream::connect_timeout(&SocketAddr::new(*address, port), PATIENCE).ok()
        };
        let Some(side) = addresses.iter().find_map(connect) else {
            bail!("cannot reach the other end at any of {addresses:?}, port {port}");
        };
        let tcp = TcpStream::connect(side.peer_addr()?)?;
        Sockets::new(side, tcp, End::First)
    }

    fn new(side: TcpStream, tcp: TcpStream, end: End) -> Result<Self> {
        let (own, other) = (plain(side.local_addr()?.ip()), plain(side.peer_addr()?.ip()));
        let socket = UdpSocket::bind((own, 0))?;
        let mut side = Side::new(side)?;
        let port = side.exchange(socket.local_addr()?.port().into())?;
        socket.connect((other, port as u16))?;
        let udp = Udp::new(socket)?;
        let tcp = Tcp::new(tcp)?;
        // The second end's accept may come after the first's connect, but never later than this.
        side.meet(|| Ok(())).with_context(|| format!("{end:?} end"))?;
        Ok(Sockets { side, tcp, udp })
    }
}

/// An address of version 4 as itself, though a socket of version 6 may say it.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// A connection without delay (TCP_NODELAY).
pub struct Tcp {
    stream: TcpStream,
    buffer: Vec<u8>,
    have: usize,
}

impl Tcp {
    /// Uses this connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Tcp { stream, buffer: vec![0; READ_BYTES], have: 0 })
    }

    /// The connection, which does not block.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }
}

impl Line for Tcp {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let sent = spin("TCP", || ready(self.stream.write(rest)))?;
            rest = &rest[sent..];
        }
        Ok(())
    }

    fn receive(&mut self, size: usize) -> Result<()> {
        while self.have < size {
            let some = spin("TCP", || ready(self.stream.read(&mut self.buffer)))?;
            if some == 0 {
                bail!("TCP: the other end has gone");
            }
            std::hint::black_box(&self.buffer[..some]);
            self.have += some;
        }
        self.have -= size;
        Ok(())
    }
}

/// Datagrams as large as fit into an Ethernet frame.
pub struct Udp {
    socket: UdpSocket,
    buffer: Vec<u8>,
    datagram_bytes: usize,
}

impl Udp {
    /// Uses this connected socket.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(socket: UdpSocket) -> Result<Self> {
        socket.set_nonblocking(true)?;
        // As Weft asks for. A datagram takes more of it where a driver runs XDP programs, and what
        // does not fit is lost for good here.
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER_BYTES);
        let (mtu, headers) = match socket.peer_addr()?.is_ipv4() {
            true => (ip_mtu(&socket)?, HEADERS.0),
            false => (ipv6_mtu(&socket)?, HEADERS.1),
        };
        let datagram_bytes = mtu.min(MOST_MTU) as usize - headers;
        Ok(Udp { socket, buffer: vec![0; datagram_bytes], datagram_bytes })
    }
}

impl Datagrams for Udp {
    fn datagram_bytes(&self) -> usize {
        self.datagram_bytes
    }

    fn send_one(&mut self, bytes: &[u8]) -> Result<()> {
        spin("UDP", || ready(self.socket.send(bytes)))?;
        Ok(())
    }

    fn receive_one(&mut self) -> Result<usize> {
        let context = "UDP, which sends nothing again";
        let some = spin(context, || ready(self.socket.recv(&mut self.buffer)))?;
        std::hint::black_box(&self.buffer[..some]);
        Ok(some)
    }
}
