//! Buffers that the kernel may write to, and how it is asked for datagrams.
//!
//! A look is one plain `recv`, until one finds [`MANY`]. From then on the kernel hands over
//! datagrams of one sender joined (UDP_GRO), and says how long each is in a control message. That
//! takes 0.3 us more of each look, on the way of each message, and there is no way back: a kernel
//! that was told to stop (6.18) goes on to join, and does not say how long they are.

use crate::batch::{self, MOST};
use std::collections::VecDeque;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use weft_datagram::{Landed, Source};

/// Datagrams in one look from which on the kernel is to join them.
const MANY: usize = 8;
/// Looks in a row that find one datagram each before one asks for more.
const SINGLE_LOOKS: u32 = 2;

pub(crate) struct Landing {
    socket: Arc<UdpSocket>,
    places: Vec<Box<[u8]>>,
    joining: Joining,
    /// Looks in a row that found something, up to the last.
    found: u32,
}

/// Joining of datagrams by the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Joining {
    Separate,
    Joined,
    /// It cannot.
    Unavailable,
}

impl Landing {
    /// A landing for a socket of which nothing was asked so far.
    pub fn new(socket: Arc<UdpSocket>) -> Self {
        Landing { socket, places: Vec::with_capacity(MOST), joining: Joining::Separate, found: 0 }
    }

    /// A look for one datagram that is not joined with others.
    #[inline]
    fn look_for_one(
        &mut self,
        spare: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> usize {
        let Some(mut place) = self.places.pop().or_else(|| spare.pop()) else { return 0 };
        // What the kernel reports here is about datagrams that left: they are sent again.
        let Ok(end) = self.socket.recv(&mut place) else {
            self.places.push(place);
            return 0;
        };
        arrived.push_back((place, Landed { start: 0, end, datagram_bytes: end }));
        1
    }

    fn look_for_many(
        &mut self,
        spare: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
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

    /// Has the kernel join datagrams, now that many arrive.
    #[cold]
    fn join(&mut self) {
        self.joining = match batch::join_arrivals(self.socket.as_fd()) {
            true => Joining::Joined,
            false => Joining::Unavailable,
        };
    }
}

impl Source<Box<[u8]>> for Landing {
    #[inline]
    fn look(
        &mut self,
        spare: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> bool {
        let count = match self.joining != Joining::Joined && self.found < SINGLE_LOOKS {
            true => self.look_for_one(spare, arrived),
            false => self.look_for_many(spare, arrived),
        };
        self.found = if count > 0 { self.found.saturating_add(1) } else { 0 };
        if count >= MANY && self.joining == Joining::Separate {
            self.join();
        }
        count > 0
    }
}

#[cfg(test)]
mod tests;
