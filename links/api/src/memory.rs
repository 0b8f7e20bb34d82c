//! Memory beside frames that a peer reaches without a packet, on links where ranks share a host: memory made for that, and what
//! the kernel copies out of another process.

use std::io;
use std::ptr::NonNull;
use weft_wire::Rank;

/// Bytes that name a piece of memory to a peer.
pub const NAME_BYTES: usize = 16;

/// Makes memory for peers, and reaches what peers have made.
pub trait SharedMemory: Send + Sync {
    /// Memory of `bytes` zeros that `peer`, or every rank here, may reach by the name that comes with it, until it is
    /// dropped here: what a peer that has it then still does to it, nobody sees. `None` if `peer` cannot.
    ///
    /// # Errors
    /// What the system says.
    fn create(&self, peer: Option<Rank>, bytes: usize) -> io::Result<Option<Named>>;

    /// The memory of `bytes` that `peer` has made for this rank, or for all, under `name`. Each side keeps it as long as
    /// it likes.
    ///
    /// # Errors
    /// What the system says, or that this is no such memory: the name is a peer's word.
    fn attach(
        &self,
        peer: Rank,
        name: &[u8; NAME_BYTES],
        bytes: usize,
    ) -> io::Result<Box<dyn MappedMemory>>;
}

/// Memory, and its name.
pub type Named = (Box<dyn MappedMemory>, [u8; NAME_BYTES]);

/// Memory of so many bytes as were asked for, which stays where it is until this is dropped.
pub trait MappedMemory: Send + Sync {
    /// Where it begins, at a page.
    fn start(&self) -> NonNull<u8>;

    /// The peer has it, and will not ask for it again.
    fn taken(&self);
}

/// Memory of the processes of other ranks of this host, out of which the kernel copies.
pub trait Reach: Send + Sync {
    /// Copies what lies at `address` of `rank`'s process into `into`. False if this process may not, or nothing lies there: then
    /// `into` may have been written in part. With no bytes it says whether this process may.
    fn fetch(&self, rank: Rank, address: u64, into: &mut [u8]) -> bool;

    /// Whether `by` has fetched from this rank's process: it may be given addresses in place of bytes.
    fn is_reached(&self, by: Rank) -> bool;
}
