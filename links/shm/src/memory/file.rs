//! Files that several processes map: memfds, which have no name, and cannot shrink.

use crate::refused::name_refusal;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat};
use rustix::fs::{ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

/// Creates a sealed memfd of so many zeros, close-on-exec; `name` is for those who look in `/proc`.
pub(crate) fn create(name: &str, bytes: usize) -> io::Result<OwnedFd> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let file = file.map_err(|error| name_refusal("memfd_create", error))?;
    ftruncate(&file, bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// Maps `part` of `file`, which has it and cannot shrink.
pub(super) fn map(file: &OwnedFd, part: Range<usize>, writable: bool) -> io::Result<NonNull<u8>> {
    let sealed = fcntl_get_seals(file)?;
    let length = fstat(file)?.st_size as usize;
    if !sealed.contains(SealFlags::SHRINK) || length < part.end {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the segment is too short, or not sealed against shrinking",
        ));
    }
    let protection = match writable {
        true => ProtFlags::READ | ProtFlags::WRITE,
        false => ProtFlags::READ,
    };
    let (anywhere, offset) = (std::ptr::null_mut(), part.start as u64);
    // SAFETY: a new mapping at an address of the kernel's choice aliases no Rust object.
    let start = unsafe { mmap(anywhere, part.len(), protection, MapFlags::SHARED, file, offset)? };
    NonNull::new(start.cast()).ok_or_else(|| io::Error::other("the kernel mapped address 0"))
}

/// Unmaps what [`map`] returned.
///
/// # Safety
/// Nobody uses it any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, length: usize) {
    // SAFETY: as the caller says. It cannot fail for a range that mmap returned.
    let _ = unsafe { munmap(start.as_ptr().cast(), length) };
}
