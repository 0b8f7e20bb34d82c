//! Bytes of messages about regions, which ranks of other builds read: `systems/region/golden.txt`
//! has them.

use crate::RegionId;
use crate::coherence::{Message, MessageKind, Version};
use crate::format::{DATA_SIZE, Destination, Header, Notice, SIZE, receivers};
use std::path::Path;
use weft_endpoint::{HeapName, Rank};
use weft_golden::{BETWEEN_RANKS, Entries, add, hold, variant};

const REGION: RegionId = RegionId { home: Rank(0x0102), index: 0x1112_1314 };
const VERSION: Version = Version(0x2122_2324);
const OFFSET: u64 = 0x4142_4344_4546_4748;

/// Kinds of messages, all that are read.
fn kinds() -> Vec<MessageKind> {
    let kind = |byte| {
        let mut message = [0; DATA_SIZE];
        message[0] = byte;
        let parse = |size: usize| Header::parse(&message[..size], 1);
        parse(SIZE).or_else(|| parse(DATA_SIZE)).map(|(header, _)| header.message.kind)
    };
    (0..=u8::MAX).filter_map(kind).collect()
}

/// A header whose every field can be told from all others.
fn header(kind: MessageKind) -> Header {
    let message = Message { kind, version: VERSION, party: Rank(0x3132) };
    let offset = if kind.carries_data() { OFFSET } else { 0 };
    Header { offset, ..Header::new(REGION, message) }
}

fn add_messages(entries: &mut Entries) {
    let mut add = |name: String, header: Header| {
        add(entries, name, &header.emit()[..header.size()]);
    };
    for kind in kinds() {
        add(format!("message {kind:?}"), header(kind));
    }
    let read = header(MessageKind::Read);
    let at = Destination::new(0x5152_5354, Some(64 * 0x6162_6364));
    add("message Read, to be put".into(), read.with_destination(at));
    add("message Read, to be put or lent".into(), read.with_destination(at).with_loan());
    let nowhere = Destination::new(0x5152_5354, None);
    add("message Read, to be put into no heap".into(), read.with_destination(nowhere));
    let data = header(MessageKind::DataShared);
    add("message DataShared, put".into(), data.landed(OFFSET));
    add("message DataShared, lent".into(), data.lent(OFFSET));
}

/// Notices, all that are read, whose every field can be told from all others.
fn notices() -> Vec<Notice> {
    let notice = |byte| {
        let mut bytes = [0; DATA_SIZE + size_of_val(&HEAP.name)];
        bytes[0] = byte;
        let parse = |bytes: &[u8]| Notice::parse(bytes, 1);
        let (_, notice) = parse(&bytes[..DATA_SIZE]).or_else(|| parse(&bytes))?;
        Some(match notice {
            Notice::Map | Notice::Unknown => notice,
            Notice::Mapped { .. } => Notice::Mapped { version: VERSION, bytes: OFFSET },
            Notice::Heap(_) => Notice::Heap(HEAP),
        })
    };
    (0..=u8::MAX).filter_map(notice).collect()
}

const HEAP: HeapName = HeapName { bytes: OFFSET, name: *b"0123456789abcdef" };

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    add_messages(&mut entries);
    for notice in notices() {
        add(&mut entries, format!("notice {}", variant(&notice)), notice.emit(REGION));
    }
    let to = [0, 7, 8, 11].map(Rank).into_iter().collect();
    add(&mut entries, "receivers 0, 7, 8 and 11 of 12", receivers::emit(&to, 12));
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}
