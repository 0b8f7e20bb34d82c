//! Memory of the program that is posted for packets that will come: the link may read their bytes
//! straight into it, so that nobody copies them out of a packet. And memory that a link carries in
//! one piece, from where it lies to where it belongs, beside all packets.
#![allow(unsafe_code)]

use crate::packets::Packets;
use crate::send::Steady;
use crate::{Endpoint, Link, Rank};
use std::ptr::NonNull;
use weft_link::memory::{self, Lending, Posting, ZeroCopy};
pub use weft_link::memory::{POSTED_HEAD_BYTES, PostedHead};

/// Memory for the packets of one rank that begin with its head, which no other memory posted for
/// that rank has, and then an offset in it, 8 bytes little-endian: their bytes belong there.
#[derive(Clone, Copy, Debug)]
pub struct Posted(memory::Posted);

impl Posted {
    /// `bytes` bytes from `start` on, of which the first `there` are there already, for packets
    /// that begin with `head`.
    ///
    /// # Safety
    /// From [`Packets::post`] on, if that was true, until [`Packets::unpost`] has returned they
    /// must be writable, and be neither read nor written by anybody else, but for those of which
    /// [`Packets::posted`] says that they are there: these are not written any more.
    #[inline]
    pub unsafe fn new(head: PostedHead, start: NonNull<u8>, bytes: usize, there: usize) -> Self {
        Posted(memory::Posted { head, start, bytes, there })
    }

    /// First bytes of its packets.
    #[inline]
    pub fn head(&self) -> &PostedHead {
        &self.0.head
    }
}

/// Uses of the program's memory that a link may have, for who does not know its type.
pub(crate) trait LinkMemory {
    fn lending(&mut self) -> Option<&mut dyn Lending>;
    fn posting(&mut self) -> Option<&mut dyn Posting>;
    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy>;
}

impl<L: Link> LinkMemory for L {
    fn lending(&mut self) -> Option<&mut dyn Lending> {
        Link::lending(self)
    }

    fn posting(&mut self) -> Option<&mut dyn Posting> {
        Link::posting(self)
    }

    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy> {
        Link::zero_copy(self)
    }
}

impl Packets {
    /// Posts memory for packets of rank `from`. False if the link reads into its own places only:
    /// then nothing has happened. The link may stop at any time: a packet whose bytes end behind
    /// those that are [there](Self::posted) has all of them itself.
    pub fn post(&self, from: Rank, posted: Posted) -> bool {
        self.node.attributes().has_rank(from)
            && self.node.in_posting(|posting| posting.post(from, posted.0))
    }

    /// True if memory travels to rank `to` in one piece.
    pub fn sends_zero_copy(&self, to: Rank) -> bool {
        self.node.attributes().has_rank(to)
            && self.node.in_zero_copy(|zero_copy| zero_copy.reaches(to))
    }

    /// Posts memory for all of its bytes at once, which rank `from`
    /// [sends](Self::send_zero_copy) as one piece under the same head, once it was told that this
    /// was done. Until all of them are there, none [is](Self::posted). False if the link sends
    /// packets only, or can take no more of it now: then nothing has happened.
    pub fn post_zero_copy(&self, from: Rank, posted: Posted) -> bool {
        self.node.attributes().has_rank(from)
            && self.node.in_zero_copy(|zero_copy| zero_copy.post(from, posted.0))
    }

    /// Sends all of these bytes, in whatever way costs the network least, to where rank `to` has
    /// [posted](Self::post_zero_copy) memory for as many under this head. Whoever sends
    /// [has them back](Self::has_back) once they have left. Never blocks; false if the link sends
    /// packets only: then nothing has happened.
    pub fn send_zero_copy(&self, to: Rank, head: &PostedHead, bytes: Steady) -> bool {
        self.node.attributes().has_rank(to)
            && self.node.in_zero_copy(|zero_copy| zero_copy.send(to, head, bytes.memory()))
    }

    /// True if memory is on its way in one piece, here or from here, and should be there soon: who
    /// waits for that looks, which is what moves it.
    pub fn carries(&self) -> bool {
        self.node.in_zero_copy(|zero_copy| zero_copy.is_under_way())
    }

    /// Number of bytes of the memory posted under `head` that are there: those of the packets that
    /// are for it, in order, from the first on. Of a packet all of whose bytes are there, those
    /// behind the first [`POSTED_HEAD_BYTES`] mean nothing.
    pub fn posted(&self, from: Rank, head: &PostedHead) -> usize {
        self.node.in_posting(|posting| posting.posted(from, head))
    }

    /// Ends that: nobody writes there any more. Returns the number of bytes that are there, which
    /// holds for packets that are taken later, too.
    pub fn unpost(&self, from: Rank, head: &PostedHead) -> usize {
        self.node.in_posting(|posting| posting.unpost(from, head))
    }
}

/// Uses of memory, by the link inside the lock.
impl Endpoint {
    /// Uses memory that is lent to frames; nothing is on links that send from their frames only.
    pub(crate) fn in_lending<R: Default>(&self, uses: impl Fn(&mut dyn Lending) -> R) -> R {
        let mut result = R::default();
        self.with_memory(&mut |link| result = link.lending().map(&uses).unwrap_or_default());
        result
    }

    /// Uses memory that is posted; nothing is there on links that read into places of their own.
    fn in_posting<R: Default>(&self, uses: impl Fn(&mut dyn Posting) -> R) -> R {
        let mut result = R::default();
        self.with_memory(&mut |link| result = link.posting().map(&uses).unwrap_or_default());
        result
    }

    /// Uses memory that travels in one piece; none does on links that send packets only.
    fn in_zero_copy(&self, uses: impl Fn(&mut dyn ZeroCopy) -> bool) -> bool {
        let mut result = false;
        self.with_memory(&mut |link| result = link.zero_copy().is_some_and(&uses));
        result
    }
}
