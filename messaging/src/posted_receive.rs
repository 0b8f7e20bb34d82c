//! Receives of threads that poll: each is handed its message while packets are sorted.

use crate::arrived::Arrived;
use crate::format::PacketHeader;
use crate::machine::MessageBody;
use crate::messages::Messages;
use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::{Rank, copy_short};

/// A receive of a thread that polls for one message of a port. Sorting hands it the message.
pub(crate) struct PostedReceive<'a> {
    number: u32,
    slot: usize,
    wish: Wish<'a>,
    found: Cell<Option<Box<Arrived>>>,
    /// Room for the bytes of the message, if it is to be copied where it is found.
    room: Cell<&'a mut [u8]>,
    received: Cell<Option<Received>>,
}

/// A message that was copied where it was found.
#[derive(Clone, Copy)]
pub(crate) struct Received {
    pub from: Rank,
    pub length: usize,
    /// Packets of its sender that were consumed at the port in all, if it is to be told.
    pub report: Option<u32>,
}

/// The message that a receive takes.
enum Wish<'a> {
    /// The next one, if none waits.
    Next(&'a PolledPort),
    /// The next one, to be copied into the room for it, if it fits and has no headers.
    NextInto(&'a PolledPort),
    /// The one of this rank with these headers of the layers above.
    Of(Rank, [u8; 8]),
}

/// A port whose messages are received by polling.
pub(crate) struct PolledPort {
    pub number: u32,
    pub slot: usize,
    /// Number of messages that had been queued at this rank when none waited here, and no thread
    /// slept until one comes.
    pub empty_at: AtomicU64,
}

impl<'a> PostedReceive<'a> {
    /// For the next message of a port. It has found nothing yet.
    #[inline]
    pub fn of_next(port: &'a PolledPort) -> Self {
        let PolledPort { number, slot, .. } = *port;
        PostedReceive::new((number, slot), Wish::Next(port))
    }

    /// For the next message of a port, to be copied into `room`. It has found nothing yet.
    #[inline]
    pub fn of_next_into(port: &'a PolledPort, room: &'a mut [u8]) -> Self {
        let PolledPort { number, slot, .. } = *port;
        PostedReceive {
            room: Cell::new(room),
            ..PostedReceive::new((number, slot), Wish::NextInto(port))
        }
    }

    /// For the one message of `from` to a port with `headers` in front. It has found nothing yet.
    #[inline]
    pub fn of_headers((number, slot): (u32, usize), from: Rank, headers: [u8; 8]) -> Self {
        PostedReceive::new((number, slot), Wish::Of(from, headers))
    }

    #[inline(always)]
    fn new((number, slot): (u32, usize), wish: Wish<'a>) -> Self {
        let (found, room, received) = Default::default();
        PostedReceive { number, slot, wish, found, room, received }
    }

    /// True if it takes this message, when `queued` messages were queued at this rank so far.
    /// `rest` follows the header of the message.
    #[inline(always)]
    pub fn wants(&self, from: Rank, header: &PacketHeader, rest: &[u8], queued: u64) -> bool {
        header.port == self.number
            && match &self.wish {
                Wish::Next(port) | Wish::NextInto(port) => port.is_empty(queued),
                Wish::Of(rank, headers) => {
                    usize::from(header.header_bytes) == headers.len()
                        && rest.first_chunk() == Some(headers)
                        && from == *rank
                }
            }
    }

    /// Copies a message that it wants, if it has room for it. False if not: nothing has
    /// happened then.
    #[inline(always)]
    pub fn copy(
        &self,
        messages: &Messages,
        from: Rank,
        header: &PacketHeader,
        rest: &[u8],
    ) -> bool {
        if !matches!(self.wish, Wish::NextInto(_)) || header.header_bytes != 0 {
            return false;
        }
        let room = self.room.take();
        let fits = rest.len() <= room.len();
        if fits {
            copy_short(room, rest);
            let body = MessageBody::new(from, None, header, self.slot);
            let report = messages.state.enter().machine.consumed(&body, None, 0);
            self.received.set(Some(Received { from, length: rest.len(), report }));
        } else {
            self.room.set(room);
        }
        fits
    }

    /// The message that was copied, if one was.
    #[inline(always)]
    pub fn received(&self) -> Option<Received> {
        self.received.get()
    }

    /// The room for a message that could not be copied where it was found.
    pub fn room(&self) -> &'a mut [u8] {
        self.room.take()
    }

    /// The message that it was handed.
    #[inline(always)]
    pub fn take(&self) -> Option<Box<Arrived>> {
        self.found.take()
    }

    /// True if it was handed its message.
    #[cold]
    pub fn has_found(&self) -> bool {
        let found = self.found.take();
        let is_some = found.is_some() || self.received.get().is_some();
        self.found.set(found);
        is_some
    }

    /// Hands it the message.
    #[inline(always)]
    pub fn give(&self, mut arrived: Box<Arrived>) {
        arrived.body.slot = self.slot;
        // It polls no more once it has found something.
        let before = self.found.replace(Some(arrived));
        debug_assert!(before.is_none());
        mem::forget(before);
    }
}

impl PolledPort {
    /// True if no message waits here, when `queued` messages were queued at this rank so far. If
    /// it is false, one may wait or not.
    #[inline(always)]
    pub fn is_empty(&self, queued: u64) -> bool {
        self.empty_at.load(Ordering::Relaxed) == queued
    }
}
