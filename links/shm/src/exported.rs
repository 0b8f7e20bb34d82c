//! Exported memory: memory of a rank that one peer, or all, map and write.
//!
//! It is a sealed memfd that the peer opens through `/proc`, as only processes of one user may, so
//! that no descriptor has to be passed. The name of the memfd has its owner and its peer, so that a
//! peer that gives the name of another's memory is refused. An export ends when its owner drops it:
//! what the peer still writes then is in memory of its own.

use crate::memory::{self, Mapping};
use rustix::fs::{Mode, OFlags, fstat, open, readlink};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use weft_link::memory::{MappedMemory, NAME_BYTES, Named, SharedMemory};
use weft_wire::Rank;

/// Exporter and importer of memory, for rank `own`.
pub(crate) struct ExportedMemory {
    pub own: Rank,
}

impl SharedMemory for ExportedMemory {
    fn create(&self, peer: Option<Rank>, bytes: usize) -> io::Result<Option<Named>> {
        if cfg!(any(miri, tsan)) {
            // Its ranks have no files that another could open.
            return Ok(None);
        }
        let file = memory::create(&memfd_name(self.own, peer), bytes)?;
        let mut name = [0; NAME_BYTES];
        name[..4].copy_from_slice(&std::process::id().to_le_bytes());
        name[4..8].copy_from_slice(&file.as_raw_fd().to_le_bytes());
        name[8..].copy_from_slice(&fstat(&file)?.st_ino.to_le_bytes());
        let mapping = Arc::new(Mapping::new(&file, 0..bytes, true)?);
        Ok(Some((Box::new(Exported { mapping, bytes, file: Mutex::new(Some(file)) }), name)))
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
        // Checked before it is opened, because to open other files has effects.
        let target = readlink(&path, Vec::new())?;
        let named =
            |memfd_name| target.to_bytes() == format!("/memfd:{memfd_name} (deleted)").as_bytes();
        let file = match named(memfd_name(peer, Some(self.own))) || named(memfd_name(peer, None)) {
            true => open(&path, OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?,
            false => return Err(not_exported()),
        };
        if fstat(&file)?.st_ino != inode {
            return Err(not_exported());
        }
        let mapping = Arc::new(Mapping::new(&file, 0..bytes, true)?);
        Ok(Box::new(Exported { mapping, bytes, file: Mutex::default() }))
    }
}

/// Name of a memfd that `owner` exports to `peer`, or to all.
fn memfd_name(owner: Rank, peer: Option<Rank>) -> String {
    match peer {
        Some(peer) => format!("weft-buffer-{owner}-{peer}"),
        None => format!("weft-heap-{owner}"),
    }
}

fn not_exported() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a peer named memory that it has not made for this rank",
    )
}

struct Exported {
    mapping: Arc<Mapping>,
    bytes: usize,
    /// Descriptor by which the peer can open it, while the name is valid.
    file: Mutex<Option<OwnedFd>>,
}

impl MappedMemory for Exported {
    fn start(&self) -> NonNull<u8> {
        self.mapping.at(0, self.bytes)
    }

    fn revoke_name(&self) {
        drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

#[cfg(test)]
#[cfg(not(tsan))]
mod tests;
