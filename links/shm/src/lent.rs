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
pub(crate) struct LentMemory {
    pub own: Rank,
}

impl SharedMemory for LentMemory {
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
mod tests {
    use super::*;
    use std::fs;

    fn lent(own: u16) -> LentMemory {
        LentMemory { own: Rank(own) }
    }

    /// Where this process has memory that rank 3 has made for rank 5: addresses, of which each side has one.
    fn mappings() -> Vec<String> {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let of_us = |line: &&str| line.contains("/memfd:weft-buffer-3-5 ");
        maps.lines().filter(of_us).map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn both_sides_have_it_as_long_as_they_like() {
        let (mine, name) = lent(3).create(Some(Rank(5)), 100_000).unwrap().unwrap();
        let theirs = lent(5).attach(Rank(3), &name, 100_000).unwrap();
        assert_ne!(mine.start(), theirs.start());
        assert_eq!(mappings().len(), 2);
        mine.taken();
        assert!(lent(5).attach(Rank(3), &name, 100_000).is_err(), "it was to be taken once");
        drop(mine);
        assert_eq!(mappings().len(), 1);
        drop(theirs);
        assert_eq!(mappings().len(), 0);
    }

    #[test]
    fn memory_for_others_or_of_others_or_of_another_size_is_refused() {
        let (_mine, name) = lent(6).create(Some(Rank(8)), 4096).unwrap().unwrap();
        assert!(lent(7).attach(Rank(6), &name, 4096).is_err());
        assert!(lent(8).attach(Rank(2), &name, 4096).is_err());
        assert!(lent(8).attach(Rank(6), &name, 4097).is_err());
        let mut other = name;
        other[8] ^= 1;
        assert!(lent(8).attach(Rank(6), &other, 4096).is_err());
        let mut other = name;
        other[4..8].copy_from_slice(&0u32.to_le_bytes());
        assert!(lent(8).attach(Rank(6), &other, 4096).is_err());
        lent(8).attach(Rank(6), &name, 4096).unwrap();
        let (_all, name) = lent(6).create(None, 4096).unwrap().unwrap();
        for peer in [7, 8] {
            lent(peer).attach(Rank(6), &name, 4096).unwrap();
            assert!(lent(peer).attach(Rank(2), &name, 4096).is_err());
        }
    }
}
