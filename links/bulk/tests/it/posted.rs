//! Packets whose bytes are read into memory of the program.

use crate::common::*;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ptr::NonNull;
use weft_bulk::Bulk;
use weft_datagram::seal::{FrameRefused, Protection};
use weft_link::memory::{POSTED_HEAD_BYTES, Posted, PostedHead, Posting};
use weft_link::{Link, LinkPart, Payload};
use weft_udp::Udp;
use weft_wire::{Follows, Header, Rank, Tag, TreeId};

/// Bytes of a packet that belong in the memory.
const BODY: usize = 60_000;
const HEAD: PostedHead = [5; 16];

/// Memory that is posted for packets of rank 0 at a link. It lies still until it is dropped.
struct Memory(Box<[u8]>);

impl Memory {
    fn new(bytes: usize) -> Self {
        Memory(vec![0; bytes].into_boxed_slice())
    }

    fn posted(&mut self, head: PostedHead) -> Posted {
        let start = NonNull::from(&mut *self.0).cast();
        Posted { head, start, bytes: self.0.len(), there: 0 }
    }
}

/// Transmits a packet with `bytes`, which belong at `offset` in memory with this head.
fn transmit_part(
    link: &mut Bulk<Udp>,
    number: u32,
    (head, offset): (PostedHead, u64),
    bytes: &[u8],
) {
    let packet = [&head[..], &offset.to_le_bytes(), bytes].concat();
    let mut header =
        Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), packet.len() as u16);
    (header.sequence, header.follows) = (number, Follows::Earlier);
    assert!(link.transmit_copy(Rank(1), &header, &packet), "a frame is free");
    link.flush();
}

/// The next packet: its number and what is in it.
fn next(from: &mut Bulk<Udp>, to: &mut Bulk<Udp>) -> (u32, Vec<u8>) {
    loop {
        from.flush();
        let Some(received) = to.receive().unwrap() else { continue };
        let Payload::Buffer(buffer) = received.payload else { continue };
        let mut bytes = vec![0; received.header.size.into()];
        to.copy_out(buffer, &mut bytes);
        to.free(buffer);
        return (received.header.sequence, bytes);
    }
}

fn next_number(from: &mut Bulk<Udp>, to: &mut Bulk<Udp>) -> u32 {
    next(from, to).0
}

#[test]
fn bodies_are_read_where_they_belong_beside_other_packets() {
    let [mut from, mut to] = pair();
    let mut memory = Memory::new(3 * BODY + 20_000);
    let bytes = pattern(9, memory.0.len());
    assert!(to.post(Rank(0), memory.posted(HEAD)));
    let mut number = 0;
    for (part, body) in bytes.chunks(BODY).enumerate() {
        for size in [10_000, 100] {
            assert!(transmit(&mut from, number, size));
            assert_eq!(next(&mut from, &mut to), (number, pattern(number, size)));
            number += 1;
        }
        transmit_part(&mut from, number, (HEAD, (part * BODY) as u64), body);
        let (arrived, packet) = next(&mut from, &mut to);
        assert_eq!((arrived, &packet[..16]), (number, &HEAD[..]));
        assert_eq!(to.posted(Rank(0), &HEAD), part * BODY + body.len());
        number += 1;
    }
    assert_eq!(to.unpost(Rank(0), &HEAD), bytes.len());
    assert_eq!(to.posted(Rank(0), &HEAD), 0);
    assert_eq!(*memory.0, bytes);
}

#[test]
fn what_is_not_the_next_or_for_other_memory_is_left_in_its_packet() {
    let [mut from, mut to] = pair();
    let mut memory = Memory::new(2 * BODY);
    assert!(to.post(Rank(0), memory.posted(HEAD)));
    let (right, wrong) = (pattern(1, BODY), pattern(2, BODY));
    // In the wrong order; of other memory; beyond it; too late; of too few bytes to be worth it.
    let cases: [(u32, PostedHead, u64, &[u8], usize); 6] = [
        (0, HEAD, BODY as u64, &wrong, 0),
        (1, [6; 16], 0, &wrong, 0),
        (2, HEAD, u64::MAX, &wrong, 0),
        (3, HEAD, 0, &right, BODY),
        (4, HEAD, 0, &wrong, BODY),
        (5, HEAD, BODY as u64, &wrong[..2000], BODY),
    ];
    for (number, head, offset, bytes, there) in cases {
        transmit_part(&mut from, number, (head, offset), bytes);
        let (arrived, packet) = next(&mut from, &mut to);
        assert_eq!((arrived, to.posted(Rank(0), &HEAD)), (number, there));
        if number != 3 {
            assert_eq!(&packet[POSTED_HEAD_BYTES..], bytes, "{number}");
        }
    }
    to.unpost(Rank(0), &HEAD);
    assert_eq!(memory.0[..BODY], right);
    assert!(memory.0[BODY..].iter().all(|byte| *byte == 0));
}

#[test]
fn memory_that_was_given_back_is_not_written() {
    let [mut from, mut to] = pair();
    let all: Vec<Vec<u8>> = (0..60).map(|number| pattern(number, BODY)).collect();
    let mut memory = Memory::new(all.len() * BODY);
    assert!(to.post(Rank(0), memory.posted(HEAD)));
    // Nobody reads: the kernel takes no more at some point, within a record.
    for (number, bytes) in (0..).zip(&all) {
        transmit_part(&mut from, number, (HEAD, (number as usize * BODY) as u64), bytes);
    }
    let mut expected = 0;
    while let Some(received) = to.receive().unwrap() {
        let Payload::Buffer(buffer) = received.payload else { continue };
        assert_eq!(received.header.sequence, expected);
        to.free(buffer);
        expected += 1;
        // Some are here for others to come.
        if expected == 8 {
            break;
        }
    }
    let there = to.unpost(Rank(0), &HEAD);
    assert!(there >= expected as usize * BODY, "all that were placed were handed out, or wait");
    let before = memory.0.clone();
    assert_eq!(before[..there], all.concat()[..there]);
    for number in expected..60 {
        let (arrived, packet) = next(&mut from, &mut to);
        assert_eq!(arrived, number);
        if (number as usize + 1) * BODY > there {
            assert!(packet[POSTED_HEAD_BYTES..] == all[number as usize], "{number} is whole");
        }
    }
    assert!(memory.0 == before);
}

/// Passes on what comes at an address, with one bit changed behind so many bytes.
fn spoiling_proxy(to: SocketAddr, behind: usize) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let Ok((mut from, _)) = listener.accept() else { return };
        let mut to = TcpStream::connect(to).unwrap();
        let (mut buffer, mut passed) = ([0; 4096], 0);
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if (passed..passed + read).contains(&behind) {
                buffer[behind - passed] ^= 1;
            }
            passed += read;
            if to.write_all(&buffer[..read]).is_err() {
                return;
            }
        }
    });
    address
}

#[test]
fn what_an_outsider_changes_spoils_nothing_that_is_there() {
    let mut ways = Ways::new(2);
    ways.peers[1] = spoiling_proxy(ways.peers[1], BODY + BODY / 2);
    let [mut from, mut to]: [_; 2] = ways.attach(Protection::Tagged).try_into().ok().unwrap();
    let mut memory = Memory::new(4 * BODY);
    let bytes = pattern(3, memory.0.len());
    assert!(to.post(Rank(0), memory.posted(HEAD)));
    for (number, body) in (0..).zip(bytes.chunks(BODY)) {
        transmit_part(&mut from, number, (HEAD, u64::from(number) * BODY as u64), body);
    }
    assert_eq!(next_number(&mut from, &mut to), 0);
    assert_eq!(to.posted(Rank(0), &HEAD), BODY);
    // The second is refused, and those behind it are whole.
    for number in [2, 3] {
        let (arrived, packet) = next(&mut from, &mut to);
        assert_eq!(arrived, number);
        assert!(packet[POSTED_HEAD_BYTES..] == bytes[number as usize * BODY..][..BODY]);
    }
    assert_eq!((to.posted(Rank(0), &HEAD), to.counters().refused.of(FrameRefused::Tag)), (BODY, 1));
    assert_eq!(memory.0[..BODY], bytes[..BODY]);
    // It goes on where it stopped.
    transmit_part(&mut from, 4, (HEAD, BODY as u64), &bytes[BODY..2 * BODY]);
    assert_eq!(next_number(&mut from, &mut to), 4);
    assert_eq!(to.unpost(Rank(0), &HEAD), 2 * BODY);
    assert!(memory.0[..2 * BODY] == bytes[..2 * BODY]);
}

#[test]
fn memory_is_not_posted_where_it_would_not_be_used() {
    let links = Ways::new(2).attach(Protection::Encrypted);
    let [_, mut hidden]: [_; 2] = links.try_into().ok().unwrap();
    let [_, mut clear] = pair();
    let mut memory = Memory::new(BODY);
    assert!(!hidden.post(Rank(0), memory.posted(HEAD)), "what is encrypted is decrypted elsewhere");
    assert!(!clear.post(Rank(0), Memory::new(100).posted(HEAD)), "it is too short");
    let heads = (0..64).map(|number| [number; 16]);
    heads.clone().for_each(|head| assert!(clear.post(Rank(0), memory.posted(head))));
    assert!(!clear.post(Rank(0), memory.posted([64; 16])), "there is enough");
    heads.for_each(|head| assert_eq!(clear.unpost(Rank(0), &head), 0));
    assert!(clear.post(Rank(0), memory.posted([64; 16])));
}
