//! One rank's end of the rings, and the chunks that come and go through them.
//!
//! The sockets of a host's ranks have rings of their own for what they send and receive. The ring
//! that gives the kernel chunks for arrivals, and that in which it gives back what was sent, they
//! share, under locks in shared memory that are only ever tried: who finds one taken comes back
//! later.

use crate::depth::Depth;
use crate::port::{ETHERNET_BYTES, HELD_BACK, PortLayout, PortPlan, XdpPort};
use crate::ring::{Descriptor, Ring};
use rustix::io::Errno;
use rustix::net::xdp::{
    XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING, XDP_UMEM_PGOFF_FILL_RING,
};
use rustix::net::{RecvFlags, SendFlags, sockopt};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use weft_datagram::memory::{DatagramPlace, PageMapping, split};
use weft_datagram::{ArrivalSource, Landed};

/// Frames that one look brings at most.
const MOST: usize = 32;
/// The protocol number before a VLAN's tag.
const VLAN_TYPE: [u8; 2] = 0x8100_u16.to_be_bytes();
const VLAN_BYTES: usize = 4;

pub(crate) struct Rings {
    pub socket: Arc<OwnedFd>,
    layout: PortLayout,
    shared: Arc<PageMapping>,
    /// Chunks that the kernel or another rank has; those that are here are with their users.
    away: Vec<Option<DatagramPlace>>,
    /// Our chunks that the kernel has to send, in the order in which it got them.
    in_flight: VecDeque<u32>,
    arriving: Ring,
    leaving: Ring,
    fill: Ring,
    /// Number of chunks in the fill ring, if no other rank needs them.
    depth: Option<Depth>,
    completion: Ring,
    /// System calls that had the kernel send.
    pub calls: u64,
    /// Descriptors that no chunk belongs to.
    pub bad_descriptors: u64,
}

impl Rings {
    /// Returns also the chunks that this rank sends from.
    pub fn new(port: XdpPort) -> io::Result<(Self, Vec<DatagramPlace>)> {
        let XdpPort { plan: PortPlan { shared, index }, socket, memory } = port;
        let layout = shared.layout;
        let offsets = sockopt::xdp_mmap_offsets(&socket)?;
        let fd = socket.as_fd();
        let mapping = PageMapping::of_sealed(&memory, layout.bytes())?;
        let (shared, chunks) = split(mapping, layout.chunks_start(), layout.chunk_bytes, 0);
        let mut away: Vec<Option<DatagramPlace>> = chunks.into_iter().map(Some).collect();
        let first = layout.first_send_chunk(index) as usize;
        let own = away[first..first + layout.send_chunks(index) as usize].iter_mut();
        let own = own.filter_map(Option::take).collect();
        let (fill, completion) = (layout.fill_ring(), layout.completion_ring());
        let rings = Rings {
            arriving: Ring::map(fd, XDP_PGOFF_RX_RING, &offsets.rx, layout.receive_ring(index), 2)?,
            leaving: Ring::map(fd, XDP_PGOFF_TX_RING, &offsets.tx, layout.send_ring(index), 2)?,
            fill: Ring::map(fd, XDP_UMEM_PGOFF_FILL_RING, &offsets.fr, fill, 1)?,
            completion: Ring::map(fd, XDP_UMEM_PGOFF_COMPLETION_RING, &offsets.cr, completion, 1)?,
            depth: (layout.ranks == 1 && !layout.is_greeter(index))
                .then(|| Depth::new(layout.receive_chunks())),
            in_flight: VecDeque::with_capacity(layout.send_chunks(index) as usize),
            socket: Arc::new(socket),
            layout,
            shared,
            away,
            calls: 0,
            bad_descriptors: 0,
        };
        Ok((rings, own))
    }

    /// Hands the bytes from `start` to `end` of a chunk of ours to the kernel, which sends them at
    /// the next [`Self::kick`].
    #[inline]
    pub fn submit(&mut self, chunk: DatagramPlace, start: usize, end: usize) {
        let index = chunk.index();
        let at = u64::from(index) * u64::from(self.layout.chunk_bytes) + start as u64;
        // Before the kernel can be done with it.
        self.shared.u8_at(self.layout.busy(index)).store(1, Ordering::Relaxed);
        let fits = self.leaving.push(Descriptor { at, bytes: (end - start) as u32 });
        assert!(fits, "the ring has room for all our chunks");
        self.in_flight.push_back(index);
        self.away[index as usize] = Some(chunk);
    }

    /// Has the kernel send what it was handed. Says whether some of it has to wait for the device.
    #[inline]
    pub fn kick(&mut self) -> bool {
        let mut left = self.leaving.filled();
        while left > 0 && self.leaving.needs_wakeup() {
            self.calls += 1;
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let said = rustix::net::send(&*self.socket, &[], flags);
            let before = std::mem::replace(&mut left, self.leaving.filled());
            match said {
                // It sends some dozens at a time.
                Ok(_) | Err(Errno::INTR | Errno::AGAIN | Errno::BUSY | Errno::NOBUFS)
                    if left < before => {}
                // Even if it says that it did: this loop ends.
                Ok(_) | Err(Errno::INTR | Errno::AGAIN | Errno::BUSY | Errno::NOBUFS) => {
                    return true;
                }
                // The interface is down. The sender has timers.
                Err(_) => return false,
            }
        }
        false
    }

    /// True if the kernel has chunks of ours.
    pub fn has_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// A chunk of ours that the kernel has done with.
    #[inline]
    pub fn reclaim(&mut self) -> Option<DatagramPlace> {
        let first = *self.in_flight.front()?;
        let busy = self.layout.busy(first);
        if self.shared.u8_at(busy).load(Ordering::Acquire) != 0 {
            self.collect();
            if self.shared.u8_at(busy).load(Ordering::Acquire) != 0 {
                return None;
            }
        }
        self.in_flight.pop_front();
        self.away[first as usize].take()
    }

    /// A chunk of ours that the kernel has; it reads it, as may we.
    pub fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        self.away[index as usize].as_ref()
    }

    /// Notes which chunks the kernel has done with, those of other ranks too.
    fn collect(&self) {
        self.locked(PortLayout::COMPLETION_LOCK, || {
            while let Some(done) = self.completion.pop() {
                let index = done.at / u64::from(self.layout.chunk_bytes);
                if index < u64::from(self.layout.first_receive_chunk()) {
                    let busy = self.layout.busy(index as u32);
                    self.shared.u8_at(busy).store(0, Ordering::Release);
                }
            }
        });
    }

    /// Gives chunks for arrivals back to the kernel, those used last first.
    fn refill(&mut self, spare: &mut Vec<DatagramPlace>) {
        let room = self
            .depth
            .as_ref()
            .map_or(u32::MAX, |depth| depth.chunks().saturating_sub(self.fill.filled()));
        if room < HELD_BACK as u32 {
            return;
        }
        let from = spare.len().saturating_sub(room as usize);
        let done = self.locked(PortLayout::FILL_LOCK, || {
            spare[from..].iter().all(|chunk| {
                let at = u64::from(chunk.index()) * u64::from(self.layout.chunk_bytes);
                self.fill.push(Descriptor { at, bytes: 0 })
            })
        });
        let Some(all) = done else { return };
        debug_assert!(all, "the ring has room for all chunks");
        for chunk in spare.drain(from..) {
            let index = chunk.index() as usize;
            self.away[index] = Some(chunk);
        }
    }

    /// Does `work` unless another rank of the host is at the same ring.
    fn locked<T>(&self, lock: usize, work: impl FnOnce() -> T) -> Option<T> {
        if self.layout.ranks == 1 {
            return Some(work());
        }
        let lock = self.shared.u32_at(lock);
        lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let result = work();
        lock.store(0, Ordering::Release);
        Some(result)
    }

    /// The chunk that a descriptor of an arrival names, and where in it the frame is.
    #[inline]
    fn landed(&mut self, descriptor: Descriptor) -> Option<(DatagramPlace, Landed)> {
        let length = u64::from(self.layout.chunk_bytes);
        let index = usize::try_from(descriptor.at / length).ok()?;
        let start = (descriptor.at % length) as usize;
        let end = start + descriptor.bytes as usize;
        if index < self.layout.first_receive_chunk() as usize || end > length as usize {
            return None;
        }
        let chunk = self.away.get_mut(index)?.take()?;
        let tagged = chunk.get(start + 12..start + 14) == Some(&VLAN_TYPE);
        let header = ETHERNET_BYTES + if tagged { VLAN_BYTES } else { 0 };
        let start = (start + header).min(end);
        Some((chunk, Landed { start, end, datagram_bytes: end - start }))
    }
}

impl ArrivalSource<DatagramPlace> for Rings {
    #[inline]
    fn look(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> bool {
        if spare.len() >= HELD_BACK {
            self.refill(spare);
        }
        let before = arrived.len();
        let waiting = self.arriving.filled();
        if waiting > 0
            && let Some(depth) = &mut self.depth
        {
            depth.found(waiting);
        }
        while arrived.len() < MOST
            && let Some(descriptor) = self.arriving.pop()
        {
            match self.landed(descriptor) {
                Some(landed) => arrived.push_back(landed),
                None => self.bad_descriptors += 1,
            }
        }
        let found = arrived.len() > before;
        if !found && self.fill.needs_wakeup() {
            // There is nothing to be read; the driver is to look for chunks again.
            let _ = rustix::net::recv(&*self.socket, &mut [0; 0], RecvFlags::DONTWAIT);
        }
        found
    }
}
