//! The frames that this rank sends from.
//!
//! A frame is *free*, *held* (allocated, or still in the protocol's hands) or *away*: given up
//! here, but read by others through references. Each reader counts, in a byte of its own, how often
//! it gave the frame back; the owner knows how often that must be. Plain stores suffice, there is
//! one line a frame, and a reader can lie about nobody but itself.

use crate::memory::View;
use crate::segment::Settings;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use weft_wire::Rank;

/// Readers of one frame.
const READERS: usize = 64;

pub(crate) struct Pool {
    releases: View<AtomicU8>,
    expected: Vec<[u8; READERS]>,
    readers: Vec<u64>,
    free: VecDeque<u32>,
    away: VecDeque<u32>,
    /// Whether the last request found no frame.
    starved: bool,
}

impl Pool {
    pub fn new(settings: &Settings, releases: View<AtomicU8>) -> Self {
        let frames = settings.frames as usize;
        Pool {
            releases,
            expected: vec![[0; READERS]; frames],
            readers: vec![0; frames],
            free: (0..settings.frames).rev().collect(),
            away: VecDeque::with_capacity(frames),
            starved: false,
        }
    }

    /// The frame that has been free for longest. One that was just read lies in its reader's cache,
    /// from which every line would have to be called back before it is written again: that takes
    /// three times as long as a line that has left that cache meanwhile.
    #[inline]
    pub fn alloc(&mut self) -> Option<u32> {
        // Asking whether a frame is back costs a cache miss, and many in a row hardly more.
        if self.free.is_empty() {
            self.reclaim();
        }
        let frame = self.free.pop_front();
        self.starved = frame.is_none();
        frame
    }

    /// Whether this rank waits for readers to give frames back.
    pub fn is_starved(&self) -> bool {
        self.starved
    }

    /// `reader` will read `frame` by reference, once more.
    #[inline]
    pub fn add_reader(&mut self, frame: u32, reader: Rank) {
        let bit = 1 << reader.index();
        let readers = &mut self.readers[frame as usize];
        if *readers & bit == 0 {
            *readers |= bit;
            let expected = &mut self.expected[frame as usize][reader.index()];
            *expected = expected.wrapping_add(1);
        }
    }

    /// The owner gives `frame` up; it is free once its readers do too.
    #[inline]
    pub fn free(&mut self, frame: u32) {
        if self.readers[frame as usize] == 0 {
            self.free.push_back(frame);
        } else {
            self.away.push_back(frame);
        }
    }

    /// Takes back frames that all readers have given back, in the order in which they went away.
    ///
    /// This stops at the first that is not back. Only if no frame is free then are those behind it
    /// looked at: a reader may keep one for long.
    fn reclaim(&mut self) {
        while let Some(&frame) = self.away.front()
            && self.is_back(frame)
        {
            self.away.pop_front();
            self.take_back(frame);
        }
        if self.free.is_empty() {
            for _ in 0..self.away.len() {
                let Some(frame) = self.away.pop_front() else { return };
                if self.is_back(frame) {
                    self.take_back(frame);
                } else {
                    self.away.push_back(frame);
                }
            }
        }
    }

    fn take_back(&mut self, frame: u32) {
        self.readers[frame as usize] = 0;
        self.free.push_back(frame);
    }

    fn is_back(&self, frame: u32) -> bool {
        let line = &self.releases[frame as usize * READERS..][..READERS];
        let expected = &self.expected[frame as usize];
        let mut left = self.readers[frame as usize];
        while left != 0 {
            let reader = left.trailing_zeros() as usize;
            if line[reader].load(Ordering::Acquire) != expected[reader] {
                return false;
            }
            left &= left - 1;
        }
        true
    }
}
