//! Bytes of tuples, templates and answers. Numbers are little-endian. A tuple is the number of its
//! fields (a byte), and of each its kind (a byte) and its value; texts and bytes have their length
//! (4 bytes) first. In a template a formal is its kind with the highest bit set, and nothing more.
//!
//! Bytes come from other ranks: whatever they are, parsing ends with a value or with `None`.

use crate::field::{Field, FieldKind, Pattern};
use crate::want::{Want, Wanted};
use crate::{Error, Result};

/// Fields at most of a tuple, or parts of a template.
pub const FIELDS_MAX: usize = u8::MAX as usize;

/// Bit in a kind that says that the part is a formal.
const FORMAL: u8 = 0x80;

/// First byte of an answer.
const DONE: u8 = 1;
const FOUND: u8 = 2;
const NONE: u8 = 3;
const HINTED: u8 = 4;
const COUNT: u8 = 5;

/// Answer of a shard.
#[derive(PartialEq, Debug)]
pub(crate) enum Answer {
    /// It is done, and the ranks with these wants are to be told.
    Done(Vec<Want>),
    /// A tuple.
    Found(Vec<Field>),
    /// No tuple matches here. The number is that of tuples of its types that were ever put here.
    None(u64),
    /// State of a want.
    Hinted(Wanted),
    /// Number of tuples.
    Count(u64),
}

/// Refuses what is too long to travel.
pub(crate) fn check_fields<'a>(
    count: usize,
    fields: impl Iterator<Item = &'a Field>,
) -> Result<()> {
    if count > FIELDS_MAX {
        return Err(Error::ManyFields(count));
    }
    let lengths = fields.map(|field| match field {
        Field::Text(text) => text.len(),
        Field::Bytes(bytes) => bytes.len(),
        _ => 0,
    });
    match lengths.max() {
        Some(length) if u32::try_from(length).is_err() => Err(Error::LongField(length)),
        _ => Ok(()),
    }
}

/// Refuses a template that is too long to travel.
pub(crate) fn check_patterns(patterns: &[Pattern]) -> Result<()> {
    let actuals = patterns.iter().filter_map(|pattern| match pattern {
        Pattern::Actual(field) => Some(field),
        Pattern::Formal(_) => None,
    });
    check_fields(patterns.len(), actuals)
}

/// Appends a tuple, which was checked.
pub(crate) fn emit_tuple(fields: &[Field], to: &mut Vec<u8>) {
    to.push(fields.len() as u8);
    for field in fields {
        emit_field(field, to);
    }
}

/// Appends a template, which was checked.
pub(crate) fn emit_template(patterns: &[Pattern], to: &mut Vec<u8>) {
    to.push(patterns.len() as u8);
    for pattern in patterns {
        match pattern {
            Pattern::Actual(field) => emit_field(field, to),
            Pattern::Formal(kind) => to.push(*kind as u8 | FORMAL),
        }
    }
}

/// Appends a field, which was checked.
pub(crate) fn emit_field(field: &Field, to: &mut Vec<u8>) {
    to.push(field.kind() as u8);
    match field {
        Field::I64(value) => to.extend(value.to_le_bytes()),
        Field::U64(value) => to.extend(value.to_le_bytes()),
        Field::F64(value) => to.extend(value.to_le_bytes()),
        Field::Bool(value) => to.push(u8::from(*value)),
        Field::Char(value) => to.extend(u32::from(*value).to_le_bytes()),
        Field::Text(value) => emit_bytes(value.as_bytes(), to),
        Field::Bytes(value) => emit_bytes(value, to),
    }
}

fn emit_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    to.extend((bytes.len() as u32).to_le_bytes());
    to.extend(bytes);
}

/// Appends a want.
pub(crate) fn emit_want(want: Want, to: &mut Vec<u8>) {
    to.extend(want.rank.to_le_bytes());
    to.extend(want.number.to_le_bytes());
}

/// Appends what a rank says that waits for a hint: its want, and hints that it has seen.
pub(crate) fn emit_seen(want: Want, hints: u64, to: &mut Vec<u8>) {
    emit_want(want, to);
    to.extend(hints.to_le_bytes());
}

/// Appends a hint: the want, and the rank where there is something.
pub(crate) fn emit_hint(want: Want, home: u16, to: &mut Vec<u8>) {
    emit_want(want, to);
    to.extend(home.to_le_bytes());
}

impl Answer {
    /// Appends the answer.
    pub fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Answer::Done(wants) => {
                to.push(DONE);
                wants.iter().for_each(|want| emit_want(*want, to));
            }
            Answer::Found(tuple) => emit_found(tuple, to),
            Answer::None(puts) => {
                to.push(NONE);
                to.extend(puts.to_le_bytes());
            }
            Answer::Hinted(Wanted { hints, home }) => {
                to.push(HINTED);
                to.extend(hints.to_le_bytes());
                to.extend(home.to_le_bytes());
            }
            Answer::Count(count) => {
                to.push(COUNT);
                to.extend(count.to_le_bytes());
            }
        }
    }

    /// An answer; `None` if it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let answer = match reader.byte()? {
            DONE => {
                let mut wants = Vec::new();
                while !reader.0.is_empty() {
                    wants.push(reader.want()?);
                }
                Answer::Done(wants)
            }
            FOUND => Answer::Found(reader.tuple()?),
            NONE => Answer::None(reader.number()?),
            HINTED => Answer::Hinted(Wanted { hints: reader.number()?, home: reader.rank()? }),
            COUNT => Answer::Count(reader.number()?),
            _ => return None,
        };
        reader.end(answer)
    }
}

/// Appends the answer that this tuple was found.
pub(crate) fn emit_found(tuple: &[Field], to: &mut Vec<u8>) {
    to.push(FOUND);
    emit_tuple(tuple, to);
}

/// Bytes that are not parsed yet. Whatever is missing or wrong is `None`.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Result of parsing, if nothing is left.
    pub fn end<T>(&self, parsed: T) -> Option<T> {
        self.0.is_empty().then_some(parsed)
    }

    pub fn tuple(&mut self) -> Option<Vec<Field>> {
        let count = self.byte()?;
        (0..count).map(|_| self.field()).collect()
    }

    pub fn template(&mut self) -> Option<Vec<Pattern>> {
        let count = self.byte()?;
        (0..count).map(|_| self.pattern()).collect()
    }

    pub fn want(&mut self) -> Option<Want> {
        Some(Want { rank: self.rank()?, number: self.number()? })
    }

    pub fn rank(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn field(&mut self) -> Option<Field> {
        let kind = self.byte()?;
        self.value(kind_of(kind)?)
    }

    fn pattern(&mut self) -> Option<Pattern> {
        let byte = self.byte()?;
        let kind = kind_of(byte & !FORMAL)?;
        if byte & FORMAL != 0 {
            return Some(Pattern::Formal(kind));
        }
        self.value(kind).map(Pattern::Actual)
    }

    fn value(&mut self, kind: FieldKind) -> Option<Field> {
        Some(match kind {
            FieldKind::I64 => Field::I64(i64::from_le_bytes(self.array()?)),
            FieldKind::U64 => Field::U64(self.number()?),
            FieldKind::F64 => Field::F64(f64::from_le_bytes(self.array()?)),
            FieldKind::Bool => match self.byte()? {
                0 => Field::Bool(false),
                1 => Field::Bool(true),
                _ => return None,
            },
            FieldKind::Char => Field::Char(char::from_u32(u32::from_le_bytes(self.array()?))?),
            FieldKind::Text => Field::Text(std::str::from_utf8(self.bytes()?).ok()?.into()),
            FieldKind::Bytes => Field::Bytes(self.bytes()?.into()),
        })
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.array()?);
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}

fn kind_of(byte: u8) -> Option<FieldKind> {
    FieldKind::ALL.into_iter().find(|kind| *kind as u8 == byte)
}

#[cfg(test)]
mod tests;
