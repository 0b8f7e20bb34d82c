//! Waiting, and who is woken.

use crate::packets::Packets;
use crate::{Awaited, Result, Step};
use std::time::Duration;

/// Notice of a wait that consists of several. It ends when this is dropped.
pub struct Said(Packets);

impl Said {
    /// Says that this rank has looked for what it waits for, in vain, and will again.
    pub fn looks(&self) {
        self.0.node.attendance().publish_look();
    }
}

impl Drop for Said {
    fn drop(&mut self) {
        self.0.node.attendance().withdraw();
    }
}

impl Packets {
    /// Calls `step` until it is done; spins, yields, then sleeps in between. It should poll.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn wait(&self, step: &mut dyn FnMut() -> Result<Step>) -> Result<()> {
        self.node.wait(step)
    }

    /// Does what [`Self::wait`] does. Once it sleeps, `what` it says, such as "a message on port
    /// 'rows'" of anyone, is what others learn of this wait. No sleep lasts beyond `deadline`, by
    /// [`Self::now`]: `step` is called then, and decides whether it waits on.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn wait_for(
        &self,
        what: &dyn Fn() -> Awaited,
        deadline: Option<Duration>,
        step: &mut dyn FnMut() -> Result<Step>,
    ) -> Result<()> {
        self.node.wait_for(what, deadline, step)
    }

    /// Lets others know of a wait that consists of several, or of polls: until the end of what this
    /// returns they learn nothing of each. `None` if nobody can know, or another thread has said
    /// something.
    pub fn say_wait(&self, awaited: &Awaited) -> Option<Said> {
        self.node.attendance().publish(awaited).then(|| Said(self.clone()))
    }

    /// Does what [`Self::wait`] does, but ends where that would sleep, done or not.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn wait_awake(&self, step: &mut dyn FnMut() -> Result<Step>) -> Result<()> {
        self.node.wait_awake(step)
    }

    /// Pause of who polls and does not [wait](Self::wait), after polls in vain; `begins` after the
    /// first. Yields or sleeps, for 1 ms at most. Returns the number of polls until the next pause.
    ///
    /// # Errors
    /// The first error of `step`.
    pub fn pause(&self, begins: bool, step: &mut dyn FnMut() -> Result<Step>) -> Result<u32> {
        self.node.pause(begins, step)
    }

    /// Wakes a thread that sleeps in [`Self::wait`], so that it calls its step again. Cheap while
    /// none sleeps.
    pub fn nudge(&self) {
        self.node.attendance().nudge();
    }

    /// Sets or clears the mark that this protocol has work to do besides packets. The upcall thread
    /// interrupts if the program does not get to that work within the watchdog's delay.
    pub fn set_pending_work(&self, there: bool) {
        self.node.attendance().set_pending_work(self.protocol, there);
    }

    /// Does what [`Self::set_pending_work`] does, for a program that will most likely get to the
    /// work itself: the upcall thread is not woken for it, and looks within a second.
    pub fn note_pending_work(&self, there: bool) {
        self.node.attendance().note_pending_work(self.protocol, there);
    }

    /// Has the upcall thread take arrivals at once, from here on: for a program that waits without
    /// polling.
    pub fn set_eager(&self) {
        self.node.attendance().set_eager(true);
    }

    /// Says that this program takes its packets by polls, and that nobody waits for them while it
    /// computes: the upcall thread, which takes its core, looks 2 ms after the program was last
    /// here instead of 0.4. Until [`Self::set_eager`].
    pub fn set_patient(&self) {
        self.node.attendance().set_eager(false);
    }

    /// Has threads that sleep look again at `time`, by [`Self::now`]. A thread that waits itself
    /// has the deadline of [`Self::wait_for`], which wakes no other.
    pub fn set_alarm(&self, time: Option<Duration>) {
        self.node.attendance().set_alarm(time);
    }
}
