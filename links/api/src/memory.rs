//! Memory beside frames: what a peer accesses without a packet, on links whose ranks share a host
//! (exported memory, and memory that the kernel copies out of another process); and what is lent to
//! frames.

use crate::Buffer;
use std::io;
use std::ptr::NonNull;
use weft_wire::Rank;

/// Memory of the program that is lent to frames ([`Lending`]). Its owner keeps it where it is,
/// and as it is, until no frame has any of it: [`Lending::take_back`] sees to that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LentMemory {
    /// Address of its first byte.
    pub start: NonNull<u8>,
    /// Number of bytes.
    pub bytes: usize,
}

impl LentMemory {
    /// True if the two have bytes in common.
    pub fn overlaps(self, other: LentMemory) -> bool {
        let (own, others) = (self.start.addr().get(), other.start.addr().get());
        own < others + other.bytes && others < own + self.bytes
    }
}

/// Memory of the program that is posted for packets of a peer ([`Posting`]): those whose user bytes
/// begin with `head`, and then a place in the memory, 8 bytes little-endian. The bytes behind
/// that belong there. Its owner keeps it where it is, and neither reads nor writes it, until
/// [`Posting::unpost`].
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

/// Lender of the program's memory to frames, which saves a copy into them.
pub trait Lending {
    /// Lends memory to a frame that was allocated and is not transmitted yet: the user bytes from
    /// `head` on are these, and nothing is written behind `head`. It stays lent until the frame is
    /// freed and has left, or until [`Self::take_back`]. False, and nothing has happened, if this
    /// frame cannot have any.
    fn lend(&mut self, buffer: Buffer, head: usize, lent: LentMemory) -> bool;

    /// True if a frame has bytes of this memory still, or they are
    /// [on their way](ZeroCopy::send).
    fn has_lent(&mut self, lent: LentMemory) -> bool;

    /// Has frames read this memory no more: those that have some of it still get a copy.
    fn take_back(&mut self, lent: LentMemory);
}

/// Reader of packets into the program's memory, which saves a copy out of frames.
pub trait Posting {
    /// Posts memory: the link may read the bytes of packets of `from` that belong there straight
    /// into it, in order, from the first on. What packets are for it, and what they say otherwise,
    /// is as ever; but of one whose bytes are [there](Self::posted), those behind
    /// [`POSTED_HEAD_BYTES`] mean nothing. False, and nothing has happened, if packets of `from`
    /// are read into the link's own places only, or it has enough of such memory.
    fn post(&mut self, from: Rank, posted: Posted) -> bool;

    /// Number of bytes of posted memory that are there, and stay as they are.
    fn posted(&mut self, from: Rank, head: &PostedHead) -> usize;

    /// Has the link write no more into posted memory; returns the number of bytes that are there,
    /// also of packets that are still to be taken.
    fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize;
}

/// Mover of the program's memory in one piece, with no packets and no copy: a rendezvous, in
/// whatever way costs the network least. A link that has this has [`Lending`] and [`Posting`], too.
pub trait ZeroCopy {
    /// True if memory travels to `to` in this way.
    fn reaches(&mut self, to: Rank) -> bool;

    /// Posts memory for all of its bytes at once, which `from` [sends](Self::send) under its head
    /// once it hears of that. [`Posting::posted`] says all or nothing. False, and nothing has
    /// happened, if `from` sends packets only, or the link can take no more of it now.
    fn post(&mut self, from: Rank, posted: Posted) -> bool;

    /// Sends memory to who has [posted](Self::post) as much under this head. It stays lent until it
    /// has left ([`Lending::has_lent`]). False, and nothing has happened, if `to` gets packets
    /// only.
    fn send(&mut self, to: Rank, head: &PostedHead, lent: LentMemory) -> bool;

    /// True if memory is on its way, as far as its length tells: who waits for that looks, because
    /// that is what moves it, and does not sleep yet.
    fn is_under_way(&mut self) -> bool;
}

/// Length of the name of exported memory, in bytes.
pub const NAME_BYTES: usize = 16;

/// Exporter and importer of memory between ranks.
pub trait SharedMemory: Send + Sync {
    /// Exports memory of `bytes` zeros to `peer`, or to every rank here, which may attach it by the
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
