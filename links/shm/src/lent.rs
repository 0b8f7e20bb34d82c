//! Memory that a rank makes for one peer, or for all, who write there themselves.
//!
//! It is a sealed memfd that the peer opens through `/proc`, as only processes of one user may, so that no
//! descriptor has to be handed over. Its name says who made it for whom: a peer that names another's memory is
//! found out. Whoever made it lets go of it to end this; what the other then still writes is in memory of its own.

use crate::memory::Mapping;
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::fs::{fcntl_add_seals, fstat, ftruncate, memfd_create, open, readlink};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use weft_link::memory::{MappedMemory, NAME_BYTES, Named, SharedMemory};
use weft_wire::Rank;

/// The memory of a rank for its peers.
pub(crate) struct ExportedMemory {
    pub own: Rank,
}

impl SharedMemory for ExportedMemory {
    fn create(&self, peer: Option<Rank>, bytes: usize) -> io::Result<Option<Named>> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create(title(self.own, peer), flags)?;
        ftruncate(&file, bytes as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let mut name = [0; NAME_BYTES];
        name[..4].copy_from_slice(&std::process::id().to_le_bytes());
        name[4..8].copy_from_slice(&file.as_raw_fd().to_le_bytes());
        name[8..].copy_from_slice(&fstat(&file)?.st_ino.to_le_bytes());
        let mapping = Arc::new(Mapping::new(&file, 0..bytes, true)?);
        Ok(Some((Box::new(Lent { mapping, bytes, file: Mutex::new(Some(file)) }), name)))
    }

    fn attach(
        &self,
        peer: Rank,
        name: &[u8; NAME_BYTES],
        bytes: usize,
    ) -> io::Result<Box<dyn MappedMemory>> {
        let word =
            |at: usize| u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]);
        let inode = u64::from(word(8)) | u64::from(word(12)) << 32;
        let path = format!("/proc/{}/fd/{}", word(0), word(4));
        // Before it is opened: opening other things than memory does things.
        let target = readlink(&path, Vec::new())?;
        let named = |title| target.to_bytes() == format!("/memfd:{title} (deleted)").as_bytes();
        let file = match named(title(peer, Some(self.own))) || named(title(peer, None)) {
            true => open(&path, OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?,
            false => return Err(not_lent()),
        };
        if fstat(&file)?.st_ino != inode {
            return Err(not_lent());
        }
        let mapping = Arc::new(Mapping::new(&file, 0..bytes, true)?);
        Ok(Box::new(Lent { mapping, bytes, file: Mutex::default() }))
    }
}

/// The name of memory that `owner` makes for `peer`, or for all.
fn title(owner: Rank, peer: Option<Rank>) -> String {
    match peer {
        Some(peer) => format!("weft-buffer-{owner}-{peer}"),
        None => format!("weft-heap-{owner}"),
    }
}

fn not_lent() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a peer named memory that it has not made for this rank",
    )
}

struct Lent {
    mapping: Arc<Mapping>,
    bytes: usize,
    /// As long as it is open here, the peer can open it.
    file: Mutex<Option<OwnedFd>>,
}

impl MappedMemory for Lent {
    fn start(&self) -> NonNull<u8> {
        self.mapping.at(0, self.bytes)
    }

    fn taken(&self) {
        drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

#[cfg(test)]
mod tests;
