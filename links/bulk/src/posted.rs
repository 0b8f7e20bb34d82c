//! Memory of the program that bodies are read into, by rank.
//!
//! The `unsafe` of writing there. Posted memory is the link's to write from [`PostedMemory::post`]
//! to [`PostedMemory::unpost`] ([`weft_link::memory::Posted`]). It is written by the one record of
//! its rank that is being read, in an [`Aim`], and only behind the bytes of records that were
//! authentic: an outsider, who may well pretend to have a record for it, spoils nothing that
//! anybody was told is there (`is_for`). Memory that is given back is no aim any more: that is
//! called off first.
#![allow(unsafe_code)]

use crate::record::HEAD_BYTES;
use std::ptr::NonNull;
use weft_link::memory::{POSTED_HEAD_BYTES, Posted, PostedHead};
use weft_wire::{Rank, network};

/// Bytes of a record before those that belong in posted memory.
pub(crate) const CUT_AT: usize = HEAD_BYTES + POSTED_HEAD_BYTES;
/// Bytes for the memory that a record has at least; fewer are copied sooner than aimed.
pub(crate) const LEAST: usize = 4096;
/// Posted memory of one rank at most; all of it is looked at for each of its long records.
const MOST: usize = 64;

/// Posted memory, by rank.
pub(crate) struct PostedMemory(Vec<Vec<Entry>>);

/// Memory that is posted for a rank.
pub(crate) struct Entry {
    posted: Posted,
    /// Bytes from the first on that are there, of authentic records.
    there: usize,
}

/// Place in posted memory of the record that is being read.
pub(crate) struct Aim {
    pub head: PostedHead,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an address range that any thread may use; who writes there is what the module's comment
// says.
unsafe impl Send for PostedMemory {}
// SAFETY: as above.
unsafe impl Send for Aim {}

impl PostedMemory {
    /// No posted memory, in a job of `ranks`.
    pub fn new(ranks: usize) -> Self {
        PostedMemory((0..ranks).map(|_| Vec::new()).collect())
    }

    /// Posts some for packets of `from`; false if there is enough.
    pub fn post(&mut self, from: Rank, posted: Posted) -> bool {
        let entries = &mut self.0[from.index()];
        debug_assert!(entries.iter().all(|entry| entry.posted.head != posted.head), "heads differ");
        let fits = entries.len() < MOST && posted.bytes >= posted.there + LEAST;
        if fits {
            entries.push(Entry { posted, there: posted.there });
        }
        fits
    }

    /// Bytes of it that are there.
    pub fn there(&self, from: Rank, head: &PostedHead) -> usize {
        let entries = self.0.get(from.index()).map_or(&[][..], |entries| entries);
        entries.iter().find(|entry| entry.posted.head == *head).map_or(0, |entry| entry.there)
    }

    /// Ends that; returns the number of bytes that are there. No record may be aimed there.
    pub fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize {
        let Some(entries) = self.0.get_mut(from.index()) else { return 0 };
        let Some(at) = entries.iter().position(|entry| entry.posted.head == *head) else {
            return 0;
        };
        entries.swap_remove(at).there
    }

    /// Memory that is posted for a rank.
    #[inline]
    pub fn of(&self, from: Rank) -> &[Entry] {
        &self.0[from.index()]
    }

    /// The record that was aimed there was authentic.
    pub fn has_opened(&mut self, from: Rank, aim: &Aim) {
        let entry = self.0[from.index()].iter_mut().find(|entry| entry.posted.head == aim.head);
        if let Some(entry) = entry {
            entry.there += aim.bytes;
        }
    }
}

impl Entry {
    /// Place of the body of a record of `bytes` bytes, by its first bytes, if it is the next one
    /// for this memory.
    fn aim(&self, start: &[u8; CUT_AT], bytes: usize) -> Option<Aim> {
        let Posted { head, start: memory, bytes: room, .. } = self.posted;
        let (packet, posted_head) = start.split_at(HEAD_BYTES);
        let (own, offset) = posted_head.split_at(head.len());
        let offset = u64::from_le_bytes(offset.try_into().ok()?);
        let length = bytes.checked_sub(CUT_AT)?;
        if own != head || offset != self.there as u64 || length > room - self.there {
            return None;
        }
        let (header, _) = network::split(&packet[HEAD_BYTES - network::SIZE..]).ok()?;
        let is_whole = HEAD_BYTES + usize::from(header.size) == bytes && length >= LEAST;
        // SAFETY: `there` is no more than there are bytes, so the result is inside of the memory or
        // at its end.
        is_whole.then(|| Aim { head, start: unsafe { memory.add(self.there) }, bytes: length })
    }
}

/// Place in the memory that `entries` have for the body of a record of `bytes` bytes that begins
/// with `start`; `None` if it belongs in none.
pub(crate) fn aim(entries: &[Entry], start: &[u8; CUT_AT], bytes: usize) -> Option<Aim> {
    entries.iter().find_map(|entry| entry.aim(start, bytes))
}

impl Aim {
    /// Its bytes, to be written.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the range is inside of posted memory, which is this record's to write (module
        // comment); the borrow of the only aim there keeps others away.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.bytes).as_mut() }
    }

    /// Its bytes, all of which were written.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as above.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.bytes).as_ref() }
    }
}
