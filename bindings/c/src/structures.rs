//! Structures that C fills, of which pointers to bytes are a part.

use std::ffi::c_void;

/// A piece of what is sent.
#[repr(C)]
pub struct Iov {
    /// First of its bytes; they are copied before the call returns.
    pub base: *const c_void,
    /// Number of bytes.
    pub length: usize,
}

/// `weft_field_kind`: a number that may be none of theirs.
///
/// cbindgen:ignore
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct FieldKindNumber(pub(crate) u32);

/// Field of a tuple or part of a template. Of the values, that of its kind counts, and of a formal
/// none.
#[repr(C)]
pub struct Field {
    /// Its type, one of weft_field_kind.
    pub(crate) kind: FieldKindNumber,
    /// True for a part of a template that matches any value of its type.
    pub(crate) is_formal: bool,
    /// Number with a sign.
    pub(crate) i64: i64,
    /// Number without, truth value, or character.
    pub(crate) u64: u64,
    /// Floating-point number.
    pub(crate) f64: f64,
    /// First byte of a text, or of bytes.
    pub(crate) bytes: *const c_void,
    /// Number of bytes.
    pub(crate) length: usize,
}
