//! Communication: who sent how much to whom, of which sizes, for which systems.

use super::names;
use serde::Serialize;
use std::collections::BTreeMap;
use weft_trace::{PacketEvent, Trace, What};

/// Packets from one rank to another, as the sender wrote them down.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cell {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Number of data packets.
    pub data_packets: u64,
    /// Their user bytes.
    pub data_bytes: u64,
    /// Number of control packets, such as credits and acknowledgements.
    pub control_packets: u64,
    /// Their user bytes.
    pub control_bytes: u64,
}

/// Data packets of some sizes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Size {
    /// Smallest size, in bytes.
    pub at_least: u32,
    /// Largest size, in bytes.
    pub at_most: u32,
    /// Number of packets.
    pub packets: u64,
    /// Their user bytes.
    pub bytes: u64,
}

/// Packets of one system.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Number of data packets.
    pub data_packets: u64,
    /// Their user bytes.
    pub data_bytes: u64,
    /// Number of control packets.
    pub control_packets: u64,
}

/// All that was sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Traffic {
    /// Ordered pairs between which there were packets, in order.
    pub matrix: Vec<Cell>,
    /// Sizes of data packets, in powers of two, from the smallest that there was to the largest.
    pub sizes: Vec<Size>,
    /// Systems that sent something.
    pub systems: Vec<System>,
    /// Number of packets that were taken, of all kinds.
    pub received_packets: u64,
}

impl Traffic {
    /// Packets of a run.
    pub fn new(trace: &Trace) -> Self {
        let mut count = Count::default();
        for (rank, of) in (0..).zip(&trace.ranks) {
            for event in &of.events {
                match &event.what {
                    What::Sent(packet) => count.take(rank, packet),
                    What::Received(_) => count.received += 1,
                    _ => {}
                }
            }
        }
        count.finish()
    }

    /// Number of data packets that were sent, and their bytes.
    pub fn data(&self) -> (u64, u64) {
        let sum = |of: fn(&Cell) -> u64| self.matrix.iter().map(of).sum();
        (sum(|cell| cell.data_packets), sum(|cell| cell.data_bytes))
    }

    /// Number of control packets that were sent.
    pub fn control_packets(&self) -> u64 {
        self.matrix.iter().map(|cell| cell.control_packets).sum()
    }
}

#[derive(Default)]
struct Count {
    matrix: BTreeMap<(u32, u32), Cell>,
    /// By the number of bits of a size.
    sizes: [(u64, u64); 17],
    systems: BTreeMap<u8, System>,
    received: u64,
}

impl Count {
    fn take(&mut self, from: u32, packet: &PacketEvent) {
        let (to, bytes) = (u32::from(packet.peer.0), u64::from(packet.size));
        let new = || Cell { from, to, ..Cell::default() };
        let cell = self.matrix.entry((from, to)).or_insert_with(new);
        let protocol = packet.protocol.index() as u8;
        let new = || System { name: names::system(protocol), ..System::default() };
        let system = self.systems.entry(protocol).or_insert_with(new);
        if !packet.tag.is_data() {
            cell.control_packets += 1;
            cell.control_bytes += bytes;
            system.control_packets += 1;
            return;
        }
        cell.data_packets += 1;
        cell.data_bytes += bytes;
        system.data_packets += 1;
        system.data_bytes += bytes;
        let size = &mut self.sizes[(u16::BITS - packet.size.leading_zeros()) as usize];
        *size = (size.0 + 1, size.1 + bytes);
    }

    fn finish(self) -> Traffic {
        let first = self.sizes.iter().position(|(packets, _)| *packets > 0).unwrap_or(0);
        let end = self.sizes.iter().rposition(|(packets, _)| *packets > 0).map_or(0, |at| at + 1);
        let sizes = (first..end).map(|bits| Size {
            at_least: if bits == 0 { 0 } else { 1 << (bits - 1) },
            at_most: (1 << bits) - 1,
            packets: self.sizes[bits].0,
            bytes: self.sizes[bits].1,
        });
        Traffic {
            sizes: sizes.collect(),
            matrix: self.matrix.into_values().collect(),
            systems: self.systems.into_values().collect(),
            received_packets: self.received,
        }
    }
}
