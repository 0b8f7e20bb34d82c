//! Bytes of all headers and frames, which ranks of other builds read: `wire/golden.txt` has them.

use std::path::{Path, PathBuf};
use weft_golden::{BETWEEN_RANKS, Entries, hex, hold, read};
use weft_wire::envelope::{self, Envelope, FrameKind};
use weft_wire::path::{Piece, Probe, ProbeAnswer};
use weft_wire::place::{PlaceHeader, PlaceKind, Refusal};
use weft_wire::several::{self, Entry};
use weft_wire::{
    Atomic, Channel, Follows, GroupId, Header, Protocol, Rank, Serial, Tag, TreeId, atomic,
    compact, network,
};

fn list() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt")
}

/// A header whose every field can be told from all others.
fn header(tag: Tag) -> Header {
    let tree = TreeId::multicast(GroupId(0x1112), Rank(0x1314)).of(Protocol::MESSAGES);
    Header {
        credits: 0x2122,
        channel: Channel(Some(Rank(0x3132))),
        sequence: 0x4142_4344,
        acknowledgement: 0x5152_5354,
        asks: true,
        serial: Serial::FIRST.next(),
        ..Header::new(tag, Rank(0x0102), tree, 0x0304)
    }
}

fn tags() -> Vec<Tag> {
    (0..=u8::MAX).filter_map(|byte| Tag::try_from(byte).ok()).collect()
}

fn envelope(kind: FrameKind) -> Envelope {
    Envelope {
        kind,
        job: 0x0102_0304,
        source: Rank(0x1112),
        destination: Rank(0x2122),
        length: 0x3132_3334,
        sequence: 0x4142_4344_4546_4748,
        tag: 0x5152_5354_5556_5758,
    }
}

const KINDS: [(&str, FrameKind); 9] = [
    ("packets", FrameKind::PACKETS),
    ("heartbeat", FrameKind::HEARTBEAT),
    ("hello", FrameKind::HELLO),
    ("several", FrameKind::SEVERAL),
    ("piece", FrameKind::PIECE),
    ("probe", FrameKind::PROBE),
    ("answer", FrameKind::ANSWER),
    ("goodbye", FrameKind::GOODBYE),
    ("card", FrameKind::CARD),
];

const PLACES: [PlaceKind; 9] = [
    PlaceKind::Put,
    PlaceKind::PutNotify,
    PlaceKind::Offer,
    PlaceKind::Accept,
    PlaceKind::Close,
    PlaceKind::Withdraw,
    PlaceKind::Refused,
    PlaceKind::Get,
    PlaceKind::Got,
];

const ATOMICS: [(&str, Atomic); 8] = [
    ("add", Atomic::Add(0x0102_0304_0506_0708)),
    ("swap", Atomic::Swap(0x0102_0304_0506_0708)),
    (
        "compare-swap",
        Atomic::CompareSwap { expected: 0x1112_1314_1516_1718, new: 0x0102_0304_0506_0708 },
    ),
    ("min", Atomic::Min(0x0102_0304_0506_0708)),
    ("max", Atomic::Max(0x0102_0304_0506_0708)),
    ("and", Atomic::And(0x0102_0304_0506_0708)),
    ("or", Atomic::Or(0x0102_0304_0506_0708)),
    ("xor", Atomic::Xor(0x0102_0304_0506_0708)),
];

fn words(words: &[u64]) -> String {
    hex(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

fn place(kind: PlaceKind) -> PlaceHeader {
    PlaceHeader {
        offset: 0x1112_1314_1516_1718,
        length: 0x2122_2324,
        word: 0x3132_3334,
        ..PlaceHeader::new(kind, 0x0102_0304)
    }
}

fn now() -> Entries {
    let mut entries = Entries::new();
    let mut add = |name: String, entry: String| {
        assert_eq!(entries.insert(name, entry), None);
    };
    for tag in tags() {
        let header = header(tag);
        add(format!("network {tag:?}"), hex(&network::emit(&header)));
        add(format!("compact {tag:?}"), words(&compact::emit(&header, 0x6162_6364, 0x71)));
    }
    for (name, kind) in KINDS {
        add(format!("envelope {name}"), hex(&envelope::emit(&envelope(kind))));
    }
    for kind in PLACES {
        add(format!("place {kind:?}"), hex(&place(kind).emit()));
    }
    for (name, operation) in ATOMICS {
        add(format!("atomic {name}"), words(&operation.to_words(0x0123)));
    }
    for number in 1..=u32::from(u8::MAX) {
        if let Some(refusal) = Refusal::from_number(number) {
            add(format!("refusal {refusal:?}"), number.to_string());
        }
    }
    let entry = Entry::new(Rank(0x0506), &header(Tag::Mcast));
    add("several entry".into(), hex(&several::emit(&entry)));
    let piece = Piece { number: 0x0102_0304, offset: 0x1112, total: 0x2122 };
    add("path piece".into(), hex(&piece.emit()));
    add("path probe".into(), hex(&Probe { round: 0x0102_0304 }.emit()));
    let answer = ProbeAnswer { round: 0x0102_0304, longest: 0x1112_1314 };
    add("path answer".into(), hex(&answer.emit()));
    entries
}

/// Bytes of an entry.
fn bytes(name: &str) -> Vec<u8> {
    let text = read(&list())[name].clone();
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn words_of(name: &str) -> Vec<u64> {
    let bytes = bytes(name);
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    hold(&list(), &now(), BETWEEN_RANKS);
}

#[test]
fn all_is_read_as_other_builds_write_it() {
    for tag in tags() {
        let header = Header { follows: Follows::Nothing, ..header(tag) };
        assert_eq!(network::split(&bytes(&format!("network {tag:?}"))).unwrap().0, header);
        let [first, second] = words_of(&format!("compact {tag:?}")).try_into().unwrap();
        let parsed = compact::parse([first, second], header.source).unwrap();
        // Links that are lossless and ordered need no more.
        let (sequence, acknowledgement, asks, serial) = (0, 0, false, Serial::NONE);
        assert_eq!(parsed, Header { sequence, acknowledgement, asks, serial, ..header });
    }
    for (name, kind) in KINDS {
        let parsed = envelope::parse(&bytes(&format!("envelope {name}")));
        assert_eq!(parsed, Ok(envelope(kind)));
    }
    for kind in PLACES {
        let bytes = bytes(&format!("place {kind:?}"));
        assert_eq!(PlaceHeader::parse(&bytes).unwrap().0, place(kind));
    }
    for (name, operation) in ATOMICS {
        let mut words: atomic::Words = Default::default();
        words.copy_from_slice(&words_of(&format!("atomic {name}")));
        assert_eq!(Atomic::parse(words), Ok((0x0123, operation)));
    }
    let entry = several::parse(&bytes("several entry").try_into().unwrap());
    assert_eq!(entry, Entry::new(Rank(0x0506), &header(Tag::Mcast)));
    assert_eq!(Piece::parse(&bytes("path piece")).unwrap().0.total, 0x2122);
    assert_eq!(Probe::parse(&bytes("path probe")).unwrap().round, 0x0102_0304);
    assert_eq!(ProbeAnswer::parse(&bytes("path answer")).unwrap().longest, 0x1112_1314);
}
