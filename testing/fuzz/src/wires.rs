//! The network of a rank that is told anything: it takes so many packets, each of which its target
//! looks at.

use std::collections::BTreeSet;
use std::ops::Range;
use weft_endpoint::{PostedHead, Rank};
use weft_tagged::network::gather;
use weft_tagged::{Broadcast, Result, SendSource, Sink, TaggedNetwork};

/// Ranks of the job, of which the one with packets is rank 0.
pub(crate) const RANKS: u16 = 4;

/// Room for some packets.
#[derive(Debug)]
pub(crate) struct Wires {
    /// Number of further packets that it takes.
    pub room: usize,
    payload: usize,
    /// Packets that rank 0 has sent, until its target takes them.
    pub said: Vec<Vec<u8>>,
    /// Messages that it may place, of which it places nothing.
    pub posted: BTreeSet<(Rank, PostedHead)>,
}

impl Wires {
    /// No room yet, for packets of so many bytes at most.
    pub fn new(payload: usize) -> Self {
        Wires { room: 0, payload, said: Vec::new(), posted: BTreeSet::new() }
    }

    fn carry(&mut self, packet: Vec<u8>) -> bool {
        assert!(packet.len() <= self.payload, "a packet is as long as there is room for");
        if self.room == 0 {
            return false;
        }
        self.room -= 1;
        self.said.push(packet);
        true
    }
}

impl TaggedNetwork for Wires {
    fn payload(&self) -> usize {
        self.payload
    }

    fn send<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        assert!(to.0 > 0 && to.0 < RANKS, "what a rank says to itself needs no network");
        Ok(self.carry(gather(head, body)))
    }

    /// Messages of some peers.
    fn post<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        range: Range<usize>,
    ) -> bool {
        assert!(range.end as u64 <= into.capacity(), "there is memory for what comes");
        from.0.is_multiple_of(2) && self.posted.insert((from, *head))
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> u64 {
        assert!(self.posted.remove(&(from, *head)), "what was posted is given up once");
        0
    }

    /// Some of what peers name is there.
    fn fetch(&mut self, from: Rank, address: u64, into: &mut [u8]) -> bool {
        assert!(from.0 > 0 && from.0 < RANKS, "what is here is copied");
        into.fill(1);
        !address.is_multiple_of(3)
    }

    fn is_fetched_by(&self, by: Rank) -> bool {
        !by.0.is_multiple_of(2)
    }
}

impl Broadcast for Wires {
    fn broadcast_payload(&self) -> usize {
        self.payload
    }

    fn broadcast<S: SendSource>(
        &mut self,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        Ok(self.carry(gather(head, body)))
    }
}
