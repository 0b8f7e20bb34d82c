//! One rank's attachment.

use crate::batch;
use crate::landing::Landing;
use crate::outgoing::Outgoing;
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use weft_datagram::seal::{Keys, Refusals, Seals};
use weft_datagram::{Arrived, Batches, Batching, DatagramBells, Incoming, OWN, Sent, WayChange};
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::{Nanoseconds, SystemClock};
use weft_link::ni::NoNi;
use weft_link::{
    Buffer, Capabilities, Link, LinkViolation, NoShort, Part, PathMtu, Paths, Payload, Received,
    Services, SharedFrames, no_program_memory,
};
use weft_wire::{Header, Rank, Tag, envelope, network};

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

/// Counters of a link since it was attached.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counters {
    /// On the way out.
    pub sent: Sent,
    /// On the way in.
    pub arrived: Arrived,
    /// Datagrams that arrived and were not for us, or not from whom they said.
    pub refused: Refusals,
}

/// A link over UDP.
pub struct Udp {
    socket: Arc<UdpSocket>,
    peers: Vec<SocketAddr>,
    seals: Seals,
    capabilities: Capabilities,
    /// Frames for sending. Cells, because whoever allocated one writes to it by its address.
    frames: Vec<Box<[Cell<u8>]>>,
    free: Vec<u32>,
    /// Scratch space in which the bytes of a packet are put together before they go into their
    /// datagram.
    scratch: Box<[u8]>,
    outgoing: Outgoing,
    landing: Landing,
    incoming: Incoming<Box<[u8]>>,
    bells: Arc<DatagramBells>,
}

impl Udp {
    /// Attaches to a job.
    ///
    /// # Errors
    /// What the kernel says about the socket, or that the settings leave no room for packets.
    pub fn attach(settings: UdpSettings) -> io::Result<Self> {
        let UdpSettings {
            socket,
            peers,
            keys,
            datagram_bytes,
            only,
            group,
            frames,
            receive_frames,
        } = settings;
        let ranks = u16::try_from(peers.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "too many ranks"))?;
        let own = keys.own();
        let seals = Seals::new(keys, ranks);
        let trailer_bytes = seals.protection().trailer_bytes();
        let around = envelope::SIZE + network::SIZE + trailer_bytes;
        let max_payload =
            datagram_bytes.saturating_sub(around) / envelope::ALIGNMENT * envelope::ALIGNMENT;
        if max_payload < envelope::WORDS_BYTES || datagram_bytes > usize::from(u16::MAX) {
            let text = format!("datagrams of {datagram_bytes} bytes cannot carry packets");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let connected = set_up(&socket, only.and_then(|peer| peers.get(peer.index())))?;
        let group = group.filter(|_| !connected && trailer_bytes == 0);
        let mut outgoing = Outgoing::new(
            peers.len(),
            datagram_bytes,
            trailer_bytes,
            batch::can_segment(socket.as_fd()),
            connected,
        );
        let shared = group.map(|group| outgoing.share(group, own, &peers));
        let multicast_payload = shared.map_or(max_payload, |most| most.min(max_payload));
        let socket = Arc::new(socket);
        let capabilities = Capabilities {
            max_payload,
            multicast_payload,
            inline_payload: 0,
            lossless: false,
            ordered: false,
            multicast: false,
            frames,
            receive_frames,
            host_frames: 0,
            threads: true,
        };
        Ok(Udp {
            bells: Arc::new(DatagramBells::new(Arc::clone(&socket) as _)?),
            outgoing,
            landing: Landing::new(Arc::clone(&socket)),
            // One more than readers can hold.
            incoming: Incoming::new(
                receive_frames,
                (0..=receive_frames)
                    .map(|_| vec![0; batch::MOST_JOINED].into_boxed_slice())
                    .collect(),
            ),
            frames: (0..frames)
                .map(|_| vec![Cell::new(0); max_payload].into_boxed_slice())
                .collect(),
            free: (0..frames as u32).rev().collect(),
            scratch: vec![0; max_payload].into_boxed_slice(),
            socket,
            peers,
            seals,
            capabilities,
        })
    }

    /// Counters of this link so far.
    pub fn counters(&self) -> Counters {
        Counters {
            sent: self.outgoing.sent(),
            arrived: self.incoming.counters,
            refused: *self.seals.refusals(),
        }
    }

    /// A descriptor that is readable while datagrams wait, for who sleeps beside this link's own
    /// bells.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn arrivals(&self) -> io::Result<OwnedFd> {
        self.socket.as_fd().try_clone_to_owned()
    }

    #[inline]
    fn send_waiting(&mut self) {
        if !self.incoming.asking.is_answered() {
            self.outgoing.answer(&mut self.incoming.asking);
        }
        if self.outgoing.is_empty() {
            return;
        }
        let congested = self.outgoing.flush(self.socket.as_fd(), &self.peers, &mut self.seals);
        self.bells.set_congested(congested);
    }
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

impl Batching for Udp {
    #[inline]
    fn has_unflushed(&self) -> bool {
        !self.outgoing.is_empty()
    }

    #[inline]
    fn has_buffered(&self) -> bool {
        self.incoming.has_buffered()
    }

    fn own_bells(&self) -> &DatagramBells {
        &self.bells
    }
}

impl Link for Udp {
    type Clock = SystemClock;
    type Short = NoShort;
    type Network = Batches;
    type Ni = NoNi;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<Batches> = Some(Batches);
    const NI: Option<NoNi> = None;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        self.free.pop().map(|frame| Buffer::new(OWN, frame.into()))
    }

    #[inline]
    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        match self.incoming.bytes(buffer) {
            Some(bytes) => bytes,
            None => NonNull::from(&self.frames[buffer.number() as usize][..]).cast(),
        }
    }

    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        if self.outgoing.is_full() {
            self.send_waiting();
        }
        // Only these kinds have user bytes on the wire.
        let has_bytes = matches!(header.tag, Tag::Ucast | Tag::Mcast);
        match payload {
            Payload::Buffer(buffer) => {
                let size = usize::from(header.size);
                if let Some(bytes) = self.incoming.read(buffer, size) {
                    self.outgoing.put(to, header, bytes);
                    return;
                }
                let bytes = &mut self.scratch[..size];
                let cells = &self.frames[buffer.number() as usize][..size];
                bytes.iter_mut().zip(cells).for_each(|(byte, cell)| *byte = cell.get());
                self.outgoing.put(to, header, bytes);
            }
            Payload::Words([first, second]) => {
                let mut bytes = [0; envelope::WORDS_BYTES];
                bytes[..8].copy_from_slice(&first.to_le_bytes());
                bytes[8..].copy_from_slice(&second.to_le_bytes());
                self.outgoing.put(to, header, &bytes);
            }
            Payload::Empty => {
                debug_assert!(!has_bytes || header.size == 0, "user bytes are missing");
                self.outgoing.put(to, header, &[]);
            }
        }
    }

    #[inline]
    fn flush(&mut self) {
        self.send_waiting();
    }

    #[inline(always)]
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        Ok(self.incoming.next(&mut self.landing, &mut self.seals))
    }

    fn has_arrivals(&mut self) -> bool {
        self.incoming.find(&mut self.landing, &mut self.seals)
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        if let Some(bytes) = self.incoming.read(buffer, into.len()) {
            into.copy_from_slice(bytes);
            return;
        }
        let cells = &self.frames[buffer.number() as usize][..into.len()];
        into.iter_mut().zip(cells).for_each(|(byte, cell)| *byte = cell.get());
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        if !self.incoming.free(buffer) {
            self.free.push(buffer.number() as u32);
        }
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::clone(&self.bells) as Arc<dyn Bells>
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        // Who sleeps sends nothing.
        self.send_waiting();
        let bells = Arc::clone(&self.bells);
        bells.arm_unless(waiter, || {
            let any = self.has_arrivals();
            // What came may have been a probe.
            self.send_waiting();
            any
        })
    }

    fn disarm(&mut self, waiter: Waiter) {
        self.bells.arm(waiter, false);
    }

    fn services(&self) -> Services {
        Services::default()
    }

    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        None
    }

    no_program_memory!();

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        Some(self)
    }
}

impl Paths for Udp {
    fn payload_to(&self, _: Rank) -> Option<usize> {
        None
    }

    fn is_under_way(&mut self, _: Rank) -> bool {
        false
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        let change = self.outgoing.tend(&mut self.incoming.asking, now);
        self.send_waiting();
        let around = headers(&self.peers[0]);
        let job = self.outgoing.datagram_bytes() + around;
        change.map(|change| match change {
            WayChange::Narrow { to, most } => PathMtu { to, mtu: most + around, job },
            WayChange::Wide { to } => PathMtu { to, mtu: job, job },
        })
    }
}

impl Part for Udp {
    fn is_own(&self, _: Buffer) -> bool {
        true
    }

    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool {
        if self.outgoing.is_full() {
            self.send_waiting();
        }
        self.outgoing.put(to, header, bytes);
        true
    }

    fn most_payload_at_once(&self) -> usize {
        self.outgoing.most_payload_at_once(self.capabilities.max_payload)
    }

    fn wants_room(&self) -> bool {
        self.bells.is_congested()
    }
}
