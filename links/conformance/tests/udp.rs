//! The suite on UDP over loopback, which loses nothing while few datagrams are on their way.

#![allow(clippy::unwrap_used)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use weft_link::wrap::{FaultPlan, Faults};
use weft_seal::{Keys, Protection, Secret};
use weft_udp::{Udp, UdpSettings};
use weft_wire::Rank;

fn udp(ranks: u16, ip: IpAddr, protection: Protection) -> Vec<Udp> {
    let bind = |_| UdpSocket::bind(SocketAddr::new(ip, 0)).unwrap();
    let sockets: Vec<UdpSocket> = (0..ranks).map(bind).collect();
    let peers: Vec<SocketAddr> =
        sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    let attach = |(own, socket): (usize, UdpSocket)| {
        Udp::attach(UdpSettings {
            datagram_bytes: UdpSettings::datagram_bytes(1500, &peers[0]),
            socket,
            peers: peers.clone(),
            keys: Keys::new(Secret::new([3; 16]), 1, Rank(own as u16), protection),
            only: None,
            frames: 32,
            receive_frames: 128,
        })
        .unwrap()
    };
    sockets.into_iter().enumerate().map(attach).collect()
}

#[test]
fn version_4() {
    let ip = Ipv4Addr::LOCALHOST.into();
    weft_link_conformance::all(|ranks| udp(ranks, ip, Protection::Tagged));
}

#[test]
fn version_6() {
    let ip = Ipv6Addr::LOCALHOST.into();
    weft_link_conformance::all(|ranks| udp(ranks, ip, Protection::Tagged));
}

#[test]
fn encrypted() {
    let ip = Ipv4Addr::LOCALHOST.into();
    weft_link_conformance::all(|ranks| udp(ranks, ip, Protection::Encrypted));
}

#[test]
fn without_faults() {
    let (ip, plan) =
        (Ipv4Addr::LOCALHOST.into(), FaultPlan { seed: 1, loss: 0.0, duplication: 0.0 });
    let wrap = |link| Faults::new(link, plan);
    weft_link_conformance::all(|ranks| {
        udp(ranks, ip, Protection::Tagged).into_iter().map(wrap).collect()
    });
}
