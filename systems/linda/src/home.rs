//! Homes of tuples: by the number and types of their fields and the value of the first.

use crate::field::{Field, FieldKind, Pattern};
use crate::format::emit_field;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// Value of a first field as bytes: fields that are equal have equal ones. Empty if a tuple has no
/// fields.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key(Box<[u8]>);

impl Key {
    /// Key of a tuple.
    pub fn of_tuple(fields: &[Field]) -> Self {
        let mut bytes = Vec::new();
        match fields.first() {
            None => {}
            // Both zeros are equal.
            Some(Field::F64(value)) if *value == 0.0 => emit_field(&Field::F64(0.0), &mut bytes),
            Some(field) => emit_field(field, &mut bytes),
        }
        Key(bytes.into())
    }

    /// Key of all tuples that match a template; `None` if its first part is a formal, so that they
    /// have several.
    pub fn of_template(patterns: &[Pattern]) -> Option<Self> {
        match patterns.first() {
            None => Some(Key::of_tuple(&[])),
            Some(Pattern::Actual(field)) => Some(Key::of_tuple(std::slice::from_ref(field))),
            Some(Pattern::Formal(_)) => None,
        }
    }

    /// Index of the home, among `homes`, of a tuple with this key and these types.
    pub fn home(&self, kinds: impl Iterator<Item = FieldKind>, homes: usize) -> usize {
        let mut hasher = SipHasher13::new();
        kinds.for_each(|kind| hasher.write_u8(kind as u8));
        hasher.write_u8(0);
        hasher.write(&self.0);
        (hasher.finish() % homes as u64) as usize
    }
}

#[cfg(test)]
mod tests;
