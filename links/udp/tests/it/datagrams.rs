//! Coalescing of packets into datagrams and system calls, and the fate of datagrams from outsiders.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use weft_datagram::seal::{FrameRefused, Keys, Protection, Secret};
use weft_link::{Buffer, Link, LinkPart, Payload, Received};
use weft_udp::{Udp, UdpSettings};
use weft_wire::{Header, Rank, Tag, TreeId};

const RECEIVE_FRAMES: usize = 8;

fn socket() -> UdpSocket {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

fn attach(own: u16, job: u32, socket: UdpSocket, peers: &[SocketAddr]) -> Udp {
    weft_udp::attach(UdpSettings {
        socket,
        peers: peers.to_vec(),
        keys: Keys::new(Secret::new([4; 16]), job, Rank(own), Protection::Tagged),
        datagram_bytes: 1472,
        only: None,
        group: None,
        frames: 64,
        receive_frames: RECEIVE_FRAMES,
    })
    .unwrap()
}

fn pair() -> [Udp; 2] {
    let sockets = [socket(), socket()];
    let peers = sockets.each_ref().map(|socket| socket.local_addr().unwrap());
    let [first, second] = sockets;
    [attach(0, 1, first, &peers), attach(1, 1, second, &peers)]
}

fn control(number: u16) -> Header {
    let mut header = Header::new(Tag::Credit, Rank(0), TreeId::unicast(Rank(0)), 0);
    header.credits = number;
    header
}

fn send_data(link: &mut Udp, number: u16, size: usize) {
    let frame = link.alloc(None).unwrap();
    let mut header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    header.credits = number;
    link.transmit(Rank(1), &header, Payload::Buffer(frame));
    link.free(frame);
}

fn receive(link: &mut Udp) -> Received {
    (0..1_000_000)
        .find_map(|_| {
            std::thread::yield_now();
            link.receive().unwrap()
        })
        .expect("something arrives")
}

fn give_back(link: &mut Udp, received: &Received) {
    let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
    link.free(buffer);
}

#[test]
fn small_packets_share_a_datagram() {
    let [mut sender, mut receiver] = pair();
    for number in 0..20 {
        send_data(&mut sender, number, 8);
    }
    sender.flush();
    let sent = sender.counters().sent;
    assert_eq!((sent.datagrams, sent.packed, sent.calls), (1, 19, 1));
    for number in 0..20 {
        let received = receive(&mut receiver);
        assert_eq!(received.header.credits, number);
        give_back(&mut receiver, &received);
    }
    assert_eq!(receiver.counters().arrived.datagrams, 1);
    sender.flush();
    assert_eq!(sender.counters().sent.calls, 1, "there is nothing to flush");
}

#[test]
fn a_lone_packet_costs_one_call_on_either_side() {
    let [mut sender, mut receiver] = pair();
    assert_eq!(receiver.receive(), Ok(None));
    let before = receiver.counters().arrived.looks;
    sender.transmit(Rank(1), &control(7), Payload::Empty);
    sender.flush();
    assert_eq!(sender.counters().sent.calls, 1);
    // Loopback is done with it when the sender is.
    assert_eq!(receiver.receive().unwrap().map(|found| found.header), Some(control(7)));
    assert_eq!(receiver.counters().arrived.looks, before + 1);
}

#[test]
fn large_packets_leave_together_and_arrive_one_by_one() {
    let [mut sender, mut receiver] = pair();
    let size = sender.capabilities().max_payload;
    for round in 0..10 {
        let count = 1 + round * 6;
        for number in 0..count {
            // The last is shorter, and begins a run of its own only after one that is.
            send_data(&mut sender, number, if number + 1 == count { size / 2 } else { size });
        }
        sender.flush();
        for number in 0..count {
            let received = receive(&mut receiver);
            assert_eq!(received.header.credits, number);
            give_back(&mut receiver, &received);
        }
    }
    let sent = sender.counters().sent;
    assert_eq!((sent.datagrams, sent.crowded_out, sent.failed), (280, 0, 0));
    assert!(sent.calls <= 10, "{} calls for ten flushes", sent.calls);
    let arrived = receiver.counters().arrived;
    assert_eq!(arrived.datagrams, 280);
    assert!(arrived.looks < 80, "{} looks for 280 datagrams", arrived.looks);
}

#[test]
fn a_packet_of_several_datagrams_leaves_in_one_call_and_arrives_with_one_look() {
    let [mut sender, mut receiver] = pair();
    let most = sender.most_payload_at_once();
    assert!(most > 5 * sender.capabilities().max_payload);
    for (number, size) in [4000, most, 1417].into_iter().enumerate() {
        let bytes: Vec<u8> = (0..size).map(|at| (at * 7 + number) as u8).collect();
        let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
        assert!(sender.transmit_copy(Rank(1), &header, &bytes));
        sender.flush();
        let looks = receiver.counters().arrived.looks;
        let received = receive(&mut receiver);
        let mut arrived = vec![0; size];
        let Payload::Buffer(buffer) = received.payload else { panic!("no data") };
        receiver.copy_out(buffer, &mut arrived);
        assert_eq!(arrived, bytes);
        give_back(&mut receiver, &received);
        // The kernel parts the first.
        assert_eq!(receiver.counters().arrived.looks - looks, [3, 1, 1][number]);
        assert_eq!(receiver.receive(), Ok(None));
    }
    let sent = sender.counters().sent;
    assert_eq!((sent.calls, sent.cut, sent.failed, sent.crowded_out), (3, 3, 0, 0));
    assert_eq!(receiver.counters().arrived.joined, 3);
}

#[test]
fn packets_without_bytes_get_through_when_readers_hold_all_frames() {
    let [mut sender, mut receiver] = pair();
    let mut held: Vec<Received> = Vec::new();
    for number in 0..RECEIVE_FRAMES as u16 + 3 {
        send_data(&mut sender, number, 100);
        sender.flush();
        sender.transmit(Rank(1), &control(number), Payload::Empty);
        sender.flush();
        let first = receive(&mut receiver);
        if first.header.tag == Tag::Ucast {
            held.push(first);
            assert_eq!(receive(&mut receiver).header, control(number));
        } else {
            assert_eq!(first.header, control(number));
        }
    }
    assert_eq!(held.len(), RECEIVE_FRAMES);
    assert_eq!(receiver.counters().arrived.without_frame, 3);
    let buffers: std::collections::BTreeSet<Buffer> = held
        .iter()
        .map(|received| match received.payload {
            Payload::Buffer(buffer) => buffer,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(buffers.len(), RECEIVE_FRAMES, "a frame was lent twice");
    held.iter().for_each(|received| give_back(&mut receiver, received));
    send_data(&mut sender, 99, 100);
    sender.flush();
    assert_eq!(receive(&mut receiver).header.credits, 99);
}

#[test]
fn adversaries_replays_and_changed_datagrams_are_counted_and_dropped() {
    let (wire, out, own) = (socket(), socket(), socket());
    let at = own.local_addr().unwrap();
    // The sender believes that the wire is rank 1.
    let peers = [out.local_addr().unwrap(), wire.local_addr().unwrap()];
    let mut sender = attach(0, 1, out, &peers);
    let mut receiver = attach(1, 1, own, &peers);
    let mut other_job = attach(0, 2, socket(), &[peers[0], at]);
    let mut datagram = [0; 2000];
    sender.transmit(Rank(1), &control(1), Payload::Empty);
    sender.flush();
    let length = wire.recv(&mut datagram).unwrap();
    let mut expect = |bytes: &[u8], reason: FrameRefused| {
        let before = receiver.counters().refused.of(reason);
        wire.send_to(bytes, at).unwrap();
        assert_eq!(receiver.receive(), Ok(None), "{reason:?}");
        assert_eq!(receiver.counters().refused.of(reason), before + 1, "{reason:?}");
    };
    let mut random = fastrand::Rng::with_seed(5);
    expect(b"", FrameRefused::Length);
    expect(&[b'x'; 3000], FrameRefused::Magic);
    expect(&datagram[..length - 1], FrameRefused::Length);
    for _ in 0..100 {
        let mut forged = datagram;
        random.fill(&mut forged[16..length]);
        expect(&forged[..length], FrameRefused::Tag);
    }
    wire.send_to(&datagram[..length], at).unwrap();
    assert_eq!(receiver.receive().unwrap().map(|found| found.header), Some(control(1)));
    let mut expect_after = |reason: FrameRefused| {
        wire.send_to(&datagram[..length], at).unwrap();
        assert_eq!(receiver.receive(), Ok(None));
        assert_eq!(receiver.counters().refused.of(reason), 1);
    };
    expect_after(FrameRefused::Replayed);
    other_job.transmit(Rank(1), &control(2), Payload::Empty);
    other_job.flush();
    assert_eq!(receiver.receive(), Ok(None));
    assert_eq!(receiver.counters().refused.of(FrameRefused::Job), 1);
}

#[test]
fn a_rank_that_is_nowhere_costs_its_datagrams_and_nothing_else() {
    let sockets = [socket(), socket()];
    // Port 0 is nobody's, and the kernel says so at once.
    let nowhere: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let peers = [sockets[0].local_addr().unwrap(), sockets[1].local_addr().unwrap(), nowhere];
    let [first, second] = sockets;
    let (mut sender, mut receiver) = (attach(0, 1, first, &peers), attach(1, 1, second, &peers));
    sender.transmit(Rank(2), &control(1), Payload::Empty);
    sender.transmit(Rank(1), &control(2), Payload::Empty);
    sender.flush();
    assert_eq!(receive(&mut receiver).header, control(2));
    assert_eq!(sender.counters().sent.failed, 1);
}

#[test]
fn settings_without_room_for_packets_are_refused() {
    let bound = socket();
    let peers = vec![bound.local_addr().unwrap()];
    let refused = weft_udp::attach(UdpSettings {
        socket: bound,
        peers,
        keys: Keys::new(Secret::new([4; 16]), 1, Rank(0), Protection::Tagged),
        datagram_bytes: 71,
        only: None,
        group: None,
        frames: 1,
        receive_frames: 1,
    });
    assert_eq!(refused.err().map(|error| error.kind()), Some(std::io::ErrorKind::InvalidInput));
}
