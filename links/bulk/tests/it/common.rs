//! Links over loopback, and what goes over them.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ptr::NonNull;
use weft_bulk::{Bulk, BulkSettings, RunSettings};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::clock::Nanoseconds;
use weft_link::{Buffer, Link, LinkPart, LinkViolation, Payload, Received};
use weft_udp::{Udp, UdpSettings};
use weft_wire::{Follows, Header, Rank, Tag, TreeId};

pub const JOB: u32 = 7;

pub fn secret() -> Secret {
    Secret::new([9; 16])
}

/// Sockets that a job's links are attached with.
pub struct Ways {
    sockets: Vec<UdpSocket>,
    pub listeners: Vec<TcpListener>,
    /// Addresses at which others look for these listeners.
    pub peers: Vec<SocketAddr>,
}

impl Ways {
    pub fn new(ranks: u16) -> Self {
        let at = (Ipv4Addr::LOCALHOST, 0);
        let sockets = (0..ranks).map(|_| UdpSocket::bind(at).unwrap()).collect();
        let listeners: Vec<_> = (0..ranks).map(|_| TcpListener::bind(at).unwrap()).collect();
        let peers = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
        Ways { sockets, listeners, peers }
    }

    pub fn attach(self, protection: Protection) -> Vec<Bulk<Udp>> {
        let fars = datagrams(self.sockets, &secret(), protection, 1500);
        let all = (0..).map(Rank).zip(fars.into_iter().zip(self.listeners));
        let attach =
            |(own, (far, listener))| attach(own, far, listener, &self.peers, protection, None);
        all.map(attach).collect()
    }

    /// The last rank has a link for datagrams alone.
    pub fn attach_but_last(self, protection: Protection) -> (Vec<Bulk<Udp>>, Udp) {
        let mut fars = datagrams(self.sockets, &secret(), protection, 1500);
        let last = fars.pop().unwrap();
        let all = (0..).map(Rank).zip(fars.into_iter().zip(self.listeners));
        let attach =
            |(own, (far, listener))| attach(own, far, listener, &self.peers, protection, None);
        (all.map(attach).collect(), last)
    }

    /// With a link for packets of up to 53 KB beside that for datagrams.
    pub fn attach_with_runs(self, protection: Protection) -> Vec<Bulk<Udp>> {
        self.attach_beside(protection, |runs| Box::new(runs))
    }

    /// With such a link, of which nothing arrives.
    pub fn attach_with_lost_runs(self, protection: Protection) -> Vec<Bulk<Udp>> {
        self.attach_beside(protection, |runs| Box::new(Silent(runs)))
    }

    fn attach_beside(
        self,
        protection: Protection,
        beside: impl Fn(Udp) -> Box<dyn weft_bulk::RunLink>,
    ) -> Vec<Bulk<Udp>> {
        let sockets = Ways::new(self.listeners.len() as u16).sockets;
        let runs = datagrams(sockets, &secret().derive("runs"), protection, 9000);
        let fars = datagrams(self.sockets, &secret(), protection, 1500);
        let all = (0..).map(Rank).zip(fars.into_iter().zip(self.listeners).zip(runs));
        let attach = |(own, ((far, listener), runs)): (_, ((_, _), Udp))| {
            let arrivals = runs.arrivals().unwrap();
            let runs = RunSettings { arrivals, link: beside(runs) };
            attach(own, far, listener, &self.peers, protection, Some(runs))
        };
        all.map(attach).collect()
    }
}

/// A link for runs that loses all.
struct Silent(Udp);

impl weft_bulk::RunLink for Silent {
    fn most_payload(&self) -> usize {
        weft_bulk::RunLink::most_payload(&self.0)
    }

    fn send(&mut self, _: Rank, _: &Header, _: &[u8]) {}

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        weft_bulk::RunLink::receive(&mut self.0)
    }

    fn has_arrivals(&mut self) -> bool {
        weft_bulk::RunLink::has_arrivals(&mut self.0)
    }

    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        weft_bulk::RunLink::bytes(&self.0, buffer)
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        weft_bulk::RunLink::copy_out(&self.0, buffer, into);
    }

    fn free(&mut self, buffer: Buffer) {
        weft_bulk::RunLink::free(&mut self.0, buffer);
    }

    fn tend(&mut self, now: Nanoseconds) {
        weft_bulk::RunLink::tend(&mut self.0, now);
    }
}

/// Links for datagrams, a rank's each.
fn datagrams(
    sockets: Vec<UdpSocket>,
    secret: &Secret,
    protection: Protection,
    mtu: usize,
) -> Vec<Udp> {
    let peers: Vec<SocketAddr> =
        sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    let attach = |(own, socket)| {
        weft_udp::attach(UdpSettings {
            datagram_bytes: UdpSettings::datagram_bytes(mtu, &peers[0]),
            socket,
            peers: peers.clone(),
            keys: Keys::new(secret.clone(), JOB, own, protection),
            only: None,
            group: None,
            frames: 0,
            receive_frames: 256,
        })
        .unwrap()
    };
    (0..).map(Rank).zip(sockets).map(attach).collect()
}

fn attach(
    own: Rank,
    far: Udp,
    listener: TcpListener,
    peers: &[SocketAddr],
    protection: Protection,
    runs: Option<RunSettings>,
) -> Bulk<Udp> {
    let keys = weft_bulk::keys(&secret(), JOB, own, protection);
    let peers = peers.to_vec();
    let settings = BulkSettings { listener, peers, keys, frames: 64, receive_frames: 256, runs };
    Bulk::attach(far, settings).unwrap()
}

pub fn pair() -> [Bulk<Udp>; 2] {
    Ways::new(2).attach(Protection::Tagged).try_into().ok().unwrap()
}

/// Bytes of the packet with this number.
pub fn pattern(number: u32, size: usize) -> Vec<u8> {
    (0..size).map(|i| (number as usize * 31 + i * 7) as u8).collect()
}

/// Transmits packet `number` of rank 0 to rank 1, which follows those before it, without a flush;
/// false if no frame is free.
pub fn transmit(link: &mut Bulk<Udp>, number: u32, size: usize) -> bool {
    transmit_after(link, Follows::Earlier, number, size)
}

/// Does what [`transmit`] does, for a packet that follows something else.
pub fn transmit_after(link: &mut Bulk<Udp>, follows: Follows, number: u32, size: usize) -> bool {
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    let header = Header { sequence: number, follows, ..header };
    link.transmit_copy(Rank(1), &header, &pattern(number, size))
}

/// Receives what is there: numbers of packets whose bytes are right, in the order of arrival.
pub fn receive_all(link: &mut Bulk<Udp>, into: &mut VecDeque<u32>) {
    while let Some(received) = link.receive().unwrap() {
        let Payload::Buffer(buffer) = received.payload else { continue };
        let mut bytes = vec![0; received.header.size.into()];
        link.copy_out(buffer, &mut bytes);
        link.free(buffer);
        let number = received.header.sequence;
        assert_eq!(bytes, pattern(number, bytes.len()), "the bytes of {number}");
        into.push_back(number);
    }
}

/// Passes on what comes at an address, `bytes` of it on the first connection.
pub fn cutting_proxy(to: SocketAddr, bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut left = Some(bytes);
        while let Ok((mut from, _)) = listener.accept() {
            let mut to = TcpStream::connect(to).unwrap();
            let mut buffer = [0; 4096];
            let mut passed = 0;
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                let end = left.map_or(read, |most| read.min(most - passed));
                if to.write_all(&buffer[..end]).is_err() {
                    break;
                }
                passed += end;
                if left == Some(passed) {
                    break;
                }
            }
            left = None;
        }
    });
    address
}
