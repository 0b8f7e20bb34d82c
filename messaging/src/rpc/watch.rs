//! Calls that have waited for long: whether what they call is there at all.
//!
//! While calls are outstanding and somebody has waited for one, there is a timer. Each time that it
//! goes off, the ranks of calls older than a second are asked for their services' ports; a rank
//! that has none says so, and the calls end. Calls that are answered soon never see any of this.

use super::Rpc;
use super::format::{CallHeader, CallNumber, Kind};
use crate::arrived::Arrived;
use crate::engine::Engine;
use crate::format::{Kind as PacketKind, PacketHeader};
use crate::machine::To;
use crate::message::Message;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;
use weft_endpoint::Rank;

/// The time between two looks at the calls that are outstanding.
const TICK: Duration = Duration::from_millis(500);

/// Time that a thread waits for a call until it has calls watched: 10 ms. Far longer than calls
/// take whose services are there and not busy: a timer costs everything that a rank does a look at
/// the clock.
const AT_FIRST: Duration = Duration::from_millis(10);

/// Number and rank of a service's port.
pub(super) type ServicePort = (u32, Rank);

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
        let packets = rpc.engine.packets();
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
        let time = self.engine.packets().now() + TICK;
        let number = self.engine.tasks.wake_at(time, &self.watch);
        self.tables.set_timer((time, number));
    }

    /// Has a request thrown away that waits at a rank which has refused it.
    pub(super) fn withdraw(&self, (port, rank): ServicePort, number: CallNumber) {
        if rank == self.engine.packets().rank() {
            discard_request(&self.engine, (port, rank), number);
            return;
        }
        // Nobody needs to hear that this could not be sent.
        let _ = self.send(rank, Kind::Cancel, number, &port.to_le_bytes());
    }

    fn look_after_calls(&self) {
        for port in self.tables.asked() {
            if was_refused(&self.engine, port) {
                self.tables.refuse(port);
            }
        }
        let now = self.engine.packets().now();
        if !self.tables.timer_has_fired(now) {
            return;
        }
        let Some(late) = self.tables.tick() else { return };
        self.set_timer();
        for (port, rank) in late {
            begin_to_ask(&self.engine, (port, rank), &self.watch);
            self.engine.tell(To::Rank(rank), PacketHeader::about(port, PacketKind::Probe));
        }
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        if let Some((time, number)) = self.tables.timer() {
            self.engine.tasks.forget(time, number);
        }
    }
}

/// True if the rank has answered, since it was asked, that it has no such port.
fn was_refused(engine: &Engine, (port, rank): ServicePort) -> bool {
    let machine = &mut engine.state.enter().machine;
    let slot = machine.ports.own(port);
    machine.take_refusal(slot, To::Rank(rank)).is_some()
}

/// Forgets what the rank said before, and has `waker` woken when it answers.
fn begin_to_ask(engine: &Engine, (port, rank): ServicePort, waker: &Waker) {
    let machine = &mut engine.state.enter().machine;
    let slot = machine.ports.own(port);
    machine.take_refusal(slot, To::Rank(rank));
    machine.wait_at(slot, Some(waker));
}

/// Throws away the request for a call of `from` that ended because this rank does not have the port
/// that it waits at; else it would be missed when this rank leaves. True if it was there.
pub(super) fn discard_request(
    engine: &Arc<Engine>,
    (port, from): ServicePort,
    number: CallNumber,
) -> bool {
    let header = CallHeader { kind: Kind::Call, number }.emit();
    let mut state = engine.state.enter();
    // The number is what a peer says.
    let Some(slot) = state.machine.ports.known(port) else { return false };
    if state.dispatch.usage(slot).is_created {
        return false;
    }
    let is_it = |waiting: &Arrived| {
        let headers = waiting.bytes(engine.packets()).get(..waiting.part.start);
        waiting.body.from == from && headers.is_some_and(|headers| headers.ends_with(&header))
    };
    let found = state.dispatch.take_queued(slot, |waiting| is_it(waiting));
    drop(state);
    // Dropping it gives its sender the room back that it took.
    found.map(|request| drop(Message::new(engine, request))).is_some()
}
