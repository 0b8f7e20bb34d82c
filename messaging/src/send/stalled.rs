//! Sends that wait for their receivers.

use super::{PATIENCE, Sending, other_members};
use crate::Result;
use crate::machine::To;
use crate::messages::Messages;
use crate::poll::Poller;
use crate::port::Port;
use crate::sleep::within;
use crate::wait::Polls;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use weft_endpoint::{Awaited, Rank, Whom};

/// Times that a sender complains before it asks whether there is such a port.
const ASK_FOR_PORT_AFTER: u32 = 50;

/// Condition that a send waits for; it registers a waker if it does not hold.
type Look<S, T> = fn(&mut S, Option<&Waker>) -> Result<Option<T>>;

/// A send that waits for its receivers, while it lives.
struct Stalled<'a> {
    messages: &'a Messages,
    /// It blocks its thread.
    blocks: bool,
}

impl<'a> Stalled<'a> {
    fn begin(messages: &'a Messages, blocks: bool) -> Self {
        messages.state.enter().machine.stall(blocks);
        Stalled { messages, blocks }
    }
}

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        let mut state = self.messages.state.enter();
        state.machine.go_on(self.blocks);
        let resumes = self.blocks && state.dispatch.resume_deferred();
        drop(state);
        if resumes {
            self.messages.note_pending();
            self.messages.have_handlers_run();
        }
    }
}

impl Sending<'_> {
    /// Waits until `look` finds what the receivers are to say, and complains now and then.
    pub(super) fn wait<T>(&mut self, look: Look<Self, T>) -> Result<T> {
        let messages = &self.port.messages;
        let _stalled = Stalled::begin(messages, true);
        let (port, to, asking) = (self.port, self.sender.to(), self.sender.is_asking());
        let what = || awaited(port, to, asking);
        let mut complaints = 0;
        let mut said = None;
        loop {
            let deadline = Some(messages.packets.now() + PATIENCE);
            let look = |waker: Option<&Waker>| look(self, waker);
            if let Some(found) = Poller::new(messages).wait_until(&what, deadline, look)? {
                return Ok(found);
            }
            if said.is_none() {
                said = messages.packets.presence().publish(&what());
            }
            complaints += 1;
            self.complain(complaints);
        }
    }

    pub(super) async fn wait_async<T>(&mut self, look: Look<Self, T>) -> Result<T> {
        let messages = &self.port.messages;
        let _stalled = Stalled::begin(messages, false);
        let mut complaints = 0;
        loop {
            let found = poll_fn(|context| match look(self, Some(context.waker())) {
                Ok(Some(found)) => Poll::Ready(Ok(found)),
                Err(error) => Poll::Ready(Err(error)),
                Ok(None) => {
                    messages.somebody_waits();
                    Poll::Pending
                }
            });
            if let Ok(found) = within(messages, PATIENCE, found).await {
                return found;
            }
            complaints += 1;
            self.complain(complaints);
        }
    }

    /// Has waited for long, so many times: perhaps nobody can read there now, or nobody ever will.
    fn complain(&self, complaints: u32) {
        let messages = &self.port.messages;
        let receivers = match self.sender.to() {
            To::Rank(rank) => vec![rank],
            To::Group(group) => other_members(&messages.packets, group),
        };
        for rank in receivers {
            let complaint = self.sender.complaint(&mut messages.state.enter().machine, rank);
            messages.tell(To::Rank(rank), complaint);
            if complaints.is_multiple_of(ASK_FOR_PORT_AFTER) {
                self.port.probe(rank);
            }
        }
    }
}

/// Object of a blocked send to a port.
fn awaited(port: &Port, to: To, asking: bool) -> Awaited {
    let what = match asking {
        true => "to receive a long message on port",
        false => "to receive what was sent to port",
    };
    let name = &port.name;
    match slowest(port, to) {
        Some(rank) => Awaited::new(format!("rank {rank} {what} '{name}'"), Whom::One(rank)),
        None => Awaited::of_unknown(format!("its group {what} '{name}'")),
    }
}

/// The receiver that has consumed least.
fn slowest(port: &Port, to: To) -> Option<Rank> {
    match to {
        To::Rank(rank) => Some(rank),
        To::Group(group) => {
            let members = other_members(&port.messages.packets, group);
            port.messages.state.enter().machine.slowest(port.slot, group, &members)
        }
    }
}
