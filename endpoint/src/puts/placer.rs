//! What runs when a placed packet was taken from the network, and what it has to say in return.

use super::state::{After, Owed, Places};
use crate::packets::Packets;
use crate::receive::{KeptPacket, look_at};
use crate::send::SendPacket;
use crate::{AnyNode, Arrival, Handler, Result, Verdict};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use weft_wire::Rank;
use weft_wire::place::{self, Kind, PlaceHeader, Refusal};

/// What a node gives placed packets to.
pub(crate) struct Placer {
    places: Arc<Places>,
    /// Not the other way round, or neither would ever go.
    node: Weak<dyn AnyNode>,
    /// What is left to do for the packet that comes next: all else was done when it came before.
    left: Option<After>,
}

impl Placer {
    pub fn new(places: &Arc<Places>, node: &Arc<dyn AnyNode>) -> Self {
        Placer { places: Arc::clone(places), node: Arc::downgrade(node), left: None }
    }
}

impl Handler for Placer {
    #[inline]
    fn inside(&mut self, arrival: &Arrival) -> Verdict {
        // Who is inside may be about to enter the node, in which this thread is.
        let Some(mut state) = self.places.state.enter_at_once() else { return Verdict::Outside };
        match look_at(arrival, |packet| state.arrived(arrival.origin(), packet)) {
            After::Nothing => Verdict::Done,
            After::Wake => Verdict::Wake,
            other => {
                self.left = Some(other);
                Verdict::Outside
            }
        }
    }

    fn outside(&mut self, slot: &mut Option<Arrival>) {
        let Some(arrival) = slot.as_ref() else { return };
        let left = self.left.take().unwrap_or_else(|| {
            let mut state = self.places.state.enter();
            look_at(arrival, |packet| state.arrived(arrival.origin(), packet))
        });
        if !matches!(left, After::Nothing) {
            follow_up(&self.places, &self.node, slot, left);
        }
    }
}

#[cold]
fn follow_up(
    places: &Arc<Places>,
    node: &Weak<dyn AnyNode>,
    slot: &mut Option<Arrival>,
    after: After,
) {
    let Some(node) = node.upgrade() else { return };
    match after {
        After::Nothing => {}
        After::Wake => node.nudge(),
        After::Wait(queue, notification) => {
            let own = notification.from == node.local();
            // A rank that holds itself up would wait for ever.
            let held = if own { None } else { slot.take() };
            let held = held.map(|arrival| KeptPacket::new(arrival, Arc::clone(&node)));
            queue.post_late(notification, held);
            node.nudge();
        }
        After::Say(owed) => {
            let Some(to) = slot.as_ref().map(Arrival::origin) else { return };
            let packets = Packets::over(node.endpoint(), Arc::clone(places));
            packets.owe(to, owed);
            packets.nudge();
        }
    }
}

impl Packets {
    /// Says something to another rank, at once or as soon as there is a packet for it.
    pub(crate) fn owe(&self, to: Rank, owed: Owed) {
        self.places.state.enter().owed.push_back((to, owed));
        self.pay();
    }

    #[inline]
    pub(crate) fn pay_if_owed(&self) {
        if self.places.owes.load(Ordering::Relaxed) {
            self.pay();
        }
    }

    /// Says what is owed, as far as there are packets.
    #[cold]
    pub(crate) fn pay(&self) {
        while let Some((to, owed)) = {
            let mut state = self.places.state.enter();
            let next = state.owed.pop_front();
            self.places.owes.store(next.is_some(), Ordering::Relaxed);
            next
        } {
            // That the pool is exhausted shows where the program sends.
            let Ok(Some(packet)) = self.try_packet() else {
                self.places.state.enter().owed.push_front((to, owed));
                return;
            };
            if self.say(packet, to, owed).is_err() {
                return;
            }
        }
    }

    fn say(&self, mut packet: SendPacket<'_>, to: Rank, owed: Owed) -> Result<()> {
        match owed {
            Owed::Word(header) => packet.put(&header.emit())?,
            Owed::Answer(question) => self.answer(&mut packet, to, &question)?,
        };
        packet.place(to)
    }

    /// Fills `packet` with what `to` has asked for, or with why not: the buffer may be gone by now.
    fn answer<'a, 'b>(
        &self,
        packet: &'a mut SendPacket<'b>,
        to: Rank,
        question: &PlaceHeader,
    ) -> Result<&'a mut SendPacket<'b>> {
        let length = question.length as usize;
        let mut state = self.places.state.enter();
        let refused = match state.receives.admit(to, question, 0) {
            Ok((admitted, at)) if length + place::SIZE <= self.max_payload => {
                packet.put(&PlaceHeader { kind: Kind::Got, ..*question }.emit())?;
                return packet.put(admitted.buffer.memory.slice(at, length));
            }
            Ok(_) => Refusal::Malformed,
            Err(refusal) => refusal,
        };
        drop(state);
        let refused = PlaceHeader { kind: Kind::Refused, word: refused as u32, ..*question };
        packet.put(&refused.emit())
    }
}
