//! A system's handle to the endpoint of its rank: what the packet interface, packets to send, puts,
//! and all views have in common.

use crate::copy::Choice;
use crate::duties::Duties;
use crate::puts::PutState;
use crate::trace::Trace;
use crate::{Endpoint, Error, Protocol, Rank, Result};
use std::sync::Arc;
use weft_link::Capabilities;
use weft_link::memory::SharedMemory;

/// A system's handle to the endpoint of its rank.
#[derive(Clone)]
pub(crate) struct Handle {
    pub node: Endpoint,
    pub system: Protocol,
    /// Largest payload of a packet to any rank. The link's sizes are asked once.
    pub max_payload: usize,
    pub multicast_payload: usize,
    /// Largest payload of a short packet, to ranks that take such.
    pub short_payload: usize,
    /// Largest payloads by rank, where they depend on that.
    payloads: Option<Arc<[u16]>>,
    /// By rank: the stores for frames that it reads where they are, if it does.
    stores: Arc<[Option<Choice>]>,
    pub trace: Trace,
    pub duties: Arc<Duties>,
    /// State of puts and gets.
    pub puts: Arc<PutState>,
}

impl Handle {
    /// The handle of [`Protocol::PACKETS`].
    pub fn new(node: Endpoint, duties: Arc<Duties>, puts: Arc<PutState>) -> Self {
        let attributes = node.attributes();
        let &Capabilities { max_payload, multicast_payload, .. } = &attributes.capabilities;
        let (short_payload, payloads) = (attributes.short_payload, attributes.payloads.clone());
        let are_near = (0..attributes.ranks as u16).map(|rank| node.takes_short(Rank(rank)));
        let stores = are_near.map(|is_near| is_near.then(Choice::default)).collect();
        let trace = Trace::new(attributes.services.recorder.clone());
        let system = Protocol::PACKETS;
        Handle {
            node,
            system,
            max_payload,
            multicast_payload,
            short_payload,
            payloads,
            stores,
            trace,
            duties,
            puts,
        }
    }

    /// Largest payload of a packet to rank `to` alone.
    #[inline]
    pub fn max_payload_to(&self, to: Rank) -> usize {
        let of_way = self.payloads.as_ref().and_then(|payloads| payloads.get(to.index()));
        of_way.map_or(self.max_payload, |most| usize::from(*most))
    }

    /// The stores for a frame that `receiver` alone reads, where it is.
    pub fn stores_for(&self, receiver: Option<Rank>) -> Option<&Choice> {
        self.stores.get(receiver?.index())?.as_ref()
    }

    /// Memory that processes of this host map, where the link has such.
    pub fn shared_memory(&self) -> Option<&dyn SharedMemory> {
        self.node.attributes().services.shared_memory.as_deref()
    }

    /// Packets that this rank can have in flight to one other rank.
    pub fn in_flight(&self) -> usize {
        let attributes = self.node.attributes();
        attributes.window_packets.min(attributes.capabilities.frames)
    }

    /// Checks that the job has `rank`.
    #[inline]
    pub fn check_rank(&self, rank: Rank) -> Result<()> {
        let attributes = self.node.attributes();
        match rank.index() < attributes.ranks {
            true => Ok(()),
            false => Err(Error::NoSuchRank { rank, ranks: attributes.ranks }),
        }
    }
}
