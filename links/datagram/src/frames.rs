//! Frames that a program fills, in places that leave and come back.

use crate::memory::{Address, DatagramPlace};
use std::ptr::NonNull;

/// A rank's frames: here, with the program, or on their way.
pub(crate) struct Frames {
    frames: Vec<Frame>,
    /// Index of the first frame's place; those of the others follow.
    first: u32,
    /// Frames that nobody has.
    free: Vec<u32>,
}

/// One frame of the program's.
struct Frame {
    /// Here, unless it is on its way.
    place: Option<DatagramPlace>,
    /// Address at which the program writes, wherever the place is.
    body: Address,
    /// The program gave it up while it was on its way.
    given_up: bool,
}

impl Frames {
    /// Frames in these places, whose indices follow one another, each with a body of so many bytes
    /// from this offset on.
    pub fn new(places: Vec<DatagramPlace>, offset: usize, bytes: usize) -> Self {
        let first = places.first().map_or(0, DatagramPlace::index);
        let free = (0..places.len() as u32).rev().collect();
        let frame = |place: DatagramPlace| {
            let body = place.at(offset, bytes);
            Frame { place: Some(place), body, given_up: false }
        };
        Frames { frames: places.into_iter().map(frame).collect(), first, free }
    }

    /// A frame that nobody has.
    #[inline]
    pub fn alloc(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Address at which the program writes its bytes.
    #[inline]
    pub fn body(&self, frame: u32) -> NonNull<u8> {
        self.frames[frame as usize].body.0
    }

    /// Index of a frame's place.
    pub fn index(&self, frame: u32) -> u32 {
        self.first + frame
    }

    /// The place of a frame, if it is here.
    #[inline]
    pub fn peek(&self, frame: u32) -> Option<&DatagramPlace> {
        self.frames[frame as usize].place.as_ref()
    }

    /// The place of a frame goes on its way.
    #[inline]
    pub fn take(&mut self, frame: u32) -> Option<DatagramPlace> {
        self.frames[frame as usize].place.take()
    }

    /// The program gives a frame up; it is free once it is here.
    #[inline]
    pub fn free(&mut self, frame: u32) {
        let slot = &mut self.frames[frame as usize];
        debug_assert!(!slot.given_up, "a frame was freed twice");
        match slot.place {
            Some(_) => self.free.push(frame),
            None => slot.given_up = true,
        }
    }

    /// The place of a frame comes back.
    #[inline]
    pub fn put_back(&mut self, place: DatagramPlace) {
        let frame = place.index() - self.first;
        let slot = &mut self.frames[frame as usize];
        slot.place = Some(place);
        if std::mem::take(&mut slot.given_up) {
            self.free.push(frame);
        }
    }
}
