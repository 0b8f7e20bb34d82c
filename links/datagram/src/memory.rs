//! Memory of datagrams: places, each for one or for several that arrived together.
//!
//! The `unsafe` of this module, and why it is sound:
//! - A [`PageMapping`] is a live `mmap`: private to this process, or of a ring of a socket, whose
//!   pages the kernel keeps, or of a memfd that is sealed against shrinking. So no access inside it
//!   can fault. Words that others write are reached through atomics only.
//! - A [`DatagramPlace`] is the one handle in this process to its bytes: [`split`] consumes a
//!   mapping, makes each place once, and lets nobody have words from there on; a place cannot be
//!   copied. While a system or another rank has the bytes, the handle lies in a table, and nobody
//!   looks at it unless the system only reads. Ranks of one job on one host trust each other to
//!   touch only places that were given to them (ARCHITECTURE.md, "Trust"). A program that fills a
//!   frame has an address of its own, and is done before the frame is transmitted (`Link::bytes`).
#![allow(unsafe_code)]

use rustix::fs::{SealFlags, fcntl_get_seals, fstat};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

const WRITABLE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Pages of memory, unmapped with the last place in them.
pub struct PageMapping {
    start: NonNull<u8>,
    length: usize,
    /// Bytes that are reached as words: all of them, or those before the first place.
    words: usize,
}

// SAFETY: a mapping is an address range that any thread may use; what is in it is reached through
// atomics and through places, which carry their own proof.
unsafe impl Send for PageMapping {}
// SAFETY: as above.
unsafe impl Sync for PageMapping {}

impl PageMapping {
    /// Maps `length` bytes of zeros, of which the system has only those that were used.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn anonymous(length: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice aliases no Rust object.
        let start =
            unsafe { mmap_anonymous(std::ptr::null_mut(), length, WRITABLE, MapFlags::PRIVATE)? };
        Self::at_start(start.cast(), length)
    }

    /// Maps `length` bytes of a socket's ring, from `offset` on.
    ///
    /// # Errors
    /// The system does not map them.
    pub fn of_ring(socket: impl AsFd, offset: u64, length: usize) -> io::Result<Self> {
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: as above.
        let start = unsafe { mmap(std::ptr::null_mut(), length, WRITABLE, flags, socket, offset)? };
        Self::at_start(start.cast(), length)
    }

    /// Maps a memfd that cannot shrink, from its start.
    ///
    /// # Errors
    /// It is shorter than `length`, or can shrink, or the system does not map it.
    pub fn of_sealed(file: &OwnedFd, length: usize) -> io::Result<Self> {
        let present = fstat(file)?.st_size as usize;
        if !fcntl_get_seals(file)?.contains(SealFlags::SHRINK) || present < length {
            let text = "the memory is too short, or not sealed against shrinking";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Self::of_ring(file, 0, length)
    }

    fn at_start(start: *mut u8, length: usize) -> io::Result<Self> {
        let start = NonNull::new(start);
        let start = start.ok_or_else(|| io::Error::other("the kernel mapped address 0"))?;
        Ok(PageMapping { start, length, words: length })
    }

    /// Address of byte `offset`; `length` bytes from there are inside.
    #[inline]
    pub fn at(&self, offset: usize, length: usize) -> NonNull<u8> {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: asserted to be inside the mapping.
        unsafe { self.start.add(offset) }
    }

    /// Address of a word of this type, which is in no place.
    #[inline]
    fn word<T>(&self, offset: usize) -> NonNull<T> {
        assert!(offset.checked_add(size_of::<T>()).is_some_and(|end| end <= self.words));
        // SAFETY: asserted to be inside the mapping.
        let word = unsafe { self.start.add(offset) }.cast::<T>();
        assert!(word.is_aligned());
        word
    }

    /// The byte at `offset`.
    #[inline]
    pub fn u8_at(&self, offset: usize) -> &AtomicU8 {
        // SAFETY: inside, aligned, in no place, and mapped as long as `self`; others only write it
        // atomically.
        unsafe { self.word(offset).as_ref() }
    }

    /// The word at `offset`.
    #[inline]
    pub fn u32_at(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { self.word(offset).as_ref() }
    }

    /// The double word at `offset`.
    #[inline]
    pub fn u64_at(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: as above. The kernel reads and writes descriptors only on its own side of a
        // ring's indices, which are passed with release and acquire.
        unsafe { self.word(offset).as_ref() }
    }
}

impl Drop for PageMapping {
    fn drop(&mut self) {
        // SAFETY: references into the mapping borrow it, and places hold an `Arc` to it, so none is
        // left. Unmapping cannot fail for a range that mmap returned.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Memory of one datagram, or of several that arrived together.
pub struct DatagramPlace {
    start: NonNull<u8>,
    length: u32,
    index: u32,
    _mapping: Arc<PageMapping>,
}

// SAFETY: a place owns its bytes as a box does, and keeps them mapped.
unsafe impl Send for DatagramPlace {}
// SAFETY: as above; `&DatagramPlace` only reads.
unsafe impl Sync for DatagramPlace {}

impl DatagramPlace {
    /// Number of the place, among all of its link.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Address of its byte `offset`; `length` bytes from there are inside. Good for as long as the
    /// link has the place, wherever that is meanwhile.
    pub(crate) fn at(&self, offset: usize, length: usize) -> Address {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length as usize));
        // SAFETY: asserted to be inside the place.
        Address(unsafe { self.start.add(offset) })
    }
}

/// Address of a byte of a place.
pub(crate) struct Address(pub NonNull<u8>);

// SAFETY: only an address, which whoever uses it proves to be good (`Link::bytes`).
unsafe impl Send for Address {}

impl Deref for DatagramPlace {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are mapped while `_mapping` lives, all of them are initialised, and
        // this handle is the only one to them, so nobody writes while it is borrowed.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.length as usize).as_ref() }
    }
}

impl DerefMut for DatagramPlace {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only borrow of the only handle.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.length as usize).as_mut() }
    }
}

/// Cuts what is in `mapping` from byte `from` on into places of `length` bytes, as many as fit,
/// with numbers from `first` on. The bytes before `from` stay to be reached as words.
pub fn split(
    mut mapping: PageMapping,
    from: usize,
    length: u32,
    first: u32,
) -> (Arc<PageMapping>, Vec<DatagramPlace>) {
    assert!(mapping.words == mapping.length && from <= mapping.length, "it is cut once");
    mapping.words = from;
    let (mapping, bytes) = (Arc::new(mapping), length as usize);
    let place = |number: usize| DatagramPlace {
        start: mapping.at(from + number * bytes, bytes),
        length,
        index: first + number as u32,
        _mapping: Arc::clone(&mapping),
    };
    let places = (0..(mapping.length - from) / bytes).map(place).collect();
    (mapping, places)
}

/// Makes `count` places of at least `length` bytes, with numbers from `first` on.
///
/// # Errors
/// The system has no memory.
pub fn places(count: usize, length: usize, first: u32) -> io::Result<Vec<DatagramPlace>> {
    let length = length.next_multiple_of(PLACE_ALIGNMENT);
    match count {
        0 => Ok(Vec::new()),
        _ => Ok(split(PageMapping::anonymous(count * length)?, 0, length as u32, first).1),
    }
}

/// Alignment of places in bytes, that of lines of caches.
const PLACE_ALIGNMENT: usize = 64;
