//! Frames that packets are sent from. One that is freed while its record waits for the kernel comes
//! back when that has all of it.

use crate::memory::Memory;
use std::io;

/// User bytes of long packets that nobody has acknowledged, at most: what is under way on a fast
/// network, and fits into a processor's cache. From three quarters of it on the protocol asks.
const LONG_BYTES: usize = 2 << 20;

pub(crate) struct Frames {
    pub memory: Memory,
    /// The one that was used last is the next, because the processor's caches have it.
    free: Vec<u32>,
    states: Vec<State>,
    /// User bytes of long packets that are not acknowledged, or wait.
    long: usize,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// A record of it waits for the kernel.
    queued: bool,
    /// Its user has freed it.
    freed: bool,
    /// User bytes of the long packet that was sent from it; 0 if none was.
    long: u16,
}

impl Frames {
    pub fn new(frames: u32) -> io::Result<Self> {
        Ok(Frames {
            memory: Memory::new(frames)?,
            free: (0..frames).rev().collect(),
            states: vec![State::default(); frames as usize],
            long: 0,
        })
    }

    #[inline]
    pub fn alloc(&mut self) -> Option<u32> {
        if self.long >= LONG_BYTES { None } else { self.free.pop() }
    }

    /// The first bytes of the body of a frame, which has none of the program's memory from here on.
    pub fn settled(&mut self, frame: u32, size: usize) -> &[u8] {
        self.memory.settle(frame);
        self.memory.body(frame, size)
    }

    /// A frame for a packet that is there already.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    #[inline]
    pub fn free(&mut self, frame: u32) {
        let state = &mut self.states[frame as usize];
        if state.queued {
            state.freed = true;
        } else {
            self.reuse(frame);
        }
    }

    fn reuse(&mut self, frame: u32) {
        self.long -= usize::from(std::mem::take(&mut self.states[frame as usize].long));
        self.memory.end_loan(frame);
        self.free.push(frame);
    }

    /// Keeps a frame for a record of so many user bytes that leaves from it. False if one waits
    /// already, for another rank: its head is another.
    #[must_use]
    pub fn queue(&mut self, frame: u32, size: u16) -> bool {
        let state = &mut self.states[frame as usize];
        self.long -= usize::from(state.long);
        state.long = size;
        self.long += usize::from(size);
        !std::mem::replace(&mut state.queued, true)
    }

    /// The record in the frame has left, or will never.
    pub fn left(&mut self, frame: u32) {
        let state = &mut self.states[frame as usize];
        state.queued = false;
        if std::mem::take(&mut state.freed) {
            self.reuse(frame);
        }
    }
}
