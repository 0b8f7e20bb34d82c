//! A peer that sends packets which no engine sends: it is named in an error, and that is all.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use weft_messaging::format::{Kind, MAX_MESSAGE, PacketHeader, port_number};
use weft_messaging::{Engine, Error, Mailbox};
use weft_packet::{Packets, Rank};
use weft_threads::Job;

/// A packet of message `message` to the port "box" with `size` bytes after its header.
type Written = (PacketHeader, usize);

fn first(message: u32, length: u64, size: usize) -> Written {
    let port = port_number("box");
    let kind = Kind::First;
    (PacketHeader { port, message, bytes: length, header_bytes: 0, kind, aligned: false }, size)
}

fn next(message: u32, before: u64, size: usize) -> Written {
    let (header, _) = first(message, before, 0);
    (PacketHeader { kind: Kind::Next, ..header }, size)
}

/// Rank 1 writes these packets; rank 0 does as `read` says with its mailbox.
fn rank_0_reads<T: Send>(
    written: &[Written],
    read: impl Fn(&Mailbox) -> Result<T, Error> + Sync,
) -> Result<T, Error> {
    let outcomes = Job::new(2).packets(|packets| match packets.rank().0 {
        0 => {
            let mailbox = Mailbox::new(&Engine::new(packets), "box").unwrap();
            Some(read(&mailbox))
        }
        _ => {
            write(&packets, written);
            None
        }
    });
    outcomes.into_iter().flatten().next().unwrap()
}

fn write(packets: &Packets, written: &[Written]) {
    for (header, size) in written {
        let mut packet = packets.packet().unwrap();
        packet.put(&header.emit()).unwrap().put(&vec![7; *size]).unwrap();
        packet.unicast(Rank(0)).unwrap();
    }
    packets.flush().unwrap();
}

fn read_one(mailbox: &Mailbox) -> Result<Vec<u8>, Error> {
    mailbox.receive()?.read_to_vec()
}

/// Takes and drops messages until there is an error.
fn read_on(mailbox: &Mailbox) -> Result<(), Error> {
    loop {
        drop(mailbox.receive()?);
    }
}

const STRAY: Error = Error::Stray { from: Rank(1) };

#[test]
fn messages_as_they_should_be() {
    assert_eq!(rank_0_reads(&[first(1, 3, 2), next(1, 2, 1)], read_one), Ok(vec![7; 3]));
}

/// The packets of the second would be taken for those of the first, which may be shorter.
#[test]
fn a_message_that_begins_while_another_has_its_number() {
    let written = [first(1, 3, 2), first(1, 100, 50), next(1, 50, 50)];
    assert_eq!(rank_0_reads(&written, read_one), Err(STRAY));
}

#[test]
fn headers_in_a_later_packet() {
    let (mut header, size) = next(1, 2, 2);
    header.header_bytes = 1;
    assert_eq!(rank_0_reads(&[first(1, 3, 2), (header, size)], read_one), Err(STRAY));
}

/// Each would be kept until its message is complete, which it never is.
#[test]
fn a_later_packet_with_nothing_in_it() {
    assert_eq!(rank_0_reads(&[first(1, 3, 2), next(1, 2, 0)], read_one), Err(STRAY));
}

/// No memory is set aside for bytes that were only announced.
#[test]
fn a_message_longer_than_memory() {
    let written = [first(1, MAX_MESSAGE, 2), next(1, 1, 1)];
    assert_eq!(rank_0_reads(&written, read_one), Err(STRAY));
}

#[test]
fn messages_without_end() {
    let written: Vec<Written> = (0..=4096).map(|message| first(message, 2, 1)).collect();
    let unfinished = Error::Unfinished { from: Rank(1), limit: 4096 };
    assert_eq!(rank_0_reads(&written, read_on), Err(unfinished));
}

/// What waits for a port that is never created must not keep the engine, nor the node below it.
#[test]
fn messages_to_a_port_that_nobody_creates() {
    let gone = Job::new(2).packets(|packets| {
        if packets.rank() == Rank(1) {
            write(&packets, &[first(1, 3, 2)]);
            return true;
        }
        let engine = Engine::new(packets);
        while engine.statistics().messages_received == 0 {
            engine.progress().unwrap();
        }
        let weak = Arc::downgrade(&engine);
        drop(engine);
        weak.upgrade().is_none()
    });
    assert_eq!(gone, [true, true]);
}
