//! A peer that sends packets which no engine sends: it is named in an error, and that is all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_endpoint::{Packets, Protocol, Rank};
use weft_messaging::format::{MAX_MESSAGE, PacketHeader, PacketKind, port_number};
use weft_messaging::{Engine, Error, Mailbox};
use weft_threads::Job;

/// A packet of message `message` to the port "box" with `size` bytes after its header.
type Written = (PacketHeader, usize);

fn first(message: u32, length: u64, size: usize) -> Written {
    let port = port_number("box");
    let kind = PacketKind::First;
    (PacketHeader { port, message, bytes: length, header_bytes: 0, kind, aligned: false }, size)
}

fn next(message: u32, before: u64, size: usize) -> Written {
    let (header, _) = first(message, before, 0);
    (PacketHeader { kind: PacketKind::Next, ..header }, size)
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
    let packets = packets.of(Protocol::MESSAGES);
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

/// Takes and keeps messages, and reads none, until there is an error.
fn keep_on(mailbox: &Mailbox) -> Result<(), Error> {
    let mut kept = Vec::new();
    loop {
        kept.push(mailbox.receive()?);
    }
}

/// A request for message `message`, and what else two ranks say about one.
fn about(kind: PacketKind, message: u32, bytes: u64) -> Written {
    (PacketHeader::of_message(port_number("box"), kind, message, bytes), 0)
}

const STRAY: Error = Error::Stray { from: Rank(1) };

#[test]
fn messages_as_they_should_be() {
    assert_eq!(rank_0_reads(&[first(1, 3, 2), next(1, 2, 1)], read_one), Ok(vec![7; 3]));
}

/// Its reader would wait for the rest, or read what is not its.
#[test]
fn a_whole_message_of_another_length() {
    for size in [0, 2, 4, 100] {
        let (header, _) = first(1, 3, 0);
        let whole = (PacketHeader { kind: PacketKind::Whole, ..header }, size);
        assert_eq!(rank_0_reads(&[whole], read_one), Err(STRAY), "{size} bytes");
    }
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

#[test]
fn bytes_that_nobody_has_granted() {
    // Until it is read, and so granted, nothing of it may come.
    let written = [about(PacketKind::Request, 1, 3), next(1, 0, 3)];
    assert_eq!(rank_0_reads(&written, keep_on), Err(STRAY));
}

#[test]
fn requests_that_cannot_be() {
    let request = |bytes| about(PacketKind::Request, 1, bytes);
    assert_eq!(rank_0_reads(&[request(0)], read_on), Err(STRAY), "for nothing");
    let (header, _) = request(3);
    assert_eq!(rank_0_reads(&[(header, 3)], read_on), Err(STRAY), "with bytes");
    let twice = [first(1, 3, 2), request(3)];
    assert_eq!(rank_0_reads(&twice, read_one), Err(STRAY), "of a message that has begun");
}

#[test]
fn requests_without_end() {
    let written: Vec<Written> =
        (0..=4096).map(|message| about(PacketKind::Request, message, 2)).collect();
    let unfinished = Error::Unfinished { from: Rank(1), limit: 4096 };
    assert_eq!(rank_0_reads(&written, keep_on), Err(unfinished));
}

#[test]
fn answers_to_what_nobody_asked() {
    for kind in [PacketKind::Grant, PacketKind::Unwanted] {
        assert_eq!(rank_0_reads(&[about(kind, 1, 0)], read_one), Err(STRAY), "{kind:?}");
    }
}

#[test]
fn messages_that_end_where_they_are_not() {
    for bytes in [0, 1, 3, MAX_MESSAGE] {
        let written = [first(1, 3, 2), about(PacketKind::Cancel, 1, bytes)];
        assert_eq!(rank_0_reads(&written, read_one), Err(STRAY), "after {bytes} bytes");
    }
}

/// Nobody has sent there from here, nor asked; nor begun what is given up.
#[test]
fn reports_about_ports_that_are_nowhere() {
    for kind in [PacketKind::Window, PacketKind::NoPort, PacketKind::Cancel] {
        let nowhere = (PacketHeader::about(port_number("nowhere"), kind), 0);
        assert_eq!(rank_0_reads(&[nowhere, first(1, 1, 1)], read_one), Err(STRAY), "{kind:?}");
    }
}

#[test]
fn reports_about_groups_that_cannot_be() {
    for kind in [PacketKind::Window, PacketKind::Stalled] {
        let report = about(kind, 0, (1 << 16) + 1);
        assert_eq!(rank_0_reads(&[report, first(1, 1, 1)], read_one), Err(STRAY), "{kind:?}");
    }
}

/// Their multicasts may come by another way, so they are no violation; but nothing is kept of them.
#[test]
fn complaints_about_ports_that_are_nowhere() {
    for kind in [PacketKind::Stalled, PacketKind::Waiting] {
        let complaints = (0..20_000).map(|port| (PacketHeader::about(port, kind), 0));
        let written: Vec<Written> = complaints.chain([first(1, 1, 1)]).collect();
        let kept = rank_0_reads(&written, |mailbox| {
            let mut read = Ok(Vec::new());
            let memory = allocation_counter::measure(|| read = read_one(mailbox));
            read.map(|bytes| (bytes, memory.bytes_current))
        });
        let (bytes, kept) = kept.unwrap();
        assert_eq!(bytes, [7]);
        assert!(kept < 100_000, "{kept} bytes are kept of 20,000 packets {kind:?}");
    }
}

#[test]
fn messages_to_ports_without_end() {
    let to_port = |port| (PacketHeader { port, ..first(1, 1, 1).0 }, 1);
    let written: Vec<Written> = (0..=1 << 16).map(to_port).collect();
    let unmade = Error::UnmadePorts { from: Rank(1), limit: 1 << 16 };
    assert_eq!(rank_0_reads(&written, read_on), Err(unmade));
}

/// A peer asks for port after port and takes no answer, nor gives the credits of any back.
#[test]
fn questions_without_end() {
    let is_over = AtomicBool::new(false);
    let outcomes = Job::new(2).packets(|packets| match packets.rank().0 {
        0 => {
            let engine = Engine::new(packets);
            let outcome = loop {
                if let Err(error) = engine.progress() {
                    break error;
                }
            };
            is_over.store(true, Ordering::SeqCst);
            Some(outcome)
        }
        _ => {
            let packets = packets.of(Protocol::MESSAGES);
            for port in 0.. {
                let mut packet = None;
                packets
                    .poll_until(|| {
                        packet = packets.try_packet().unwrap();
                        packet.is_some() || is_over.load(Ordering::SeqCst)
                    })
                    .unwrap();
                let Some(mut packet) = packet else { break };
                packet.put(&PacketHeader::about(port, PacketKind::Probe).emit()).unwrap();
                packet.unicast(Rank(0)).unwrap();
            }
            None
        }
    });
    let unanswered = Error::Unanswered { from: Rank(1), limit: 4096 + (1 << 16) };
    assert_eq!(outcomes, [Some(unanswered), None]);
}

/// Its sender may have heard too late that nobody wants it, or that it is granted: both are no
/// news.
#[test]
fn what_is_about_a_message_that_is_gone_changes_nothing() {
    let gone = [about(PacketKind::Cancel, 1, 0), about(PacketKind::Waiting, 1, 0), first(2, 1, 1)];
    assert_eq!(rank_0_reads(&gone, read_one), Ok(vec![7]));
}

/// Whoever reads already is woken.
#[test]
fn a_reader_hears_that_its_message_was_given_up() {
    let taken = AtomicBool::new(false);
    let told = Job::new(2).packets(|packets| match packets.rank().0 {
        0 => {
            let mailbox = Mailbox::new(&Engine::new(packets), "box").unwrap();
            let mut message = mailbox.receive().unwrap();
            taken.store(true, Ordering::SeqCst);
            message.read_to_vec()
        }
        _ => {
            write(&packets, &[first(1, 5, 2)]);
            packets.poll_until(|| taken.load(Ordering::SeqCst)).unwrap();
            write(&packets, &[next(1, 2, 2), about(PacketKind::Cancel, 1, 4)]);
            Ok(Vec::new())
        }
    });
    let given_up = Error::GivenUp { from: Rank(1), sent: 4, length: 5 };
    assert_eq!(told, [Err(given_up), Ok(Vec::new())]);
}

/// Messages that wait for a port that is never created must not keep the engine, nor the node below
/// it.
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
