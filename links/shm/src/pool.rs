//! Pool of the frames that this rank sends from.
//!
//! A frame is *free*, *held* (allocated, or still in use by the protocol) or *outstanding*: freed
//! here, but read by others through references. Each reader counts, in a byte of its own, how often
//! it released the frame; the owner knows how often that must be. Plain stores suffice: a byte has
//! one writer, and a wrong count of a reader concerns nobody but itself.

use crate::control::{GROUP, bit_of, groups_of};
use crate::memory::View;
use crate::segment::Settings;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use weft_wire::Rank;

pub(crate) struct Pool {
    releases: View<AtomicU8>,
    /// Releases of each frame by each reader, laid out as `releases` are.
    expected: Box<[u8]>,
    /// Readers of each frame, a bit each, a word a group.
    readers: Box<[u64]>,
    /// Groups of ranks.
    groups: usize,
    free: VecDeque<u32>,
    outstanding: VecDeque<u32>,
    /// True if the last request found no frame.
    starved: bool,
}

impl Pool {
    pub fn new(settings: &Settings, releases: View<AtomicU8>) -> Self {
        let frames = settings.frames as usize;
        let groups = groups_of(settings.ranks.into());
        Pool {
            expected: vec![0; releases.len()].into(),
            releases,
            readers: vec![0; frames * groups].into(),
            groups,
            free: (0..settings.frames).rev().collect(),
            outstanding: VecDeque::with_capacity(frames),
            starved: false,
        }
    }

    /// Allocates a frame that nobody else has read since it was filled, the last one first: its
    /// lines are here. Without one it is the frame that has been free for longest. One that was
    /// just read is in the cache of its reader, and each line has to be called back from there
    /// before it is written again. That takes three times as long as for a line that has been
    /// evicted from that cache meanwhile.
    #[inline]
    pub fn alloc(&mut self) -> Option<u32> {
        // To check one frame for its release costs a cache miss, and to check many in a row hardly
        // more.
        if self.free.is_empty() {
            self.reclaim();
        }
        let frame = self.free.pop_front();
        self.starved = frame.is_none();
        frame
    }

    /// Frame that is allocated next, as far as is known.
    #[inline]
    pub fn next(&self) -> Option<u32> {
        self.free.front().copied()
    }

    /// True if this rank waits for readers to release frames.
    pub fn is_starved(&self) -> bool {
        self.starved
    }

    /// Registers that `reader` will read `frame` by reference.
    #[inline]
    pub fn add_reader(&mut self, frame: u32, reader: Rank) {
        let first = frame as usize * self.groups;
        let bit = bit_of(reader.index());
        let readers = &mut self.readers[first + reader.index() / GROUP];
        if *readers & bit == 0 {
            *readers |= bit;
            let expected = &mut self.expected[first * GROUP + reader.index()];
            *expected = expected.wrapping_add(1);
        }
    }

    /// Releases all frames for `reader`, which has ended. It must not be added any more.
    pub fn forget_reader(&mut self, reader: Rank) {
        let (group, bit) = (reader.index() / GROUP, bit_of(reader.index()));
        self.readers.iter_mut().skip(group).step_by(self.groups).for_each(|word| *word &= !bit);
    }

    /// Frees `frame` by its owner. It can be allocated once its readers have released it too.
    #[inline]
    pub fn free(&mut self, frame: u32) {
        if self.readers_of(frame).iter().all(|readers| *readers == 0) {
            self.free.push_front(frame);
        } else {
            self.outstanding.push_back(frame);
        }
    }

    /// Reclaims frames that all readers have released, in the order in which they were freed.
    ///
    /// This stops at the first that is not released. Only if no frame is free then does it check
    /// those behind it: a reader may keep one for long.
    fn reclaim(&mut self) {
        while let Some(&frame) = self.outstanding.front()
            && self.is_released(frame)
        {
            self.outstanding.pop_front();
            self.reclaim_frame(frame);
        }
        if self.free.is_empty() {
            for _ in 0..self.outstanding.len() {
                let Some(frame) = self.outstanding.pop_front() else { return };
                if self.is_released(frame) {
                    self.reclaim_frame(frame);
                } else {
                    self.outstanding.push_back(frame);
                }
            }
        }
    }

    fn reclaim_frame(&mut self, frame: u32) {
        let first = frame as usize * self.groups;
        self.readers[first..first + self.groups].fill(0);
        self.free.push_back(frame);
    }

    /// Readers of a frame, a word a group.
    fn readers_of(&self, frame: u32) -> &[u64] {
        &self.readers[frame as usize * self.groups..][..self.groups]
    }

    fn is_released(&self, frame: u32) -> bool {
        let first = frame as usize * self.groups;
        for (group, readers) in (first..).zip(self.readers_of(frame)) {
            let mut left = *readers;
            while left != 0 {
                let reader = group * GROUP + left.trailing_zeros() as usize;
                if self.releases[reader].load(Ordering::Acquire) != self.expected[reader] {
                    return false;
                }
                left &= left - 1;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
