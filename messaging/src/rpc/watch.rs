//! Calls that have waited for long: whether what they call is there at all.
//!
//! While calls are outstanding and somebody has waited for one, there is a timer. Each time that it
//! goes off, the ranks of calls older than a second are asked for their services' ports; a rank
//! that has none says so, and the calls end. Calls that are answered soon never see any of this.

use super::Rpc;
use super::format::{CallKind, CallNumber, emit_port};
use super::tables::{ServicePort, discard_request};
use crate::format::{PacketHeader, PacketKind};
use crate::machine::To;
use crate::messages::Messages;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

/// The time between two looks at the calls that are outstanding.
const TICK: Duration = Duration::from_millis(500);

/// Time that a thread waits for a call until it has calls watched: 10 ms. Far longer than calls
/// take whose services are there and not busy: a timer costs everything that a rank does a look at
/// the clock.
const AT_FIRST: Duration = Duration::from_millis(10);

/// Looks after calls when it is woken: by the timer, or by a rank that has no such port.
pub(super) struct Watch(pub Weak<Rpc>);

impl Wake for Watch {
    fn wake(self: Arc<Self>) {
        if let Some(rpc) = self.0.upgrade() {
            rpc.look_after_calls();
        }
    }
}

/// A thread that waits for a call.
#[derive(Default)]
pub(super) struct Patience {
    looks: u32,
    since: Option<Duration>,
}

impl Patience {
    /// It has looked once more, for nothing.
    pub fn looked(&mut self, rpc: &Rpc) {
        self.looks += 1;
        let packets = &rpc.messages().packets;
        // Threads look again now and then, whatever they wait for; simulated ranks do not.
        if packets.has_threads() {
            if self.looks < 8 {
                return;
            }
            let now = packets.now();
            if now - *self.since.get_or_insert(now) < AT_FIRST {
                return;
            }
        }
        rpc.watch_calls();
    }
}

impl Rpc {
    /// From here on calls are looked after, as long as there are any.
    pub(super) fn watch_calls(&self) {
        if self.tables.begin_watch() {
            self.set_timer();
        }
    }

    fn set_timer(&self) {
        let messages = self.messages();
        let time = messages.packets.now() + TICK;
        let number = messages.tasks.wake_at(time, &self.watch);
        self.tables.set_timer((time, number));
    }

    /// Has a request thrown away that waits at a rank which has refused it.
    pub(super) fn withdraw(&self, (port, rank): ServicePort, number: CallNumber) {
        if rank == self.messages().packets.rank() {
            discard_request(self.messages(), (port, rank), number);
            return;
        }
        // Nobody needs to hear that this could not be sent.
        let _ = self.send(rank, CallKind::Cancel, number, &emit_port(port));
    }

    fn look_after_calls(&self) {
        let messages = self.messages();
        for port in self.tables.asked() {
            if was_refused(messages, port) {
                self.tables.refuse(port);
            }
        }
        let now = messages.packets.now();
        if !self.tables.timer_has_fired(now) {
            return;
        }
        let Some(late) = self.tables.tick() else { return };
        self.set_timer();
        for (port, rank) in late {
            begin_to_ask(messages, (port, rank), &self.watch);
            messages.tell(To::Rank(rank), PacketHeader::about(port, PacketKind::Probe));
        }
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        if let Some((time, number)) = self.tables.timer() {
            self.messages().tasks.forget(time, number);
        }
    }
}

/// True if the rank has answered, since it was asked, that it has no such port.
fn was_refused(messages: &Messages, (port, rank): ServicePort) -> bool {
    let machine = &mut messages.state.enter().machine;
    let slot = machine.ports.own(port);
    machine.take_refusal(slot, To::Rank(rank)).is_some()
}

/// Forgets what the rank said before, and has `waker` woken when it answers.
fn begin_to_ask(messages: &Messages, (port, rank): ServicePort, waker: &Waker) {
    let machine = &mut messages.state.enter().machine;
    let slot = machine.ports.own(port);
    machine.take_refusal(slot, To::Rank(rank));
    machine.wait_at(slot, Some(waker));
}
