//! Bytes of tuples, templates, and what is said about them, which ranks of other builds read:
//! `systems/linda/golden.txt` has them.

use crate::field::{Field, FieldKind, Pattern};
use crate::format::{
    Answer, Reader, emit_field, emit_hint, emit_seen, emit_template, emit_tuple, emit_want,
};
use crate::home::Key;
use crate::shard::Shard;
use crate::want::{Want, Wanted};
use std::path::Path;
use weft_golden::{BETWEEN_RANKS, Entries, add, hold, variant};
use weft_object::Object;

const WANT: Want = Want { rank: 0x0102, number: 0x1112_1314_1516_1718 };
const WANTED: Wanted = Wanted { hints: 0x2122_2324_2526_2728, home: 0x3132 };

/// Types of fields, all that are read.
fn kinds() -> impl Iterator<Item = FieldKind> {
    let kind = |byte: u8| match Reader(&[1, byte | 0x80]).template()?[..] {
        [Pattern::Formal(kind)] if kind as u8 == byte => Some(kind),
        _ => None,
    };
    (0..=u8::MAX).filter_map(kind)
}

/// A field of this type, whose bytes can be told from one another.
fn field(kind: FieldKind) -> Field {
    match kind {
        FieldKind::I64 => Field::I64(0x0102_0304_0506_0708),
        FieldKind::U64 => Field::U64(0x1112_1314_1516_1718),
        FieldKind::F64 => Field::F64(f64::from_bits(0x2122_2324_2526_2728)),
        FieldKind::Bool => Field::Bool(true),
        FieldKind::Char => Field::Char('\u{01_0203}'),
        FieldKind::Text => Field::Text("text".into()),
        FieldKind::Bytes => Field::Bytes(vec![0x31, 0x32, 0x33]),
    }
}

/// Bytes that a function appends.
fn appended(append: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(&mut bytes);
    bytes
}

fn tuple() -> Vec<Field> {
    [FieldKind::U64, FieldKind::Text].map(field).into()
}

fn template() -> [Pattern; 2] {
    [Pattern::Actual(field(FieldKind::U64)), Pattern::Formal(FieldKind::Text)]
}

fn add_tuples(entries: &mut Entries) {
    for kind in kinds() {
        add(entries, format!("field {kind:?}"), appended(|to| emit_field(&field(kind), to)));
    }
    add(entries, "tuple", appended(|to| emit_tuple(&tuple(), to)));
    add(entries, "template", appended(|to| emit_template(&template(), to)));
    // All ranks have to look for a tuple at the same one.
    let homes = kinds().map(|kind| {
        let home = Key::of_tuple(&[field(kind)]).home([kind].into_iter(), 1 << 16);
        (kind, home as u16)
    });
    for (kind, home) in homes {
        add(entries, format!("home of a tuple of one {kind:?}"), home.to_le_bytes());
    }
}

/// Answers, all that are read.
fn answers() -> impl Iterator<Item = Answer> {
    let answer = |byte| {
        // An answer has a tuple without fields behind this, a number, a number and a rank, or
        // nothing.
        let answer = [0, 1, 8, 10].into_iter().find_map(|length| {
            let bytes = [&[byte][..], &vec![0; length]].concat();
            Answer::parse(&bytes)
        });
        Some(match answer? {
            Answer::Done(_) => Answer::Done(vec![WANT, Want { rank: 0x0304, ..WANT }]),
            Answer::Found(_) => Answer::Found(tuple()),
            Answer::None(_) => Answer::None(0x0102_0304_0506_0708),
            Answer::Hinted(_) => Answer::Hinted(WANTED),
            Answer::Count(_) => Answer::Count(0x0102_0304_0506_0708),
        })
    };
    (0..=u8::MAX).filter_map(answer)
}

/// A shard with a tuple and a want.
fn shard() -> Shard {
    let mut shard = Shard::default();
    shard.put(tuple());
    shard.wants.insert(WANT, (template().into(), WANTED));
    shard
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    add_tuples(&mut entries);
    add(&mut entries, "want", appended(|to| emit_want(WANT, to)));
    add(&mut entries, "hints seen", appended(|to| emit_seen(WANT, WANTED.hints, to)));
    add(&mut entries, "hint", appended(|to| emit_hint(WANT, WANTED.home, to)));
    for answer in answers() {
        add(&mut entries, format!("answer {}", variant(&answer)), appended(|to| answer.emit(to)));
    }
    for (number, operation) in (0_u16..).zip(Shard::OPERATIONS) {
        add(&mut entries, format!("operation {}", operation.name), number.to_le_bytes());
    }
    add(&mut entries, "type of a shard", Shard::NAME);
    add(&mut entries, "state of a shard", shard().capture());
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}
