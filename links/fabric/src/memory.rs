//! Memory that the fabric reads and writes: slabs of places, each for one datagram.
//!
//! The `unsafe` of this module, and why it is sound:
//! - A [`Slab`] is a live anonymous `mmap`, private to this process.
//! - A [`Place`] is the one handle to its bytes: [`split`] makes each once, and it cannot be
//!   copied. While the provider has the bytes, the handle lies in a table, and nobody looks at it
//!   unless the provider only reads (`endpoint.rs`). A program that fills a frame has an address of
//!   its own, and is done before the frame is transmitted (`Link::bytes`).
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use weft_link::memory::{Lent, Posted};

/// Pages of memory, unmapped with the last place in them.
pub(crate) struct Slab {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a slab is an address range that any thread may use; what is in it is reached through
// places, which carry their own proof.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    /// Maps `length` bytes of zeros.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(length: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases no Rust object.
        let start =
            unsafe { mmap_anonymous(std::ptr::null_mut(), length, protection, MapFlags::PRIVATE)? };
        let start = NonNull::new(start.cast())
            .ok_or_else(|| io::Error::other("the kernel mapped address 0"))?;
        Ok(Slab { start, length })
    }

    /// Address of the first byte, and how many there are.
    pub fn range(&self) -> (NonNull<u8>, usize) {
        (self.start, self.length)
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: places hold an `Arc` to the slab, so none is left. Unmapping cannot fail for a
        // range that mmap returned.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Memory for one datagram.
pub struct Place {
    start: NonNull<u8>,
    length: usize,
    index: u32,
    _slab: Arc<Slab>,
}

// SAFETY: a place owns its bytes as a box does, and keeps them mapped.
unsafe impl Send for Place {}
// SAFETY: as above; `&Place` only reads.
unsafe impl Sync for Place {}

impl Place {
    /// Number of the place, among all of its endpoint.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Address of its byte `offset`; `length` bytes from there are inside. Good for as long as the
    /// link has the place, wherever that is meanwhile.
    #[inline]
    pub(crate) fn at(&self, offset: usize, length: usize) -> Address {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: asserted to be inside the place.
        Address(unsafe { self.start.add(offset) })
    }
}

/// Byte of a place.
pub(crate) struct Address(pub NonNull<u8>);

// SAFETY: only an address, which whoever uses it proves to be good (`Link::bytes`).
unsafe impl Send for Address {}

impl Deref for Place {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are mapped while `_slab` lives, all of them are initialised, and this
        // handle is the only one to them, so nobody writes while it is borrowed.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.length).as_ref() }
    }
}

impl DerefMut for Place {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only borrow of the only handle.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.length).as_mut() }
    }
}

/// Memory of the program that the provider reads or writes itself: its address, and what of it
/// others may do with it, as its owner has promised the link.
#[derive(Clone, Copy, Debug)]
pub struct Piece(Lent);

// SAFETY: only an address, which whoever uses it proves to be good (`endpoint.rs`).
unsafe impl Send for Piece {}

impl Piece {
    /// Address of its first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    pub(crate) fn overlaps(&self, lent: Lent) -> bool {
        self.0.overlaps(lent)
    }
}

impl From<Lent> for Piece {
    fn from(lent: Lent) -> Self {
        Piece(lent)
    }
}

impl From<Posted> for Piece {
    fn from(Posted { start, bytes, .. }: Posted) -> Self {
        Piece(Lent { start, bytes })
    }
}

/// Cuts a new slab into places of `length` bytes, with numbers from `first` on.
pub(crate) fn split(slab: Slab, length: usize, first: u32) -> (Arc<Slab>, Vec<Place>) {
    let (start, bytes) = slab.range();
    let slab = Arc::new(slab);
    let place = |number: usize| Place {
        // SAFETY: whole places only, so that each is inside the slab.
        start: unsafe { start.add(number * length) },
        length,
        index: first + number as u32,
        _slab: Arc::clone(&slab),
    };
    let places = (0..bytes / length).map(place).collect();
    (slab, places)
}
