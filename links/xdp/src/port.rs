//! Port of a rank at an interface: two descriptors and some numbers, which whoever attached the
//! program makes for it, and which can be handed to another process.

use crate::error::XdpError;
use crate::interface::{Interface, MacAddress};
use crate::program::Attached;
use std::os::fd::OwnedFd;
use weft_wire::{envelope, network};

/// Bytes before an envelope on Ethernet: two addresses and a protocol number.
pub(crate) const ETHERNET_BYTES: usize = 14;
/// Offset in a chunk at which a frame to be sent begins, so that packets in it are aligned.
pub(crate) const SEND_START: usize = 2;
/// Offset of the envelope in a chunk to be sent.
pub(crate) const ENVELOPE_START: usize = SEND_START + ETHERNET_BYTES;
/// Offset of the body of the first packet in a chunk to be sent.
pub(crate) const BODY_START: usize = ENVELOPE_START + envelope::SIZE + network::SIZE;
/// Bytes that the kernel keeps free before a frame that arrives.
const KERNEL_HEADROOM: usize = 256;
/// And what we ask for beyond that, so that packets are aligned.
pub(crate) const HEADROOM: usize = 2;
/// Datagrams of a rank that wait at most, and places for them.
pub(crate) const WAITING: usize = 64;
/// Chunks that a rank keeps at most before it gives them back to the kernel together.
pub(crate) const HELD_BACK: usize = 32;
/// Bytes of a VLAN's tag, which some networks put in.
const VLAN_BYTES: usize = 4;

/// Numbers of frames of each rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XdpSizes {
    /// Frames for sending.
    pub frames: usize,
    /// Frames that readers of received packets may hold at once: as many as the receive buffers of
    /// the protocol, or it finds fewer than it counts on.
    pub receive_frames: usize,
}

/// Layout of the memory of a host's ranks: words that they share, then chunks to send from, by
/// rank, then chunks for arrivals, which the ranks have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layout {
    pub ranks: u32,
    pub frames: u32,
    pub receive_frames: u32,
    pub chunk_bytes: u32,
}

impl Layout {
    pub fn new(interface: &Interface, ranks: usize, sizes: XdpSizes) -> Result<Self, XdpError> {
        let most = ETHERNET_BYTES + VLAN_BYTES + interface.mtu;
        let fits = |chunk: &&u32| **chunk as usize - KERNEL_HEADROOM - HEADROOM >= most;
        let chunk_bytes = [2048, 4096].iter().find(fits).copied();
        let chunk_bytes = chunk_bytes.ok_or_else(|| XdpError::Mtu {
            interface: interface.name.clone(),
            mtu: interface.mtu,
        })?;
        let number = |what: usize| u32::try_from(what).unwrap_or(u32::MAX);
        let layout = Layout {
            ranks: number(ranks),
            frames: number(sizes.frames),
            receive_frames: number(sizes.receive_frames),
            chunk_bytes,
        };
        const MOST_CHUNKS: u64 = 1 << 20;
        let each = u64::from(layout.frames) + 3 * u64::from(layout.receive_frames);
        if ranks == 0 || sizes.frames == 0 || ranks as u64 * (each + 256) > MOST_CHUNKS {
            let text = format!("{ranks} ranks with {sizes:?} need between 1 and 2^20 frames");
            return Err(XdpError::Sizes(text));
        }
        Ok(layout)
    }

    /// Chunks that each rank sends from: its frames, then places for packets that share a datagram.
    pub fn send_chunks(&self) -> u32 {
        self.frames + WAITING as u32
    }

    pub fn receive_ring(&self) -> u32 {
        self.receive_frames.max(64).next_power_of_two()
    }

    pub fn send_ring(&self) -> u32 {
        self.send_chunks().next_power_of_two()
    }

    /// No rank can keep others from receiving: there are chunks for all that each may hold, unread
    /// in its ring, with its readers, or not given back yet.
    pub fn receive_chunks(&self) -> u32 {
        self.ranks * (self.receive_ring() + self.receive_frames + 1 + HELD_BACK as u32)
    }

    pub fn fill_ring(&self) -> u32 {
        self.receive_chunks().next_power_of_two()
    }

    pub fn completion_ring(&self) -> u32 {
        (self.ranks * self.send_chunks()).next_power_of_two()
    }

    /// Index of the first chunk for arrivals.
    pub fn first_receive_chunk(&self) -> u32 {
        self.ranks * self.send_chunks()
    }

    pub fn chunks(&self) -> u32 {
        self.first_receive_chunk() + self.receive_chunks()
    }

    /// Offsets of the locks of the fill ring and of the completion ring.
    pub const FILL_LOCK: usize = 0;
    pub const COMPLETION_LOCK: usize = 64;

    /// Offset of the byte that is 1 while the kernel has that chunk to send.
    pub fn busy(&self, chunk: u32) -> usize {
        128 + chunk as usize
    }

    /// Offset of the first chunk.
    pub fn chunks_start(&self) -> usize {
        self.busy(self.first_receive_chunk()).next_multiple_of(4096)
    }

    pub fn bytes(&self) -> usize {
        self.chunks_start() + self.chunks() as usize * self.chunk_bytes as usize
    }
}

/// Mode in which an interface is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Mode {
    /// Hook at which the XDP program runs.
    pub attached: Attached,
    /// True if the device reads and writes frames itself; else the kernel copies them.
    pub zero_copy: bool,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let attached = match self.attached {
            Attached::Native => "native",
            Attached::Generic => "generic",
        };
        write!(f, "{attached}, {}", if self.zero_copy { "zero-copy" } else { "copying" })
    }
}

/// Plain numbers of a port: all but its descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PortPlan {
    pub(crate) layout: Layout,
    /// Index of the rank among those of the host.
    pub(crate) index: u32,
    pub(crate) mac: MacAddress,
    pub(crate) mtu: u32,
    pub(crate) ethertype: u16,
    pub(crate) mode: Mode,
}

/// One rank's way to an interface, ready to use; no capability is needed for that.
#[derive(Debug)]
pub struct XdpPort {
    pub(crate) plan: PortPlan,
    pub(crate) socket: OwnedFd,
    pub(crate) memory: OwnedFd,
}

impl XdpPort {
    /// Mode in which the interface is used.
    pub fn mode(&self) -> Mode {
        self.plan.mode
    }

    /// The address that others reach this rank at.
    pub fn mac(&self) -> MacAddress {
        self.plan.mac
    }

    /// Bytes of a packet at most, without its Ethernet header.
    pub fn mtu(&self) -> usize {
        self.plan.mtu as usize
    }

    /// Takes the port apart for another process: numbers, and descriptors to be sent to it.
    pub fn into_parts(self) -> (PortPlan, [OwnedFd; 2]) {
        (self.plan, [self.socket, self.memory])
    }

    /// The port of which these are the parts. [`crate::Xdp::attach`] finds out whether they belong
    /// together.
    pub fn from_parts(plan: PortPlan, [socket, memory]: [OwnedFd; 2]) -> Self {
        XdpPort { plan, socket, memory }
    }
}
