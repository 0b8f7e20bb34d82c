//! Memory that ranks of this host reach without a packet, by their numbers in the job.

use std::io;
use std::sync::Arc;
use weft_link::memory::{CrossMemory, MappedMemory, NAME_BYTES, Named, SharedMemory};
use weft_wire::Rank;

/// Memory of the near link, for the ranks that are near.
pub(crate) struct Routed<T: ?Sized> {
    pub near: Arc<T>,
    /// By rank: its number at the near link.
    pub routes: Vec<Option<Rank>>,
}

impl<T: ?Sized> Routed<T> {
    #[inline]
    fn number(&self, rank: Rank) -> Option<Rank> {
        self.routes.get(rank.index()).copied().flatten()
    }
}

impl SharedMemory for Routed<dyn SharedMemory> {
    fn create(&self, peer: Option<Rank>, bytes: usize) -> io::Result<Option<Named>> {
        match peer.map(|peer| self.number(peer)) {
            Some(None) => Ok(None),
            near => self.near.create(near.flatten(), bytes),
        }
    }

    fn attach(
        &self,
        peer: Rank,
        name: &[u8; NAME_BYTES],
        bytes: usize,
    ) -> io::Result<Box<dyn MappedMemory>> {
        match self.number(peer) {
            Some(number) => self.near.attach(number, name, bytes),
            None => Err(io::Error::new(io::ErrorKind::InvalidInput, "memory on another host")),
        }
    }
}

impl CrossMemory for Routed<dyn CrossMemory> {
    fn fetch(&self, rank: Rank, address: u64, into: &mut [u8]) -> bool {
        self.number(rank).is_some_and(|number| self.near.fetch(number, address, into))
    }

    #[inline]
    fn is_read_by(&self, by: Rank) -> bool {
        self.number(by).is_some_and(|number| self.near.is_read_by(number))
    }

    fn is_near(&self, rank: Rank) -> bool {
        self.number(rank).is_some()
    }
}
