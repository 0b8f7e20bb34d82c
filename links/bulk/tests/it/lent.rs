//! Packets whose bytes lie in memory of the program.

use crate::common::*;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use std::ptr::NonNull;
use weft_bulk::Bulk;
use weft_datagram::seal::Protection;
use weft_link::memory::{Lending, LentMemory};
use weft_link::{Buffer, Link, Paths, Payload};
use weft_udp::Udp;
use weft_wire::{Follows, Header, Rank, Tag, TreeId};

/// Bytes of a long packet, all of them lent.
const SIZE: usize = 60_000;

fn lent(bytes: &[u8]) -> LentMemory {
    LentMemory { start: NonNull::from(bytes).cast(), bytes: bytes.len() }
}

fn header(number: u32, size: usize) -> Header {
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    Header { sequence: number, follows: Follows::Earlier, ..header }
}

/// A frame of rank 0 with these bytes, which are lent to it.
fn frame_of(link: &mut Bulk<Udp>, bytes: &[u8]) -> Option<Buffer> {
    let frame = link.alloc(None)?;
    assert!(link.lend(frame, 0, lent(bytes)));
    Some(frame)
}

fn transmit_from(link: &mut Bulk<Udp>, number: u32, frame: Buffer) {
    link.transmit(Rank(1), &header(number, SIZE), Payload::Buffer(frame));
}

/// Receives until packets up to `count` have come, in order.
fn receive_up_to(count: u32, from: &mut Bulk<Udp>, to: &mut Bulk<Udp>) {
    let mut got = VecDeque::new();
    while got.len() < count as usize {
        from.flush();
        receive_all(to, &mut got);
    }
    assert!(got.into_iter().eq(0..count));
}

#[test]
fn what_is_lent_arrives_and_is_back_when_its_frame_is_free() {
    let [mut from, mut to] = pair();
    let bytes = pattern(0, SIZE);
    let frame = frame_of(&mut from, &bytes).unwrap();
    assert!(from.has_lent(lent(&bytes)) && from.has_lent(lent(&bytes[SIZE - 1..])));
    transmit_from(&mut from, 0, frame);
    receive_up_to(1, &mut from, &mut to);
    assert!(from.has_lent(lent(&bytes)), "it may have to be sent again");
    from.free(frame);
    assert!(!from.has_lent(lent(&bytes)));
    assert_eq!(from.counters().packets, 1);
}

#[test]
fn what_was_taken_back_may_change_while_its_record_waits() {
    let [mut from, mut to] = pair();
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut frames = Vec::new();
    // Nobody reads: the kernel takes no more at some point, within a record.
    while let Some(frame) = {
        all.push(pattern(frames.len() as u32, SIZE));
        frame_of(&mut from, &all[frames.len()])
    } {
        transmit_from(&mut from, frames.len() as u32, frame);
        frames.push(frame);
    }
    from.flush();
    for bytes in &mut all[..frames.len()] {
        assert!(from.has_lent(lent(bytes)));
        from.take_back(lent(bytes));
        assert!(!from.has_lent(lent(bytes)));
        bytes.fill(0xff);
    }
    receive_up_to(frames.len() as u32, &mut from, &mut to);
    frames.into_iter().for_each(|frame| from.free(frame));
}

#[test]
fn it_is_sent_again_when_the_connection_breaks_within_it() {
    for bytes in [72, 130, 59_000, 130_000] {
        let mut ways = Ways::new(2);
        ways.peers[1] = cutting_proxy(ways.peers[1], bytes);
        let [mut from, mut to]: [_; 2] = ways.attach(Protection::Tagged).try_into().ok().unwrap();
        let all: Vec<Vec<u8>> = (0..20).map(|number| pattern(number, SIZE)).collect();
        let frames: Vec<_> = all.iter().map(|bytes| frame_of(&mut from, bytes).unwrap()).collect();
        let (mut expected, mut now) = (0, 0);
        while expected < 20 {
            for number in expected..20 {
                transmit_from(&mut from, number, frames[number as usize]);
            }
            for _ in 0..200 {
                let mut got = VecDeque::new();
                from.flush();
                receive_all(&mut to, &mut got);
                expected += got.iter().filter(|number| **number >= expected).count() as u32;
                std::thread::yield_now();
            }
            receive_all(&mut from, &mut VecDeque::new());
            now += 20_000_000;
            from.tend(now);
            to.tend(now);
        }
        assert!(from.counters().broken >= 1, "broken after {bytes} bytes");
    }
}

#[test]
fn without_a_connection_it_goes_in_pieces() {
    let mut ways = Ways::new(2);
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    ways.peers[1] = gone.local_addr().unwrap();
    drop(gone);
    let [mut from, mut to]: [_; 2] = ways.attach(Protection::Tagged).try_into().ok().unwrap();
    let bytes = pattern(0, SIZE);
    let frame = frame_of(&mut from, &bytes).unwrap();
    let (mut got, mut now) = (VecDeque::new(), 0);
    while got.is_empty() {
        transmit_from(&mut from, 0, frame);
        from.flush();
        receive_all(&mut to, &mut got);
        now += 20_000_000;
        from.tend(now);
    }
    assert!(from.counters().pieces > 0);
}

#[test]
fn frames_are_filled_where_records_are_encrypted_or_padded() {
    let bytes = pattern(0, SIZE);
    let [mut clear, _] = pair();
    let frame = clear.alloc(None).unwrap();
    assert!(!clear.lend(frame, 3, lent(&bytes)), "it ends with zeros");
    assert!(clear.lend(frame, 8, lent(&bytes)));
    let links = Ways::new(2).attach(Protection::Encrypted);
    let [mut hidden, _]: [_; 2] = links.try_into().ok().unwrap();
    let frame = hidden.alloc(None).unwrap();
    assert!(!hidden.lend(frame, 0, lent(&bytes)));
    assert!(!hidden.has_lent(lent(&bytes)));
}
