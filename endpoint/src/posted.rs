//! Memory of the program that is posted for packets that will come: the link may read their bytes
//! straight into it, so that nobody copies them out of a packet.
#![allow(unsafe_code)]

use crate::packets::Packets;
use crate::{Link, Rank};
use std::ptr::NonNull;
use weft_link::memory;
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

/// Request to a link about posted memory.
pub(crate) enum Posting<'a> {
    /// Post it; 1 if that was done.
    Begin(memory::Posted),
    /// Say how many bytes are there.
    Look(&'a PostedHead),
    /// End that, and say how many are there.
    End(&'a PostedHead),
}

impl Posting<'_> {
    pub fn to(self, link: &mut impl Link, from: Rank) -> usize {
        match self {
            Posting::Begin(posted) => usize::from(link.post(from, posted)),
            Posting::Look(head) => link.posted(from, head),
            Posting::End(head) => link.unpost(from, head),
        }
    }
}

impl Packets {
    /// Posts memory for packets of rank `from`. False if the link reads into its own places only:
    /// then nothing has happened. The link may stop at any time: a packet whose bytes end behind
    /// those that are [there](Self::posted) has all of them itself.
    pub fn post(&self, from: Rank, posted: Posted) -> bool {
        from.index() < self.node.ranks() && self.node.post(from, Posting::Begin(posted.0)) > 0
    }

    /// Number of bytes of the memory posted under `head` that are there: those of the packets that
    /// are for it, in order, from the first on. Of a packet all of whose bytes are there, those
    /// behind the first [`POSTED_HEAD_BYTES`] mean nothing.
    pub fn posted(&self, from: Rank, head: &PostedHead) -> usize {
        self.node.post(from, Posting::Look(head))
    }

    /// Ends that: nobody writes there any more. Returns the number of bytes that are there, which
    /// holds for packets that are taken later, too.
    pub fn unpost(&self, from: Rank, head: &PostedHead) -> usize {
        self.node.post(from, Posting::End(head))
    }
}
