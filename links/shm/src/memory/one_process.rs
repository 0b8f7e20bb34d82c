//! Files of ranks that are threads of one process, for Miri, which maps none, and for the thread
//! sanitizer, which takes two mappings of a byte for two bytes: all ranks have them at one address.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Files by descriptor, where they are and how long. None is unmapped: any mapping may be the
/// last.
static FILES: Mutex<BTreeMap<RawFd, (AtomicPtr<u8>, usize)>> = Mutex::new(BTreeMap::new());

/// Creates a file of `bytes` zeros.
pub(crate) fn create(_name: &str, bytes: usize) -> io::Result<OwnedFd> {
    let descriptor = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?;
    let (anywhere, protection) = (std::ptr::null_mut(), ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: a new mapping at an address of the kernel's choice aliases no Rust object.
    let start = unsafe { mmap_anonymous(anywhere, bytes, protection, MapFlags::PRIVATE)? };
    let start = AtomicPtr::new(start.cast());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.insert(descriptor.as_raw_fd(), (start, bytes));
    Ok(descriptor)
}

/// Address of `part` of `file`, which has it.
pub(super) fn map(file: &OwnedFd, part: Range<usize>, _writable: bool) -> io::Result<NonNull<u8>> {
    let files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    match files.get(&file.as_raw_fd()) {
        Some((start, bytes)) if part.end <= *bytes => {
            let start = start.load(Ordering::Relaxed).wrapping_add(part.start);
            NonNull::new(start).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Does nothing.
///
/// # Safety
/// None is needed.
pub(super) unsafe fn unmap(_start: NonNull<u8>, _length: usize) {}
