//! Networks that carry packets, and the memory that their bytes come from and go to.

use crate::{MessageEnvelope, Result};
use std::mem;
use std::num::NonZero;
use std::ops::Range;
use weft_collective::ArrivedPacket;
use weft_endpoint::{
    Borrowed, Gather, HeldPacket, KeptPacket, Packets, Posted, PostedHead, Rank, SendPacket,
    copy_short,
};

/// Bytes to send: the program's memory.
pub trait SendSource {
    /// Number of bytes.
    fn length(&self) -> u64;
    /// Calls `take` with the pieces of `length` bytes from `offset` on, which are there.
    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8]));
    /// Address of the bytes in this process, if they lie there in one piece.
    fn lies_at(&self) -> Option<u64> {
        None
    }
    /// The `length` bytes from `offset` on, if they lie in one piece and packets may leave from
    /// there: of a source that was kept, until the network [has them
    /// back](TaggedNetwork::has_back).
    fn borrowed(&self, offset: u64, length: usize) -> Option<Borrowed> {
        let _ = (offset, length);
        None
    }
    /// Called once, if the bytes are needed beyond the call that they were given in. They stay as
    /// they are, unless this does something about it.
    #[must_use]
    fn keep(self) -> Self
    where
        Self: Sized,
    {
        self
    }
}

/// Memory to receive into: the program's.
pub trait Sink: Sized {
    /// Number of bytes that fit.
    fn capacity(&self) -> u64;
    /// Puts `bytes` at `offset`; what does not fit is left out.
    fn place(&mut self, offset: u64, bytes: &[u8]);
    /// The `length` bytes from `offset` on, if they are there and lie in one piece.
    fn room(&mut self, _offset: u64, _length: usize) -> Option<&mut [u8]> {
        None
    }
    /// The first `length` bytes, of which `there` are there already, if they lie in one piece and a
    /// network may write there at any time: of a receive that has begun, until the network has
    /// [given them up](TaggedNetwork::unpost).
    fn posted(&mut self, _head: PostedHead, _length: usize, _there: usize) -> Option<Posted> {
        None
    }
    /// For a buffer that takes several messages: cuts off where the next one of `length` goes, and
    /// says whether that was the last. `None` for a receive of one message.
    fn split(&mut self, _length: u64) -> Option<(Self, bool)> {
        None
    }
}

/// A reader that receives messages where they lie, and is done with them then.
pub trait Receiver<D> {
    /// True if it receives a message of this length into `into`, which is for one message.
    fn wants(&self, into: &D, length: u64) -> bool;
    /// Receives a message that it wants.
    fn receive(&mut self, into: D, envelope: &MessageEnvelope, bytes: &[u8]);
}

/// Fate of a packet of a long message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parted {
    /// There is no room for it now.
    NoRoom,
    /// It has left, or leaves from a copy.
    Copied,
    /// It leaves from where its bytes lie.
    Lent,
}

/// A network that sends packets to other ranks. Those that arrive are given to
/// [`Exchange::arrive`](crate::Exchange::arrive).
pub trait TaggedNetwork {
    /// Bytes of a packet at most, whoever it is for; at least 64.
    fn payload(&self) -> usize;

    /// Bytes of a packet to this rank at most; no less.
    fn payload_to(&self, to: Rank) -> usize {
        let _ = to;
        self.payload()
    }

    /// Sends one packet: `head`, and then `length` bytes of `source` from `offset` on. False if
    /// there is no room for a packet now. Never blocks.
    ///
    /// # Errors
    /// Those of the network.
    fn send<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool>;

    /// Sends one packet of a long message as [`Self::send`] does; the network may keep its bytes
    /// where they lie, until it [has them back](Self::has_back). If it `is_last`, that is soon.
    ///
    /// # Errors
    /// Those of the network.
    fn send_part<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: (&S, u64, usize),
        is_last: bool,
    ) -> Result<Parted> {
        let _ = is_last;
        Ok(if self.send(to, head, Some(body))? { Parted::Copied } else { Parted::NoRoom })
    }

    /// Has the next packet leave at once, with those before it that were held back.
    fn hold_nothing(&mut self) {}

    /// Has the network read parts of a message of `from`, which begin with `head`, into this range
    /// of `into`, of which those before are there. False if it does not.
    fn post<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        range: Range<usize>,
    ) -> bool {
        let _ = (from, head, into, range);
        false
    }

    /// Number of bytes that are there of a message that was posted: those of its first parts.
    fn posted(&mut self, from: Rank, head: &PostedHead) -> u64 {
        let _ = (from, head);
        0
    }

    /// Has the network write no more of a message; returns the number of bytes that are there.
    fn unpost(&mut self, from: Rank, head: &PostedHead) -> u64 {
        let _ = (from, head);
        0
    }

    /// Has the network put the first `length` bytes of `into` there at once, when `from`
    /// [sends](Self::send_zero_copy) as many under this head: [`Self::posted`] says all or nothing
    /// then. False if it does not.
    fn post_zero_copy<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        length: usize,
    ) -> bool {
        let _ = (from, head, into, length);
        false
    }

    /// Sends the first `length` bytes of a source to where `to` has [posted](Self::post_zero_copy)
    /// memory for them, from where they lie, until the network [has them back](Self::has_back).
    /// False if it does not: nothing has happened then.
    fn send_zero_copy<S: SendSource>(
        &mut self,
        to: Rank,
        head: &PostedHead,
        source: &S,
        length: usize,
    ) -> bool {
        let _ = (to, head, source, length);
        false
    }

    /// True if nothing has bytes of this source where they lie.
    fn has_back<S: SendSource>(&mut self, source: &S) -> bool {
        let _ = source;
        true
    }

    /// Sends one packet as [`Self::send`] does, but for a short one that lacks only a credit. A
    /// sender that can try again has no use for a frame that waits, which costs more.
    ///
    /// # Errors
    /// Those of the network.
    fn send_at_once<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        self.send(to, head, body)
    }

    /// Sends one packet, these words and then `bytes`, if it is one of the short ones, which cost
    /// least, and may leave at once. False if not: then nothing has happened.
    fn send_short(&mut self, _to: Rank, _head: [u64; 3], _bytes: &[u8]) -> bool {
        false
    }

    /// Fills `into` with what lies at `address` in the process of `from`. False if this process may
    /// not do that, or nothing lies there; with no bytes it says whether it may.
    fn fetch(&mut self, _from: Rank, _address: u64, _into: &mut [u8]) -> bool {
        false
    }

    /// True if `by` is known to fetch from this process.
    fn is_fetched_by(&self, _by: Rank) -> bool {
        false
    }
}

/// A [`TaggedNetwork`] that also sends one packet to all ranks of the job.
pub trait Broadcast: TaggedNetwork {
    /// Bytes up to which the network copies such a packet itself, if it does that; at least 64.
    fn broadcast_payload(&self) -> usize;

    /// Sends one packet to all ranks but this one, as [`TaggedNetwork::send`] to one.
    ///
    /// # Errors
    /// Those of the network.
    fn broadcast<S: SendSource>(
        &mut self,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool>;
}

/// Bytes from which on it is worth it to say where they lie: a packet or two are not slower than a
/// system call.
pub const SINGLE_COPY_FROM: u64 = 32 * 1024;

/// Address of long bytes, if others can fetch them from there.
pub(crate) fn lies_at<S: SendSource>(source: &S) -> Option<NonZero<u64>> {
    let is_long = source.length() >= SINGLE_COPY_FROM;
    is_long.then(|| source.lies_at()).flatten().and_then(NonZero::new)
}

/// A packet as [`TaggedNetwork::send`] is given it, in one piece: for networks that keep packets as
/// vectors.
pub fn gather<S: SendSource>(head: &[u8], body: Option<(&S, u64, usize)>) -> Vec<u8> {
    let mut packet = head.to_vec();
    if let Some((source, offset, length)) = body {
        source.pieces(offset, length, &mut |bytes| packet.extend_from_slice(bytes));
    }
    packet
}

impl TaggedNetwork for &Packets {
    #[inline]
    fn payload(&self) -> usize {
        self.max_payload()
    }

    #[inline]
    fn payload_to(&self, to: Rank) -> usize {
        self.max_payload_to(to)
    }

    fn send<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        if is_short(self, to, head, body) && send_short(self, to, head, body) {
            return Ok(true);
        }
        let Some(packet) = self.try_packet_to(to)? else { return Ok(false) };
        if body.is_none() {
            // What is said of messages is no sign that more of them follow.
            self.hold_nothing();
        }
        filled(packet, head, body)?.unicast(to)?;
        Ok(true)
    }

    fn send_part<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        (source, offset, length): (&S, u64, usize),
        is_last: bool,
    ) -> Result<Parted> {
        let borrowed = source.borrowed(offset, length);
        let Some(packet) = self.try_packet_to(to)? else { return Ok(Parted::NoRoom) };
        let mut packet = filled::<S>(packet, head, None)?;
        let is_lent = match borrowed {
            Some(bytes) => packet.put_borrowed(bytes)?,
            None => put(&mut packet, source, offset, length).map(|()| false)?,
        };
        if is_last && is_lent {
            packet.ask(to);
        }
        packet.unicast(to)?;
        Ok(if is_lent { Parted::Lent } else { Parted::Copied })
    }

    fn hold_nothing(&mut self) {
        self.hold(false);
    }

    fn post<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        range: Range<usize>,
    ) -> bool {
        let posted = into.posted(*head, range.end, range.start);
        posted.is_some_and(|posted| self.memory().post(from, posted))
    }

    fn posted(&mut self, from: Rank, head: &PostedHead) -> u64 {
        self.memory().posted(from, head) as u64
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> u64 {
        self.memory().unpost(from, head) as u64
    }

    fn post_zero_copy<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        length: usize,
    ) -> bool {
        let posted = into.posted(*head, length, 0);
        posted.is_some_and(|posted| self.memory().post_zero_copy(from, posted))
    }

    fn send_zero_copy<S: SendSource>(
        &mut self,
        to: Rank,
        head: &PostedHead,
        source: &S,
        length: usize,
    ) -> bool {
        let bytes = source.borrowed(0, length);
        bytes.is_some_and(|bytes| self.memory().send_zero_copy(to, head, bytes))
    }

    fn has_back<S: SendSource>(&mut self, source: &S) -> bool {
        let whole = source.borrowed(0, source.length() as usize);
        whole.is_none_or(|bytes| self.memory().has_back(bytes))
    }

    fn send_at_once<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        if is_short(self, to, head, body) {
            if send_short(self, to, head, body) {
                return Ok(true);
            }
            if self.awaits_credit(to) {
                return Ok(false);
            }
        }
        self.send(to, head, body)
    }

    #[inline(always)]
    fn send_short(&mut self, to: Rank, head: [u64; 3], bytes: &[u8]) -> bool {
        let head = head.map(u64::to_le_bytes);
        size_of_val(&head) + bytes.len() <= self.short_payload(to)
            && Packets::send_short(self, to, &[head.as_flattened(), bytes])
    }

    fn fetch(&mut self, from: Rank, address: u64, into: &mut [u8]) -> bool {
        self.memory().fetch(from, address, into)
    }

    fn is_fetched_by(&self, by: Rank) -> bool {
        self.memory().is_reached(by)
    }
}

impl Broadcast for &Packets {
    fn broadcast_payload(&self) -> usize {
        self.multicast_payload()
    }

    fn broadcast<S: SendSource>(
        &mut self,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        let Some(packet) = self.try_packet()? else { return Ok(false) };
        filled(packet, head, body)?.broadcast()?;
        Ok(true)
    }
}

/// A packet that was [taken](Packets::take), while whoever took it looks at it.
pub struct TakenPacket<'a>(pub &'a Packets, pub &'a mut HeldPacket);

impl ArrivedPacket for TakenPacket<'_> {
    type Kept = KeptPacket;

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.0.read(self.1)
    }

    fn keep(self) -> KeptPacket {
        self.0.keep(self.1)
    }
}

/// A packet as [`TaggedNetwork::send`] is given it, to be gathered.
struct Short<'a, S> {
    head: &'a [u8],
    body: Option<(&'a S, u64, usize)>,
}

impl<S> Clone for Short<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Short<'_, S> {}

impl<S: SendSource> Gather for Short<'_, S> {
    #[inline]
    fn size(&self) -> usize {
        self.head.len() + self.body.map_or(0, |(_, _, length)| length)
    }

    #[inline]
    fn gather(&self, room: &mut [u8]) {
        let mut room = copy_short(room, self.head);
        if let Some((source, offset, length)) = self.body {
            let put = &mut |bytes: &[u8]| room = copy_short(mem::take(&mut room), bytes);
            source.pieces(offset, length, put);
        }
    }
}

/// True if a packet of these bytes is one of the short ones.
#[inline]
fn is_short<S>(packets: &Packets, to: Rank, head: &[u8], body: Option<(&S, u64, usize)>) -> bool {
    head.len() + body.map_or(0, |(_, _, length)| length) <= packets.short_payload(to)
}

/// Sends these few bytes, if they may leave at once.
#[inline]
fn send_short<S: SendSource>(
    packets: &Packets,
    to: Rank,
    head: &[u8],
    body: Option<(&S, u64, usize)>,
) -> bool {
    packets.send_short(to, &Short { head, body })
}

/// A packet with these bytes.
#[inline]
fn filled<'a, S: SendSource>(
    mut packet: SendPacket<'a>,
    head: &[u8],
    body: Option<(&S, u64, usize)>,
) -> Result<SendPacket<'a>> {
    packet.put(head)?;
    if let Some((source, offset, length)) = body {
        put(&mut packet, source, offset, length)?;
    }
    Ok(packet)
}

/// Copies `length` bytes from `offset` on into a packet.
#[inline]
fn put<S: SendSource>(
    packet: &mut SendPacket<'_>,
    source: &S,
    offset: u64,
    length: usize,
) -> Result<()> {
    let mut outcome = Ok(());
    source.pieces(offset, length, &mut |bytes| {
        if let Err(error) = packet.put(bytes) {
            outcome = Err(error);
        }
    });
    Ok(outcome?)
}

#[cfg(test)]
pub(crate) mod wires;
