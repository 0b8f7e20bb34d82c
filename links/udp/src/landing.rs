//! Buffers that the kernel may write to.

use crate::batch::{self, MOST};
use std::collections::VecDeque;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use weft_datagram::{Landed, Source};

pub(crate) struct Landing {
    socket: Arc<UdpSocket>,
    places: Vec<Box<[u8]>>,
    /// True if the last look found nothing.
    idle: bool,
}

impl Landing {
    pub fn new(socket: Arc<UdpSocket>) -> Self {
        Landing { socket, places: Vec::with_capacity(MOST), idle: true }
    }
}

impl Source<Box<[u8]>> for Landing {
    fn look(
        &mut self,
        spare: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> bool {
        let most = if self.idle { 1 } else { MOST };
        while self.places.len() < most
            && let Some(place) = spare.pop()
        {
            self.places.push(place);
        }
        let mut landed = [Landed::default(); MOST];
        let ready = self.places.len().min(most);
        // What the kernel reports here is about datagrams that left: they are sent again.
        let count = batch::receive(self.socket.as_fd(), &mut self.places[..ready], &mut landed);
        let count = count.unwrap_or(0);
        self.idle = count == 0;
        arrived.extend(self.places.drain(..count).zip(landed));
        count > 0
    }
}
