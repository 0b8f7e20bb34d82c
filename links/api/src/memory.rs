//! Memory beside frames: what a peer accesses without a packet, on links whose ranks share a host
//! (exported memory, and memory that the kernel copies out of another process); and what is lent to
//! frames.

use std::io;
use std::ptr::NonNull;
use weft_wire::Rank;

/// Memory of the program that is lent to frames ([`crate::Link::lend`]). Whoever lends it keeps it
/// where it is, and as it is, until no frame has any of it: [`crate::Link::take_back`] sees to
/// that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lent {
    /// Address of its first byte.
    pub start: NonNull<u8>,
    /// Number of bytes.
    pub bytes: usize,
}

impl Lent {
    /// True if the two have bytes in common.
    pub fn overlaps(self, other: Lent) -> bool {
        let (own, others) = (self.start.addr().get(), other.start.addr().get());
        own < others + other.bytes && others < own + self.bytes
    }
}

/// Memory of the program that is posted for packets of a peer ([`crate::Link::post`]): those whose
/// user bytes begin with `head`, and then a place in the memory, 8 bytes little-endian. What
/// follows belongs there. Whoever posts it keeps it where it is, and neither reads nor writes it,
/// until [`crate::Link::unpost`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posted {
    /// First user bytes of its packets, unlike those of any other memory posted for that peer.
    pub head: PostedHead,
    /// Address of its first byte.
    pub start: NonNull<u8>,
    /// Number of bytes.
    pub bytes: usize,
    /// Number of bytes, from the first on, that are there already.
    pub there: usize,
}

/// First user bytes of packets for [posted memory](Posted).
pub type PostedHead = [u8; 16];

/// Bytes of such a packet before those that belong in the memory.
pub const POSTED_HEAD_BYTES: usize = size_of::<PostedHead>() + size_of::<u64>();

/// Length of the name of exported memory, in bytes.
pub const NAME_BYTES: usize = 16;

/// Exporter and importer of memory between ranks.
pub trait SharedMemory: Send + Sync {
    /// Exports memory of `bytes` zeros to `peer`, or to every rank here, who may attach it by the
    /// name that is returned with it. The export ends when the memory is dropped here. What a peer
    /// that has it still writes then, nobody sees. `None` if `peer` cannot attach it.
    ///
    /// # Errors
    /// An error of the system.
    fn create(&self, peer: Option<Rank>, bytes: usize) -> io::Result<Option<Named>>;

    /// Attaches memory of `bytes` that `peer` has exported to this rank, or to all, under `name`.
    /// Each side keeps it as long as it likes.
    ///
    /// # Errors
    /// An error of the system, or that this is no such memory: the name comes from a peer and may
    /// be wrong.
    fn attach(
        &self,
        peer: Rank,
        name: &[u8; NAME_BYTES],
        bytes: usize,
    ) -> io::Result<Box<dyn MappedMemory>>;
}

/// Exported memory and its name.
pub type Named = (Box<dyn MappedMemory>, [u8; NAME_BYTES]);

/// Memory of the requested size, which stays where it is until this is dropped.
pub trait MappedMemory: Send + Sync {
    /// Address of its first byte, which is at the start of a page.
    fn start(&self) -> NonNull<u8>;

    /// Revokes the name: the peer has attached the memory, and nobody else will.
    fn revoke_name(&self);
}

/// Cross-memory attach: copies by the kernel out of the processes of other ranks of this host.
pub trait CrossMemory: Send + Sync {
    /// Copies from `address` in the process of `rank` into `into`. False if this process may not,
    /// or nothing is mapped there: then `into` may have been written in part. With an empty `into`
    /// it checks that this process may.
    fn fetch(&self, rank: Rank, address: u64, into: &mut [u8]) -> bool;

    /// True if `by` has fetched from the process of this rank: it may be given addresses in place
    /// of bytes.
    fn is_read_by(&self, by: Rank) -> bool;

    /// True if the process of `rank` is of this host.
    fn is_near(&self, rank: Rank) -> bool;
}
