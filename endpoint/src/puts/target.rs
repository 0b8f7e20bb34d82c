//! Target of puts: handles packets of puts and gets that were taken from the network, and sends the
//! replies.

use super::state::{FollowUp, Owed, PutState};
use crate::duties::Duties;
use crate::handle::Handle;
use crate::receive::KeptPacket;
use crate::send::SendPacket;
use crate::{Arrival, Handler, Result, Verdict, WeakEndpoint};
use std::sync::Arc;
use weft_wire::Rank;
use weft_wire::place::{self, PlaceHeader, PlaceKind, Refusal};

/// Handler to which a node gives the packets of puts and gets.
pub(crate) struct PutTarget {
    puts: Arc<PutState>,
    duties: Arc<Duties>,
    /// Weak, because the node owns this handler: otherwise neither would ever be freed.
    node: WeakEndpoint,
    /// Work left for the packet that comes to `outside` next: all else was done in `inside`.
    left: Option<FollowUp>,
}

impl PutTarget {
    /// That of the rank that has this handle.
    pub fn new(handle: &Handle) -> Self {
        let Handle { node, duties, puts, .. } = handle.clone();
        PutTarget { puts, duties, node: node.downgrade(), left: None }
    }
}

impl Handler for PutTarget {
    #[inline]
    fn inside(&mut self, arrival: &Arrival) -> Verdict {
        // Another thread that is inside may be about to enter the node, in which this thread is.
        let Some(mut state) = self.puts.connections.enter_at_once() else {
            return Verdict::Outside;
        };
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
            let mut state = self.puts.connections.enter();
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
                let (duties, puts) = (Arc::clone(&self.duties), Arc::clone(&self.puts));
                let handle = Handle::new(node, duties, puts);
                handle.owe(to, owed);
                handle.node.attendance().nudge();
            }
        }
    }
}

impl Handle {
    /// Sends `owed` to another rank, at once or as soon as there is a packet for it, unless that
    /// rank is owed too many replies.
    pub(crate) fn owe(&self, to: Rank, owed: Owed) {
        if self.puts.connections.enter().owe(to, &owed) {
            self.puts.owed.push((to, owed));
            self.pay();
        }
    }

    /// Sends what is owed, as far as there are packets.
    #[cold]
    pub(crate) fn pay(&self) {
        // An exhausted pool is an error where the program sends, not here.
        let _ = self.puts.owed.flush(|&mut (to, owed)| {
            let Some(packet) = SendPacket::try_alloc(self, Some(to))? else { return Ok(false) };
            self.puts.connections.enter().paid(to, &owed);
            self.say(packet, to, owed).map(|()| true)
        });
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
        let mut state = self.puts.connections.enter();
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
