//! Multicasts that leave as one datagram and are copied by the bridge between hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use weft_datagram::seal::{FrameRefused, Keys, Protection, Secret};
use weft_link::{Link, Payload};
use weft_netns::{Cluster, Host, INTERFACE, Options, available};
use weft_udp::{Udp, UdpSettings, group_of, join};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId, several};

const JOB: u32 = 4711;
const PORT: u16 = 61000;
const DATAGRAM_BYTES: usize = 1452;

/// A socket of a host that takes part, and where others reach it.
fn socket(host: &Host, at: IpAddr) -> (UdpSocket, SocketAddr) {
    let make = || {
        let any: IpAddr =
            if at.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, PORT)).unwrap();
        let index = rustix::net::netdevice::name_to_index(&socket, INTERFACE).unwrap();
        join(&socket, group_of(JOB, at), (at, index)).unwrap();
        socket
    };
    (host.enter(make).unwrap(), SocketAddr::new(at, PORT))
}

fn links(hosts: &[Host], address: fn(&Host) -> IpAddr, protection: Protection) -> Vec<Udp> {
    let sockets = hosts.iter().map(|host| socket(host, address(host)));
    let (sockets, peers): (Vec<_>, Vec<_>) = sockets.unzip();
    let attach = |(own, socket)| {
        weft_udp::attach(UdpSettings {
            socket,
            peers: peers.clone(),
            keys: Keys::new(Secret::new([4; 16]), JOB, Rank(own), protection),
            datagram_bytes: DATAGRAM_BYTES,
            only: None,
            group: Some(group_of(JOB, peers[0].ip())),
            frames: 64,
            receive_frames: 64,
        })
        .unwrap()
    };
    (0..).zip(sockets).map(attach).collect()
}

/// Rank 0 multicasts to these, with a number for each of them.
fn multicast(link: &mut Udp, to: &[u16], number: u16, size: usize) {
    let frame = link.alloc(None).unwrap();
    let tree = TreeId::multicast(GroupId::ALL, Rank(0));
    for &to in to {
        let mut header = Header::new(Tag::Mcast, Rank(0), tree, size as u16);
        (header.credits, header.sequence) = (number, u32::from(to));
        link.transmit(Rank(to), &header, Payload::Buffer(frame));
    }
    link.free(frame);
}

/// The numbers of the next multicasts at a rank, which are for it.
fn numbers(link: &mut Udp, own: u16, count: usize) -> Vec<u16> {
    let mut found = Vec::new();
    for _ in 0..1_000_000 {
        let Some(received) = link.receive().unwrap() else {
            std::thread::yield_now();
            continue;
        };
        assert_eq!(received.header.sequence, u32::from(own));
        let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
        link.free(buffer);
        found.push(received.header.credits);
        if found.len() == count {
            return found;
        }
    }
    panic!("rank {own} received {found:?} of {count}");
}

fn one_datagram_reaches_all(address: fn(&Host) -> IpAddr) {
    let cluster = Cluster::new(4, Options::default()).unwrap();
    let mut links = links(cluster.hosts(), address, Protection::Tagged);
    let most = links[0].capabilities().multicast_payload;
    assert_eq!(Some(most), several::body_room(DATAGRAM_BYTES, 3));
    for number in 0..20 {
        multicast(&mut links[0], &[1, 2, 3], number, if number % 2 == 0 { 8 } else { most });
        if number % 5 == 4 {
            links[0].flush();
        }
    }
    for own in 1..4 {
        let found = numbers(&mut links[usize::from(own)], own, 20);
        assert_eq!(found, (0..20).collect::<Vec<u16>>(), "in order");
    }
    let sent = links[0].counters().sent;
    assert_eq!((sent.datagrams, sent.several, sent.spared, sent.failed), (20, 20, 40, 0));
    assert_eq!(links[0].receive(), Ok(None), "who sends does not hear itself");
    assert_eq!(links[0].counters().arrived.datagrams, 0);
}

#[test]
fn version_4() {
    if available() {
        one_datagram_reaches_all(Host::ipv4);
    }
}

#[test]
fn version_6() {
    if available() {
        one_datagram_reaches_all(Host::ipv6);
    }
}

#[test]
fn packets_too_long_for_several_and_encrypted_ones_go_one_by_one() {
    if !available() {
        return;
    }
    for protection in [Protection::Tagged, Protection::Encrypted] {
        // Processes that other tests start hold a port for a moment after its socket was closed.
        let cluster = Cluster::new(3, Options::default()).unwrap();
        let mut links = links(cluster.hosts(), Host::ipv4, protection);
        let longest = links[0].capabilities().max_payload;
        multicast(&mut links[0], &[1, 2], 7, longest);
        links[0].flush();
        (1..3).for_each(|own| {
            assert_eq!(numbers(&mut links[usize::from(own)], own, 1), [7]);
        });
        let sent = links[0].counters().sent;
        assert_eq!((sent.datagrams, sent.several), (2, 0));
        let encrypts = protection == Protection::Encrypted;
        assert_eq!(links[0].capabilities().multicast_payload == longest, encrypts);
    }
}

#[test]
fn a_rank_that_is_not_meant_drops_its_copy_and_forged_ones_open_nothing() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(5, Options::default()).unwrap();
    // The last host has no rank: an adversary that hears what the network copies to all.
    let mut links = links(&cluster.hosts()[..4], Host::ipv4, Protection::Tagged);
    let (adversary, _) = socket(cluster.host(4), cluster.host(4).ipv4());
    multicast(&mut links[0], &[1, 2], 1, 8);
    links[0].flush();
    assert_eq!(numbers(&mut links[1], 1, 1), [1]);
    assert_eq!(numbers(&mut links[2], 2, 1), [1]);
    let refused = |link: &Udp, reason| link.counters().refused.of(reason);
    let await_refusal = |link: &mut Udp, reason, count| {
        for _ in 0..1_000_000 {
            assert_eq!(link.receive(), Ok(None));
            if refused(link, reason) == count {
                return;
            }
            std::thread::yield_now();
        }
        panic!("{:?}", link.counters());
    };
    await_refusal(&mut links[3], FrameRefused::Bystander, 1);
    assert_eq!(refused(&links[1], FrameRefused::Bystander), 0);
    let mut heard = [0; 2000];
    let length = adversary.recv(&mut heard).unwrap();
    let to_all = SocketAddr::new(group_of(JOB, cluster.host(0).ipv4()), PORT);
    adversary.send_to(&heard[..length], to_all).unwrap();
    await_refusal(&mut links[1], FrameRefused::Replayed, 1);
    await_refusal(&mut links[2], FrameRefused::Replayed, 1);
    // The next number, under the tags of the one before; and rank 2's entry under rank 1's name.
    let first = length - 2 * several::ENTRY;
    let mut renumbered = heard;
    renumbered[first + several::NUMBER.start] += 1;
    let mut renamed = heard;
    renamed[first..first + 2].copy_from_slice(&[9, 0]);
    renamed[first + several::ENTRY..][..2].copy_from_slice(&[1, 0]);
    renamed[first + several::ENTRY + several::NUMBER.start] += 1;
    for (count, forged) in [(1, renumbered), (2, renamed)] {
        adversary.send_to(&forged[..length], to_all).unwrap();
        await_refusal(&mut links[1], FrameRefused::Tag, count);
    }
    // None of it kept the right ones out.
    multicast(&mut links[0], &[1, 2, 3], 2, 8);
    links[0].flush();
    (1..4).for_each(|own| assert_eq!(numbers(&mut links[usize::from(own)], own, 1), [2]));
}
