//! Datagrams that wait for the flush.

use crate::pieces::piece_bytes;
use crate::receive_queue::PendingAnswers;
use crate::seal::{FrameKind, Seals};
use crate::way::{Change, Way};
use std::collections::VecDeque;
use std::ops::{DerefMut, Range};
use weft_link::clock::Nanoseconds;
use weft_wire::path::{self, Piece, Probe, ProbeAnswer};
use weft_wire::several::{self, Entry};
use weft_wire::{Header, Rank, Tag, envelope, network};

mod runs;

/// Datagrams that are looked at for one that a multicast's next receiver can share.
const LOOK_BACK: usize = 8;

/// Receivers for which a multicast's packet leaves room at most. With more, those packets that are
/// as long as they can be take several datagrams; a longer table would cost all of them more than
/// that.
const TOGETHER: usize = 8;
/// User bytes that are not given up for that: where frames are short, only short packets have room
/// for it.
const LEAST_PAYLOAD: usize = 512;

/// Counters of datagrams on their way out; a run counts as one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Datagrams that the kernel took.
    pub datagrams: u64,
    /// Packets that shared a datagram with one before them.
    pub packed: u64,
    /// Datagrams for several ranks, which the network copies.
    pub several: u64,
    /// Receivers of these beyond the first: as many datagrams were not needed.
    pub spared: u64,
    /// System calls.
    pub calls: u64,
    /// Packets that found no room because the kernel took none, and were dropped.
    pub crowded_out: u64,
    /// Datagrams that the kernel refused.
    pub failed: u64,
    /// Packets that left in pieces, because their way took no longer frames.
    pub cut: u64,
    /// Packets that left from the frames in which the program filled them.
    pub in_place: u64,
}

/// Change of the ways to all other ranks that is to be said, with lengths of frames in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WayChange {
    /// The way to a rank takes less than the frames of the job, and that to no other was known to.
    Narrow {
        /// Rank at the end of the way.
        to: Rank,
        /// Longest frame that it takes.
        most: usize,
    },
    /// All ways take all frames again.
    Wide {
        /// Rank whose way was the last to become so.
        to: Rank,
    },
}

/// A datagram that waits.
#[derive(Debug)]
pub struct Datagram<P> {
    /// Destination.
    pub to: Rank,
    /// Buffer that holds its bytes.
    pub place: P,
    /// Offset behind its last byte.
    end: usize,
    kind: FrameKind,
    /// Of a run the bytes of each frame but the last; else 0.
    cut_at: usize,
    /// Nothing can be added.
    closed: bool,
    sealed: bool,
    /// If it is a multicast that others may get too: how it is known by.
    several: Option<Several>,
}

/// A multicast on its way to one rank, or to several that the network reaches at one address.
#[derive(Debug)]
struct Several {
    address: u16,
    /// The header for the first of them.
    header: Header,
    receivers: usize,
    /// Bytes of the longest frame that the ways to all of them take.
    most: usize,
}

/// State of the way to a rank, and of what was sent there.
struct Peer {
    /// Number of the datagram that was begun last, counted from the first to anybody.
    last: u64,
    way: Way,
    /// Packets that left in pieces.
    cut: u32,
}

impl Peer {
    /// A packet leaves in pieces. Returns its number.
    fn begins_pieces(&mut self) -> u32 {
        self.way.leaves_in_pieces();
        self.cut = self.cut.wrapping_add(1);
        self.cut
    }
}

/// The datagrams of one rank that wait, in places `P` of equal size.
pub struct SendQueue<P> {
    waiting: VecDeque<Datagram<P>>,
    peers: Vec<Peer>,
    /// Ways of which it was said that they are narrow.
    narrow: usize,
    /// Datagrams that were sent or dropped.
    left: u64,
    /// The part of a place that a datagram may take, its trailer included.
    room: Range<usize>,
    trailer_bytes: usize,
    most: usize,
    /// Frames of a run at most; 0 if the system cuts up nothing.
    most_in_run: usize,
    /// By rank: the address at which the network reaches it with others, if there is one.
    shared: Vec<Option<u16>>,
    /// Counters of datagrams so far, kept by the link.
    pub sent: Sent,
}

impl<P: DerefMut<Target = [u8]>> SendQueue<P> {
    /// At most `most` datagrams to `ranks` ranks, each within `room` of its place and with a
    /// trailer of that many bytes.
    pub fn new(ranks: usize, most: usize, room: Range<usize>, trailer_bytes: usize) -> Self {
        let way = Way::new(room.len() as u32);
        let peer = || Peer { last: u64::MAX, way: way.clone(), cut: 0 };
        SendQueue {
            waiting: VecDeque::with_capacity(most),
            peers: (0..ranks).map(|_| peer()).collect(),
            narrow: 0,
            left: 0,
            room,
            trailer_bytes,
            most,
            most_in_run: 0,
            shared: Vec::new(),
            sent: Sent::default(),
        }
    }

    /// From here on multicasts to ranks with the same number here go in one datagram, which the
    /// network copies; whoever sends datagrams asks each whether it [is such a
    /// one](Datagram::is_for_several). Returns how many user bytes a multicast's packet should have
    /// at most, so that there is room for receivers; without a bound if none share a number.
    ///
    /// # Panics
    /// If packets are encrypted.
    pub fn share(&mut self, addresses: Vec<Option<u16>>) -> usize {
        assert!(self.trailer_bytes == 0, "frames for several are not encrypted");
        let mut all: Vec<u16> = addresses.iter().copied().flatten().collect();
        all.sort_unstable();
        let together = all.chunk_by(|a, b| a == b).map(<[u16]>::len).max().unwrap_or(0);
        self.shared = addresses;
        let room = several::body_room(self.room.len(), together.min(TOGETHER));
        room.filter(|room| together > 1 && *room >= LEAST_PAYLOAD).unwrap_or(usize::MAX)
    }

    /// True if multicasts to `to` may share a datagram with those to others.
    #[inline]
    pub fn is_shared(&self, to: Rank) -> bool {
        self.shared.get(to.index()).is_some_and(Option::is_some)
    }

    /// True if no datagram waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// True if only a flush makes room for another packet.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= self.most
    }

    /// Those that wait, in the order in which they leave.
    #[inline]
    pub fn waiting(&self) -> &VecDeque<Datagram<P>> {
        &self.waiting
    }

    /// True if a packet to `to` with so many bytes of body leaves no room for another like it in
    /// its datagram, and the way takes that in one piece.
    #[inline]
    pub fn fills_one(&self, to: Rank, body_bytes: usize) -> bool {
        let most = self.room.len() - envelope::SIZE - self.trailer_bytes;
        let bytes = envelope::packet_bytes(body_bytes);
        2 * bytes > most && self.is_taken_whole(to, bytes)
    }

    /// True if the way to `to` takes a packet of so many bytes in one frame.
    #[inline]
    fn is_taken_whole(&self, to: Rank, bytes: usize) -> bool {
        let frame = envelope::SIZE + bytes + self.trailer_bytes;
        frame <= self.peers[to.index()].way.most() as usize
    }

    /// Adds a packet to a datagram to `to`, or in several, or a run of them, if the way there takes
    /// no frame as long as that, or drops it if there is no room: then this is false. `spare` gives
    /// a place for a new datagram.
    #[inline]
    pub fn put(
        &mut self,
        to: Rank,
        header: &Header,
        body: &[u8],
        spare: impl FnMut() -> Option<P>,
    ) -> bool {
        if header.tag == Tag::Mcast && self.is_shared(to) {
            return self.put_multicast(to, header, body, spare);
        }
        self.put_one(to, header, body, spare)
    }

    /// Counts a packet that is dropped.
    #[cold]
    fn drop_packet(&mut self) -> bool {
        self.sent.crowded_out += 1;
        false
    }

    #[inline]
    fn put_one(
        &mut self,
        to: Rank,
        header: &Header,
        body: &[u8],
        spare: impl FnMut() -> Option<P>,
    ) -> bool {
        let bytes = envelope::packet_bytes(body.len());
        if !self.is_taken_whole(to, bytes) {
            return match self.piece_in_run(to, bytes) {
                Some(piece) => self.put_run(to, header, body, piece, spare),
                None => self.put_pieces(to, header, body, spare),
            };
        }
        let Some(datagram) = self.room_for(to, bytes, spare) else { return self.drop_packet() };
        let at = datagram.end;
        envelope::put(&mut datagram.place[at..], header, body);
        datagram.end += bytes;
        true
    }

    /// Adds a packet in pieces. They may be more than otherwise wait.
    #[cold]
    fn put_pieces(
        &mut self,
        to: Rank,
        header: &Header,
        body: &[u8],
        mut spare: impl FnMut() -> Option<P>,
    ) -> bool {
        if self.is_full() {
            return self.drop_packet();
        }
        let mut packet = vec![0; envelope::packet_bytes(body.len())];
        envelope::put(&mut packet, header, body);
        let peer = &mut self.peers[to.index()];
        let room = peer.way.most() as usize - envelope::SIZE - self.trailer_bytes;
        let (number, total) = (peer.begins_pieces(), packet.len() as u16);
        self.sent.cut += 1;
        let bytes = piece_bytes(packet.len(), room);
        for (piece, offset) in packet.chunks(bytes).zip((0..).step_by(bytes)) {
            let Some(place) = spare() else { return self.drop_packet() };
            let head = Piece { number, offset, total }.emit();
            self.put_other(FrameKind::PIECE, to, place, [&head, piece]);
        }
        true
    }

    /// Adds a frame that is no packet's alone.
    fn put_other(&mut self, kind: FrameKind, to: Rank, place: P, contents: [&[u8]; 2]) {
        let datagram = self.begin(to, place, true);
        datagram.kind = kind;
        for bytes in contents {
            datagram.place[datagram.end..datagram.end + bytes.len()].copy_from_slice(bytes);
            datagram.end += bytes.len();
        }
    }

    /// Answers the probes that others sent, and takes their answers to those of this rank. To be
    /// asked now and then: it sends the probes that are due. Returns what is to be said about ways.
    pub fn tend(
        &mut self,
        pending_answers: &mut PendingAnswers,
        now: Nanoseconds,
        mut spare: impl FnMut() -> Option<P>,
    ) -> Option<WayChange> {
        self.answer(pending_answers, &mut spare);
        let mut said = None;
        for (from, ProbeAnswer { round, longest }) in pending_answers.answers.drain(..) {
            let change = self.peers[from.index()].way.answered(round, longest, now);
            said = change.and_then(|change| self.changed(from, change)).or(said);
        }
        for to in (0..self.peers.len() as u16).map(Rank) {
            if let Some(round) = self.peers[to.index()].way.tend(now) {
                round.probes.iter().for_each(|bytes| self.probe(to, 0, *bytes, &mut spare));
                self.probe(to, round.number, 0, &mut spare);
            }
        }
        said
    }

    /// Answers the probes and goodbyes that others sent.
    #[cold]
    pub fn answer(
        &mut self,
        pending_answers: &mut PendingAnswers,
        mut spare: impl FnMut() -> Option<P>,
    ) {
        for (to, answer) in pending_answers.questions.drain(..) {
            match (spare(), answer) {
                (Some(place), Some(answer)) => {
                    self.put_other(FrameKind::ANSWER, to, place, [&answer.emit(), &[]]);
                }
                (Some(place), None) => self.put_goodbye(to, place),
                (None, _) => {}
            }
        }
    }

    /// Adds a frame that says that it is the last one to `to`.
    pub fn put_goodbye(&mut self, to: Rank, place: P) {
        self.put_other(FrameKind::GOODBYE, to, place, [&[], &[]]);
    }

    /// Adds a frame that says that this rank is there.
    pub fn put_heartbeat(&mut self, to: Rank, place: P) {
        self.put_other(FrameKind::HEARTBEAT, to, place, [&[], &[]]);
    }

    /// Adds a probe in a frame of this length, or of the least possible one.
    fn probe(&mut self, to: Rank, round: u32, bytes: u32, spare: &mut impl FnMut() -> Option<P>) {
        // Without a place it is a lost one.
        let Some(place) = spare() else { return };
        let around = envelope::SIZE + path::SIZE + self.trailer_bytes;
        let zeros = vec![0; (bytes as usize).saturating_sub(around)];
        self.put_other(FrameKind::PROBE, to, place, [&Probe { round }.emit(), &zeros]);
    }

    /// Says what the user is told of a change: of all ways that are narrow at a time only of the
    /// first.
    fn changed(&mut self, to: Rank, change: Change) -> Option<WayChange> {
        match change {
            Change::Narrow(most) => {
                self.narrow += 1;
                (self.narrow == 1).then_some(WayChange::Narrow { to, most: most as usize })
            }
            Change::Wide => {
                self.narrow -= 1;
                (self.narrow == 0).then_some(WayChange::Wide { to })
            }
        }
    }

    /// Adds a datagram of one packet whose body is in `place` already, behind the room for envelope
    /// and header.
    ///
    /// # Panics
    /// If it is full.
    #[inline]
    pub fn put_whole(&mut self, to: Rank, header: &Header, mut place: P) {
        assert!(!self.is_full(), "only a flush makes room");
        self.sent.in_place += 1;
        let at = self.room.start + envelope::SIZE;
        let bytes = envelope::put_around(&mut place[at..], header);
        self.begin(to, place, true).end = at + bytes;
    }

    /// Adds a receiver to a datagram that waits with the same packet, or begins one that others can
    /// join.
    fn put_multicast(
        &mut self,
        to: Rank,
        header: &Header,
        body: &[u8],
        mut spare: impl FnMut() -> Option<P>,
    ) -> bool {
        let most = self.peers[to.index()].way.most() as usize;
        let address =
            self.shared[to.index()].filter(|_| several::frame_bytes(body.len(), 2) <= most);
        let Some(address) = address else { return self.put_one(to, header, body, spare) };
        if let Some(index) = self.find_multicast(to, address, header, body) {
            let start = self.room.start + envelope::SIZE;
            self.waiting[index].join(start, (to, most), header);
            self.peers[to.index()].last = self.left + index as u64;
            return true;
        }
        let place = if self.is_full() { None } else { spare() };
        let Some(place) = place else { return self.drop_packet() };
        let datagram = self.begin(to, place, true);
        envelope::put(&mut datagram.place[datagram.end..], header, body);
        datagram.end += envelope::packet_bytes(body.len());
        datagram.several = Some(Several { address, header: *header, receivers: 1, most });
        true
    }

    /// The datagram with this packet that `to` can join without getting it before what was
    /// transmitted to it earlier. Packets with the same bytes on the same tree are the same to
    /// everybody who reads them, so nothing else says that two are one.
    fn find_multicast(
        &self,
        to: Rank,
        address: u16,
        header: &Header,
        body: &[u8],
    ) -> Option<usize> {
        let Peer { last, way, .. } = &self.peers[to.index()];
        let after_own = last.wrapping_add(1).saturating_sub(self.left) as usize;
        let first = after_own.max(self.waiting.len().saturating_sub(LOOK_BACK));
        let common = several::common(header);
        let start = self.room.start + envelope::SIZE;
        (first..self.waiting.len()).rev().find(|&index| {
            let datagram = &self.waiting[index];
            let Some(several) = &datagram.several else { return false };
            let entries = if several.receivers == 1 { 2 } else { 1 };
            let at = start + network::SIZE;
            let most = self.room.start + several.most.min(way.most() as usize);
            !datagram.sealed
                && several.address == address
                && several.receivers < several::MOST
                && datagram.end + entries * several::ENTRY <= most
                && several::common(&several.header) == common
                && datagram.place[at..at + body.len()] == *body
        })
    }

    /// The datagram that the next packet to `to` belongs into.
    #[inline]
    fn room_for(
        &mut self,
        to: Rank,
        bytes: usize,
        mut spare: impl FnMut() -> Option<P>,
    ) -> Option<&mut Datagram<P>> {
        let Peer { last, way, .. } = &self.peers[to.index()];
        let most = self.room.start + way.most() as usize - self.trailer_bytes;
        let begun = last.wrapping_sub(self.left);
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
        self.peers[to.index()].last = self.left + self.waiting.len() as u64;
        let end = self.room.start + envelope::SIZE;
        let (kind, cut_at, sealed, several) = (FrameKind::PACKETS, 0, false, None);
        self.waiting.push_back(Datagram { to, place, end, kind, cut_at, closed, sealed, several });
        let last = self.waiting.len() - 1;
        &mut self.waiting[last]
    }

    /// Seals all that wait; nothing can be added to them from here on.
    #[inline]
    pub fn seal(&mut self, seals: &mut Seals) {
        for datagram in self.waiting.iter_mut().filter(|datagram| !datagram.sealed) {
            datagram.end += self.trailer_bytes;
            (datagram.closed, datagram.sealed) = (true, true);
            if datagram.cut_at > 0 {
                datagram.seal_run(self.room.start, seals.sealer(datagram.to));
                continue;
            }
            let frame = &mut datagram.place[self.room.start..datagram.end];
            match &datagram.several {
                Some(Several { receivers: 2.., .. }) => seals.seal_several(frame),
                _ => {
                    if datagram.kind == FrameKind::PACKETS {
                        self.peers[datagram.to.index()].way.leaves(frame.len() as u32);
                    }
                    seals.sealer(datagram.to).seal(datagram.kind, frame);
                }
            }
        }
    }

    /// The first, which leaves: the kernel took it, or it is given up.
    #[inline]
    pub fn pop(&mut self) -> Option<Datagram<P>> {
        let first = self.waiting.pop_front()?;
        self.left += 1;
        if let Some(Several { receivers: receivers @ 2.., .. }) = first.several {
            self.sent.several += 1;
            self.sent.spared += receivers as u64 - 1;
        }
        Some(first)
    }
}

impl<P> Datagram<P> {
    /// True if the network is to copy it: then [`Self::to`] is one of its receivers.
    #[inline]
    pub fn is_for_several(&self) -> bool {
        self.several.as_ref().is_some_and(|several| several.receivers > 1)
    }

    /// True if it has to leave by itself: what a system joins with others may take another way
    /// than a frame alone, past interfaces that take less.
    #[inline]
    pub fn is_probe(&self) -> bool {
        self.kind == FrameKind::PROBE
    }

    /// Offset behind its last byte.
    #[inline]
    pub fn end(&self) -> usize {
        self.end
    }
}

impl<P: DerefMut<Target = [u8]>> Datagram<P> {
    /// One more rank gets this multicast, whose packet is at `start` of its place.
    fn join(&mut self, start: usize, (to, most): (Rank, usize), header: &Header) {
        let Some(several) = &mut self.several else { unreachable!("only multicasts are joined") };
        several.most = several.most.min(most);
        let mut put = |entry: Entry| {
            self.place[self.end..self.end + several::ENTRY].copy_from_slice(&several::emit(&entry));
            self.end += several::ENTRY;
        };
        if several.receivers == 1 {
            put(Entry::new(self.to, &several.header));
        }
        put(Entry::new(to, header));
        if several.receivers == 1 {
            let common = network::emit(&several::common(header));
            self.place[start..start + network::SIZE].copy_from_slice(&common);
        }
        several.receivers += 1;
    }
}

#[cfg(test)]
mod tests;
