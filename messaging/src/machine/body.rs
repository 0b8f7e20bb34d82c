//! The part of a message that its first packet tells.

use super::windows::Flow;
use crate::format::PacketHeader;
use weft_endpoint::Rank;

/// A message, without its bytes. Port and number lie as in its header, to be written as one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub struct MessageBody {
    /// Number of the port that it is for.
    pub port: u32,
    /// The sender's number for it.
    pub number: u32,
    /// Bytes of all of it.
    pub length: u64,
    /// Slot of the port at this rank.
    pub slot: usize,
    /// Its sender.
    pub from: Rank,
    /// The flow that it came in.
    pub flow: Flow,
}

impl MessageBody {
    /// The message of a packet with this header.
    #[inline]
    pub fn new(from: Rank, flow: Flow, header: &PacketHeader, slot: usize) -> Self {
        let PacketHeader { message: number, bytes: length, port, .. } = *header;
        MessageBody { from, number, length, port, slot, flow }
    }
}

impl Default for MessageBody {
    fn default() -> Self {
        MessageBody { from: Rank(0), number: 0, length: 0, port: 0, slot: 0, flow: None }
    }
}
