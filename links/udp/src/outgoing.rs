//! Handing what waits to the kernel.

use crate::batch::{self, MOST_BYTES, MOST_SEGMENTS, Run};
use rustix::io::Errno;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use weft_datagram::seal::Seals;
use weft_datagram::{Asking, Datagram, Sent, WayChange};
use weft_link::clock::Nanoseconds;
use weft_wire::{Header, Rank};

/// Datagrams that wait at most.
const WAITING: usize = 2 * batch::MOST;
/// Datagrams of a run at most. A packet that takes more is quicker by TCP, which seals its bytes
/// once.
const MOST_IN_RUN: usize = 6;

pub(crate) struct Outgoing {
    queue: weft_datagram::Outgoing<Box<[u8]>>,
    spare: Vec<Box<[u8]>>,
    datagram_bytes: usize,
    /// Bytes of a place, which holds a run.
    place_bytes: usize,
    segments: bool,
    /// The socket knows where everything goes.
    connected: bool,
    /// The system has refused the first datagram once.
    refused: bool,
    /// Group address of datagrams for several ranks, at the port of each of them.
    group: Option<IpAddr>,
}

impl Outgoing {
    pub fn new(
        ranks: usize,
        datagram_bytes: usize,
        trailer_bytes: usize,
        segments: bool,
        connected: bool,
    ) -> Self {
        let room = 0..datagram_bytes;
        let most_in_run = MOST_IN_RUN.min(MOST_BYTES / datagram_bytes);
        let mut queue = weft_datagram::Outgoing::new(ranks, WAITING, room, trailer_bytes);
        if segments && most_in_run > 1 {
            queue.set_most_in_run(most_in_run);
        }
        Outgoing {
            queue,
            spare: Vec::with_capacity(WAITING),
            datagram_bytes,
            place_bytes: datagram_bytes * most_in_run.max(1),
            segments,
            connected,
            refused: false,
            group: None,
        }
    }

    /// Multicasts to ranks of other hosts that have the same port go to `group` from here on.
    /// Returns how many user bytes their packets should have at most.
    pub fn share(&mut self, group: IpAddr, own: Rank, peers: &[SocketAddr]) -> usize {
        // A host does not hear itself.
        let here = peers.get(own.index()).map(SocketAddr::ip);
        let port = |peer: &SocketAddr| (Some(peer.ip()) != here).then_some(peer.port());
        let ports: Vec<Option<u16>> = peers.iter().map(port).collect();
        self.group = Some(group);
        self.queue.share(ports)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// True if only a flush makes room for another packet.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    pub fn sent(&self) -> Sent {
        self.queue.sent
    }

    /// Adds a packet to a datagram to `to`, or drops it if there is no room.
    #[inline]
    pub fn put(&mut self, to: Rank, header: &Header, body: &[u8]) {
        let Outgoing { queue, spare, place_bytes, .. } = self;
        queue.put(to, header, body, || Some(place(spare, *place_bytes)));
    }

    /// User bytes of a packet at most that leaves in one call; `one` are those that a datagram has
    /// room for.
    pub fn most_payload_at_once(&self, one: usize) -> usize {
        self.queue.most_payload_in_run(one)
    }

    /// Bytes of a datagram at most.
    pub fn datagram_bytes(&self) -> usize {
        self.datagram_bytes
    }

    /// Looks after the ways to others: [`weft_datagram::Outgoing::tend`].
    pub fn tend(&mut self, asking: &mut Asking, now: Nanoseconds) -> Option<WayChange> {
        let Outgoing { queue, spare, place_bytes, .. } = self;
        queue.tend(asking, now, || Some(place(spare, *place_bytes)))
    }

    /// Answers those who probe the way to here.
    #[cold]
    pub fn answer(&mut self, asking: &mut Asking) {
        let Outgoing { queue, spare, place_bytes, .. } = self;
        queue.answer(asking, || Some(place(spare, *place_bytes)));
    }

    /// Seals what waits and sends it. Says whether something is left, because the kernel takes no
    /// more.
    pub fn flush(
        &mut self,
        socket: BorrowedFd<'_>,
        peers: &[SocketAddr],
        seals: &mut Seals,
    ) -> bool {
        self.queue.seal(seals);
        while !self.queue.is_empty() {
            self.queue.sent.calls += 1;
            match self.send_some(socket, peers) {
                Ok(datagrams) => self.take_off(datagrams, true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Anybody can forge what the network says of an earlier one (a connected socket
                // hears it): that is no reason to lose this one. It is said once.
                Err(_) if !self.refused => self.refused = true,
                // The device cannot do it. A packet's run is lost, and sent again in pieces.
                Err(error) if self.cuts_first(peers) && is_of_segments(&error) => {
                    self.segments = false;
                    self.queue.set_most_in_run(0);
                    if self.queue.waiting()[0].cut_at().is_some() {
                        self.take_off(1, false);
                    }
                }
                // Too long for the interface, or there is no way. Its packets are sent again, and
                // have timers.
                Err(_) => self.take_off(1, false),
            }
        }
        false
    }

    /// Hands as much to the kernel as one call takes; returns how many datagrams that were.
    fn send_some(&self, socket: BorrowedFd<'_>, peers: &[SocketAddr]) -> std::io::Result<usize> {
        let waiting = self.queue.waiting();
        if waiting.len() == 1 && waiting[0].cut_at().is_none() {
            let only = &waiting[0];
            let bytes = &only.place[..only.end()];
            let flags = rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL;
            match self.connected {
                true => rustix::net::send(socket, bytes, flags)?,
                false => rustix::net::sendto(socket, bytes, flags, &self.address(only, peers))?,
            };
            return Ok(1);
        }
        let bytes: Vec<&[u8]> =
            self.queue.waiting().iter().map(|datagram| &datagram.place[..datagram.end()]).collect();
        let mut runs = Vec::with_capacity(batch::MOST);
        let (mut at, mut ends) = (0, [0; batch::MOST]);
        while at < bytes.len() && runs.len() < batch::MOST {
            let end = at + self.run_from(at, peers);
            ends[runs.len()] = end;
            let to = self.address(&self.queue.waiting()[at], peers);
            let to = (!self.connected).then_some(to);
            let run = Run::of(to, &bytes[at..end]);
            let cut_at = self.queue.waiting()[at].cut_at().or(run.cut_at);
            runs.push(Run { cut_at, ..run });
            at = end;
        }
        let sent = batch::send(socket, &runs)?;
        Ok(sent.checked_sub(1).map_or(0, |last| ends[last]))
    }

    /// Address to which the kernel is to send a datagram.
    #[inline]
    fn address(&self, datagram: &Datagram<Box<[u8]>>, peers: &[SocketAddr]) -> SocketAddr {
        let peer = peers[datagram.to.index()];
        match self.group {
            Some(group) if datagram.is_for_several() => SocketAddr::new(group, peer.port()),
            _ => peer,
        }
    }

    /// Number of datagrams from this one on that may go as one buffer: to one address, of one size,
    /// but for the last, which may be shorter.
    fn run_from(&self, start: usize, peers: &[SocketAddr]) -> usize {
        let first = &self.queue.waiting()[start];
        let to = self.address(first, peers);
        let joins = self.segments && !first.is_probe() && first.cut_at().is_none();
        let most = if joins { MOST_SEGMENTS.min(MOST_BYTES / first.end()) } else { 1 };
        let mut count = 1;
        for next in self.queue.waiting().iter().skip(start + 1) {
            if count >= most
                || self.address(next, peers) != to
                || next.end() > first.end()
                || next.is_probe()
                || next.cut_at().is_some()
            {
                break;
            }
            count += 1;
            if next.end() < first.end() {
                break;
            }
        }
        count
    }

    /// True if the system is to cut up what waits first.
    fn cuts_first(&self, peers: &[SocketAddr]) -> bool {
        self.queue.waiting()[0].cut_at().is_some() || self.run_from(0, peers) > 1
    }

    /// Takes datagrams off the queue that were sent, or failed.
    fn take_off(&mut self, datagrams: usize, taken: bool) {
        let sent = &mut self.queue.sent;
        let count = if taken { &mut sent.datagrams } else { &mut sent.failed };
        *count += datagrams as u64;
        self.refused = false;
        for _ in 0..datagrams {
            let Some(Datagram { place, .. }) = self.queue.pop() else { return };
            self.spare.push(place);
        }
    }
}

/// A place for a datagram, as long as all of them.
fn place(spare: &mut Vec<Box<[u8]>>, bytes: usize) -> Box<[u8]> {
    spare.pop().unwrap_or_else(|| vec![0; bytes].into_boxed_slice())
}

/// True if the system cannot cut this buffer up: no message of the network's is read as such an
/// error.
fn is_of_segments(error: &Error) -> bool {
    [Errno::IO, Errno::INVAL].iter().any(|of| error.raw_os_error() == Some(of.raw_os_error()))
}
