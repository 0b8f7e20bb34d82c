//! Port of a rank at an interface: two descriptors and some numbers, which `weft-net` makes for it,
//! and which can be handed to another process.

use crate::error::XdpError;
use crate::interface::{Interface, MacAddress};
use crate::ring::{Descriptor, Ring};
use rustix::net::sockopt;
use rustix::net::xdp::XDP_UMEM_PGOFF_FILL_RING;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use weft_datagram::WAITING;

/// Bytes before an envelope on Ethernet: two addresses and a protocol number.
pub(crate) const ETHERNET_BYTES: usize = 14;
/// Offset in a chunk at which a frame to be sent begins, so that packets in it are aligned.
pub(crate) const SEND_START: usize = 2;
/// Offset of the envelope in a chunk to be sent.
pub(crate) const ENVELOPE_START: usize = SEND_START + ETHERNET_BYTES;
/// Bytes that the kernel keeps free before a frame that arrives.
const KERNEL_HEADROOM: usize = 256;
/// And what we ask for beyond that, so that packets are aligned.
pub const HEADROOM: usize = 2;
/// Chunks that a rank keeps at most before it gives them back to the kernel together.
pub(crate) const HELD_BACK: usize = 32;
/// Bytes of a VLAN's tag, which some networks put in.
const VLAN_BYTES: usize = 4;

/// Numbers of frames of each rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct XdpSizes {
    /// Frames for sending.
    pub frames: u32,
    /// Frames that readers of received packets may hold at once: as many as the receive buffers of
    /// the protocol, or it finds fewer than it counts on.
    pub receive_frames: u32,
}

/// Sizes of chunks, in bytes, that the kernel takes.
const CHUNKS: [u32; 2] = [2048, 4096];
/// Chunks of all ranks together, at most.
const MOST_CHUNKS: u64 = 1 << 20;

/// True if a frame with a packet of `mtu` bytes fits into a chunk.
fn holds(chunk_bytes: u32, mtu: usize) -> bool {
    let most = (ETHERNET_BYTES + VLAN_BYTES).saturating_add(mtu);
    chunk_bytes as usize - KERNEL_HEADROOM - HEADROOM >= most
}

impl XdpSizes {
    /// True if so many ranks can have as many.
    fn fit(self, ranks: usize) -> bool {
        let each = u64::from(self.frames) + 3 * u64::from(self.receive_frames);
        let chunks = (ranks as u64).saturating_mul(each + 256);
        ranks > 0 && self.frames > 0 && chunks <= MOST_CHUNKS
    }
}

/// Numbers of frames of the port by which a host meets others: questions and answers are few, and
/// are asked again.
const GREETER: XdpSizes = XdpSizes { frames: 64, receive_frames: 256 };

/// Hook at which the kernel runs the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Attached {
    /// In the driver, before there is a packet for the kernel.
    Native,
    /// Behind the driver, on packets that the kernel has made already: for drivers that know no
    /// XDP.
    Generic,
}

/// Layout of the memory of a host's ports: words that they share, then chunks to send from, by
/// port, then chunks for arrivals, which the ports have in common. The ranks' ports come first; the
/// one that greets other hosts, if there is one, is the last, and gone before the ranks use theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PortLayout {
    pub(crate) ranks: u32,
    pub(crate) sizes: XdpSizes,
    pub(crate) greeter: bool,
    pub(crate) chunk_bytes: u32,
}

impl PortLayout {
    /// Layout for so many ranks at an interface.
    ///
    /// # Errors
    /// Sizes that no memory has.
    pub fn new(
        interface: &Interface,
        ranks: usize,
        sizes: XdpSizes,
        greeter: bool,
    ) -> Result<Self, XdpError> {
        let chunk_bytes = CHUNKS.into_iter().find(|&chunk| holds(chunk, interface.mtu));
        let chunk_bytes = chunk_bytes.ok_or_else(|| XdpError::Mtu {
            interface: interface.name.clone(),
            mtu: interface.mtu,
        })?;
        if !sizes.fit(ranks) {
            let text = format!("{ranks} ranks with {sizes:?} need between 1 and 2^20 frames");
            return Err(XdpError::Sizes(text));
        }
        Ok(PortLayout { ranks: ranks as u32, sizes, greeter, chunk_bytes })
    }

    /// Number of ports.
    pub fn ports(&self) -> u32 {
        self.ranks + u32::from(self.greeter)
    }

    pub(crate) fn is_greeter(&self, port: u32) -> bool {
        port >= self.ranks
    }

    /// Numbers of frames of a port.
    pub(crate) fn sizes_of(&self, port: u32) -> XdpSizes {
        if self.is_greeter(port) { GREETER } else { self.sizes }
    }

    /// Chunks that a port sends from: its frames, then places for packets that share a datagram.
    pub(crate) fn send_chunks(&self, port: u32) -> u32 {
        self.sizes_of(port).frames + WAITING as u32
    }

    /// Descriptors of a port's ring for arrivals.
    pub fn receive_ring(&self, port: u32) -> u32 {
        self.sizes_of(port).receive_frames.max(64).next_power_of_two()
    }

    /// Descriptors of a port's ring for what it sends.
    pub fn send_ring(&self, port: u32) -> u32 {
        self.send_chunks(port).next_power_of_two()
    }

    /// No port can keep others from receiving: there are chunks for all that each may hold, unread
    /// in its ring, with its readers, or not given back yet. Chunks that the greeter holds when it
    /// goes are not given back at all.
    pub(crate) fn receive_chunks(&self) -> u32 {
        let of = |port| {
            self.receive_ring(port) + self.sizes_of(port).receive_frames + 1 + HELD_BACK as u32
        };
        self.ranks * of(0) + if self.greeter { of(self.ranks) } else { 0 }
    }

    /// Descriptors of the ring in which the kernel is given chunks for arrivals.
    pub fn fill_ring(&self) -> u32 {
        self.receive_chunks().next_power_of_two()
    }

    /// Descriptors of the ring in which it gives chunks back that it has sent.
    pub fn completion_ring(&self) -> u32 {
        self.first_receive_chunk().next_power_of_two()
    }

    /// Index of the first chunk that a port sends from.
    pub(crate) fn first_send_chunk(&self, port: u32) -> u32 {
        port * self.send_chunks(0)
    }

    /// Index of the first chunk for arrivals.
    pub(crate) fn first_receive_chunk(&self) -> u32 {
        let greeter = if self.greeter { self.send_chunks(self.ranks) } else { 0 };
        self.first_send_chunk(self.ranks) + greeter
    }

    /// Number of chunks.
    pub(crate) fn chunks(&self) -> u32 {
        self.first_receive_chunk() + self.receive_chunks()
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> u32 {
        self.chunk_bytes
    }

    /// Offsets of the locks of the fill ring and of the completion ring.
    pub(crate) const FILL_LOCK: usize = 0;
    pub(crate) const COMPLETION_LOCK: usize = 64;

    /// Offset of the byte that is 1 while the kernel has that chunk to send.
    pub(crate) fn busy(&self, chunk: u32) -> usize {
        128 + chunk as usize
    }

    /// Offset of the first chunk.
    pub fn chunks_start(&self) -> usize {
        self.busy(self.first_receive_chunk()).next_multiple_of(4096)
    }

    /// Bytes of the memory.
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
    pub(crate) shared: SharedPlan,
    /// Index of the rank among those of the host.
    pub(crate) index: u32,
}

impl PortPlan {
    /// True if there may be such a port: for whoever has the numbers from another process. What
    /// its memory has of them is found out by [`crate::attach`].
    pub fn is_sound(&self) -> bool {
        let SharedPlan { layout, mtu, .. } = self.shared;
        CHUNKS.contains(&layout.chunk_bytes)
            && holds(layout.chunk_bytes, mtu as usize)
            && layout.sizes.fit(layout.ranks as usize)
            && self.index < layout.ports()
    }
}

/// Sockets that have a queue of an interface, and share memory for frames.
#[derive(Debug)]
pub struct Bound {
    /// Numbers that all ports have in common.
    pub plan: SharedPlan,
    /// Sockets, one for each port.
    pub sockets: Vec<OwnedFd>,
    /// Memory for frames, sealed against shrinking.
    pub memory: OwnedFd,
}

/// Numbers that all ports of an interface have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SharedPlan {
    /// Layout of the memory for frames.
    pub layout: PortLayout,
    /// Address of the interface.
    pub mac: MacAddress,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// The protocol number of Weft's frames.
    pub ethertype: u16,
    /// Mode in which it is used.
    pub mode: Mode,
}

impl Bound {
    /// Gives the kernel all chunks for arrivals, and makes the ports.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn into_ports(self) -> io::Result<Vec<XdpPort>> {
        let Bound { plan, sockets, memory } = self;
        let Some(first) = sockets.first() else { return Ok(Vec::new()) };
        fill(&plan.layout, first)?;
        let port = |(index, socket)| {
            let memory = memory.try_clone()?;
            Ok(XdpPort { plan: PortPlan { shared: plan, index }, socket, memory })
        };
        (0..).zip(sockets).map(port).collect()
    }
}

/// Gives the kernel all chunks for arrivals.
fn fill(layout: &PortLayout, socket: &OwnedFd) -> io::Result<()> {
    let offsets = sockopt::xdp_mmap_offsets(socket)?;
    let size = layout.fill_ring();
    let ring = Ring::map(socket.as_fd(), XDP_UMEM_PGOFF_FILL_RING, &offsets.fr, size, 1)?;
    for chunk in layout.first_receive_chunk()..layout.chunks() {
        let at = u64::from(chunk) * u64::from(layout.chunk_bytes);
        let fits = ring.push(Descriptor { at, bytes: 0 });
        assert!(fits, "the ring has room for all chunks");
    }
    Ok(())
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
        self.plan.shared.mode
    }

    /// The address that others reach this rank at.
    pub fn mac(&self) -> MacAddress {
        self.plan.shared.mac
    }

    /// Bytes of a packet at most, without its Ethernet header.
    pub fn mtu(&self) -> usize {
        self.plan.shared.mtu as usize
    }

    /// Takes the port apart for another process: numbers, and descriptors to be sent to it.
    pub fn into_parts(self) -> (PortPlan, [OwnedFd; 2]) {
        (self.plan, [self.socket, self.memory])
    }

    /// The port of which these are the parts. [`crate::attach`] finds out whether they belong
    /// together.
    pub fn from_parts(plan: PortPlan, [socket, memory]: [OwnedFd; 2]) -> Self {
        XdpPort { plan, socket, memory }
    }
}

#[cfg(test)]
mod tests;
