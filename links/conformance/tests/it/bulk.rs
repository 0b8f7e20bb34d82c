//! The suite on links of shared memory, UDP and TCP over loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use weft_bulk::{Bulk, BulkSettings};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link_shm::{Settings, Shm, create_memory};
use weft_mixed::{Mixed, Near};
use weft_udp::{Udp, UdpSettings};
use weft_wire::Rank;

type All = Mixed<Shm, Bulk<Udp>>;

const FRAMES: u32 = 32;

fn bind() -> (UdpSocket, TcpListener) {
    loop {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        if let Ok(listener) = TcpListener::bind(socket.local_addr().unwrap()) {
            return (socket, listener);
        }
    }
}

/// The links of a job whose rank `i` is on host `host_of(i)`.
fn links(ranks: u16, host_of: impl Fn(u16) -> u16, protection: Protection) -> Vec<All> {
    let bound: Vec<_> = (0..ranks).map(|_| bind()).collect();
    let peers: Vec<SocketAddr> =
        bound.iter().map(|(socket, _)| socket.local_addr().unwrap()).collect();
    let hosts: Vec<u16> = (0..ranks).map(&host_of).collect();
    let count = hosts.iter().max().map_or(0, |last| last + 1);
    let of_host = |host| (0..ranks).filter(|&rank| host_of(rank) == host).map(Rank).collect();
    let here: Vec<Vec<Rank>> = (0..count).map(of_host).collect();
    let settings = |here: &Vec<Rank>| Settings {
        frames: FRAMES,
        frame_bytes: 8960,
        ..Settings::new(here.len().max(1) as u16)
    };
    let files: Vec<_> = here.iter().map(|here| create_memory(&settings(here)).unwrap()).collect();
    let secret = Secret::new([3; 16]);
    let attach = |(own, (socket, listener)): (Rank, (UdpSocket, TcpListener))| {
        let host = usize::from(hosts[own.index()]);
        let number = here[host].iter().position(|rank| *rank == own).unwrap();
        let near = Shm::attach(Rank(number as u16), settings(&here[host]), &files[host]);
        let far = weft_udp::attach(UdpSettings {
            datagram_bytes: UdpSettings::datagram_bytes(1500, &peers[0]),
            socket,
            peers: peers.clone(),
            keys: Keys::new(secret.clone(), 1, own, protection),
            only: None,
            group: None,
            frames: 0,
            receive_frames: 128,
        })
        .unwrap();
        let arrivals = far.arrivals().unwrap();
        let far = Bulk::attach(
            far,
            BulkSettings {
                listener,
                peers: peers.clone(),
                keys: weft_bulk::keys(&secret, 1, own, protection),
                frames: FRAMES,
                receive_frames: 128,
                runs: None,
            },
        )
        .unwrap();
        let near_ranks = Near { ranks: here[host].clone(), carries: true };
        Mixed::new(near.unwrap(), near_ranks, far, arrivals, ranks).unwrap()
    };
    (0..).map(Rank).zip(bound).map(attach).collect()
}

#[test]
fn a_host_each() {
    weft_link_conformance::all(|ranks| links(ranks, |rank| rank, Protection::Tagged));
}

#[test]
fn a_host_each_encrypted() {
    weft_link_conformance::all(|ranks| links(ranks, |rank| rank, Protection::Encrypted));
}

#[test]
fn two_on_each_host() {
    weft_link_conformance::all(|ranks| links(ranks, |rank| rank / 2, Protection::Tagged));
}

#[test]
fn neighbours_on_different_hosts() {
    weft_link_conformance::all(|ranks| links(ranks, |rank| rank % 2, Protection::Tagged));
}
