//! The part of an agent that has others below it: starts them, and passes messages on between
//! these, the launcher and the agent of this host.
//!
//! It is a thread of its own, which never blocks, so that signs of life do not depend on what the
//! agent does; to the agent it is the launcher.

use std::io;
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::pipe::{PipeFlags, pipe_with};

use super::error::AgentError;
use super::uplink::Uplink;
use crate::clock::Clock;
use crate::hosts::branches::{Arrival, Branches, Limits, Source as Below};
use crate::hosts::liveness::{CHECK_INTERVAL, HEARTBEAT, LAUNCHER_SILENCE};
use crate::hosts::remote::Means;
use crate::hosts::stream::Stream;
use crate::messages::hosts::{FromAgent, Subtree, ToAgent};
use crate::wait::{Waited, wait_for};

/// Bytes that may wait for the connection above before nothing more is read from below.
const WAITING_MAX: usize = 1024 * 1024;
/// Bytes of its stack.
const STACK_BYTES: usize = 256 * 1024;

pub(super) struct Relay {
    uplink: Uplink,
    host: u16,
    branches: Branches,
    clock: Clock,
    heartbeat_at: Duration,
}

#[derive(Clone, Copy)]
enum Source {
    Above,
    ToAbove,
    Below(Below),
}

impl Relay {
    /// Starts the agents below, and takes over the connection to who is above; what is left for
    /// this host's own agent is one to the relay. The thread ends after all agents, or with the
    /// connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(uplink: &mut Uplink, subtree: &Subtree) -> io::Result<JoinHandle<()>> {
        let limits = Limits { silence: subtree.silence_below, end: subtree.end_limit };
        let mut branches = Branches::new(subtree.host, limits);
        let (from_above, to_agent) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from_agent, to_above) = pipe_with(PipeFlags::CLOEXEC)?;
        branches.add_own(subtree.host, Stream::new(from_agent, to_agent)?);
        branches.start(&subtree.hosts, &Means::of_agent(subtree));
        let own = Uplink::new(Stream::new(from_above, to_above)?, LAUNCHER_SILENCE);
        let (host, clock, heartbeat_at) = (subtree.host, Clock::start(), Duration::ZERO);
        let uplink = std::mem::replace(uplink, own);
        let relay = Relay { uplink, host, branches, clock, heartbeat_at };
        let thread = thread::Builder::new().name("weft-relay".into()).stack_size(STACK_BYTES);
        // How it ends is seen at both ends of its connections.
        thread.spawn(move || drop(relay.run()))
    }

    fn run(mut self) -> Result<(), AgentError> {
        while !self.branches.are_done() || !self.uplink.stream.is_flushed() {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), AgentError> {
        let receives = self.uplink.stream.queued_bytes() < WAITING_MAX;
        let ready = wait_for(&self.sources(receives)?, Some(CHECK_INTERVAL))?;
        let now = self.clock.now();
        for source in ready {
            match source {
                Source::Above => self.uplink.stream.read_some()?,
                Source::ToAbove => self.uplink.stream.write_some(),
                Source::Below(source) => self.branches.attend(source, now),
            }
        }
        while let Some(order) = self.uplink.take()? {
            match order {
                ToAgent::For(host, message) => self.branches.pass_on(host, &message),
                ToAgent::ForAll(message) => self.branches.pass_on_to_all(&message),
                order => self.branches.send(self.host, &order),
            }
        }
        self.branches.tick(now, receives);
        while let Some(arrival) = self.branches.next_arrival() {
            match arrival {
                Arrival::Message(host, message) if host == self.host => {
                    self.uplink.stream.send(&message);
                }
                Arrival::Message(host, message) => {
                    self.uplink.send(&FromAgent::From(host, message))
                }
                Arrival::Lost(hosts, why) => self.uplink.send(&FromAgent::Lost(hosts, why)),
            }
        }
        if now >= self.heartbeat_at {
            self.heartbeat_at = now + HEARTBEAT;
            if self.uplink.stream.is_flushed() {
                self.uplink.send(&FromAgent::Heartbeat);
            }
        }
        self.uplink.check()
    }

    fn sources(&self, receives: bool) -> Result<Vec<Waited<'_, Source>>, AgentError> {
        let from = self.uplink.stream.readable().ok_or(AgentError::Gone)?;
        let mut all: Vec<Waited<'_, Source>> = vec![(Source::Above, from.as_fd(), PollFlags::IN)];
        let to = self.uplink.stream.writable().into_iter();
        all.extend(to.map(|to| (Source::ToAbove, to.as_fd(), PollFlags::OUT)));
        let below = self.branches.sources(receives);
        all.extend(below.map(|(source, fd, flags)| (Source::Below(source), fd, flags)));
        Ok(all)
    }
}

#[cfg(test)]
mod tests;
