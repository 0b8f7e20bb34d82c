//! Pairs of this rank and its peers, as far as they concern no third rank: what is numbered,
//! acknowledged, sent again, and heard. What is to be done besides (buffers that become free,
//! packets that may leave) is [`crate::traffic`]'s.

use crate::base::Base;
use crate::peers::Peers;
use crate::receive_buffers::ReceiveBuffers;
use crate::send_pool::SendPool;
use crate::sequence::Flow;
use crate::settings::Settings;
use crate::timer::Timers;
use weft_wire::Rank;

/// State of all pairs.
#[derive(Debug, Clone)]
pub(crate) struct Flows<B> {
    pub base: Base,
    pub peers: Peers<B>,
    pub receive_buffers: ReceiveBuffers,
    pub send_pool: SendPool,
    pub timers: Timers,
    /// Times that the acknowledgement timer ran out since all senders were told.
    pub expirations: u16,
}

impl<B: Copy> Flows<B> {
    pub fn new(local: Rank, settings: Settings) -> Self {
        Flows {
            base: Base::new(local, settings),
            peers: Peers::new(&settings),
            receive_buffers: ReceiveBuffers::default(),
            send_pool: SendPool::default(),
            timers: Timers::default(),
            expirations: 0,
        }
    }

    /// State of the packets between `peer` and this rank, which have numbers.
    #[inline]
    pub fn flow(&mut self, peer: Rank) -> &mut Flow<B> {
        self.peers.flow(peer)
    }
}
