//! Pointers that C gives.
//!
//! Each is a type that nobody in Rust can make, or that holds nothing but a number: so wherever one
//! is, C has passed it to a function of a table, and what libfabric's manual asks of that argument
//! holds. That is the proof of each block here.
#![allow(unsafe_code)]

use crate::refusal::{Refusal, Result};
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::slice;

/// `void *context`: what a completion gives back. Nobody here looks at what it points to.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Context(*mut c_void);

// SAFETY: it is a number as far as Rust goes.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// None.
    pub const NONE: Context = Context(std::ptr::null_mut());

    /// A pointer that a completion gives back.
    pub fn of(pointer: *mut c_void) -> Self {
        Context(pointer)
    }

    /// The pointer as a number, which tells it from others.
    pub fn number(self) -> u64 {
        self.0 as usize as u64
    }
}

/// A place for one value that C wants.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes it; nothing if C does not want it.
    pub fn set(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: C promises room for one value there.
            unsafe { self.0.write(value) }
        }
    }
}

impl Out<c_void> {
    /// This pointer, for a value of the type that the manual demands there.
    pub fn cast<T>(&self) -> Out<T> {
        Out(self.0.cast())
    }
}

impl<T: Copy> Out<T> {
    /// The value that C has written there; `None` if it points nowhere.
    pub fn get(&self) -> Option<T> {
        // SAFETY: C promises a value there.
        (!self.0.is_null()).then(|| unsafe { self.0.read() })
    }
}

/// Values of C's, as many as it says beside.
#[repr(transparent)]
pub(crate) struct List<'a, T>(*const T, PhantomData<&'a [T]>);

impl<'a, T> List<'a, T> {
    /// The `count` values.
    pub fn slice(&self, count: usize) -> Result<&'a [T]> {
        if count == 0 {
            return Ok(&[]);
        }
        let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize);
        if self.0.is_null() || bytes.is_none() || !self.0.is_aligned() {
            return Err(Refusal::INVALID);
        }
        // SAFETY: C promises that many values during the call; null, unaligned and impossible ones
        // are refused above.
        Ok(unsafe { slice::from_raw_parts(self.0, count) })
    }
}

/// Room for values that C wants, as much as it says beside.
#[repr(transparent)]
pub(crate) struct Room<T>(*mut T);

impl<T> Room<T> {
    /// Writes the value with this number.
    ///
    /// The caller keeps to the count that C has given.
    pub fn set(&self, number: usize, value: T) {
        if !self.0.is_null() {
            // SAFETY: C promises room for as many as it says, of which this is one; it need not be
            // aligned.
            unsafe { self.0.add(number).write_unaligned(value) }
        }
    }

    /// Start of the room, to be given back to C.
    pub fn start(&self) -> *const c_void {
        self.0.cast()
    }

    /// This room, for values of another type.
    pub fn cast<U>(&self) -> Room<U> {
        Room(self.0.cast())
    }
}

/// `const char *`.
#[repr(transparent)]
pub(crate) struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// The text, if there is one.
    pub fn get(&self) -> Option<&'a CStr> {
        // SAFETY: C promises text up to its zero.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }
}
