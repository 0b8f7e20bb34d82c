//! Strangers that connect to where a rank listens, and their bytes.

use crate::common::*;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use weft_bulk::Bulk;
use weft_datagram::seal::{FrameKind, Protection, Seals};
use weft_link::{Link, Paths};
use weft_udp::Udp;
use weft_wire::{Rank, envelope};

/// Two links, and the address at which the second listens.
fn listening() -> ([Bulk<Udp>; 2], SocketAddr) {
    let ways = Ways::new(2);
    let at = ways.peers[1];
    (ways.attach(Protection::Tagged).try_into().ok().unwrap(), at)
}

/// A long packet still gets through.
fn a_packet_gets_through([from, to]: &mut [Bulk<Udp>; 2], number: u32) {
    assert!(transmit(from, number, 60_000));
    let mut got = VecDeque::new();
    while got.is_empty() {
        from.flush();
        receive_all(from, &mut VecDeque::new());
        receive_all(to, &mut got);
    }
    assert_eq!(got, [number]);
}

/// Looks until the link has closed this connection.
fn is_closed(link: &mut Bulk<Udp>, stream: &mut TcpStream) {
    stream.set_nonblocking(true).unwrap();
    loop {
        assert!(link.receive().unwrap().is_none(), "nothing of it is a packet");
        match stream.read(&mut [0]) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            _ => return,
        }
        std::thread::yield_now();
    }
}

/// A hello from `source` to `destination`, with keys of this secret.
fn hello(secret: &weft_datagram::seal::Secret, source: u16, destination: u16) -> Vec<u8> {
    let keys = weft_bulk::keys(secret, JOB, Rank(source), Protection::Tagged);
    let mut bytes = vec![0; envelope::SIZE + 8];
    Seals::new(keys, 9).sealer(Rank(destination)).seal(FrameKind::HELLO, &mut bytes);
    bytes
}

#[test]
fn what_is_no_hello_of_a_member_closes_its_connection() {
    let (mut links, at) = listening();
    let right = hello(&secret(), 0, 1);
    let mut changed = right.clone();
    *changed.last_mut().unwrap() ^= 1;
    let mut long = right.clone();
    long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let bad = [
        vec![0x5a; 100],
        changed,
        long,
        hello(&weft_datagram::seal::Secret::new([1; 16]), 0, 1),
        hello(&secret(), 0, 2),
        hello(&secret(), 7, 1),
    ];
    for bytes in &bad {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(bytes).unwrap();
        is_closed(&mut links[1], &mut stream);
    }
    assert_eq!(links[1].counters().refused_connections, bad.len() as u64);
    a_packet_gets_through(&mut links, 0);
}

#[test]
fn a_hello_is_good_once() {
    let (mut links, at) = listening();
    let hello = hello(&secret(), 0, 1);
    let mut first = TcpStream::connect(at).unwrap();
    first.write_all(&hello).unwrap();
    // Garbage behind a good hello ends the connection, too.
    first.write_all(&[0; 64]).unwrap();
    is_closed(&mut links[1], &mut first);
    let mut again = TcpStream::connect(at).unwrap();
    again.write_all(&hello).unwrap();
    is_closed(&mut links[1], &mut again);
    assert_eq!(links[1].counters().refused_connections, 1, "the replay");
}

#[test]
fn a_thousand_connections_that_say_nothing_keep_nobody_out() {
    let (mut links, at) = listening();
    let mut held = Vec::new();
    for _ in 0..1000 {
        held.push(TcpStream::connect(at).unwrap());
        if held.len().is_multiple_of(50) {
            (0..200).for_each(|_| assert!(links[1].receive().unwrap().is_none()));
        }
    }
    a_packet_gets_through(&mut links, 0);
    assert!(links[1].counters().refused_connections >= 900, "only a few were kept");
    // Those that are left have to say who they are in time.
    links[1].tend(0);
    links[1].tend(6_000_000_000);
    assert_eq!(links[1].counters().refused_connections, 1000);
}
