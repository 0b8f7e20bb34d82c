//! A system among the others of its rank: who takes its packets, and what it has to do besides.

use crate::deferred::DeferredSends;
use crate::duties::Progress;
use crate::handle::Handle;
use std::sync::Arc;

/// A system among the others of its rank ([`crate::Packets::system`]).
#[derive(Clone, Copy)]
pub struct System<'a>(&'a Handle);

impl<'a> System<'a> {
    #[inline]
    pub(super) fn new(handle: &'a Handle) -> Self {
        System(handle)
    }

    /// Has this system's packets taken by `progress` when another one polls or waits, as long as
    /// that lives: a layer that [takes](crate::Packets::take) its packets says it once, because
    /// nobody may call it otherwise. A layer with an upcall may say it for what it
    /// [owes](Self::note_owing).
    ///
    /// # Panics
    /// If another layer takes packets of this system. One that has dropped `progress` does so no
    /// longer.
    pub fn progress_by(self, progress: &Arc<Progress>) {
        self.0.duties.set_progress(self.0.system, progress);
        self.0.node.set_taken(self.0.system);
    }

    /// A queue for the frames that this system sends by itself. The calling thread enters it for
    /// free, until it is [shared](DeferredSends::share).
    pub fn deferred<F>(self) -> DeferredSends<F> {
        DeferredSends::new(self.0.system, Arc::clone(&self.0.duties))
    }

    /// Notes whether this system has something to do that no packet of its own brings about: to
    /// send what there was no packet for, above all, which [`DeferredSends`] note by themselves.
    /// While it has, its [progress](Self::progress_by) is made by whoever polls or waits for
    /// something else. Said inside of the lock of what there is to do, it is never wrong for long.
    #[inline]
    pub fn note_owing(self, owes: bool) {
        self.0.duties.note_owing(self.0.system, owes);
    }

    /// Sets or clears the mark that this system has work to do besides packets. The upcall thread
    /// interrupts if the program does not get to that work within the watchdog's delay.
    pub fn set_pending_work(self, there: bool) {
        self.0.node.attendance().set_pending_work(self.0.system, there);
    }

    /// Does what [`Self::set_pending_work`] does, for a program that will most likely get to the
    /// work itself: the upcall thread is not woken for it, and looks within a second.
    pub fn note_pending_work(self, there: bool) {
        self.0.node.attendance().note_pending_work(self.0.system, there);
    }
}
