//! Polling: a packet is taken from the network and sorted into its message, and what has something
//! now runs.
//!
//! Handlers run outside of any lock and one a port at a time; a handler may read on while more
//! packets of its message arrive. How threads share the polling is in `wait`.

use crate::announced::Work;
use crate::error::{Error, Result};
use crate::messages::Messages;
use crate::posted_receive::PostedReceive;
use crate::run::Runner;
use crate::sort::{AtOnce, Sorter};
use crate::state::Announced;
use crate::wait::{Polls, Threads};
use std::sync::Arc;
use weft_endpoint::{HeldPacket, Taken};

/// Polling on behalf of the calling thread, which may ask for a message.
#[derive(Clone, Copy)]
pub(crate) struct Poller<'a, 'b> {
    messages: &'a Arc<Messages>,
    posted: Option<&'a PostedReceive<'b>>,
}

impl<'a, 'b> Poller<'a, 'b> {
    /// For a thread that asks for no message.
    #[inline]
    pub fn new(messages: &'a Arc<Messages>) -> Self {
        Poller { messages, posted: None }
    }

    /// For a thread that asks for a message. Once it was handed that, it hears of nothing else.
    #[inline]
    pub fn receiving(messages: &'a Arc<Messages>, posted: &'a PostedReceive<'b>) -> Self {
        Poller { messages, posted: Some(posted) }
    }

    /// Takes packets from the network and runs handlers and tasks. True if anything happened.
    pub fn progress(self) -> Result<bool> {
        let mut any = false;
        for _ in 0..64 {
            if !self.poll()? {
                break;
            }
            any = true;
        }
        Ok(any)
    }

    /// Does what [`Polls::poll`] does; faults of handlers are left to callers that can report them.
    #[inline]
    pub fn advance(self) -> Result<bool> {
        let runner = Runner { messages: self.messages };
        let mut announced = Announced::default();
        match self.take(&mut announced) {
            Ok(true) => {}
            Ok(false) => {
                // Nothing was announced, and so nothing is dropped: most polls find nothing.
                debug_assert!(announced.run.is_none(), "nothing came");
                std::mem::forget(announced);
                return if self.messages.is_idle() { Ok(false) } else { runner.run_ready() };
            }
            Err(error) => {
                // Tasks get to know it as well, where anybody still runs them.
                runner.run_tasks();
                return Err(error);
            }
        }
        let more = match announced.run {
            Some(run) => runner.run_handler(run),
            None if matches!(announced.work, Work::None) => !self.messages.is_idle(),
            None => runner.wake(announced.work),
        };
        match more {
            true => runner.run_ready().map(|_| true).or_else(|error| self.left_to_next(error)),
            false => Ok(true),
        }
    }

    /// Takes one packet from the network and sorts it; no handler runs.
    pub fn receive(self) -> Result<bool> {
        let mut announced = Announced::default();
        if !self.take(&mut announced)? {
            return Ok(false);
        }
        match announced.run {
            Some(run) => self.messages.state.enter().run_later(run),
            None => {
                Runner { messages: self.messages }.wake(announced.work);
            }
        }
        self.messages.note_pending();
        Ok(true)
    }

    /// Takes one packet from the network, and sorts it. False if there is none.
    #[inline(always)]
    fn take(self, announced: &mut Announced) -> Result<bool> {
        let mut held = HeldPacket::default();
        let Poller { messages, posted } = self;
        let sorter = AtOnce { messages, posted, announced: &mut *announced };
        match messages.packets.take_unless(sorter, &mut held) {
            Ok(Taken::AtOnce) => Ok(true),
            Ok(Taken::Nothing) => Ok(false),
            Ok(Taken::Held) => {
                self.sort_held(held, announced);
                Ok(true)
            }
            Err(error) => Err(messages.lost(error)),
        }
    }

    #[inline(never)]
    fn sort_held(self, held: HeldPacket, announced: &mut Announced) {
        let sorting = self.messages.packets.sorting();
        *announced = Sorter { messages: self.messages }.sort(held);
        drop(sorting);
    }

    /// True if the caller was handed its message.
    #[cold]
    fn has_found(self) -> bool {
        self.posted.is_some_and(PostedReceive::has_found)
    }

    /// A receive that was handed its message has made progress; the error comes again to whoever
    /// calls next.
    #[cold]
    fn left_to_next(self, error: Error) -> Result<bool> {
        if self.has_found() { Ok(true) } else { Err(error) }
    }
}

impl Polls for Poller<'_, '_> {
    #[inline]
    fn threads(&self) -> &Threads {
        &self.messages.threads
    }

    #[inline]
    fn poll(self) -> Result<bool> {
        let any = self.advance()?;
        if self.messages.has_incidents() && !self.has_found() {
            self.messages.raise_incident()?;
        }
        Ok(any)
    }

    fn raise_incident(self) -> Result<()> {
        if self.messages.has_incidents() { self.messages.raise_incident() } else { Ok(()) }
    }

    #[inline]
    fn leave(self) {
        // After a failure nothing runs any more, and what is pending stays.
        if self.messages.has_pending() && self.messages.failure().is_none() {
            self.messages.have_handlers_run();
        }
    }
}
