//! Presence of a rank's threads: how they wait, and who is woken.

use super::Losses;
use crate::handle::Handle;
use crate::{Awaited, Endpoint, Result, Step};
use std::time::Duration;

/// Presence of a rank's threads, which all its systems share ([`crate::Packets::presence`]).
#[derive(Clone, Copy)]
pub struct Presence<'a>(&'a Handle);

/// Notice of a wait that consists of several. It ends when this is dropped.
pub struct WaitNotice(Endpoint);

impl WaitNotice {
    /// Publishes that this rank has looked for what it waits for, in vain, and will again.
    pub fn looks(&self) {
        self.0.attendance().publish_look();
    }
}

impl Drop for WaitNotice {
    fn drop(&mut self) {
        self.0.attendance().withdraw();
    }
}

impl<'a> Presence<'a> {
    #[inline]
    pub(super) fn new(handle: &'a Handle) -> Self {
        Presence(handle)
    }

    /// Calls `step` until it is done; spins, yields, then sleeps in between. It should poll.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn wait(self, step: &mut dyn FnMut() -> Result<Step>) -> Result<()> {
        self.0.node.wait(step)
    }

    /// Does what [`Self::wait`] does. Once it sleeps, `what` it says, such as "a message on port
    /// 'rows'" of anyone, is what others learn of this wait. No sleep lasts beyond `deadline`, by
    /// [`crate::Packets::now`]: `step` is called then, and decides whether it waits on.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn wait_for(
        self,
        what: &dyn Fn() -> Awaited,
        deadline: Option<Duration>,
        step: &mut dyn FnMut() -> Result<Step>,
    ) -> Result<()> {
        self.0.node.wait_for(what, deadline, step)
    }

    /// Polls until `look` finds something, or `deadline` is over, and says `what` it waits for, as
    /// [`Self::wait_for`] does: the wait of a system that does not go on after a loss. It looks
    /// before each poll, and may [flush](crate::DeferredSends::flush) first.
    ///
    /// # Errors
    /// The first of `look` and of the polls; a lost rank.
    pub fn wait_to_find<T>(
        self,
        what: &dyn Fn() -> Awaited,
        deadline: Option<Duration>,
        mut look: impl FnMut() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let attendance = self.0.node.attendance();
        let unless_lost = |found: Option<T>| match found {
            None => Losses::new(attendance).check().map(|()| None),
            found => Ok(found),
        };
        self.wait_past_losses(what, deadline, || unless_lost(look()?))
    }

    /// Does what [`Self::wait_to_find`] does, for a system that goes on after losses where the job
    /// does: `look` says what they come to.
    ///
    /// # Errors
    /// The first of `look` and of the polls; a lost rank, where the job does not go on.
    pub fn wait_past_losses<T>(
        self,
        what: &dyn Fn() -> Awaited,
        deadline: Option<Duration>,
        mut look: impl FnMut() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.wait_for(what, deadline, &mut || {
            found = look()?;
            if found.is_some() {
                return Ok(Step::Done);
            }
            if self.0.poll()? {
                return Ok(Step::Progress);
            }
            let is_over = deadline.is_some_and(|deadline| self.0.node.now() >= deadline);
            Ok(if is_over { Step::Done } else { Step::Idle })
        })?;
        Ok(found)
    }

    /// Does what [`Self::wait`] does, but ends where that would sleep, done or not.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn wait_awake(self, step: &mut dyn FnMut() -> Result<Step>) -> Result<()> {
        self.0.node.wait_awake(step)
    }

    /// Publishes a wait that consists of several, or of polls: until the end of what this returns
    /// others learn nothing of each. `None` if nobody can know, or another thread has published
    /// one.
    pub fn publish(self, awaited: &Awaited) -> Option<WaitNotice> {
        self.0.node.attendance().publish(awaited).then(|| WaitNotice(self.0.node.clone()))
    }

    /// Pause of who polls and does not [wait](Self::wait), after polls in vain; `begins` after the
    /// first. Yields or sleeps, for 1 ms at most. Returns the number of polls until the next pause.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn pause(self, begins: bool, step: &mut dyn FnMut() -> Result<Step>) -> Result<u32> {
        self.0.node.pause(begins, step)
    }

    /// Wakes a thread that sleeps in [`Self::wait`], so that it calls its step again. Cheap while
    /// none sleeps.
    pub fn nudge(self) {
        self.0.node.attendance().nudge();
    }

    /// Has the upcall thread take arrivals at once, from here on: for a program that waits without
    /// polling.
    pub fn set_eager(self) {
        self.0.node.attendance().set_eager(true);
    }

    /// Says that this program takes its packets by polls, and that nobody waits for them while it
    /// computes: the upcall thread, which takes its core, looks 2 ms after the program was last
    /// here instead of 0.4. Until [`Self::set_eager`].
    pub fn set_patient(self) {
        self.0.node.attendance().set_eager(false);
    }

    /// Has threads that sleep look again at `time`, by [`crate::Packets::now`]. A thread that waits
    /// itself has the deadline of [`Self::wait_for`], which wakes no other.
    pub fn set_alarm(self, time: Option<Duration>) {
        self.0.node.attendance().set_alarm(time);
    }
}
