//! The suite on links made of shared memory and UDP over loopback, for several ways to spread ranks
//! over hosts.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::{Link, Payload};
use weft_link_conformance::transmit_short;
use weft_link_shm::{Settings, Shm, create_memory};
use weft_mixed::{Mixed, Near};
use weft_udp::{Udp, UdpSettings};
use weft_wire::{Header, Rank, Tag, TreeId};

type Both = Mixed<Shm, Udp>;

const FRAMES: usize = 32;

/// The links of a job whose rank `i` is on host `host_of(i)`.
fn mixed(ranks: u16, host_of: impl Fn(u16) -> u16, carries: bool, frames: u32) -> Vec<Both> {
    let bind = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let sockets: Vec<UdpSocket> = (0..ranks).map(bind).collect();
    let peers: Vec<SocketAddr> =
        sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    let mut links: Vec<(Rank, Both)> = Vec::new();
    let hosts = (0..ranks).map(&host_of).max().unwrap_or(0) + 1;
    for host in 0..hosts {
        let here: Vec<Rank> = (0..ranks).filter(|&rank| host_of(rank) == host).map(Rank).collect();
        if here.is_empty() {
            continue;
        }
        let settings = Settings { frames, frame_bytes: 8960, ..Settings::new(here.len() as u16) };
        let file = create_memory(&settings).unwrap();
        for (number, &own) in (0..).map(Rank).zip(&here) {
            let near = Shm::attach(number, settings, &file).unwrap();
            let far = weft_udp::attach(UdpSettings {
                datagram_bytes: UdpSettings::datagram_bytes(1500, &peers[0]),
                socket: sockets[own.index()].try_clone().unwrap(),
                peers: peers.clone(),
                keys: Keys::new(Secret::new([3; 16]), 1, own, Protection::Tagged),
                only: None,
                group: None,
                frames: FRAMES,
                receive_frames: 128,
            })
            .unwrap();
            let arrivals = far.arrivals().unwrap();
            let near_ranks = Near { ranks: here.clone(), carries };
            let link = Mixed::new(near, near_ranks, far, arrivals, ranks).unwrap();
            links.push((own, link));
        }
    }
    links.sort_by_key(|(rank, _)| *rank);
    links.into_iter().map(|(_, link)| link).collect()
}

fn suite(host_of: impl Fn(u16) -> u16 + Copy, carries: bool) {
    weft_link_conformance::all(|ranks| mixed(ranks, host_of, carries, FRAMES as u32));
}

#[test]
fn two_on_each_host() {
    suite(|rank| rank / 2, true);
}

#[test]
fn neighbours_on_different_hosts() {
    suite(|rank| rank % 2, true);
}

#[test]
fn a_host_of_one() {
    suite(|rank| u16::from(rank > 0), true);
}

#[test]
fn a_host_each() {
    suite(|rank| rank, true);
}

#[test]
fn all_on_one_host() {
    suite(|_| 0, true);
}

#[test]
fn all_on_one_host_by_network() {
    suite(|_| 0, false);
}

/// Packets to a near rank for which no frame is free wait, in order and in front of all others, and
/// none is lost: nobody sends packets to near ranks again.
#[test]
fn forwarded_packets_wait_for_frames() {
    // Rank 0 sends to 1, which forwards to 2, on its own host.
    let mut links = mixed(3, |rank| u16::from(rank > 0), true, 2);
    let held: Vec<_> = (0..2).map(|_| links[1].alloc(None).unwrap()).collect();
    let tree = TreeId::unicast(Rank(0));
    for size in 200..210 {
        let header = Header::new(Tag::Ucast, Rank(0), tree, size);
        let frame = links[0].alloc(None).unwrap();
        links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
        links[0].free(frame);
        links[0].flush();
    }
    for size in 200..210 {
        let received = receive(&mut links[1]);
        assert_eq!(received.header.size, size);
        let header = Header { source: Rank(1), ..received.header };
        links[1].transmit(Rank(2), &header, received.payload);
        let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
        links[1].free(buffer);
    }
    let last = Header::new(Tag::Credit, Rank(1), tree, 0);
    links[1].transmit(Rank(2), &last, Payload::Empty);
    let short = Header::new(Tag::Ucast, Rank(1), tree, 3);
    transmit_short(&mut links[1], Rank(2), &short, &[&b"byt"[..]]);
    assert_eq!(links[2].receive(), Ok(None), "there was no frame for it");
    held.into_iter().for_each(|frame| links[1].free(frame));
    for size in 200..210 {
        links[1].flush();
        let received = receive(&mut links[2]);
        assert_eq!((received.header.source, received.header.size), (Rank(1), size));
        let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
        links[2].free(buffer);
    }
    links[1].flush();
    assert_eq!(receive(&mut links[2]).header, last);
    let received = receive(&mut links[2]);
    assert_eq!(
        (received.header, weft_link_conformance::bytes_of(&links[2], &received)),
        (short, b"byt".to_vec())
    );
}

/// A packet of the far link is copied once for all near ranks that it is passed on to.
#[test]
fn one_frame_is_enough_to_forward_to_many() {
    let mut links = mixed(5, |rank| u16::from(rank > 0), true, 2);
    let _held = links[1].alloc(None).unwrap();
    for round in 0..20 {
        let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), 900 + round);
        let frame = links[0].alloc(None).unwrap();
        links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
        links[0].free(frame);
        links[0].flush();
        let received = receive(&mut links[1]);
        assert_eq!(received.header.size, 900 + round);
        let header = Header { source: Rank(1), ..received.header };
        (2..5).for_each(|to| links[1].transmit(Rank(to), &header, received.payload));
        let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
        links[1].free(buffer);
        for link in &mut links[2..] {
            let received = receive(link);
            let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
            assert_eq!((received.header.source, received.header.size), (Rank(1), 900 + round));
            link.free(buffer);
        }
        let frame = links[1].alloc(None);
        assert!(frame.is_some(), "the frame came back in round {round}");
        frame.into_iter().for_each(|frame| links[1].free(frame));
    }
}

fn receive(link: &mut Both) -> weft_link::Received {
    for _ in 0..1_000_000 {
        match link.receive().unwrap() {
            Some(received) => return received,
            None => std::thread::yield_now(),
        }
    }
    panic!("nothing was received");
}
