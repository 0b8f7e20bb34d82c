//! Datagrams that wait for the flush.

use std::collections::VecDeque;
use std::ops::{DerefMut, Range};
use weft_seal::{Kind, Seals};
use weft_wire::{Header, Rank, envelope};

/// What became of datagrams on their way out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Datagrams that the kernel took.
    pub datagrams: u64,
    /// Packets that shared a datagram with one before them.
    pub packed: u64,
    /// System calls.
    pub calls: u64,
    /// Packets that found no room because the kernel took none, and were dropped.
    pub crowded_out: u64,
    /// Datagrams that the kernel refused.
    pub failed: u64,
}

/// A datagram that waits.
#[derive(Debug)]
pub struct Datagram<P> {
    /// Who it is for.
    pub to: Rank,
    /// Where its bytes are.
    pub place: P,
    /// Where they end.
    end: usize,
    /// Nothing can be added.
    closed: bool,
    sealed: bool,
}

/// The datagrams of one rank that wait, in places `P` of equal size.
pub struct Outgoing<P> {
    waiting: VecDeque<Datagram<P>>,
    /// Which datagram to each rank was begun last, counted from the first of all.
    last: Vec<u64>,
    /// How many have left.
    left: u64,
    /// The part of a place that a datagram may take, its trailer included.
    room: Range<usize>,
    trailer_bytes: usize,
    most: usize,
    /// What became of them so far; who sends them counts.
    pub sent: Sent,
}

impl<P: DerefMut<Target = [u8]>> Outgoing<P> {
    /// At most `most` datagrams to `ranks` ranks, each within `room` of its place and with a trailer
    /// of that many bytes.
    pub fn new(ranks: usize, most: usize, room: Range<usize>, trailer_bytes: usize) -> Self {
        Outgoing {
            waiting: VecDeque::with_capacity(most),
            last: vec![u64::MAX; ranks],
            left: 0,
            room,
            trailer_bytes,
            most,
            sent: Sent::default(),
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether only a flush makes room for another packet.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= self.most
    }

    /// Those that wait, in the order in which they leave.
    #[inline]
    pub fn waiting(&self) -> &VecDeque<Datagram<P>> {
        &self.waiting
    }

    /// Whether a packet with so many bytes of body leaves no room for another like it.
    #[inline]
    pub fn fills_one(&self, body_bytes: usize) -> bool {
        let most = self.room.len() - envelope::SIZE - self.trailer_bytes;
        2 * envelope::packet_bytes(body_bytes) > most
    }

    /// Adds a packet to a datagram to `to`, or drops it if there is no room. `spare` gives a place for
    /// a new datagram.
    #[inline]
    pub fn put(
        &mut self,
        to: Rank,
        header: &Header,
        body: &[u8],
        spare: impl FnOnce() -> Option<P>,
    ) {
        let bytes = envelope::packet_bytes(body.len());
        let Some(datagram) = self.room_for(to, bytes, spare) else {
            self.sent.crowded_out += 1;
            return;
        };
        let at = datagram.end;
        envelope::put(&mut datagram.place[at..], header, body);
        datagram.end += bytes;
    }

    /// Adds a datagram of one packet whose body is in `place` already, behind the room for envelope
    /// and header.
    ///
    /// # Panics
    /// If it is full.
    #[inline]
    pub fn put_whole(&mut self, to: Rank, header: &Header, mut place: P) {
        assert!(!self.is_full(), "only a flush makes room");
        let at = self.room.start + envelope::SIZE;
        let bytes = envelope::put_around(&mut place[at..], header);
        self.begin(to, place, true).end = at + bytes;
    }

    /// The datagram that the next packet to `to` belongs into.
    #[inline]
    fn room_for(
        &mut self,
        to: Rank,
        bytes: usize,
        spare: impl FnOnce() -> Option<P>,
    ) -> Option<&mut Datagram<P>> {
        let most = self.room.end - self.trailer_bytes;
        let begun = self.last[to.index()].wrapping_sub(self.left);
        let begun = usize::try_from(begun).unwrap_or(usize::MAX);
        let shares = self
            .waiting
            .get(begun)
            .is_some_and(|datagram| !datagram.closed && datagram.end + bytes <= most);
        if shares {
            self.sent.packed += 1;
            return self.waiting.get_mut(begun);
        }
        if self.is_full() {
            return None;
        }
        let place = spare()?;
        Some(self.begin(to, place, false))
    }

    #[inline]
    fn begin(&mut self, to: Rank, place: P, closed: bool) -> &mut Datagram<P> {
        self.last[to.index()] = self.left + self.waiting.len() as u64;
        let end = self.room.start + envelope::SIZE;
        self.waiting.push_back(Datagram { to, place, end, closed, sealed: false });
        let last = self.waiting.len() - 1;
        &mut self.waiting[last]
    }

    /// Seals all that wait; nothing can be added to them from here on.
    #[inline]
    pub fn seal(&mut self, seals: &mut Seals) {
        for datagram in self.waiting.iter_mut().filter(|datagram| !datagram.sealed) {
            datagram.end += self.trailer_bytes;
            (datagram.closed, datagram.sealed) = (true, true);
            let frame = &mut datagram.place[self.room.start..datagram.end];
            seals.sealer(datagram.to).seal(Kind::PACKETS, frame);
        }
    }

    /// The first, which leaves: the kernel took it, or it is given up.
    #[inline]
    pub fn pop(&mut self) -> Option<Datagram<P>> {
        let first = self.waiting.pop_front()?;
        self.left += 1;
        Some(first)
    }
}

impl<P> Datagram<P> {
    /// Where in its place it ends.
    #[inline]
    pub fn end(&self) -> usize {
        self.end
    }
}
