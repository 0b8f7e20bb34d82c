//! Memory shared with the kernel, and with the other ranks of this host; and what else is asked of
//! the kernel that nobody offers as a safe call.
//!
//! The `unsafe` of this crate, and why it is sound:
//! - A [`Mapping`] is a live `mmap` of a ring of a socket, whose pages the kernel keeps, or of a
//!   memfd that is sealed against shrinking: no access inside it can fault. Words in it that others
//!   write are reached through atomics only.
//! - A [`Chunk`] is the one handle in this process to its bytes in its mapping: [`split`] consumes
//!   a mapping and makes each once, and it cannot be copied. While the kernel or another rank has
//!   the bytes, the handle lies in a table and nobody looks at it (`rings.rs`). Ranks of one job
//!   on one host trust each other to touch only chunks that the rings gave them, as processes of
//!   one user trust each other with their memory (ARCHITECTURE.md, "Trust").
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// A part of a file, mapped shared and writable.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is an address range that any thread may use; what is in it is reached through
// atomics and through chunks, which carry their own proof.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `length` bytes of a socket's ring, or of a memfd, from `offset` on.
    pub fn new(file: impl AsFd, offset: u64, length: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice aliases no Rust object.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                file,
                offset,
            )?
        };
        let start = NonNull::new(start.cast())
            .ok_or_else(|| io::Error::other("the kernel mapped address 0"))?;
        Ok(Mapping { start, length })
    }

    /// Maps a memfd that cannot shrink, from its start.
    pub fn of_sealed(file: &OwnedFd, length: usize) -> io::Result<Self> {
        let sealed = rustix::fs::fcntl_get_seals(file)?;
        let present = rustix::fs::fstat(file)?.st_size as usize;
        if !sealed.contains(rustix::fs::SealFlags::SHRINK) || present < length {
            let text = "the memory is too short, or not sealed against shrinking";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Self::new(file, 0, length)
    }

    /// Address of byte `offset`; `length` bytes from there are inside.
    #[inline]
    pub fn at(&self, offset: usize, length: usize) -> NonNull<u8> {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: asserted to be inside the mapping.
        unsafe { self.start.add(offset) }
    }

    /// The word at `offset`.
    #[inline]
    pub fn u32_at(&self, offset: usize) -> &AtomicU32 {
        let word = self.at(offset, 4).cast::<AtomicU32>();
        assert!(word.is_aligned());
        // SAFETY: in bounds, aligned, and mapped as long as `self`; others only write it
        // atomically.
        unsafe { word.as_ref() }
    }

    /// The double word at `offset`.
    #[inline]
    pub fn u64_at(&self, offset: usize) -> &AtomicU64 {
        let word = self.at(offset, 8).cast::<AtomicU64>();
        assert!(word.is_aligned());
        // SAFETY: as for `u32_at`. The kernel reads and writes descriptors only on its own side of
        // the ring's indices, which are passed with release and acquire.
        unsafe { word.as_ref() }
    }

    /// The byte at `offset`.
    #[inline]
    pub fn u8_at(&self, offset: usize) -> &AtomicU8 {
        // SAFETY: as for `u32_at`; a byte is always aligned.
        unsafe { self.at(offset, 1).cast::<AtomicU8>().as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: references into the mapping borrow it, and chunks hold an `Arc` to it, so none is
        // left. Unmapping cannot fail for a range that mmap returned.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// One chunk of memory for frames.
pub(crate) struct Chunk {
    start: NonNull<u8>,
    length: usize,
    index: u32,
    _mapping: Arc<Mapping>,
}

// SAFETY: a chunk owns its bytes as a box does, and keeps them mapped.
unsafe impl Send for Chunk {}
// SAFETY: as above; `&Chunk` only reads.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// Index of the chunk.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Address of its byte `offset`; `length` bytes from there are inside. Good for as long as the
    /// link has the chunk, wherever the chunk is meanwhile.
    #[inline]
    pub fn at(&self, offset: usize, length: usize) -> Address {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: asserted to be inside the chunk.
        Address(unsafe { self.start.add(offset) })
    }
}

/// A place in a chunk.
pub(crate) struct Address(pub NonNull<u8>);

// SAFETY: only an address, which whoever uses it proves to be good (`Link::bytes`).
unsafe impl Send for Address {}

impl Deref for Chunk {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are mapped while `_mapping` lives, all of them are initialised, and
        // this handle is the only one to them, so nobody writes while it is borrowed.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.length).as_ref() }
    }
}

impl DerefMut for Chunk {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only borrow of the only handle.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.length).as_mut() }
    }
}

/// Cuts what is in `mapping` from byte `from` on into `count` chunks of `length` bytes. What is
/// before that stays to be reached through atomics.
pub(crate) fn split(
    mapping: Mapping,
    from: usize,
    length: usize,
    count: u32,
) -> (Arc<Mapping>, Vec<Chunk>) {
    let mapping = Arc::new(mapping);
    let chunk = |index: u32| Chunk {
        start: mapping.at(from + index as usize * length, length),
        length,
        index,
        _mapping: Arc::clone(&mapping),
    };
    let chunks = (0..count).map(chunk).collect();
    (mapping, chunks)
}

/// Number of the address at which a memfd that cannot shrink is mapped from byte `offset` on, for
/// as long as `user` runs: whom it is told keeps the pages, or nothing.
///
/// # Errors
/// If it is shorter than `length`, or can shrink.
pub fn with_mapped<T>(
    file: &OwnedFd,
    offset: usize,
    length: usize,
    user: impl FnOnce(u64) -> T,
) -> io::Result<T> {
    let mapping = Mapping::of_sealed(file, length)?;
    Ok(user(mapping.at(offset, length - offset).as_ptr().addr() as u64))
}

/// Answer of the kernel about an interface.
pub(crate) struct Hardware {
    pub ethernet: bool,
    pub mac: [u8; 6],
    pub mtu: usize,
}

/// Asks about the interface called `name`.
pub(crate) fn hardware(socket: &OwnedFd, name: &str) -> io::Result<Hardware> {
    // SAFETY: all zeros is a valid `ifreq`: integers, and an empty name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes = request.ifr_name.iter_mut().zip(name.as_bytes());
    bytes.for_each(|(place, byte)| *place = *byte as libc::c_char);
    let mut ask = |what| {
        // SAFETY: both requests read the name, which ends with a zero, and write the union after
        // it; `request` outlives the call.
        let done = unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(request.ifr_ifru) }
    };
    // SAFETY: SIOCGIFMTU filled the number in.
    let mtu = unsafe { ask(libc::SIOCGIFMTU)?.ifru_mtu };
    // SAFETY: SIOCGIFHWADDR filled the address in.
    let address = unsafe { ask(libc::SIOCGIFHWADDR)?.ifru_hwaddr };
    Ok(Hardware {
        ethernet: address.sa_family == libc::ARPHRD_ETHER,
        mac: std::array::from_fn(|i| address.sa_data[i] as u8),
        mtu: usize::try_from(mtu).unwrap_or(0),
    })
}
