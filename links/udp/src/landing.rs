//! Buffers that the kernel may write to, and how it is asked for datagrams.
//!
//! A look is one plain `recv`. The kernel is told to join datagrams of one sender (UDP_GRO) when it
//! first parts a run of pieces, or when one look finds [`MANY`]. It says how long joined ones are
//! in a control message, which takes 0.2 us more of each look, on the way of each message. So
//! nobody asks for that: the first frame's envelope says how long it is, and all but the last are
//! as long. Anybody may have written that envelope; the first frame that is refused has the kernel
//! say it from there on. There is no way back, because a kernel that was told to stop (6.18) goes
//! on to join.

use crate::batch::{self, MOST};
use std::collections::VecDeque;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use weft_datagram::Landed;
use weft_datagram::memory::DatagramPlace;
use weft_wire::envelope::{self, Envelope, FrameKind};

/// Datagrams in one look from which on the kernel is to join them.
const MANY: usize = 8;
/// Looks in a row that find one datagram each before one asks for more.
const SINGLE_LOOKS: u32 = 2;

pub(crate) struct Landing {
    socket: Arc<UdpSocket>,
    places: Vec<DatagramPlace>,
    joining: Joining,
    /// Looks in a row that found something, up to the last.
    found: u32,
}

/// Joining of datagrams by the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Joining {
    Separate,
    /// Its frames say how long they are.
    Believed,
    /// The kernel says it.
    Told,
    /// It cannot.
    Unavailable,
}

impl Landing {
    /// A landing for a socket of which nothing was asked so far.
    pub fn new(socket: Arc<UdpSocket>) -> Self {
        Landing { socket, places: Vec::with_capacity(MOST), joining: Joining::Separate, found: 0 }
    }

    /// Looks for datagrams: [`weft_datagram::ArrivalSource::look`].
    #[inline]
    pub fn look(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> bool {
        let count = match self.joining != Joining::Told && self.found < SINGLE_LOOKS {
            true => self.look_for_one(spare, arrived),
            false => self.look_for_many(spare, arrived),
        };
        self.found = if count > 0 { self.found.saturating_add(1) } else { 0 };
        if count >= MANY && self.joining == Joining::Separate {
            self.join(Joining::Believed);
        }
        count > 0
    }

    /// A datagram that was found was refused.
    #[cold]
    pub fn was_refused(&mut self) {
        if self.joining == Joining::Believed {
            self.joining = Joining::Told;
        }
    }

    /// A look for one datagram that is not joined with others.
    #[inline]
    fn look_for_one(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> usize {
        let Some(mut place) = self.places.pop().or_else(|| spare.pop()) else { return 0 };
        // Errors that the kernel reports here are of datagrams that left: they are sent again.
        let Ok(end) = self.socket.recv(&mut place) else {
            self.places.push(place);
            return 0;
        };
        let datagram_bytes = match envelope::parse(&place[..end]) {
            Ok(frame) => self.bytes_of(&frame, end),
            Err(_) => end,
        };
        arrived.push_back((place, Landed { start: 0, end, datagram_bytes }));
        1
    }

    /// Bytes of the first datagram of so many bytes in all, which begin with this envelope.
    #[inline]
    fn bytes_of(&mut self, frame: &Envelope, all: usize) -> usize {
        if self.joining == Joining::Separate {
            if frame.kind == FrameKind::PIECE {
                self.join(Joining::Believed);
            }
            return all;
        }
        // A frame for several has a table behind its contents.
        match frame.kind {
            FrameKind::SEVERAL => all,
            _ => all.min(envelope::SIZE + frame.length as usize),
        }
    }

    fn look_for_many(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> usize {
        let most = if self.found > 0 { MOST } else { 1 };
        while self.places.len() < most
            && let Some(place) = spare.pop()
        {
            self.places.push(place);
        }
        let mut landed = [Landed::default(); MOST];
        let ready = self.places.len().min(most);
        let count = batch::receive(self.socket.as_fd(), &mut self.places[..ready], &mut landed);
        let count = count.unwrap_or(0);
        arrived.extend(self.places.drain(..count).zip(landed));
        count
    }

    /// Has the kernel join datagrams.
    #[cold]
    fn join(&mut self, joining: Joining) {
        self.joining = match batch::join_arrivals(self.socket.as_fd()) {
            true => joining,
            false => Joining::Unavailable,
        };
    }
}

#[cfg(test)]
mod tests;
