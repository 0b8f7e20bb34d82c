//! The suite on UDP over loopback, which loses nothing while few datagrams are on their way.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::wrap::{FaultPlan, FaultyLink};
use weft_netns::{Cluster, Options, available};
use weft_udp::{Udp, UdpSettings, group_of, join};
use weft_wire::Rank;

fn udp(ranks: u16, ip: IpAddr, protection: Protection) -> Vec<Udp> {
    let bind = |_| UdpSocket::bind(SocketAddr::new(ip, 0)).unwrap();
    let sockets: Vec<UdpSocket> = (0..ranks).map(bind).collect();
    let peers: Vec<SocketAddr> =
        sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    attach(sockets, &peers, protection, None)
}

fn attach(
    sockets: Vec<UdpSocket>,
    peers: &[SocketAddr],
    protection: Protection,
    group: Option<IpAddr>,
) -> Vec<Udp> {
    let attach = |(own, socket): (usize, UdpSocket)| {
        weft_udp::attach(UdpSettings {
            datagram_bytes: UdpSettings::datagram_bytes(1500, &peers[0]),
            socket,
            peers: peers.to_vec(),
            keys: Keys::new(Secret::new([3; 16]), 1, Rank(own as u16), protection),
            only: None,
            group,
            frames: 32,
            receive_frames: 128,
        })
        .unwrap()
    };
    sockets.into_iter().enumerate().map(attach).collect()
}

/// Each rank on a host of its own, and multicasts copied by the bridge between them.
fn copied(cluster: &Cluster, ranks: u16, port: u16) -> Vec<Udp> {
    let hosts = &cluster.hosts()[..ranks.into()];
    let group = group_of(1, hosts[0].ipv4());
    let bind = |host: &weft_netns::Host| {
        let at = host.ipv4();
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap();
        join(&socket, group, (at, 0)).unwrap();
        socket
    };
    let sockets = hosts.iter().map(|host| host.enter(|| bind(host)).unwrap()).collect();
    let peers: Vec<SocketAddr> =
        hosts.iter().map(|host| SocketAddr::new(host.ipv4(), port)).collect();
    attach(sockets, &peers, Protection::Tagged, Some(group))
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
    let wrap = |link| FaultyLink::new(link, plan);
    weft_link_conformance::all(|ranks| {
        udp(ranks, ip, Protection::Tagged).into_iter().map(wrap).collect()
    });
}

#[test]
fn with_multicast() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(9, Options::default()).unwrap();
    // Processes that other tests start hold a socket for a moment after it was closed.
    let next_port = Cell::new(61000);
    weft_link_conformance::all(|ranks| {
        copied(&cluster, ranks, next_port.replace(next_port.get() + 1))
    });
}
