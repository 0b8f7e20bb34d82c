//! Frames that a program fills, in places that leave and come back.

/// A rank's frames in places `P`: here, with the program, or on their way. `A` is the address of a
/// frame's body, which stays the same wherever its place is.
pub struct Frames<P, A> {
    frames: Vec<Frame<P, A>>,
    /// Frames that nobody has.
    free: Vec<u32>,
}

/// One frame of the program's.
struct Frame<P, A> {
    /// Here, unless it is on its way.
    place: Option<P>,
    body: A,
    /// The program gave it up while it was on its way.
    given_up: bool,
}

impl<P, A> Frames<P, A> {
    /// In these places, each with the address of its body.
    pub fn new(places: impl IntoIterator<Item = (P, A)>) -> Self {
        let frame = |(place, body)| Frame { place: Some(place), body, given_up: false };
        let frames: Vec<Frame<P, A>> = places.into_iter().map(frame).collect();
        let free = (0..frames.len() as u32).rev().collect();
        Frames { frames, free }
    }

    /// A frame that nobody has.
    #[inline]
    pub fn alloc(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Address at which the program writes its bytes.
    #[inline]
    pub fn body(&self, frame: u32) -> &A {
        &self.frames[frame as usize].body
    }

    /// The place of a frame, if it is here.
    #[inline]
    pub fn peek(&self, frame: u32) -> Option<&P> {
        self.frames[frame as usize].place.as_ref()
    }

    /// The place of a frame goes on its way.
    #[inline]
    pub fn take(&mut self, frame: u32) -> Option<P> {
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

    /// The place of a frame comes back; given back at once if there is no such frame.
    #[inline]
    pub fn put_back(&mut self, frame: u32, place: P) -> Result<(), P> {
        let Some(slot) = self.frames.get_mut(frame as usize) else {
            return Err(place);
        };
        slot.place = Some(place);
        if std::mem::take(&mut slot.given_up) {
            self.free.push(frame);
        }
        Ok(())
    }
}
