//! Frames that a system sends by itself, as far as there are packets for them.
//!
//! An upcall may not wait for a packet. What it finds none for stays in a queue, and this rank owes
//! it ([`System::note_owing`](crate::System::note_owing)): whoever polls or waits, for whatever,
//! sends it once there are packets again.

use crate::biased::{Biased, Entered};
use crate::duties::Duties;
use crate::{Error, Protocol, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Frames of a system that leave in order, one thread sending at a time: others leave theirs to it.
/// No lock is held while a frame is sent.
///
/// Sending a frame is a function of the system: it takes the frame, and says false if there was no
/// packet for it, or for the rest of it. A program that holds all packets of its rank hears of it
/// ([`Error::is_exhausted`]), and the frame waits as well; after any
/// other error it is gone.
pub struct DeferredSends<F> {
    system: Protocol,
    duties: Arc<Duties>,
    queue: Biased<Queue<F>>,
    /// True if there may be frames; written inside the lock.
    may_wait: AtomicBool,
}

struct Queue<F> {
    frames: VecDeque<F>,
    /// True while a thread has the turn to send.
    is_sending: bool,
    /// True if the rank was told that this system owes something.
    is_owing: bool,
}

impl<F> DeferredSends<F> {
    pub(crate) fn new(system: Protocol, duties: Arc<Duties>) -> Self {
        let queue = Queue { frames: VecDeque::new(), is_sending: false, is_owing: false };
        DeferredSends {
            system,
            duties,
            queue: Biased::new(queue),
            may_wait: AtomicBool::new(false),
        }
    }

    /// Makes all threads equal ([`Packets::share`](crate::Packets::share)).
    pub fn share(&self) {
        self.queue.share();
    }

    /// True if nothing waits, and nothing is being sent.
    pub fn is_empty(&self) -> bool {
        let queue = self.queue.enter();
        queue.frames.is_empty() && !queue.is_sending
    }

    /// Has a frame wait, for the next that [flushes](Self::flush): the caller, most often.
    pub fn push(&self, frame: F) {
        self.push_into(&mut self.queue.enter(), frame);
    }

    /// Does what [`Self::push`] does, unless `most` frames `alike` wait already. False if so.
    pub fn push_within(&self, most: usize, alike: impl Fn(&F) -> bool, frame: F) -> bool {
        let mut queue = self.queue.enter();
        let has_room = queue.frames.iter().filter(|frame| alike(frame)).count() < most;
        if has_room {
            self.push_into(&mut queue, frame);
        }
        has_room
    }

    fn push_into(&self, queue: &mut Queue<F>, frame: F) {
        queue.frames.push_back(frame);
        self.may_wait.store(true, Ordering::Relaxed);
    }

    /// Frames to be sent in the order in which they are added, of which none is yet.
    #[inline]
    pub fn batch(&self) -> Batch<'_, F> {
        Batch { queue: self, first: None }
    }

    /// Sends what there are packets for. Never blocks. A thread that has pushed something does not
    /// miss it; where nothing waits this is a read of memory.
    ///
    /// # Errors
    /// The first of `send`.
    #[inline]
    pub fn flush(&self, send: impl FnMut(&mut F) -> Result<bool>) -> Result<()> {
        if self.may_wait.load(Ordering::Relaxed) { self.flush_waiting(send) } else { Ok(()) }
    }

    /// Does what [`Self::flush`] does, for others: the progress of a system that has an upcall
    /// ([`System::progress_by`](crate::System::progress_by)).
    ///
    /// # Errors
    /// The first of `send`, but for a program that holds all packets.
    pub fn pay(&self, send: impl FnMut(&mut F) -> Result<bool>) -> Result<bool> {
        match self.flush(send) {
            Err(error) if !error.is_exhausted() => Err(error),
            _ => Ok(false),
        }
    }

    #[cold]
    fn flush_waiting(&self, send: impl FnMut(&mut F) -> Result<bool>) -> Result<()> {
        let mut queue = self.queue.enter();
        if queue.is_sending {
            return Ok(());
        }
        let Some(first) = queue.frames.pop_front() else { return Ok(()) };
        queue.is_sending = true;
        drop(queue);
        self.send_from(first, send)
    }

    /// Sends `frame` and what waits behind it, in the turn of the calling thread.
    fn send_from(&self, mut frame: F, mut send: impl FnMut(&mut F) -> Result<bool>) -> Result<()> {
        loop {
            let sent = send(&mut frame);
            let mut queue = self.queue.enter();
            if sent.as_ref().map_or_else(Error::is_exhausted, |has_left| !has_left) {
                queue.frames.push_front(frame);
            } else if sent.is_ok()
                && let Some(next) = queue.frames.pop_front()
            {
                drop(queue);
                frame = next;
                continue;
            }
            self.end_turn(queue);
            return sent.map(drop);
        }
    }

    fn end_turn(&self, mut queue: Entered<'_, Queue<F>>) {
        queue.is_sending = false;
        let waits = !queue.frames.is_empty();
        self.may_wait.store(waits, Ordering::Relaxed);
        // What else the system owes is not this queue's to say.
        if queue.is_owing != waits {
            queue.is_owing = waits;
            self.duties.note_owing(self.system, waits);
        }
    }
}

/// Frames of an event, to be sent in the order of the calls: they are added inside of the lock of
/// what they tell of, and sent outside of it. The first needs no place in the queue if nobody is
/// before it.
#[must_use = "it may have the turn to send"]
pub struct Batch<'a, F> {
    queue: &'a DeferredSends<F>,
    first: Option<F>,
}

impl<F> Batch<'_, F> {
    /// Adds a frame.
    pub fn add(&mut self, frame: F) {
        let mut queue = self.queue.queue.enter();
        if self.first.is_none() && !queue.is_sending && queue.frames.is_empty() {
            queue.is_sending = true;
            self.first = Some(frame);
        } else {
            self.queue.push_into(&mut queue, frame);
        }
    }

    /// Sends the frames as far as there are packets, and what else waits. Never blocks.
    ///
    /// # Errors
    /// The first of `send`.
    #[inline]
    pub fn send(self, send: impl FnMut(&mut F) -> Result<bool>) -> Result<()> {
        match self.first {
            Some(first) => self.queue.send_from(first, send),
            None => self.queue.flush(send),
        }
    }
}
