//! The memory of a job: one sealed memfd per rank, and the launcher's view of them.
//!
//! A stand-in for the shared-memory link, of the same shape: the launcher only creates segments,
//! hands them over, and marks a loss in them.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use weft_wire::Rank;

/// The sizes of a job's memory, the same for every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many ranks the job has.
    pub ranks: u16,
    /// Packets that one rank may have under way to another: the credits of a pair.
    pub window_packets: u16,
    /// Bytes of the largest frame.
    pub frame_bytes: u32,
    /// Frames in a rank's pool.
    pub frames: u32,
}

impl Settings {
    /// The usual sizes for a job of `ranks`.
    pub fn new(ranks: u16) -> Self {
        Settings { ranks, window_packets: 64, frame_bytes: 4096, frames: 256 }
    }

    /// Bytes of shared memory that one rank brings.
    pub fn segment_bytes(&self) -> u64 {
        PAGE + u64::from(self.frame_bytes) * u64::from(self.frames)
    }
}

/// How a rank was lost, as one number in the survivors' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It ended with this status.
    Exited(u8),
    /// This signal killed it.
    Killed(u8),
}

const PAGE: u64 = 4096;

/// Creates the segments of all ranks, sealed and close-on-exec.
///
/// # Errors
/// What the system says when there is no memory or no descriptor left.
pub fn create_segments(settings: &Settings) -> io::Result<Vec<OwnedFd>> {
    (0..settings.ranks)
        .map(|rank| {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let segment = memfd_create(format!("weft-rank-{rank}"), flags)?;
            ftruncate(&segment, settings.segment_bytes())?;
            fcntl_add_seals(&segment, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
            Ok(segment)
        })
        .collect()
}

/// The launcher's view of the segments.
#[derive(Debug)]
pub struct Supervisor {
    segments: Vec<OwnedFd>,
}

impl Supervisor {
    /// Looks at the segments that [`create_segments`] made.
    ///
    /// # Errors
    /// What the system says when no descriptor is left.
    pub fn attach(_settings: &Settings, segments: &[OwnedFd]) -> io::Result<Self> {
        let segments = segments.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>()?;
        Ok(Supervisor { segments })
    }

    /// Tells every survivor that `lost` is gone, and how.
    pub fn announce_loss(&self, lost: Rank, cause: Cause) {
        let (kind, number) = match cause {
            Cause::Exited(status) => (1, status),
            Cause::Killed(signal) => (2, signal),
        };
        let [low, high] = lost.0.to_le_bytes();
        for (rank, segment) in self.segments.iter().enumerate() {
            if rank != lost.index() {
                // A survivor that does not hear of the loss is ended by the launcher.
                let _ = rustix::io::pwrite(segment, &[kind, number, low, high], 0);
            }
        }
    }
}
