//! Bytes of headers, which nodes of other builds read: `systems/events/golden.txt` has them.

use crate::frame::{Flags, Header, Kind, SIZE};
use std::path::Path;
use weft_golden::{BETWEEN_RANKS, Entries, add, hold};

/// Kinds of frames, all that are read.
fn kinds() -> impl Iterator<Item = Kind> {
    let kind = |byte| {
        let mut frame = [0; SIZE];
        frame[0] = byte;
        Header::decode(&frame).map(|(header, _)| header.kind)
    };
    (0..=u8::MAX).filter_map(kind)
}

/// A header whose every number can be told from all others.
fn header(kind: Kind) -> Header {
    let (frames, done) = (0x0102, 0x1112_1314);
    Header { frames, done, ..Header::new(kind, 0x2122_2324, 0x3132_3334) }
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    for kind in kinds() {
        add(&mut entries, format!("frame {kind:?}"), header(kind).encode());
    }
    let none = Flags::default();
    let flagged = [
        ("last", Flags { last: true, ..none }, false),
        ("of a crowd", Flags { crowd: true, ..none }, false),
        ("of a large event", Flags { large: true, ..none }, false),
        ("that asks", none, true),
    ];
    for (name, flags, asks) in flagged {
        let header = Header { flags, asks, ..header(Kind::Fragment) };
        add(&mut entries, format!("frame Fragment, {name}"), header.encode());
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}
