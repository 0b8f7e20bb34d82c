//! Frames with nothing in them that protects or repeats them: what AF_XDP itself can do, for
//! measuring what a link adds to it.

use crate::interface::MacAddress;
use crate::port::{ENVELOPE_START, SEND_START, XdpPort};
use crate::rings::Rings;
use std::collections::VecDeque;
use std::io;
use weft_datagram::memory::DatagramPlace;
use weft_datagram::{ArrivalSource, Landed};
use weft_wire::{Rank, envelope};

const HEAD_BYTES: usize = ENVELOPE_START - SEND_START + envelope::SIZE;
/// Offset of the bytes in a chunk to be sent.
const BYTES_START: usize = SEND_START + HEAD_BYTES;

/// One rank's rings to one other, without a protocol. Each frame has an unsealed envelope, by which
/// the XDP program finds the receiver.
pub struct Raw {
    rings: Rings,
    free: Vec<DatagramPlace>,
    spare: Vec<DatagramPlace>,
    arrived: VecDeque<(DatagramPlace, Landed)>,
    head: [u8; HEAD_BYTES],
    most_bytes: usize,
}

impl Raw {
    /// Frames to rank `to` of `job`, whose interface has this address, of the same MTU.
    ///
    /// # Errors
    /// What the kernel says about the port.
    pub fn new(port: XdpPort, peer: MacAddress, job: u32, to: Rank) -> io::Result<Self> {
        let (plan, most_bytes) = (port.plan.shared, port.mtu() - envelope::SIZE);
        let mut head = [0; HEAD_BYTES];
        head[..6].copy_from_slice(&peer.0);
        head[6..12].copy_from_slice(&plan.mac.0);
        head[12..14].copy_from_slice(&plan.ethertype.to_be_bytes());
        head[14..17].copy_from_slice(&[b'W', b'F', envelope::VERSION]);
        head[18..22].copy_from_slice(&job.to_le_bytes());
        head[24..26].copy_from_slice(&to.0.to_le_bytes());
        let (rings, free) = Rings::new(port)?;
        Ok(Raw { rings, free, spare: Vec::new(), arrived: VecDeque::new(), head, most_bytes })
    }

    /// Bytes of a frame at most.
    pub fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// Puts a frame with these bytes into the ring; it leaves at the next [`Self::flush`]. False
    /// while there is no room for it.
    ///
    /// # Panics
    /// If the bytes are more than [`Self::most_bytes`].
    pub fn put(&mut self, bytes: &[u8]) -> bool {
        assert!(bytes.len() <= self.most_bytes, "a frame has a largest size");
        self.free.extend(std::iter::from_fn(|| self.rings.reclaim()));
        let Some(mut chunk) = self.free.pop() else { return false };
        let end = BYTES_START + bytes.len();
        chunk[SEND_START..BYTES_START].copy_from_slice(&self.head);
        chunk[BYTES_START..end].copy_from_slice(bytes);
        self.rings.submit(chunk, SEND_START, end);
        true
    }

    /// Has the kernel send what was put.
    pub fn flush(&mut self) {
        self.rings.kick();
    }

    /// Copies the next frame's bytes, as many as `into` has, and says how many it had; `None` while
    /// nothing has arrived.
    pub fn receive(&mut self, into: &mut [u8]) -> Option<usize> {
        if self.arrived.is_empty() {
            self.rings.look(&mut self.spare, &mut self.arrived);
        }
        let (chunk, landed) = self.arrived.pop_front()?;
        let bytes = chunk.get(landed.start + envelope::SIZE..landed.end).unwrap_or_default();
        let copied = bytes.len().min(into.len());
        into[..copied].copy_from_slice(&bytes[..copied]);
        let length = bytes.len();
        self.spare.push(chunk);
        Some(length)
    }
}
