//! Behaviour while the kernel takes no more datagrams: those to a host that does not answer fill
//! the socket's buffer.

use rustix::net::sockopt;
use std::net::UdpSocket;
use std::time::{Duration, Instant};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::bell::Waiter;
use weft_link::{Link, Payload};
use weft_netns::{Cluster, INTERFACE, Options, available};
use weft_udp::{Udp, UdpSettings};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Datagrams that may wait in the link.
const WAITING: u64 = 64;

fn attach(own: u16, socket: UdpSocket, peers: &[std::net::SocketAddr]) -> Udp {
    weft_udp::attach(UdpSettings {
        socket,
        peers: peers.to_vec(),
        keys: Keys::new(Secret::new([4; 16]), 1, Rank(own), Protection::Tagged),
        datagram_bytes: 1472,
        only: None,
        group: None,
        frames: 4,
        receive_frames: 512,
    })
    .unwrap()
}

/// One packet as large as a datagram.
fn send(link: &mut Udp, number: u16) {
    let frame = link.alloc(None).unwrap();
    let size = link.capabilities().max_payload as u16;
    let mut header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size);
    header.credits = number;
    link.transmit(Rank(1), &header, Payload::Buffer(frame));
    link.free(frame);
}

fn ip(host: &weft_netns::Host, words: &[&str]) {
    let status = host.command("ip").args(words).status().unwrap();
    assert!(status.success(), "ip {words:?}");
}

/// The kernel keeps what it cannot address; in the end, it can.
#[test]
fn datagrams_wait_while_the_kernel_takes_none_and_leave_when_it_does() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let [first, second] = [cluster.host(0), cluster.host(1)];
    let bind = |host: &weft_netns::Host| {
        host.enter(|| UdpSocket::bind((host.ipv4(), 0)).unwrap()).unwrap()
    };
    let sockets = [bind(first), bind(second)];
    let peers = sockets.each_ref().map(|socket| socket.local_addr().unwrap());
    let [near, far] = sockets;
    let small = near.try_clone().unwrap();
    let (mut sender, mut receiver) = (attach(0, near, &peers), attach(1, far, &peers));
    sockopt::set_socket_send_buffer_size(&small, 0).unwrap();
    // Nobody answers who asks for the second host's Ethernet address.
    ip(second, &["link", "set", INTERFACE, "arp", "off"]);
    ip(first, &["neigh", "flush", "dev", INTERFACE]);

    let packets = 200;
    for number in 0..packets {
        send(&mut sender, number);
        sender.flush();
    }
    let sent = sender.counters().sent;
    assert!(sent.datagrams < 20, "{sent:?}");
    assert_eq!(sent.failed, 0);
    assert_eq!(sent.datagrams + WAITING + sent.crowded_out, u64::from(packets));
    // Packets that are dropped cost a call each, and those that wait cost none.
    assert!(sent.calls <= 2 * u64::from(packets), "{sent:?}");

    // Who sleeps wakes when there is room.
    let bells = sender.bells();
    let ticket = sender.arm(Waiter::Host).expect("nothing has arrived");
    ip(second, &["link", "set", INTERFACE, "arp", "on"]);
    let start = Instant::now();
    bells.wait(Waiter::Host, ticket, Duration::from_secs(30));
    assert!(start.elapsed() < Duration::from_secs(29), "the sleeper was not woken");
    let mut arrived = Vec::new();
    let all = usize::try_from(sent.datagrams + WAITING).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while arrived.len() < all {
        assert!(Instant::now() < deadline, "{} of {all} arrived", arrived.len());
        sender.flush();
        while let Some(received) = receiver.receive().unwrap() {
            let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
            arrived.push(received.header.credits);
            receiver.free(buffer);
        }
        std::thread::yield_now();
    }
    // The oldest, in order: what came too late for them was dropped.
    assert!(arrived.iter().copied().eq(0..all as u16), "{arrived:?}");
    assert_eq!(sender.counters().sent.datagrams, all as u64);
}
