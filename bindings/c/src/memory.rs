//! Pointers that C gives.
//!
//! Each is a type that nobody in Rust can make: the field is private, and there is no constructor.
//! So wherever one is, C has passed it to an exported function, and what `weft.h` asks of that
//! argument holds until the function returns. That is the proof of each block here. A length that
//! stands beside a pointer is the one that C passed beside it.
#![allow(unsafe_code)]

use crate::losses::Loss;
use crate::status::Failure;
use crate::structures::{Field, Iov};
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::slice;
use weft::Parts;

/// `const char *`: text that ends with a zero.
#[repr(transparent)]
pub struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

/// `const void *`: bytes to read.
#[repr(transparent)]
pub struct Bytes<'a>(*const c_void, PhantomData<&'a [u8]>);

/// `void *`: bytes to write, which nobody has initialised.
#[repr(transparent)]
pub struct Room<'a>(*mut c_void, PhantomData<&'a mut [u8]>);

/// `void *`: values to read, and then to write.
#[repr(transparent)]
pub struct Values<'a>(Room<'a>);

/// `const T *`: a list of as many as C says beside it.
#[repr(transparent)]
pub struct List<'a, T>(*const T, PhantomData<&'a [T]>);

/// `const uint32_t *`: ranks.
pub type RankList<'a> = List<'a, u32>;

/// `const size_t *`: numbers of values.
pub type CountList<'a> = List<'a, usize>;

/// `T *`: room for a list of as many as C says beside it.
#[repr(transparent)]
pub struct ListRoom<'a, T>(*mut T, PhantomData<&'a mut [T]>);

/// `size_t *`: room for numbers of values, or null if nobody wants to know.
pub type CountRoom<'a> = ListRoom<'a, usize>;

/// `uint32_t *`: room for ranks.
pub type RankRoom<'a> = ListRoom<'a, u32>;

/// `weft_loss *`: room for losses.
pub type LossRoom<'a> = ListRoom<'a, Loss>;

/// `const weft_iov *`: an I/O vector.
pub type Vector<'a> = List<'a, Iov>;

/// `const weft_field *`: fields of a tuple, or parts of a template.
pub type Fields<'a> = List<'a, Field>;

/// `void *`: an instance of a type of C's, for code that may change it. Weft never looks at it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Instance(*mut c_void);

/// `const void *`: an instance of a type of C's, for code that reads it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct InstanceView(*const c_void);

/// `weft_type` or `weft_operation`: a number that may be none of theirs.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct TypeNumber(pub(crate) u32);

/// Number of an operation, of which any value may come from C; see [`TypeNumber`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct OperationNumber(pub(crate) u32);

/// `weft_hint`; see [`TypeNumber`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct HintNumber(pub(crate) u32);

/// `weft_rights`: as [`TypeNumber`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct RightsNumber(pub(crate) u32);

/// `weft_outcome`: as [`TypeNumber`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct OutcomeNumber(pub(crate) u32);

/// `void *`: what a callback is given back. Weft never looks at what it points to.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct User(*mut c_void);

// SAFETY: it is a number as far as Rust goes. That callbacks run on any thread, and that what it
// points to bears that, is what `weft.h` asks of whoever sets one.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

// SAFETY: a number, as above. That any thread executes operations on an instance, one at a time, is
// what `weft-objects.h` asks of types.
unsafe impl Send for Instance {}

impl User {
    /// The address, to be given back by [`Self::from_bits`].
    pub(crate) fn to_bits(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// The pointer that had these bits; null if they are 0.
    pub(crate) fn from_bits(bits: u64) -> Self {
        User(ptr::with_exposed_provenance_mut(bits as usize))
    }
}

impl Instance {
    /// The instance, unless C has made none.
    pub(crate) fn made(self) -> Option<Self> {
        (!self.0.is_null()).then_some(self)
    }

    /// The instance for code that reads it.
    pub(crate) fn view(self) -> InstanceView {
        InstanceView(self.0)
    }
}

impl<'a> Text<'a> {
    /// The text, or `default` if there is none.
    pub(crate) fn get_or(&self, default: &'a str, what: &str) -> Result<&'a str, Failure> {
        if self.0.is_null() { Ok(default) } else { self.get(what) }
    }

    /// The text, which has to be UTF-8.
    pub(crate) fn get(&self, what: &str) -> Result<&'a str, Failure> {
        check(self.0, 0, what)?;
        // SAFETY: not null, and C's text up to its zero.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|error| Failure::invalid(format!("{what} is no UTF-8: {error}")))
    }
}

impl<'a> Bytes<'a> {
    /// The `length` bytes.
    #[inline]
    pub(crate) fn slice(&self, length: usize) -> Result<&'a [u8], Failure> {
        // SAFETY: C promises that it reads `length` bytes there.
        unsafe { read(self.0.cast(), length, "the pointer to the bytes") }
    }
}

impl<'a> Room<'a> {
    /// The `length` bytes, which are 0 now.
    pub(crate) fn zeroed(self, length: usize) -> Result<&'a mut [u8], Failure> {
        if length == 0 {
            return Ok(&mut []);
        }
        self.check(length)?;
        let start: *mut u8 = self.0.cast();
        // SAFETY: C promises room for the length that it gave, which nobody else uses during the
        // call; all of it is written before it is a slice.
        unsafe {
            start.write_bytes(0, length);
            Ok(slice::from_raw_parts_mut(start, length))
        }
    }

    /// The `length` bytes, whatever they are now: to be written, and not to be read before.
    pub(crate) fn writable(self, length: usize) -> Result<&'a mut [u8], Failure> {
        if length == 0 {
            return Ok(&mut []);
        }
        self.check(length)?;
        // SAFETY: C promises room for the length that it gave, which nobody else uses during the
        // call. Memory of C's holds bytes, whichever: of none of it could be known here that it was
        // never written.
        Ok(unsafe { slice::from_raw_parts_mut(self.0.cast(), length) })
    }

    /// Refuses a null pointer, unless there is nothing to write.
    pub(crate) fn check(&self, length: usize) -> Result<(), Failure> {
        if length > 0 { check(self.0, length, "the pointer to the buffer") } else { Ok(()) }
    }

    /// Writes `bytes` to the start, and returns what follows them. The room has as many left.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: &[u8]) {
        let start: *mut u8 = self.0.cast();
        // SAFETY: C promises room for the length that it gave, of which the caller fills no more.
        // Bytes of a packet are in link memory, where no buffer of the program's is.
        unsafe {
            start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.0 = start.add(bytes.len()).cast();
        }
    }
}

impl<T> ListRoom<'_, T> {
    /// Writes these elements to the start, unless it is null. The room is for as many.
    pub(crate) fn fill(&mut self, elements: impl Iterator<Item = T>) {
        if self.0.is_null() {
            return;
        }
        for (place, element) in elements.enumerate() {
            // SAFETY: C promises room for as many elements as it says, or, of numbers of values, as
            // there are members; the caller writes no more of them. They may lie anywhere.
            unsafe { self.0.add(place).write_unaligned(element) };
        }
    }

    /// Refuses a null pointer, which the message calls `what`, unless there is room for nothing.
    pub(crate) fn check(&self, room: usize, what: &str) -> Result<(), Failure> {
        let bytes = room.saturating_mul(size_of::<T>());
        if room > 0 { check(self.0, bytes, what) } else { Ok(()) }
    }
}

impl<'a> Values<'a> {
    /// The `length` bytes, as long as nobody writes them.
    pub(crate) fn slice(&self, length: usize) -> Result<&[u8], Failure> {
        // SAFETY: C promises that it has written `length` bytes there.
        unsafe { read(self.0.0.cast_const().cast(), length, "the pointer to the values") }
    }

    /// The place to write to.
    pub(crate) fn room(&mut self) -> &mut Room<'a> {
        &mut self.0
    }
}

impl<'a, T> List<'a, T> {
    /// The `count` elements, which messages call `what`.
    pub(crate) fn slice(&self, count: usize, what: &str) -> Result<&'a [T], Failure> {
        // SAFETY: C promises that there are `count` elements.
        unsafe { read(self.0, count, what) }
    }
}

impl<'a> Vector<'a> {
    /// The `count` pieces, each of them checked.
    pub(crate) fn checked(&self, count: usize) -> Result<Pieces<'a>, Failure> {
        let pieces = self.slice(count, "the pointer to the I/O vector")?;
        for piece in pieces.iter().filter(|piece| piece.length > 0) {
            check(piece.base, piece.length, "the base of a piece")?;
        }
        Ok(Pieces(pieces))
    }
}

impl<'a> Fields<'a> {
    /// The `count` fields.
    pub(crate) fn views(
        &self,
        count: usize,
    ) -> Result<impl Iterator<Item = FieldView<'a>> + use<'a>, Failure> {
        Ok(self.slice(count, "the pointer to the fields")?.iter().map(FieldView))
    }
}

/// A field that C has given.
pub(crate) struct FieldView<'a>(&'a Field);

impl<'a> FieldView<'a> {
    /// Its text or bytes, if it is one of those.
    pub(crate) fn bytes(&self) -> Result<&'a [u8], Failure> {
        // SAFETY: C promises that a field of this kind has its bytes.
        unsafe { read(self.0.bytes.cast(), self.0.length, "the pointer to the bytes of a field") }
    }
}

impl Deref for FieldView<'_> {
    type Target = Field;

    fn deref(&self) -> &Field {
        self.0
    }
}

/// The pieces of an I/O vector, checked by [`Vector::checked`].
pub(crate) struct Pieces<'a>(&'a [Iov]);

impl Parts for Pieces<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        for piece in self.0.iter().filter(|piece| piece.length > 0) {
            // SAFETY: C promises that each piece has its bytes; `Vector::checked` checked the rest.
            visit(unsafe { slice::from_raw_parts(piece.base.cast(), piece.length) });
        }
    }
}

/// A slice of what C points to. Of no elements at all, the pointer may be anything.
///
/// # Safety
/// Unless `count` is 0 or `start` null, there are `count` elements that nobody writes during `'a`.
#[inline]
unsafe fn read<'a, T>(start: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check(start, count.saturating_mul(size_of::<T>()), what)?;
    if !start.is_aligned() {
        return Err(Failure::invalid(format!("{what} is not aligned")));
    }
    // SAFETY: the caller's promise; null, unaligned and impossible lengths are refused above.
    Ok(unsafe { slice::from_raw_parts(start, count) })
}

/// Refuses what cannot be the start of `bytes` bytes.
#[inline]
fn check<T>(start: *const T, bytes: usize, what: &str) -> Result<(), Failure> {
    match (start.is_null(), isize::try_from(bytes)) {
        (true, _) => Err(Failure::invalid(format!("{what} is null"))),
        (_, Err(_)) => Err(Failure::invalid(format!("{what} has no {bytes} bytes behind it"))),
        _ => Ok(()),
    }
}
