//! The socket as a device: handing what waits to the kernel, and taking what has come.

use crate::batch::{self, MOST_BYTES, MOST_SEGMENTS, Run};
use crate::landing::Landing;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use weft_datagram::memory::{self, DatagramPlace};
use weft_datagram::{ArrivalSource, Datagram, Device, Landed, Queues, SendQueue, WAITING};

/// Datagrams of a run at most. A packet that takes more is quicker by TCP, which seals its bytes
/// once.
const MOST_IN_RUN: usize = 6;

/// A socket of one rank, and the addresses of all.
pub struct Socket {
    socket: Arc<UdpSocket>,
    peers: Vec<SocketAddr>,
    landing: Landing,
    /// Places for datagrams.
    spare: Vec<DatagramPlace>,
    /// Bytes of a datagram at most.
    datagram_bytes: usize,
    segments: bool,
    /// The socket knows where everything goes.
    connected: bool,
    /// The system has refused the first datagram once.
    refused: bool,
    /// Group address of datagrams for several ranks, at the port of each of them.
    group: Option<IpAddr>,
}

impl Socket {
    pub(crate) fn new(
        socket: Arc<UdpSocket>,
        peers: Vec<SocketAddr>,
        connected: bool,
        group: Option<IpAddr>,
        datagram_bytes: usize,
    ) -> Self {
        Socket {
            landing: Landing::new(Arc::clone(&socket)),
            peers,
            spare: Vec::with_capacity(WAITING),
            datagram_bytes,
            segments: batch::can_segment(socket.as_fd()),
            connected,
            refused: false,
            group,
            socket,
        }
    }

    /// Datagrams of a run at most; 0 if the kernel cuts up nothing.
    pub(crate) fn most_in_run(&self) -> usize {
        let most = MOST_IN_RUN.min(MOST_BYTES / self.datagram_bytes.max(1));
        if self.segments && most > 1 { most } else { 0 }
    }

    /// Hands as much to the kernel as one call takes; returns how many datagrams that were.
    fn send_some(&self, waiting: &VecDeque<Datagram<DatagramPlace>>) -> io::Result<usize> {
        if waiting.len() == 1 && waiting[0].cut_at().is_none() {
            let only = &waiting[0];
            let bytes = &only.place[..only.end()];
            let flags = rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL;
            match self.connected {
                true => rustix::net::send(&self.socket, bytes, flags)?,
                false => rustix::net::sendto(&self.socket, bytes, flags, &self.address(only))?,
            };
            return Ok(1);
        }
        let bytes: Vec<&[u8]> =
            waiting.iter().map(|datagram| &datagram.place[..datagram.end()]).collect();
        let mut runs = Vec::with_capacity(batch::MOST);
        let (mut at, mut ends) = (0, [0; batch::MOST]);
        while at < bytes.len() && runs.len() < batch::MOST {
            let end = at + self.run_from(waiting, at);
            ends[runs.len()] = end;
            let to = self.address(&waiting[at]);
            let to = (!self.connected).then_some(to);
            let run = Run::of(to, &bytes[at..end]);
            let cut_at = waiting[at].cut_at().or(run.cut_at);
            runs.push(Run { cut_at, ..run });
            at = end;
        }
        let sent = batch::send(self.socket.as_fd(), &runs)?;
        Ok(sent.checked_sub(1).map_or(0, |last| ends[last]))
    }

    /// Address to which the kernel is to send a datagram.
    #[inline]
    fn address(&self, datagram: &Datagram<DatagramPlace>) -> SocketAddr {
        let peer = self.peers[datagram.to.index()];
        match self.group {
            Some(group) if datagram.is_for_several() => SocketAddr::new(group, peer.port()),
            _ => peer,
        }
    }

    /// Number of datagrams from this one on that may go as one buffer: to one address, of one size,
    /// but for the last, which may be shorter.
    fn run_from(&self, waiting: &VecDeque<Datagram<DatagramPlace>>, start: usize) -> usize {
        let first = &waiting[start];
        let to = self.address(first);
        let joins = self.segments && !first.is_probe() && first.cut_at().is_none();
        let most = if joins { MOST_SEGMENTS.min(MOST_BYTES / first.end()) } else { 1 };
        let mut count = 1;
        for next in waiting.iter().skip(start + 1) {
            if count >= most
                || self.address(next) != to
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
    fn cuts_first(&self, waiting: &VecDeque<Datagram<DatagramPlace>>) -> bool {
        waiting[0].cut_at().is_some() || self.run_from(waiting, 0) > 1
    }

    /// Makes places, each of which holds a run.
    #[cold]
    fn grow(&mut self) -> Option<DatagramPlace> {
        let bytes = self.datagram_bytes * self.most_in_run().max(1);
        self.spare.extend(memory::places(WAITING, bytes, 0).ok()?);
        self.spare.pop()
    }

    /// Takes datagrams off the queue that were sent, or failed.
    fn take_off(&mut self, outgoing: &mut SendQueue<DatagramPlace>, datagrams: usize, taken: bool) {
        let sent = &mut outgoing.sent;
        let count = if taken { &mut sent.datagrams } else { &mut sent.failed };
        *count += datagrams as u64;
        self.refused = false;
        for _ in 0..datagrams {
            let Some(Datagram { place, .. }) = outgoing.pop() else { return };
            self.spare.push(place);
        }
    }
}

impl ArrivalSource<DatagramPlace> for Socket {
    #[inline]
    fn look(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> bool {
        self.landing.look(spare, arrived)
    }

    fn was_refused(&mut self) {
        self.landing.was_refused();
    }
}

impl Device for Socket {
    /// A packet that waits while the kernel takes none keeps no frame.
    const SENDS_FRAMES: bool = false;

    #[inline]
    fn place(&mut self) -> Option<DatagramPlace> {
        self.spare.pop().or_else(|| self.grow())
    }

    fn send(&mut self, Queues { outgoing, seals, .. }: &mut Queues) -> bool {
        outgoing.seal(seals);
        while !outgoing.is_empty() {
            outgoing.sent.calls += 1;
            let waiting = outgoing.waiting();
            match self.send_some(waiting) {
                Ok(datagrams) => self.take_off(outgoing, datagrams, true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Anybody can forge what the network says of an earlier one (a connected socket
                // hears it): that is no reason to lose this one. It is said once.
                Err(_) if !self.refused => self.refused = true,
                // The device cannot do it. A packet's run is lost, and sent again in pieces.
                Err(error) if self.cuts_first(waiting) && is_of_segments(&error) => {
                    self.segments = false;
                    outgoing.set_most_in_run(0);
                    if outgoing.waiting()[0].cut_at().is_some() {
                        self.take_off(outgoing, 1, false);
                    }
                }
                // Too long for the interface, or there is no way. Its packets are sent again, and
                // have timers.
                Err(_) => self.take_off(outgoing, 1, false),
            }
        }
        false
    }
}

/// True if the system cannot cut this buffer up: no message of the network's is read as such an
/// error.
fn is_of_segments(error: &io::Error) -> bool {
    [Errno::IO, Errno::INVAL].iter().any(|of| error.raw_os_error() == Some(of.raw_os_error()))
}
