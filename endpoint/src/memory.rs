//! Memory of programs, as links use it where it lies:
//! - lent to packets that leave from it;
//! - posted for packets that will come: the link may read their bytes straight into it, so that
//!   nobody copies them out of a packet;
//! - carried in one piece, from where it lies to where it belongs, beside all packets;
//! - read by another process of this host.
#![allow(unsafe_code)]

use crate::handle::Handle;
use crate::{Endpoint, Rank};
use std::cell::Cell;
use std::ops::Range;
use std::ptr::NonNull;
use weft_link::memory::{self, CrossMemory, Lending, Posting, ZeroCopy};
pub use weft_link::memory::{POSTED_HEAD_BYTES, PostedHead};

/// Memory of programs, as the link of this rank uses it ([`crate::Packets::memory`]).
#[derive(Clone, Copy)]
pub struct Memory<'a>(&'a Handle);

/// Bytes of the program that packets borrow: they stay where they are, and as they are, meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Borrowed(memory::LentMemory);

impl Borrowed {
    /// These bytes.
    ///
    /// # Safety
    /// From the time when they are [put](crate::SendPacket::put_steady) into a packet on, or
    /// [sent](Memory::send_zero_copy), they must be readable and must not change until
    /// [`Memory::has_back`] says so, or [`Memory::take_back`] has returned.
    #[inline]
    pub unsafe fn new(bytes: &[u8]) -> Self {
        Borrowed::of(bytes)
    }

    fn of(bytes: &[u8]) -> Self {
        Borrowed(memory::LentMemory { start: NonNull::from(bytes).cast(), bytes: bytes.len() })
    }

    /// The bytes as links know them.
    #[inline]
    pub(crate) fn memory(self) -> memory::LentMemory {
        self.0
    }

    /// The bytes, for a packet that has them copied.
    #[inline]
    pub(crate) fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: whoever made this keeps them readable and unchanged, a loan by its borrow; the
        // slice is used in the call that it is made in.
        unsafe { NonNull::slice_from_raw_parts(self.0.start, self.0.bytes).as_ref() }
    }
}

/// Memory of the program that packets leave from, without a copy, where the link can do that.
pub struct Loan<'a> {
    memory: Memory<'a>,
    bytes: &'a [u8],
    /// The link sends from its frames only.
    pub(crate) refused: Cell<bool>,
}

impl Loan<'_> {
    /// True if no packet needs the memory any more: all that left from it were acknowledged. It is
    /// asked with the lock held, so not too often.
    pub fn is_back(&self) -> bool {
        self.memory.has_back(self.all())
    }

    /// True if it is lent to packets of this node.
    pub(crate) fn is_of(&self, node: &Endpoint) -> bool {
        self.memory.0.node.identity() == node.identity()
    }

    /// A range of it, for a packet.
    ///
    /// # Panics
    /// If there is no such range.
    pub(crate) fn part(&self, range: Range<usize>) -> Borrowed {
        Borrowed::of(&self.bytes[range])
    }

    fn all(&self) -> Borrowed {
        Borrowed::of(self.bytes)
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.memory.take_back(self.all());
    }
}

/// Memory for the packets of one rank that begin with its head, which no other memory posted for
/// that rank has, and then an offset in it, 8 bytes little-endian: their bytes belong there.
#[derive(Clone, Copy, Debug)]
pub struct Posted(memory::Posted);

impl Posted {
    /// `bytes` bytes from `start` on, of which the first `there` are there already, for packets
    /// that begin with `head`.
    ///
    /// # Safety
    /// From [`Memory::post`] on, if that was true, until [`Memory::unpost`] has returned they
    /// must be writable, and be neither read nor written by anybody else, but for those of which
    /// [`Memory::posted`] says that they are there: these are not written any more.
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

impl<'a> Memory<'a> {
    #[inline]
    pub(crate) fn new(handle: &'a Handle) -> Self {
        Memory(handle)
    }

    /// Lends `bytes` to the packets that `send` fills ([`crate::SendPacket::put_lent`]). Packets
    /// that still need some of them when it returns get a copy; whoever [waits](Loan::is_back)
    /// before spares that. `bytes` are borrowed meanwhile, and nobody reads them afterwards.
    pub fn lend<R>(self, bytes: &[u8], send: impl FnOnce(&Loan<'_>) -> R) -> R {
        send(&Loan { memory: self, bytes, refused: Cell::new(false) })
    }

    /// True if no packet needs any of these bytes any more: all that left with them were
    /// acknowledged. It is asked with the lock held, so not too often.
    pub fn has_back(self, bytes: Borrowed) -> bool {
        !self.0.node.in_lending(|lending| lending.has_lent(bytes.0))
    }

    /// Gives packets that still need some of these bytes a copy.
    pub fn take_back(self, bytes: Borrowed) {
        self.0.node.in_lending(|lending| lending.take_back(bytes.0));
    }

    /// Posts memory for packets of rank `from`. False if the link reads into its own places only:
    /// then nothing has happened. The link may stop at any time: a packet whose bytes end behind
    /// those that are [there](Self::posted) has all of them itself.
    pub fn post(self, from: Rank, posted: Posted) -> bool {
        self.0.node.attributes().has_rank(from)
            && self.0.node.in_posting(|posting| posting.post(from, posted.0))
    }

    /// True if memory travels to rank `to` in one piece.
    pub fn sends_zero_copy(self, to: Rank) -> bool {
        self.0.node.attributes().has_rank(to)
            && self.0.node.in_zero_copy(|zero_copy| zero_copy.reaches(to))
    }

    /// Posts memory for all of its bytes at once, which rank `from`
    /// [sends](Self::send_zero_copy) as one piece under the same head, once it was told that this
    /// was done. Until all of them are there, none [is](Self::posted). False if the link sends
    /// packets only, or can take no more of it now: then nothing has happened.
    pub fn post_zero_copy(self, from: Rank, posted: Posted) -> bool {
        self.0.node.attributes().has_rank(from)
            && self.0.node.in_zero_copy(|zero_copy| zero_copy.post(from, posted.0))
    }

    /// Sends all of these bytes, in whatever way costs the network least, to where rank `to` has
    /// [posted](Self::post_zero_copy) memory for as many under this head. The sender
    /// [has them back](Self::has_back) once they have left. Never blocks; false if the link sends
    /// packets only: then nothing has happened.
    pub fn send_zero_copy(self, to: Rank, head: &PostedHead, bytes: Borrowed) -> bool {
        self.0.node.attributes().has_rank(to)
            && self.0.node.in_zero_copy(|zero_copy| zero_copy.send(to, head, bytes.memory()))
    }

    /// True if memory is on its way in one piece, here or from here, and should be there soon: who
    /// waits for that looks, which is what moves it.
    pub fn carries(self) -> bool {
        self.0.node.in_zero_copy(|zero_copy| zero_copy.is_under_way())
    }

    /// Number of bytes of the memory posted under `head` that are there: those of the packets that
    /// are for it, in order, from the first on. Of a packet all of whose bytes are there, those
    /// behind the first [`POSTED_HEAD_BYTES`] mean nothing.
    pub fn posted(self, from: Rank, head: &PostedHead) -> usize {
        self.0.node.in_posting(|posting| posting.posted(from, head))
    }

    /// Ends that: nobody writes there any more. Returns the number of bytes that are there, which
    /// holds for packets that are taken later, too.
    pub fn unpost(self, from: Rank, head: &PostedHead) -> usize {
        self.0.node.in_posting(|posting| posting.unpost(from, head))
    }

    /// Copies bytes at `address` of the process of `rank` into `into`, without that rank taking
    /// part. False if this process may not, or nothing lies there: then `into` may have been
    /// written in part. With no bytes it says if this process may.
    pub fn fetch(self, rank: Rank, address: u64, into: &mut [u8]) -> bool {
        let is_fetched = self.of_others().is_some_and(|others| others.fetch(rank, address, into));
        if is_fetched && !into.is_empty() {
            self.0.trace.record_got(rank, into.len());
        }
        is_fetched
    }

    /// True if `by` has [fetched](Self::fetch) from this process.
    #[inline]
    pub fn is_reached(self, by: Rank) -> bool {
        self.of_others().is_some_and(|others| others.is_read_by(by))
    }

    /// True if the process of `rank` is of this host, and this one may [fetch](Self::fetch) from
    /// it as far as is known.
    pub fn is_near(self, rank: Rank) -> bool {
        self.of_others().is_some_and(|others| others.is_near(rank))
    }

    #[inline]
    fn of_others(self) -> Option<&'a dyn CrossMemory> {
        self.0.node.attributes().services.cross_memory.as_deref()
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
