//! Hosts with a rank each: datagrams over loopback, and long packets over TCP beside them.

use crate::lock;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Mutex;
use weft_bulk::{Bulk, BulkSettings};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link_shm::{Settings, Shm, create_memory};
use weft_mixed::{Mixed, Near};
use weft_udp::{Udp, UdpSettings};
use weft_wire::Rank;

const JOB: u32 = 1;
const MTU: usize = 1500;
/// Frames of a rank, and packets that its readers may hold.
const FRAMES: usize = 128;

/// Sockets of all ranks.
pub(crate) struct Long {
    /// Memory of each rank's host.
    near: Settings,
    /// By rank, until it attaches.
    sockets: Vec<Mutex<Option<(UdpSocket, TcpListener)>>>,
    datagrams: Vec<SocketAddr>,
    connections: Vec<SocketAddr>,
}

impl Long {
    pub fn new(memory: &Settings) -> Self {
        let at = (Ipv4Addr::LOCALHOST, 0);
        let near = Settings { ranks: 1, ..*memory };
        let mut long =
            Long { near, sockets: Vec::new(), datagrams: Vec::new(), connections: Vec::new() };
        for _ in 0..memory.ranks {
            let socket = UdpSocket::bind(at).expect("loopback has ports");
            let listener = TcpListener::bind(at).expect("loopback has ports");
            long.datagrams.push(socket.local_addr().expect("it is bound"));
            long.connections.push(listener.local_addr().expect("it is bound"));
            long.sockets.push(Mutex::new(Some((socket, listener))));
        }
        long
    }

    pub fn attach(&self, rank: Rank) -> Mixed<Shm, Bulk<Udp>> {
        let file = create_memory(&self.near).expect("shared memory can be made");
        let near = Shm::attach(Rank(0), self.near, &file).expect("a rank can attach");
        let (socket, listener) =
            lock(&self.sockets[rank.index()]).take().expect("a rank attaches once");
        let secret = Secret::new([7; 16]);
        let far = weft_udp::attach(UdpSettings {
            socket,
            peers: self.datagrams.clone(),
            keys: Keys::new(secret.clone(), JOB, rank, Protection::Tagged),
            datagram_bytes: UdpSettings::datagram_bytes(MTU, &self.datagrams[0]),
            only: None,
            group: None,
            frames: 0,
            receive_frames: FRAMES,
        })
        .expect("a rank can attach");
        let arrivals = far.arrivals().expect("there are descriptors");
        let settings = BulkSettings {
            listener,
            peers: self.connections.clone(),
            keys: weft_bulk::keys(&secret, JOB, rank, Protection::Tagged),
            frames: FRAMES as u32,
            receive_frames: FRAMES,
            runs: None,
        };
        let far = Bulk::attach(far, settings).expect("a rank can attach");
        let ranks = Near { ranks: vec![rank], carries: true };
        let everyone = self.datagrams.len() as u16;
        Mixed::new(near, ranks, far, arrivals, everyone).expect("a thread can start")
    }
}
