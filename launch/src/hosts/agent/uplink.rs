//! The connection of an agent to its launcher, which is given up after a silence: when the
//! launcher's machine vanishes, nothing else tells.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::PollFlags;

use super::error::AgentError;
use crate::clock::Clock;
use crate::hosts::liveness::HEARTBEAT;
use crate::hosts::stream::Stream;
use crate::messages::Message as _;
use crate::messages::hosts::{FromAgent, ToAgent};
use crate::wait::{Waited, wait_for};

/// Connection to the launcher, and the time of its last sign of life.
#[derive(Debug)]
pub(super) struct Uplink {
    pub stream: Stream,
    clock: Clock,
    /// Time at which the launcher was heard last; `None` while somebody has stopped it by hand.
    heard_at: Option<Duration>,
    /// Silence after which the launcher is given up.
    limit: Duration,
    /// Time of the last look at the silence.
    looked_at: Duration,
}

impl Uplink {
    /// A connection whose launcher is given up when it has been silent for `limit`.
    pub fn new(stream: Stream, limit: Duration) -> Self {
        let (heard_at, looked_at) = (Some(Duration::ZERO), Duration::ZERO);
        Uplink { stream, clock: Clock::start(), heard_at, limit, looked_at }
    }

    /// Says after which silence the launcher, or whoever is in between, is given up.
    pub fn is_given_up_after(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Sends the launcher a message.
    pub fn send(&mut self, message: &FromAgent) {
        self.stream.send(&message.emit());
    }

    /// The next message that has arrived and is not only a sign of life.
    pub fn take(&mut self) -> Result<Option<ToAgent>, AgentError> {
        while let Some(message) = self.stream.take() {
            self.heard_at = Some(self.clock.now());
            match ToAgent::parse(&message)? {
                ToAgent::Heartbeat => {}
                ToAgent::Pause => self.heard_at = None,
                message => return Ok(Some(message)),
            }
        }
        Ok(None)
    }

    /// The launcher's next message. Blocks until it has arrived, or the launcher is given up.
    pub fn next(&mut self) -> Result<ToAgent, AgentError> {
        loop {
            match self.take()? {
                Some(message) => return Ok(message),
                None => self.wait(&[], None)?,
            }
        }
    }

    /// Waits for the launcher or for one of these descriptors, or until the time is over; or for a
    /// moment. Messages of the launcher have been taken before.
    pub fn wait(
        &mut self,
        arrivals: &[BorrowedFd<'_>],
        timeout: Option<Duration>,
    ) -> Result<(), AgentError> {
        self.check()?;
        let left = self.time_left();
        let from = self.stream.readable().ok_or(AgentError::Gone)?;
        let mut sources: Vec<Waited<'_, bool>> = vec![(true, from.as_fd(), PollFlags::IN)];
        sources.extend(self.stream.writable().map(|to| (false, to.as_fd(), PollFlags::OUT)));
        sources.extend(arrivals.iter().map(|arrivals| (false, *arrivals, PollFlags::IN)));
        let ready = wait_for(&sources, timeout.into_iter().chain(left).chain([HEARTBEAT]).min())?;
        if ready.contains(&true) {
            self.stream.read_some()?;
        }
        self.stream.write_some();
        Ok(())
    }

    /// Checks that the launcher is not to be given up. To be called every [`HEARTBEAT`] at least:
    /// what has arrived while this process did not run counts, and that time does not, as the
    /// launcher may have stood still with it.
    ///
    /// # Errors
    /// [`AgentError::Gone`] if it is.
    pub fn check(&mut self) -> Result<(), AgentError> {
        let now = self.clock.now();
        let slept = now.saturating_sub(self.looked_at).saturating_sub(2 * HEARTBEAT);
        self.looked_at = now;
        self.heard_at = self.heard_at.map(|heard_at| (heard_at + slept).min(now));
        if self.time_left() != Some(Duration::ZERO) {
            return Ok(());
        }
        self.stream.read_some()?;
        if self.stream.has_message() { Ok(()) } else { Err(AgentError::Gone) }
    }

    /// Time until the launcher is given up; `None` while it is stopped.
    fn time_left(&self) -> Option<Duration> {
        let silent = |heard_at| self.clock.now().saturating_sub(heard_at);
        self.heard_at.map(|heard_at| self.limit.saturating_sub(silent(heard_at)))
    }

    /// Waits until all that was sent has left.
    pub fn flush(&mut self) -> Result<(), AgentError> {
        while !self.stream.is_flushed() {
            self.take()?;
            self.wait(&[], None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
