//! Target of puts: handles packets of puts and gets that were taken from the network, and sends the
//! replies.

use super::state::{Connections, FollowUp, Owed};
use crate::biased::Biased;
use crate::duties::Duties;
use crate::handle::Handle;
use crate::receive::KeptPacket;
use crate::send::SendPacket;
use crate::{Arrival, Endpoint, Handler, Result, Verdict, WeakEndpoint};
use std::sync::Arc;
use weft_wire::place::{self, PlaceHeader, PlaceKind, Refusal};
use weft_wire::{Protocol, Rank};

/// Handler to which a node gives the packets of puts and gets.
pub(crate) struct PutTarget {
    connections: Arc<Biased<Connections>>,
    duties: Arc<Duties>,
    /// Weak, because the node owns this handler: otherwise neither would ever be freed.
    node: WeakEndpoint,
    /// Work left for the packet that comes to `outside` next: all else was done in `inside`.
    left: Option<FollowUp>,
}

impl PutTarget {
    pub fn new(
        connections: Arc<Biased<Connections>>,
        duties: Arc<Duties>,
        node: &Endpoint,
    ) -> Self {
        PutTarget { connections, duties, node: node.downgrade(), left: None }
    }
}

impl Handler for PutTarget {
    #[inline]
    fn inside(&mut self, arrival: &Arrival) -> Verdict {
        // Another thread that is inside may be about to enter the node, in which this thread is.
        let Some(mut state) = self.connections.enter_at_once() else { return Verdict::Outside };
        match arrival.look(|packet| state.arrived(arrival.origin(), packet)) {
            FollowUp::Nothing => Verdict::Done,
            FollowUp::Wake => Verdict::Wake,
            other => {
                self.left = Some(other);
                Verdict::Outside
            }
        }
    }

    fn outside(&mut self, slot: &mut Option<Arrival>) {
        let Some(arrival) = slot.as_ref() else { return };
        let left = self.left.take().unwrap_or_else(|| {
            let mut state = self.connections.enter();
            arrival.look(|packet| state.arrived(arrival.origin(), packet))
        });
        if !matches!(left, FollowUp::Nothing) {
            self.follow_up(slot, left);
        }
    }
}

impl PutTarget {
    #[cold]
    fn follow_up(&self, slot: &mut Option<Arrival>, left: FollowUp) {
        let Some(node) = self.node.upgrade() else { return };
        match left {
            FollowUp::Nothing => {}
            FollowUp::Wake => node.attendance().nudge(),
            FollowUp::Store(queue, notification) => {
                let own = notification.from == node.attributes().local;
                // A packet of the rank's own is not kept: waiting for its credit, the rank would
                // wait for itself.
                let held = if own { None } else { slot.take() };
                let held = held.map(|arrival| KeptPacket::new(arrival, node.any()));
                queue.post_late(notification, held);
                node.attendance().nudge();
            }
            FollowUp::Reply(owed) => {
                let Some(to) = slot.as_ref().map(Arrival::origin) else { return };
                let (duties, connections) =
                    (Arc::clone(&self.duties), Arc::clone(&self.connections));
                let handle = Handle::new(node, duties, connections);
                handle.owe(to, owed);
                handle.node.attendance().nudge();
            }
        }
    }
}

impl Handle {
    /// Sends `owed` to another rank, at once or as soon as there is a packet for it.
    pub(crate) fn owe(&self, to: Rank, owed: Owed) {
        self.connections.enter().owe(to, owed);
        self.pay();
    }

    /// Sends what is owed, as far as there are packets.
    #[cold]
    pub(crate) fn pay(&self) {
        while let Some((to, owed)) = {
            let mut state = self.connections.enter();
            let next = state.take_owed();
            self.duties.note_owing(Protocol::PUTS, next.is_some());
            next
        } {
            // An exhausted pool is an error where the program sends, not here.
            let Ok(Some(packet)) = SendPacket::try_alloc(self, Some(to)) else {
                self.connections.enter().put_back_owed(to, owed);
                return;
            };
            if self.say(packet, to, owed).is_err() {
                return;
            }
        }
    }

    fn say(&self, mut packet: SendPacket<'_>, to: Rank, owed: Owed) -> Result<()> {
        match owed {
            Owed::Header(header) => packet.put(&header.emit())?,
            Owed::Answer(question) => self.answer(&mut packet, to, &question)?,
        };
        packet.unicast_put(to)
    }

    /// Fills `packet` with the bytes that `to` has asked for, or with the reason for refusing them:
    /// the buffer may be gone by now.
    fn answer<'a, 'b>(
        &self,
        packet: &'a mut SendPacket<'b>,
        to: Rank,
        question: &PlaceHeader,
    ) -> Result<&'a mut SendPacket<'b>> {
        let length = question.length as usize;
        let mut state = self.connections.enter();
        let refused = match state.receives.admit(to, question, 0) {
            Ok((admitted, at)) if length + place::SIZE <= self.max_payload_to(to) => {
                packet.put(&PlaceHeader { kind: PlaceKind::Got, ..*question }.emit())?;
                return packet.put(admitted.buffer.memory.slice(at, length));
            }
            Ok(_) => Refusal::Malformed,
            Err(refusal) => refusal,
        };
        drop(state);
        let refused = PlaceHeader { kind: PlaceKind::Refused, word: refused as u32, ..*question };
        packet.put(&refused.emit())
    }
}
