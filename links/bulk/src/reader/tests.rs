use super::*;
use crate::posted::{LEAST, PostedMemory};
use crate::record::{HEAD_BYTES, PAYLOAD_MAX};
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::ptr::NonNull;
use weft_datagram::seal::FrameKind;
use weft_link::memory::{POSTED_HEAD_BYTES, Posted};
use weft_wire::envelope::{self, Envelope};
use weft_wire::{Header, Rank, Tag, TreeId, network};

const EXPECTED: Expected =
    Expected { job: 7, source: Some(Rank(0)), own: Rank(1), trailer_bytes: 0 };

/// Record with so many bytes behind its head, of which each is `byte`.
fn record(bytes: usize, byte: u8) -> Vec<u8> {
    let (kind, length) = (FrameKind::PACKETS, (network::SIZE + bytes) as u32);
    let (source, destination) = (Rank(0), Rank(1));
    let head = Envelope { kind, job: 7, source, destination, length, sequence: 1, tag: 2 };
    let mut record = envelope::emit(&head).to_vec();
    record.resize(envelope::SIZE + network::SIZE + bytes, byte);
    record
}

/// Records that a reader takes of what is written in pieces of these lengths, over and over.
fn taken(written: &[Vec<u8>], pieces: &[usize], posted: &mut PostedMemory) -> Vec<Vec<u8>> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    let mut reader = Reader::new(ours, EXPECTED, [new_place(), new_place()]);
    let (mut rest, mut pieces) = (&written.concat()[..], pieces.iter().cycle());
    let (mut taken, mut spare) = (Vec::new(), vec![new_place()]);
    loop {
        match reader.look(posted.of(Rank(0)), || spare.pop()) {
            Step::Record(place, bytes, aim) => {
                let tail = aim.as_ref().map_or(&[][..], Aim::bytes);
                taken.push([&place[..bytes], tail].concat());
                aim.iter().for_each(|aim| posted.has_opened(Rank(0), aim));
                spare.push(place);
            }
            Step::Nothing if rest.is_empty() => return taken,
            Step::Nothing => {
                let piece = *pieces.next().unwrap();
                let count = rustix::io::write(&theirs, &rest[..piece.min(rest.len())]).unwrap();
                rest = &rest[count..];
            }
            Step::Dropped => panic!("there is a place"),
            Step::Closed => panic!("all are records"),
        }
    }
}

/// Lengths of records: long ones and short ones, often several of a kind.
fn lengths() -> impl Strategy<Value = Vec<usize>> {
    let lengths = prop_oneof![Just(PAYLOAD_MAX), 0..300_usize, 3_000..6_000_usize, 0..PAYLOAD_MAX];
    let run = (lengths, 1..4_usize).prop_map(|(length, times)| vec![length; times]);
    vec(run, 1..8).prop_map(|runs| runs.concat())
}

/// Header of a packet of so many user bytes.
fn packet_header(size: usize) -> [u8; network::SIZE] {
    network::emit(&Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn records_come_whole_and_in_order(
        lengths in lengths(),
        pieces in vec(prop_oneof![1..200_usize, 1..200_000_usize], 1..6),
    ) {
        let written: Vec<_> = (0..).zip(lengths).map(|(byte, length)| record(length, byte)).collect();
        let taken = taken(&written, &pieces, &mut PostedMemory::new(1));
        prop_assert_eq!(taken.len(), written.len());
        prop_assert!(taken == written);
    }

    #[test]
    fn bodies_come_whole_into_posted_memory_between_other_records(
        lengths in lengths(),
        others in vec(any::<bool>(), 1..5),
        pieces in vec(prop_oneof![1..200_usize, 1..200_000_usize], 1..6),
    ) {
        let mut memory = vec![0; lengths.iter().sum::<usize>() + LEAST];
        let start = NonNull::from(&mut *memory).cast();
        let mut posted = PostedMemory::new(1);
        posted.post(Rank(0), Posted { head: [7; 16], start, bytes: memory.len(), there: 0 });
        let (mut expected, mut written) = (Vec::new(), Vec::new());
        for ((byte, length), is_other) in (0..).zip(lengths).zip(others.into_iter().cycle()) {
            let length = length.max(POSTED_HEAD_BYTES);
            let mut record = record(length, byte);
            let body = length - POSTED_HEAD_BYTES;
            if !is_other && body >= LEAST {
                record[envelope::SIZE..HEAD_BYTES].copy_from_slice(&packet_header(length));
                record[HEAD_BYTES..][..16].fill(7);
                record[HEAD_BYTES + 16..CUT_AT].copy_from_slice(&expected.len().to_le_bytes());
                expected.resize(expected.len() + body, byte);
            }
            written.push(record);
        }
        let taken = taken(&written, &pieces, &mut posted);
        prop_assert!(taken == written);
        prop_assert_eq!(posted.unpost(Rank(0), &[7; 16]), expected.len());
        prop_assert!(memory[..expected.len()] == expected);
        prop_assert!(memory[expected.len()..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn long_records_are_read_ahead_until_short_ones_come_between() {
    let long = || record(PAYLOAD_MAX, 1);
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    let mut reader = Reader::new(ours, EXPECTED, [new_place(), new_place()]);
    let mut next = || match reader.look(&[], || Some(new_place())) {
        Step::Record(_, bytes, _) => (bytes, reader.ahead_max),
        _ => panic!("a record is there"),
    };
    for (records, ahead_max) in [
        (vec![long()], RECORD_MAX),
        (vec![record(64, 2)], AHEAD),
        (vec![long(), long()], RECORD_MAX),
        (vec![record(64, 2), long()], AHEAD),
    ] {
        rustix::io::write(&theirs, &records.concat()).unwrap();
        assert_eq!(next(), (records[0].len(), ahead_max));
        records[1..].iter().for_each(|record| assert_eq!(next().0, record.len()));
    }
}
