//! Datagrams that wait for the flush.

use crate::batch::{self, MOST_BYTES, MOST_SEGMENTS, Run};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use weft_seal::{Kind, Seals};
use weft_wire::{Header, Rank, envelope};

/// Datagrams that wait at most.
const WAITING: usize = 2 * batch::MOST;

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

pub(crate) struct Outgoing {
    waiting: VecDeque<Datagram>,
    spare: Vec<Box<[u8]>>,
    /// Which datagram to each rank was begun last, counted from the first of all.
    last: Vec<u64>,
    /// How many have left.
    left: u64,
    datagram_bytes: usize,
    trailer_bytes: usize,
    segments: bool,
    pub sent: Sent,
}

struct Datagram {
    to: Rank,
    bytes: Box<[u8]>,
    length: usize,
    sealed: bool,
}

impl Outgoing {
    pub fn new(ranks: usize, datagram_bytes: usize, trailer_bytes: usize, segments: bool) -> Self {
        Outgoing {
            waiting: VecDeque::with_capacity(WAITING),
            spare: Vec::with_capacity(WAITING),
            last: vec![u64::MAX; ranks],
            left: 0,
            datagram_bytes,
            trailer_bytes,
            segments,
            sent: Sent::default(),
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether only a flush makes room for another packet.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING
    }

    /// Adds a packet to a datagram to `to`, or drops it if there is no room.
    #[inline]
    pub fn put(&mut self, to: Rank, header: &Header, body: &[u8]) {
        let bytes = envelope::packet_bytes(body.len());
        let Some(datagram) = self.room_for(to, bytes) else {
            self.sent.crowded_out += 1;
            return;
        };
        let at = datagram.length;
        envelope::put(&mut datagram.bytes[at..], header, body);
        datagram.length += bytes;
    }

    /// The datagram that the next packet to `to` belongs into.
    #[inline]
    fn room_for(&mut self, to: Rank, bytes: usize) -> Option<&mut Datagram> {
        let most = self.datagram_bytes - self.trailer_bytes;
        let begun = self.last[to.index()].wrapping_sub(self.left);
        let begun = usize::try_from(begun).unwrap_or(usize::MAX);
        let shares = self
            .waiting
            .get(begun)
            .is_some_and(|datagram| !datagram.sealed && datagram.length + bytes <= most);
        if shares {
            self.sent.packed += 1;
            return self.waiting.get_mut(begun);
        }
        if self.is_full() {
            return None;
        }
        let bytes = self.spare.pop();
        let bytes = bytes.unwrap_or_else(|| vec![0; self.datagram_bytes].into_boxed_slice());
        self.last[to.index()] = self.left + self.waiting.len() as u64;
        let length = envelope::SIZE;
        self.waiting.push_back(Datagram { to, bytes, length, sealed: false });
        self.waiting.back_mut()
    }

    /// Seals what waits and sends it. Says whether something is left, because the kernel takes no more.
    pub fn flush(
        &mut self,
        socket: BorrowedFd<'_>,
        peers: &[SocketAddr],
        seals: &mut Seals,
    ) -> bool {
        for datagram in self.waiting.iter_mut().filter(|datagram| !datagram.sealed) {
            datagram.length += self.trailer_bytes;
            datagram.sealed = true;
            seals.sealer(datagram.to).seal(Kind::PACKETS, &mut datagram.bytes[..datagram.length]);
        }
        while !self.waiting.is_empty() {
            self.sent.calls += 1;
            match self.send_some(socket, peers) {
                Ok(datagrams) => self.leave(datagrams, true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The device cannot do it, or its way there is too narrow for it.
                Err(_) if self.segments && self.first_run() > 1 => self.segments = false,
                Err(_) => self.leave(1, false),
            }
        }
        false
    }

    /// Hands as much to the kernel as one call takes; returns how many datagrams that were.
    fn send_some(&self, socket: BorrowedFd<'_>, peers: &[SocketAddr]) -> std::io::Result<usize> {
        if let [only] = self.waiting.as_slices().0
            && self.waiting.len() == 1
        {
            let to = &peers[only.to.index()];
            let bytes = &only.bytes[..only.length];
            let flags = rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL;
            rustix::net::sendto(socket, bytes, flags, to)?;
            return Ok(1);
        }
        let bytes: Vec<&[u8]> =
            self.waiting.iter().map(|datagram| &datagram.bytes[..datagram.length]).collect();
        let mut runs = Vec::with_capacity(batch::MOST);
        let (mut at, mut ends) = (0, [0; batch::MOST]);
        while at < bytes.len() && runs.len() < batch::MOST {
            let end = at + self.run_from(at);
            ends[runs.len()] = end;
            let to = &peers[self.waiting[at].to.index()];
            runs.push(Run { to, datagrams: &bytes[at..end] });
            at = end;
        }
        let sent = batch::send(socket, &runs)?;
        Ok(sent.checked_sub(1).map_or(0, |last| ends[last]))
    }

    fn first_run(&self) -> usize {
        self.run_from(0)
    }

    /// How many datagrams from this one on may go as one buffer: to one peer, of one size, but for the
    /// last, which may be shorter.
    fn run_from(&self, start: usize) -> usize {
        let first = &self.waiting[start];
        let most = if self.segments { MOST_SEGMENTS.min(MOST_BYTES / first.length) } else { 1 };
        let mut count = 1;
        for next in self.waiting.iter().skip(start + 1) {
            if count >= most || next.to != first.to || next.length > first.length {
                break;
            }
            count += 1;
            if next.length < first.length {
                break;
            }
        }
        count
    }

    fn leave(&mut self, datagrams: usize, taken: bool) {
        let count = if taken { &mut self.sent.datagrams } else { &mut self.sent.failed };
        *count += datagrams as u64;
        self.left += datagrams as u64;
        self.spare.extend(self.waiting.drain(..datagrams).map(|datagram| datagram.bytes));
    }
}
