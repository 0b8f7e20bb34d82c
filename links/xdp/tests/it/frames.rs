//! Coalescing of packets into frames and system calls, ranks that share an interface, and the fate
//! of frames from others.

use crate::common::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use weft_datagram::seal::FrameRefused;
use weft_link::{Link, LinkPart, Payload};
use weft_net::{Seen, XdpOptions};
use weft_netns::{Host, INTERFACE, available};
use weft_wire::Rank;
use weft_xdp::{Attached, Xdp, XdpPort};

#[test]
fn small_packets_share_a_frame_and_a_call() {
    if !available() {
        return;
    }
    let Pair { hosts, mut links, cluster: _cluster } = pair();
    assert_eq!(links[0].device().mode().attached, Attached::Native);
    for number in 0..12 {
        send_data(&mut links[0], 0, 1, number, 8);
    }
    links[0].flush();
    let sent = links[0].counters().sent;
    assert_eq!((sent.datagrams, sent.packed, sent.calls), (1, 11, 1));
    links[0].flush();
    assert_eq!(links[0].counters().sent.calls, 1, "there is nothing to flush");
    for number in 0..12 {
        let received = receive(&mut links[1]);
        assert_eq!(received.header.credits, number);
        let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
        links[1].free(buffer);
    }
    assert_eq!(links[1].counters().arrived.datagrams, 1);
    let seen = Seen { taken: 1, ..Seen::default() };
    assert_eq!(hosts[1].seen().unwrap(), seen);
    assert_eq!(hosts[0].seen().unwrap(), Seen::default());
}

#[test]
fn large_packets_leave_from_where_they_were_filled() {
    if !available() {
        return;
    }
    let Pair { mut links, cluster: _cluster, hosts: _hosts } = pair();
    let size = links[0].capabilities().max_payload;
    assert_eq!(size, 1440, "1,500 less envelope and header, in steps of 8");
    for round in 0..20 {
        for number in 0..10 {
            send_data(&mut links[0], 0, 1, round * 10 + number, size);
        }
        links[0].flush();
        for number in 0..10 {
            let received = receive(&mut links[1]);
            assert_eq!(received.header.credits, round * 10 + number);
            let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
            links[1].free(buffer);
        }
    }
    let counters = links[0].counters();
    assert_eq!((counters.sent.in_place, counters.sent.datagrams), (200, 200));
    // A call for each flush; the kernel may stop in the middle of one, and is called again.
    assert!((20..40).contains(&counters.sent.calls), "{} calls", counters.sent.calls);
    assert_eq!(counters.sent.crowded_out, 0);
    assert_eq!(links[1].device().overrun(), 0);
}

/// A frame that leaves in place is copied for everybody else.
#[test]
fn one_large_frame_reaches_a_receiver_twice() {
    if !available() {
        return;
    }
    let Pair { mut links, cluster: _cluster, hosts: _hosts } = pair();
    let size = links[0].capabilities().max_payload;
    let frame = links[0].alloc(None).unwrap();
    let mut header = control(0, 1);
    header.tag = weft_wire::Tag::Ucast;
    header.size = size as u16;
    links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
    links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
    links[0].flush();
    links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
    links[0].free(frame);
    links[0].flush();
    for _ in 0..3 {
        let received = receive(&mut links[1]);
        assert_eq!(usize::from(received.header.size), size);
        let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
        links[1].free(buffer);
    }
    assert_eq!(links[0].counters().sent.datagrams, 3);
    let all: Vec<_> = (0..SIZES.frames).map_while(|_| links[0].alloc(None)).collect();
    assert_eq!(all.len(), SIZES.frames as usize, "all frames came back");
}

/// Memory of a link made of two: the contents of a frame are read wherever that is, and bytes from
/// elsewhere are sent.
#[test]
fn bytes_cross_from_and_to_other_links() {
    if !available() {
        return;
    }
    let Pair { mut links, cluster: _cluster, hosts: _hosts } = pair();
    let mut header = control(0, 1);
    header.tag = weft_wire::Tag::Ucast;
    let bytes: Vec<u8> = (0..1440).map(|at| at as u8).collect();
    header.size = bytes.len() as u16;
    assert!(links[0].transmit_copy(Rank(1), &header, &bytes));
    links[0].flush();
    let Payload::Buffer(received) = receive(&mut links[1]).payload else { panic!("no data") };
    let read = |link: &weft_xdp::Xdp, buffer| {
        let mut into = vec![0; 1440];
        link.copy_out(buffer, &mut into);
        into
    };
    assert_eq!(read(&links[1], received), bytes);
    // Sent on from where it landed, which stays readable.
    let own = links[1].alloc(None).unwrap();
    let before = read(&links[1], own);
    header.source = Rank(1);
    links[1].transmit(Rank(0), &header, Payload::Buffer(own));
    assert_eq!(read(&links[1], own), before, "waiting");
    links[1].transmit(Rank(0), &header, Payload::Buffer(received));
    links[1].flush();
    assert_eq!(read(&links[1], own), before, "sent");
    links[1].free(received);
    links[1].free(own);
    for expected in [before, bytes] {
        let Payload::Buffer(buffer) = receive(&mut links[0]).payload else { panic!("no data") };
        assert_eq!(read(&links[0], buffer), expected);
        links[0].free(buffer);
    }
}

#[test]
fn packets_without_bytes_get_through_when_readers_hold_all_frames() {
    if !available() {
        return;
    }
    let Pair { mut links, cluster: _cluster, hosts: _hosts } = pair();
    let mut held = Vec::new();
    for number in 0..SIZES.receive_frames as u16 + 3 {
        send_data(&mut links[0], 0, 1, number, 100);
        links[0].flush();
        send_control(&mut links, 0, 1, number);
        let mut received = receive(&mut links[1]);
        if let Payload::Buffer(buffer) = received.payload {
            held.push(buffer);
            received = receive(&mut links[1]);
        }
        assert_eq!(received.header, control(0, number));
    }
    assert_eq!(held.len(), SIZES.receive_frames as usize);
    assert_eq!(links[1].counters().arrived.without_frame, 3);
    held.drain(..).for_each(|buffer| links[1].free(buffer));
    send_data(&mut links[0], 0, 1, 99, 100);
    links[0].flush();
    assert_eq!(receive(&mut links[1]).header.credits, 99);
}

/// Two ranks on each of two hosts: they share memory and rings, and each gets its own.
#[test]
fn ranks_of_a_host_share_an_interface() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let mut hosts = Vec::new();
    let mut ports: Vec<XdpPort> = Vec::new();
    for (number, ranks) in [[Rank(0), Rank(1)], [Rank(2), Rank(3)]].iter().enumerate() {
        let mut attached = attach(cluster.host(number), in_driver()).unwrap();
        ports.extend(open(cluster.host(number), &mut attached, JOB, ranks));
        hosts.push(attached);
    }
    // As if each had been sent to another process.
    let hand_over = |port: XdpPort| {
        let (plan, descriptors) = port.into_parts();
        XdpPort::from_parts(plan, descriptors)
    };
    let mut links = links(ports.into_iter().map(hand_over).collect(), 4);
    // Rank 3 never looks, and what it does not take must not be missing to rank 2.
    for number in 0..3000 {
        let (from, other) = if number % 2 == 0 { (0, 1) } else { (1, 0) };
        send_control(&mut links, other, 3, number);
        send_control(&mut links, from, 2, number);
        assert_eq!(receive(&mut links[2]).header, control(from, number));
        send_control(&mut links, 2, from, number);
        assert_eq!(receive(&mut links[usize::from(from)]).header, control(2, number));
    }
    assert_eq!(links[2].counters().arrived.datagrams, 3000);
    assert_eq!(links[2].device().overrun(), 0);
    let overrun = links[3].device().overrun();
    assert!(overrun > 2000, "{overrun}");
    assert_eq!(links.iter().map(|link| link.device().bad_descriptors()).sum::<u64>(), 0);
    assert_eq!(receive(&mut links[3]).header, control(1, 0), "what its ring held is still there");
}

/// A rank that is stopped while it gives chunks back holds a lock of its host, which is the first
/// word of the memory that they share.
#[test]
fn a_lock_that_nobody_lets_go_holds_up_arrivals_and_no_call() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let (mut hosts, mut ports, mut memory) = (Vec::new(), Vec::new(), None);
    for (number, ranks) in [&[Rank(0)][..], &[Rank(1), Rank(2)]].into_iter().enumerate() {
        let mut attached = attach(cluster.host(number), in_driver()).unwrap();
        for port in open(cluster.host(number), &mut attached, JOB, ranks) {
            let (plan, [socket, shared]) = port.into_parts();
            memory = Some(shared.try_clone().unwrap());
            ports.push(XdpPort::from_parts(plan, [socket, shared]));
        }
        hosts.push(attached);
    }
    let memory = memory.unwrap();
    let set_lock = |held: u32| rustix::io::pwrite(&memory, &held.to_ne_bytes(), 0).unwrap();
    let mut links = links(ports, 4);
    let send = |links: &mut [Xdp], number| send_control(links, 0, 1 + number % 2, number);
    let look = |links: &mut [Xdp]| {
        std::thread::yield_now();
        links[1..].iter_mut().any(|link| link.receive().unwrap().is_some())
    };
    set_lock(1);
    let arrives = |links: &mut [Xdp], number| {
        send(links, number);
        (0..100).any(|_| look(links))
    };
    let arrived = (0..1000).filter(|number| arrives(&mut links, *number)).count();
    assert!((1..1000).contains(&arrived), "{arrived} frames, which as many chunks were for");
    assert!(!arrives(&mut links, 0), "no call waits, and nothing arrives");
    set_lock(0);
    // The next looks give the chunks back.
    (0..10).for_each(|_| _ = look(&mut links));
    for number in 0..1000 {
        send(&mut links, number);
        let arrived = receive(&mut links[usize::from(1 + number % 2)]);
        assert_eq!(arrived.header, control(0, number));
    }
}

#[test]
fn frames_of_other_jobs_and_of_forgers_go_nowhere() {
    if !available() {
        return;
    }
    // Rank 0 does not know the secret.
    let Pair { cluster, mut hosts, mut links } = pair_with(5);
    for number in 0..10 {
        send_control(&mut links, 0, 1, number);
    }
    assert_eq!(links[1].receive(), Ok(None));
    assert_eq!(links[1].counters().refused.of(FrameRefused::Tag), 10);
    // And here it belongs to another job.
    drop((links.remove(0), hosts.remove(0)));
    let mut other = attach(cluster.host(0), in_driver()).unwrap();
    let port = open(cluster.host(0), &mut other, 8, &[Rank(0)]).remove(0);
    let peers = vec![port.mac(), hosts[0].interface().mac()];
    let settings =
        weft_xdp::XdpSettings { mtu: port.mtu(), port, peers, keys: keys(4, 8, 0), group: None };
    let mut adversary = vec![weft_xdp::attach(settings).unwrap()];
    for number in 0..20 {
        send_control(&mut adversary, 0, 1, number);
    }
    assert_eq!(links[0].receive(), Ok(None));
    let seen = Seen { taken: 10, unclaimed: 20, ..Seen::default() };
    assert_eq!(hosts[0].seen().unwrap(), seen);
    assert_eq!(links[0].counters().refused.total(), 10);
}

#[test]
fn what_is_no_frame_of_weft_is_dropped_if_it_says_that_it_is() {
    if !available() {
        return;
    }
    let cluster = cluster();
    // As if IPv4 were Weft's protocol, so that a socket can send nonsense of it.
    let ipv4 = XdpOptions { ethertype: 0x0800, ..in_driver() };
    let (sender, receiver) = (cluster.host(0), cluster.host(1));
    let attached = attach(receiver, ipv4).unwrap();
    let socket = sender.enter(|| UdpSocket::bind((sender.ipv4(), 0)).unwrap()).unwrap();
    for _ in 0..5 {
        socket.send_to(b"nonsense, and more than an envelope of it", (receiver.ipv4(), 9)).unwrap();
    }
    // Addresses are asked for with another protocol, which passes.
    let seen = (0..1_000_000).map(|_| attached.seen().unwrap()).find(|seen| seen.foreign == 5);
    assert_eq!(seen, Some(Seen { foreign: 5, ..Seen::default() }));
}

#[test]
fn tcp_goes_on_beside() {
    if !available() {
        return;
    }
    let Pair { cluster, mut links, hosts: _hosts } = pair();
    let (here, there) = (cluster.host(0), cluster.host(1));
    let listener = there.enter(|| TcpListener::bind((there.ipv4(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let bytes: Vec<u8> = (0..4_000_000u32).map(|i| (i / 3) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut stream = here.enter(|| TcpStream::connect(address).unwrap()).unwrap();
            stream.write_all(&bytes).unwrap();
        });
        let reader = scope.spawn(|| {
            let mut read = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut read).unwrap();
            read
        });
        let mut number = 0;
        while !reader.is_finished() || number < 1000 {
            exchange(&mut links, number % 1000);
            number += 1;
        }
        assert!(reader.join().unwrap() == bytes, "TCP lost something");
    });
    assert_eq!(links[1].device().overrun(), 0);
}

/// Mean length of the frames of TCP that cross a pair in memory with a program at this hook.
fn length_of_frames_of_tcp(hook: Option<Attached>) -> (Attached, u64) {
    let cluster = cluster();
    let (here, there) = (cluster.host(0), cluster.host(1));
    let mut program = attach(there, XdpOptions { hook, ..XdpOptions::default() }).unwrap();
    let port = open(there, &mut program, JOB, &[Rank(1)]).remove(0);
    let listener = there.enter(|| TcpListener::bind((there.ipv4(), 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let (frames_before, bytes_before) = arrived(there);
    let bytes = vec![7; 4_000_000];
    std::thread::scope(|scope| {
        scope.spawn(|| here.enter(|| TcpStream::connect(address).unwrap().write_all(&bytes)));
        let mut read = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut read).unwrap();
        assert!(read == bytes, "TCP lost something");
    });
    let (frames, bytes) = arrived(there);
    (
        links(vec![port], 4)[0].device().mode().attached,
        (bytes - bytes_before) / (frames - frames_before),
    )
}

/// Numbers of frames and bytes that have arrived at a host's interface.
fn arrived(host: &Host) -> (u64, u64) {
    let words = ["-json", "-statistics", "link", "show", INTERFACE];
    let said = host.command("ip").args(words).output().unwrap().stdout;
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    let count = |what| said[0]["stats64"]["rx"][what].as_u64().unwrap();
    (count("packets"), count("bytes"))
}

#[test]
fn a_pair_in_memory_hands_tcp_over_in_long_segments() {
    if !available() {
        return;
    }
    let (hook, bytes) = length_of_frames_of_tcp(None);
    assert_eq!(hook, Attached::Generic);
    assert!(bytes > 5_000, "{bytes} bytes a frame");
    let (hook, bytes) = length_of_frames_of_tcp(Some(Attached::Native));
    assert_eq!(hook, Attached::Native);
    assert!(bytes <= 1514, "{bytes} bytes a frame");
}

/// Brings frame `number` across a wire whose queue TCP fills at times: what finds no room there is
/// lost, and sent again.
fn exchange(links: &mut [Xdp], number: u16) {
    for _ in 0..100 {
        send_control(links, 0, 1, number);
        let arrived = (0..10_000).find_map(|_| {
            std::thread::yield_now();
            // One before it may have been late, and not lost.
            links[1].receive().unwrap().filter(|received| received.header == control(0, number))
        });
        if arrived.is_some() {
            return;
        }
    }
    panic!("nothing gets across");
}

/// Behind the driver, where it knows no XDP.
#[test]
fn drivers_without_xdp_are_served_too() {
    if !available() {
        return;
    }
    let cluster = cluster();
    let mut attached = Vec::new();
    let mut ports = Vec::new();
    for rank in 0..2 {
        let host = cluster.host(rank);
        let add = ["link", "add", "link", weft_netns::INTERFACE, "name", "mv0", "type", "macvlan"];
        assert!(host.command("ip").args(add).status().unwrap().success());
        assert!(host.command("ip").args(["link", "set", "mv0", "up"]).status().unwrap().success());
        let mut on = attach_to(host, "mv0", XdpOptions::default()).unwrap();
        ports.extend(open(host, &mut on, JOB, &[Rank(rank as u16)]));
        attached.push(on);
    }
    let mut links = links(ports, 4);
    assert_eq!(links[0].device().mode().to_string(), "generic, copying");
    for number in 0..100 {
        send_control(&mut links, 0, 1, number);
        assert_eq!(receive(&mut links[1]).header, control(0, number));
    }
}

#[test]
fn an_interface_goes_down_and_comes_back() {
    if !available() {
        return;
    }
    let Pair { cluster, mut links, hosts: _hosts } = pair();
    for down in 0..2 {
        cluster.host(down).set_link(false).unwrap();
        for number in 0..50 {
            // Lost, or kept until later; never an end.
            send_control(&mut links, 0, 1, number);
        }
        cluster.host(down).set_link(true).unwrap();
        send_control(&mut links, 0, 1, 77);
        let last = (0..51).map(|_| receive(&mut links[1])).find(|found| found.header.credits == 77);
        assert_eq!(last.map(|found| found.header), Some(control(0, 77)));
        send_control(&mut links, 1, 0, 78);
        assert_eq!(receive(&mut links[0]).header, control(1, 78));
    }
}
