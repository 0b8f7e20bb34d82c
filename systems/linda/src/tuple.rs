//! Tuples and templates as Rust's tuples.

use crate::field::{Field, FieldKind, Pattern};
use std::marker::PhantomData;

/// A type that a field may have.
pub trait FieldType: Sized {
    /// Its kind.
    const KIND: FieldKind;

    /// The value as a field.
    fn into_field(self) -> Field;

    /// The value of a field; `None` if that is of another kind.
    fn from_field(field: Field) -> Option<Self>;
}

macro_rules! field_type {
    ($($type:ty, $kind:ident;)*) => {$(
        impl FieldType for $type {
            const KIND: FieldKind = FieldKind::$kind;

            fn into_field(self) -> Field {
                Field::$kind(self)
            }

            fn from_field(field: Field) -> Option<Self> {
                match field {
                    Field::$kind(value) => Some(value),
                    _ => None,
                }
            }
        }
    )*};
}

field_type! {
    i64, I64;
    u64, U64;
    f64, F64;
    bool, Bool;
    char, Char;
    String, Text;
    Vec<u8>, Bytes;
}

/// A value that becomes a field: of a [`FieldType`], or borrowed.
pub trait Actual {
    /// Type of the field.
    type Owned: FieldType;

    /// The value, owned.
    fn into_owned(self) -> Self::Owned;
}

impl<T: FieldType> Actual for T {
    type Owned = T;

    fn into_owned(self) -> T {
        self
    }
}

impl Actual for &str {
    type Owned = String;

    fn into_owned(self) -> String {
        self.into()
    }
}

impl Actual for &String {
    type Owned = String;

    fn into_owned(self) -> String {
        self.clone()
    }
}

impl Actual for &[u8] {
    type Owned = Vec<u8>;

    fn into_owned(self) -> Vec<u8> {
        self.into()
    }
}

impl<const N: usize> Actual for &[u8; N] {
    type Owned = Vec<u8>;

    fn into_owned(self) -> Vec<u8> {
        self.into()
    }
}

/// Formal of a template: any value of type `T` matches it.
#[derive(Debug)]
pub struct Formal<T>(PhantomData<fn() -> T>);

impl<T> Clone for Formal<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Formal<T> {}

/// A formal: any value of type `T` matches.
pub const fn any<T: FieldType>() -> Formal<T> {
    Formal(PhantomData)
}

/// Part of a template: an [`Actual`] or a [`Formal`].
pub trait TemplatePart {
    /// Type of the field that matches.
    type Owned: FieldType;

    /// The part without its type.
    fn into_pattern(self) -> Pattern;
}

impl<A: Actual> TemplatePart for A {
    type Owned = A::Owned;

    fn into_pattern(self) -> Pattern {
        Pattern::Actual(self.into_owned().into_field())
    }
}

impl<T: FieldType> TemplatePart for Formal<T> {
    type Owned = T;

    fn into_pattern(self) -> Pattern {
        Pattern::Formal(T::KIND)
    }
}

/// A tuple: up to eight [`Actual`]s, or fields whose number and types the program computes.
pub trait Tuple {
    /// Its fields.
    fn into_fields(self) -> Vec<Field>;
}

/// A template: up to eight [`TemplatePart`]s, or patterns whose number and types the program
/// computes.
pub trait Template {
    /// A tuple that matches, with owned fields.
    type Found;

    /// Its parts.
    fn into_patterns(self) -> Vec<Pattern>;

    /// The tuple of these fields; `None` if they are of other types.
    fn found(fields: Vec<Field>) -> Option<Self::Found>;
}

impl Tuple for Vec<Field> {
    fn into_fields(self) -> Vec<Field> {
        self
    }
}

impl Template for Vec<Pattern> {
    type Found = Vec<Field>;

    fn into_patterns(self) -> Vec<Pattern> {
        self
    }

    fn found(fields: Vec<Field>) -> Option<Vec<Field>> {
        Some(fields)
    }
}

macro_rules! tuples {
    ($(($($part:ident)*))*) => {$(
        impl<$($part: Actual),*> Tuple for ($($part,)*) {
            #[allow(non_snake_case)] // A variable is called like its type.
            fn into_fields(self) -> Vec<Field> {
                let ($($part,)*) = self;
                vec![$($part.into_owned().into_field()),*]
            }
        }

        impl<$($part: TemplatePart),*> Template for ($($part,)*) {
            type Found = ($($part::Owned,)*);

            #[allow(non_snake_case)]
            fn into_patterns(self) -> Vec<Pattern> {
                let ($($part,)*) = self;
                vec![$($part.into_pattern()),*]
            }

            fn found(fields: Vec<Field>) -> Option<Self::Found> {
                let mut fields = fields.into_iter();
                let found = ($($part::Owned::from_field(fields.next()?)?,)*);
                fields.next().is_none().then_some(found)
            }
        }
    )*};
}

tuples! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}

#[cfg(test)]
mod tests;
