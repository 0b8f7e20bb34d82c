//! Bytes of tagged messages and remote accesses, which ranks of other builds read:
//! `systems/tagged/golden.txt` has them.

use crate::format::{self, TaggedPacket, Whole, short_head};
use crate::remote::atomic::{AtomicAccess, AtomicOperation, Element};
use crate::remote::format::{self as accesses, AccessSpan, RemotePacket};
use crate::{Address, MessageEnvelope, Tagging};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use weft_endpoint::Rank;
use weft_golden::{BETWEEN_RANKS, Entries, add, hold, variant};

const NUMBER: u64 = 0x0102_0304_0506_0708;
const OFFSET: u64 = 0x1112_1314_1516_1718;
const OWN: u64 = 0x2122_2324_2526_2728;
const LENGTH: u64 = 0x3132_3334_3536_3738;
const ADDRESS: NonZero<u64> = NonZero::new(0x4142_4344_4546_4748).unwrap();
const TAG: u64 = 0x5152_5354_5556_5758;
const DATA: u64 = 0x6162_6364_6566_6768;
/// Endpoints.
const TO: u8 = 0x71;
const FROM: u8 = 0x72;
const BYTES: &[u8] = b"text";

fn envelope(kind: Tagging, data: Option<u64>) -> MessageEnvelope {
    let source = Address { rank: Rank(3), endpoint: FROM };
    let tag = if kind == Tagging::Tagged { TAG } else { 0 };
    MessageEnvelope { kind, source, tag, data, length: LENGTH }
}

/// A packet of each kind, by its name, and of kinds with flags one with each flag.
fn packets() -> Vec<(String, TaggedPacket<'static>)> {
    let tagged = envelope(Tagging::Tagged, Some(DATA));
    let (bare, number) = (envelope(Tagging::Untagged, None), NonZero::new(NUMBER));
    let whole = |envelope, registered| {
        TaggedPacket::Whole(Whole { to: TO, envelope, registered, bytes: BYTES })
    };
    let request = |lies_at, wants_done| TaggedPacket::Request {
        to: TO,
        envelope: tagged,
        number: NUMBER,
        lies_at,
        wants_done,
    };
    let grant =
        |zero_copy| TaggedPacket::Grant { number: NUMBER, own: OWN, length: LENGTH, zero_copy };
    let first = TaggedPacket::First { to: TO, envelope: tagged, number: NUMBER, bytes: BYTES };
    let flagged = [
        ("Whole, untagged", whole(bare, None)),
        ("Whole, registered", whole(tagged, number)),
        ("Request with an address", request(Some(ADDRESS), false)),
        ("Request that wants to know", request(None, true)),
        ("Grant of zero copy", grant(true)),
    ];
    let plain = [
        whole(tagged, None),
        first,
        TaggedPacket::More { number: NUMBER, offset: OFFSET, bytes: BYTES },
        request(None, false),
        grant(false),
        TaggedPacket::Part { own: OWN, offset: OFFSET, bytes: BYTES },
        TaggedPacket::Done { number: NUMBER },
        TaggedPacket::Consumed { amount: NUMBER },
        TaggedPacket::Left,
    ];
    let flagged = flagged.into_iter().map(|(name, packet)| (name.to_owned(), packet));
    flagged.chain(plain.map(|packet| (variant(&packet), packet))).collect()
}

/// A packet of each kind of remote accesses.
fn access_packets() -> Vec<(String, RemotePacket<'static>)> {
    let span = AccessSpan { to: TO, from: FROM, key: OWN, offset: OFFSET, end: LENGTH };
    let write = |data| RemotePacket::Write { span, number: NUMBER, data, bytes: BYTES };
    let offer = |data| RemotePacket::Offer { span, number: NUMBER, lies_at: ADDRESS, data };
    let read = |fetches| RemotePacket::Read { span, number: NUMBER, fetches };
    let atomic = |fetches| RemotePacket::Atomic {
        span,
        number: NUMBER,
        atomic: AtomicAccess { operation: AtomicOperation::Sum, element: Element::U64 },
        fetches,
        operands: BYTES,
    };
    let fetched = |all| RemotePacket::Fetched { number: NUMBER, all };
    let flagged = [
        ("Write with data", write(Some(DATA))),
        ("Offer with data", offer(Some(DATA))),
        ("Read that can fetch", read(true)),
        ("Atomic that fetches", atomic(true)),
        ("Fetched in vain", fetched(false)),
    ];
    let plain = [
        write(None),
        offer(None),
        read(false),
        atomic(false),
        RemotePacket::Part { number: NUMBER, bytes: BYTES },
        RemotePacket::Address { number: NUMBER, lies_at: ADDRESS },
        fetched(true),
    ];
    let flagged = flagged.into_iter().map(|(name, packet)| (name.to_owned(), packet));
    let plain = plain.map(|packet| (variant(&packet), packet));
    flagged.chain(plain).chain(ends()).collect()
}

/// The end of an access with each outcome, all that are read.
fn ends() -> impl Iterator<Item = (String, RemotePacket<'static>)> {
    let packet = RemotePacket::Ended { number: NUMBER, outcome: Ok(()) }.head();
    let read = (0..=u8::MAX).filter_map(move |flags| {
        let mut bytes = packet.bytes().to_vec();
        bytes[1] = flags;
        match accesses::parse(&bytes)? {
            RemotePacket::Ended { outcome, .. } => Some(outcome),
            _ => None,
        }
    });
    read.map(|outcome| {
        let name = outcome.map_or_else(|refused| variant(&refused), |()| "well".to_owned());
        (format!("Ended, {name}"), RemotePacket::Ended { number: NUMBER, outcome })
    })
}

/// First bytes of packets that are read as such, among these: zeros behind the first byte, numbers
/// that rise, and zeros that end with a one, of every length.
fn kinds_read(is_read: impl Fn(&[u8]) -> bool) -> BTreeSet<u8> {
    let words = |words: usize| {
        let last = (0..words).map(move |at| u64::from(at > 0 && at + 1 == words));
        [vec![0; words], (0..words as u64).collect(), last.collect()]
    };
    let packets: Vec<Vec<u64>> = (1..9).flat_map(words).collect();
    let is_kind = |kind: &u8| {
        packets.iter().any(|words| {
            let mut packet: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            packet[0] = *kind;
            is_read(&packet)
        })
    };
    (0..=u8::MAX).filter(is_kind).collect()
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    for (name, packet) in packets() {
        add(&mut entries, format!("packet {name}"), packet.head().bytes());
    }
    let short = short_head(TO, &envelope(Tagging::Tagged, Some(DATA)));
    add(&mut entries, "packet Whole, short", short.map(u64::to_le_bytes).as_flattened());
    for (name, packet) in access_packets() {
        add(&mut entries, format!("access {name}"), packet.head().bytes());
    }
    for operation in (0..=u8::MAX).filter_map(AtomicOperation::of_number) {
        add(&mut entries, format!("atomic {operation:?}"), [operation as u8]);
    }
    for element in (0..=u8::MAX).filter_map(Element::of_number) {
        add(&mut entries, format!("element {element:?}"), [element as u8]);
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}

#[test]
fn all_kinds_that_are_read_are_in_the_list() {
    let listed: BTreeSet<u8> =
        packets().iter().map(|(_, packet)| packet.head().bytes()[0]).collect();
    assert_eq!(kinds_read(|packet| format::parse(Rank(3), packet).is_some()), listed);
    let listed: BTreeSet<u8> =
        access_packets().iter().map(|(_, packet)| packet.head().bytes()[0]).collect();
    assert_eq!(kinds_read(|packet| accesses::parse(packet).is_some()), listed);
}
