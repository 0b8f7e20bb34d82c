//! Memory of the program that is posted for packets that will come: the link may read their bytes
//! straight into it, so that nobody copies them out of a packet. And memory that a link carries in
//! one piece, from where it lies to where it belongs, beside all packets.
#![allow(unsafe_code)]

use crate::packets::Packets;
use crate::send::Steady;
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

/// Request to a link about memory that is posted for a rank, or sent to where that has posted some.
pub(crate) enum Posting<'a> {
    /// Post it; 1 if that was done.
    Begin(memory::Posted),
    /// Post it for all of its bytes at once; 1 if that was done.
    BeginZeroCopy(memory::Posted),
    /// Send this under that head at once; 1 if that was begun.
    SendZeroCopy(&'a PostedHead, memory::Lent),
    /// Say whether that can be done: 1 if so.
    SendsZeroCopy,
    /// Say whether some such is on its way: 1 if so.
    Carries,
    /// Say how many bytes are there.
    Look(&'a PostedHead),
    /// End that, and say how many are there.
    End(&'a PostedHead),
}

impl Posting<'_> {
    pub fn to(self, link: &mut impl Link, peer: Rank) -> usize {
        match self {
            Posting::Begin(memory) => by_packets(link, |link| link.post(peer, memory).into()),
            Posting::Look(head) => by_packets(link, |link| link.posted(peer, head)),
            Posting::End(head) => by_packets(link, |link| link.unpost(peer, head)),
            Posting::BeginZeroCopy(memory) => in_one_piece(link, |link| link.post(peer, memory)),
            Posting::SendZeroCopy(head, lent) => {
                in_one_piece(link, |link| link.send(peer, head, lent))
            }
            Posting::SendsZeroCopy => in_one_piece(link, |link| link.reaches(peer)),
            Posting::Carries => in_one_piece(link, |link| link.is_under_way()),
        }
    }
}

/// Does something about memory posted for packets; 0 on links that have no such.
fn by_packets(link: &mut impl Link, does: impl FnOnce(&mut dyn memory::Posting) -> usize) -> usize {
    link.posting().map_or(0, does)
}

/// Does something about memory that travels in one piece; 0 on links that have no such.
fn in_one_piece(
    link: &mut impl Link,
    does: impl FnOnce(&mut dyn memory::ZeroCopy) -> bool,
) -> usize {
    usize::from(link.zero_copy().is_some_and(does))
}

impl Packets {
    /// Posts memory for packets of rank `from`. False if the link reads into its own places only:
    /// then nothing has happened. The link may stop at any time: a packet whose bytes end behind
    /// those that are [there](Self::posted) has all of them itself.
    pub fn post(&self, from: Rank, posted: Posted) -> bool {
        from.index() < self.node.ranks() && self.node.post(from, Posting::Begin(posted.0)) > 0
    }

    /// True if memory travels to rank `to` in one piece.
    pub fn sends_zero_copy(&self, to: Rank) -> bool {
        to.index() < self.node.ranks() && self.node.post(to, Posting::SendsZeroCopy) > 0
    }

    /// Posts memory for all of its bytes at once, which rank `from`
    /// [sends](Self::send_zero_copy) as one piece under the same head, once it was told that this
    /// was done. Until all of them are there, none [is](Self::posted). False if the link sends
    /// packets only, or can take no more of it now: then nothing has happened.
    pub fn post_zero_copy(&self, from: Rank, posted: Posted) -> bool {
        from.index() < self.node.ranks()
            && self.node.post(from, Posting::BeginZeroCopy(posted.0)) > 0
    }

    /// Sends all of these bytes, in whatever way costs the network least, to where rank `to` has
    /// [posted](Self::post_zero_copy) memory for as many under this head. Whoever sends
    /// [has them back](Self::has_back) once they have left. Never blocks; false if the link sends
    /// packets only: then nothing has happened.
    pub fn send_zero_copy(&self, to: Rank, head: &PostedHead, bytes: Steady) -> bool {
        to.index() < self.node.ranks()
            && self.node.post(to, Posting::SendZeroCopy(head, bytes.memory())) > 0
    }

    /// True if memory is on its way in one piece, here or from here, and should be there soon: who
    /// waits for that looks, which is what moves it.
    pub fn carries(&self) -> bool {
        self.node.post(self.rank(), Posting::Carries) > 0
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
