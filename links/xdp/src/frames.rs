//! The frames that a program fills.

use crate::memory::{Address, Chunk};
use crate::port::BODY_START;
use std::ptr::NonNull;

/// A rank's frames: here, with the program, or on their way.
pub(crate) struct Frames {
    frames: Vec<Frame>,
    /// Frames that nobody has.
    free: Vec<u32>,
    /// The number of the first frame's chunk.
    first: u32,
}

/// One frame of the program's.
struct Frame {
    /// Here, unless it is on its way.
    chunk: Option<Chunk>,
    /// Address of its user bytes, here or on its way.
    body: Address,
    /// The program gave it up while it was on its way.
    given_up: bool,
}

impl Frames {
    /// Of these chunks, whose numbers follow each other; bodies have `max_payload` bytes.
    pub fn new(chunks: Vec<Chunk>, max_payload: usize) -> Self {
        let first = chunks.first().map_or(0, Chunk::index);
        let frame = |chunk: Chunk| {
            let body = chunk.at(BODY_START, max_payload);
            Frame { chunk: Some(chunk), body, given_up: false }
        };
        let frames: Vec<Frame> = chunks.into_iter().map(frame).collect();
        let free = (0..frames.len() as u32).rev().collect();
        Frames { frames, free, first }
    }

    #[inline]
    pub fn alloc(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Address at which the program writes its bytes.
    #[inline]
    pub fn body(&self, frame: u32) -> NonNull<u8> {
        self.frames[frame as usize].body.0
    }

    /// The number of a frame's chunk.
    #[inline]
    pub fn chunk_of(&self, frame: u32) -> u32 {
        self.first + frame
    }

    /// The chunk of a frame, if it is here.
    #[inline]
    pub fn peek(&self, frame: u32) -> Option<&Chunk> {
        self.frames[frame as usize].chunk.as_ref()
    }

    /// The chunk of a frame goes on its way.
    #[inline]
    pub fn take(&mut self, frame: u32) -> Option<Chunk> {
        self.frames[frame as usize].chunk.take()
    }

    /// The program gives a frame up; it is free once it is here.
    #[inline]
    pub fn free(&mut self, frame: u32) {
        let slot = &mut self.frames[frame as usize];
        debug_assert!(!slot.given_up, "a frame was freed twice");
        match slot.chunk {
            Some(_) => self.free.push(frame),
            None => slot.given_up = true,
        }
    }

    /// A chunk comes back; given back at once if it is no frame's.
    #[inline]
    pub fn put_back(&mut self, chunk: Chunk) -> Result<(), Chunk> {
        let frame = chunk.index() - self.first;
        let Some(slot) = self.frames.get_mut(frame as usize) else {
            return Err(chunk);
        };
        slot.chunk = Some(chunk);
        if std::mem::take(&mut slot.given_up) {
            self.free.push(frame);
        }
        Ok(())
    }
}
