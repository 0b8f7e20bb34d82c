use super::*;
use crate::record::PAYLOAD_MAX;
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use weft_seal::Kind;
use weft_wire::envelope::{self, Envelope};
use weft_wire::{Rank, network};

const EXPECTED: Expected =
    Expected { job: 7, source: Some(Rank(0)), own: Rank(1), trailer_bytes: 0 };

/// Record with so many bytes behind its head, of which each is `byte`.
fn record(bytes: usize, byte: u8) -> Vec<u8> {
    let (kind, length) = (Kind::PACKETS, (network::SIZE + bytes) as u32);
    let (source, destination) = (Rank(0), Rank(1));
    let head = Envelope { kind, job: 7, source, destination, length, sequence: 1, tag: 2 };
    let mut record = envelope::emit(&head).to_vec();
    record.resize(envelope::SIZE + network::SIZE + bytes, byte);
    record
}

/// Records that a reader takes of what is written in pieces of these lengths, over and over.
fn taken(written: &[Vec<u8>], pieces: &[usize]) -> Vec<Vec<u8>> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    let mut reader = Reader::new(ours, EXPECTED, [new_place(), new_place()]);
    let (mut rest, mut pieces) = (&written.concat()[..], pieces.iter().cycle());
    let (mut taken, mut spare) = (Vec::new(), vec![new_place()]);
    loop {
        match reader.look(|| spare.pop()) {
            Step::Record(place, bytes) => {
                taken.push(place[..bytes].to_vec());
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn records_come_whole_and_in_order(
        lengths in lengths(),
        pieces in vec(prop_oneof![1..200_usize, 1..200_000_usize], 1..6),
    ) {
        let written: Vec<_> = (0..).zip(lengths).map(|(byte, length)| record(length, byte)).collect();
        let taken = taken(&written, &pieces);
        prop_assert_eq!(taken.len(), written.len());
        prop_assert!(taken == written);
    }
}

#[test]
fn long_records_are_read_ahead_until_short_ones_come_between() {
    let long = || record(PAYLOAD_MAX, 1);
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    let mut reader = Reader::new(ours, EXPECTED, [new_place(), new_place()]);
    let mut next = || match reader.look(|| Some(new_place())) {
        Step::Record(_, bytes) => (bytes, reader.ahead_max),
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
