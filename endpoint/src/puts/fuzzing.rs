//! The receiver's side of connections without any network, for `crate::fuzzing`.

use super::memory::Memory;
use super::queue::Queue;
use super::state::{Connections, Observer, Receiving};
use super::table::Rights;
use std::sync::Arc;
use weft_wire::Rank;

/// Receive buffers, and the state that packets for them arrive at.
pub(crate) struct Receiver {
    state: Connections,
    queue: Arc<Queue>,
    peers: Vec<(Rank, usize)>,
}

impl Receiver {
    /// Buffers for these ranks, of these sizes, with these rights.
    pub fn new(buffers: &[(Rank, usize, Rights)]) -> Self {
        let (mut state, queue) = (Connections::default(), Arc::new(Queue::new(8)));
        for &(peer, bytes, rights) in buffers {
            let memory = Memory::new(bytes).expect("little memory");
            let observer = Some(Observer { queue: Arc::clone(&queue), stage: Arc::default() });
            let receiving = Receiving { memory, observer, received: 0, sender: None };
            state.receives.offer(peer, bytes, rights, receiving);
        }
        let peers = buffers.iter().map(|(peer, bytes, _)| (*peer, *bytes)).collect();
        Receiver { state, queue, peers }
    }

    /// Handles a packet of a put or a get.
    pub fn arrived(&mut self, from: Rank, packet: &[u8]) {
        self.state.arrived(from, packet);
        while self.queue.take().is_some() {}
    }

    /// The contents of a buffer.
    pub fn bytes(&mut self, index: usize) -> &[u8] {
        let (peer, bytes) = self.peers[index];
        let found = self.state.receives.find(peer, index as u32);
        found.map_or(&[], |admitted| admitted.buffer.memory.slice(0, bytes))
    }
}
