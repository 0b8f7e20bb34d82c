//! Whoever brings an interface and ranks together: the launcher on each host, or a rank that is
//! alone.

use crate::error::XdpError;
use crate::interface::{Interface, permitted};
use crate::memory::{Mapping, accept};
use crate::multicast::{group_of, of_place};
use crate::port::{HEADROOM, Layout, Mode, PortPlan, XdpPort, XdpSizes};
use crate::program::{Program, Seen};
use crate::ring::{Descriptor, Ring};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, SocketAddrXdpWithSharedUmem, XDP_UMEM_PGOFF_FILL_RING,
    XdpOptionsFlags, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use weft_wire::Rank;

/// The protocol number of Weft's frames, unless told otherwise: IEEE's first for local experiments.
pub const ETHERTYPE: u16 = 0x88B5;

/// A queue that was just given up stays busy for a moment.
const BIND_ATTEMPTS: u32 = 100;
const BIND_PAUSE: Duration = Duration::from_millis(10);

/// Options for the use of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XdpOptions {
    /// The protocol number of Weft's frames.
    pub ethertype: u16,
    /// The queue that they arrive on; of a protocol that it does not know a device makes one of 0.
    pub queue: u32,
}

impl Default for XdpOptions {
    fn default() -> Self {
        XdpOptions { ethertype: ETHERTYPE, queue: 0 }
    }
}

/// An interface with Weft's program on it. The kernel takes the program off when this is dropped,
/// or the process that has it ends in any way, and nobody else has its [`keepers`](Self::keepers).
pub struct XdpHost {
    interface: Interface,
    program: Program,
    options: XdpOptions,
    /// Has the interface accept what goes to groups.
    groups: Option<OwnedFd>,
}

impl XdpHost {
    /// Loads the program and attaches it to `interface`, in the driver if that knows XDP.
    /// Everything but Weft's frames goes on as if nothing were there.
    ///
    /// # Errors
    /// [`XdpError`]: what is missing, and what to do about it.
    pub fn attach(interface: Interface, options: XdpOptions) -> Result<Self, XdpError> {
        permitted()?;
        let program = Program::attach(&interface, options.ethertype, options.queue)?;
        Ok(XdpHost { interface, program, options, groups: None })
    }

    /// The interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Counters of the XDP program: frames of Weft's protocol that it has seen so far.
    ///
    /// # Errors
    /// What the kernel says when it is asked.
    pub fn seen(&self) -> Result<Seen, XdpError> {
        self.program.seen()
    }

    /// Has the interface accept what the network copies for that many ranks of `job` on this host,
    /// and no more what it copied for others. Without this a device may drop it before anybody sees
    /// it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn join(&mut self, job: u32, ranks: u16) -> Result<(), XdpError> {
        // Of no protocol, so that it gets nothing: what it asked for ends with it.
        let socket =
            socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
                .map_err(|error| self.system("making a socket for groups", error.into()))?;
        for place in 0..ranks {
            let address = of_place(group_of(job), place);
            accept(&socket, self.interface.index, address.0)
                .map_err(|error| self.system("joining a group", error))?;
        }
        self.groups = Some(socket);
        Ok(())
    }

    /// Descriptors that keep the program on the interface, and the interface in the groups that it
    /// has joined, as long as any process has them: for those that are to go on when this one ends.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn keepers(&self) -> io::Result<Vec<OwnedFd>> {
        let all = [self.program.link()].into_iter().chain(&self.groups);
        all.map(OwnedFd::try_clone).collect()
    }

    /// Makes a port for each of these ranks of `job` that are on this host, in the order of their
    /// numbers, and has the program give them their frames, those too that the network copied. The
    /// ranks share one queue of the interface, and memory for frames, so this is done once for all
    /// of them.
    ///
    /// # Errors
    /// [`XdpError`], for instance if there are ports already.
    pub fn open(
        &mut self,
        job: u32,
        ranks: &[Rank],
        sizes: XdpSizes,
    ) -> Result<Vec<XdpPort>, XdpError> {
        let layout = Layout::new(&self.interface, ranks.len(), sizes)?;
        let memory = self.make_memory(&layout)?;
        let mut sockets: Vec<OwnedFd> = Vec::with_capacity(ranks.len());
        for (place, &rank) in (0..).zip(ranks) {
            let socket = match sockets.first() {
                None => self.first_socket(&layout, &memory)?,
                Some(first) => self.next_socket(&layout, first)?,
            };
            self.program.add(job, rank, place, &socket)?;
            sockets.push(socket);
        }
        let Some(first) = sockets.first() else { return Ok(Vec::new()) };
        self.fill(&layout, first)?;
        let options = sockopt::xdp_options(first)
            .map_err(|error| self.system("asking how it copies", error.into()))?;
        let zero_copy = options.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY);
        let mode = Mode { attached: self.program.attached, zero_copy };
        let port = |(index, socket)| -> Result<XdpPort, XdpError> {
            let memory = memory
                .try_clone()
                .map_err(|error| self.system("sharing memory for frames", error))?;
            let plan = PortPlan {
                layout,
                index,
                mac: self.interface.mac,
                mtu: self.interface.mtu as u32,
                ethertype: self.options.ethertype,
                mode,
            };
            Ok(XdpPort { plan, socket, memory })
        };
        (0..).zip(sockets).map(port).collect()
    }

    /// Memory that cannot shrink, so that whoever maps it can always touch it.
    fn make_memory(&self, layout: &Layout) -> Result<OwnedFd, XdpError> {
        let make = || -> rustix::io::Result<OwnedFd> {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let memory = rustix::fs::memfd_create("weft-xdp", flags)?;
            rustix::fs::ftruncate(&memory, layout.bytes() as u64)?;
            rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW)?;
            Ok(memory)
        };
        make().map_err(|error| self.system("making memory for frames", error.into()))
    }

    /// The socket that has the queue, and gives the kernel memory for frames.
    fn first_socket(&self, layout: &Layout, memory: &OwnedFd) -> Result<OwnedFd, XdpError> {
        let socket = self.socket(layout)?;
        let mapping = Mapping::of_sealed(memory, layout.bytes())
            .map_err(|error| self.system("mapping memory for frames", error))?;
        let length = layout.bytes() - layout.chunks_start();
        let chunks = mapping.at(layout.chunks_start(), length);
        let region = XdpUmemReg {
            addr: chunks.as_ptr().addr() as u64,
            len: length as u64,
            chunk_size: layout.chunk_bytes,
            headroom: HEADROOM as u32,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        // The kernel keeps the pages, not the mapping.
        sockopt::set_xdp_umem_reg(&socket, region).map_err(|error| match error {
            Errno::NOBUFS => XdpError::Sizes(format!(
                "{} KiB of memory for frames are more than may be locked (ulimit -l)",
                length / 1024
            )),
            error => self.system("giving the kernel memory for frames", error.into()),
        })?;
        sockopt::set_xdp_umem_fill_ring_size(&socket, layout.fill_ring())
            .and_then(|()| {
                let size = layout.completion_ring();
                sockopt::set_xdp_umem_completion_ring_size(&socket, size)
            })
            .map_err(|error| self.system("making rings", error.into()))?;
        // Without a word on copying the kernel does without if the driver can.
        let flags = SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
        let address = self.address(flags);
        for _ in 0..BIND_ATTEMPTS {
            match bind(&socket, &address) {
                Ok(()) => return Ok(socket),
                Err(Errno::BUSY) => std::thread::sleep(BIND_PAUSE),
                Err(error) => return Err(self.system("binding a socket", error.into())),
            }
        }
        Err(XdpError::Busy { interface: self.interface.name.clone(), queue: self.options.queue })
    }

    /// Another socket on the same queue, with the same memory.
    fn next_socket(&self, layout: &Layout, first: &OwnedFd) -> Result<OwnedFd, XdpError> {
        let socket = self.socket(layout)?;
        let address = SocketAddrXdpWithSharedUmem {
            addr: self.address(SocketAddrXdpFlags::XDP_SHARED_UMEM),
            shared_umem_fd: first.as_fd(),
        };
        bind(&socket, &address)
            .map_err(|error| self.system("binding another socket", error.into()))?;
        Ok(socket)
    }

    fn socket(&self, layout: &Layout) -> Result<OwnedFd, XdpError> {
        let flags = SocketFlags::CLOEXEC;
        let socket =
            socket_with(AddressFamily::XDP, SocketType::RAW, flags, None).map_err(|error| {
                match error {
                    Errno::PERM | Errno::ACCESS => XdpError::NotPermitted("CAP_NET_RAW".into()),
                    error => self.system("making a socket", error.into()),
                }
            })?;
        sockopt::set_xdp_rx_ring_size(&socket, layout.receive_ring())
            .and_then(|()| sockopt::set_xdp_tx_ring_size(&socket, layout.send_ring()))
            .map_err(|error| self.system("making rings", error.into()))?;
        Ok(socket)
    }

    /// Gives the kernel all chunks for arrivals.
    fn fill(&self, layout: &Layout, socket: &OwnedFd) -> Result<(), XdpError> {
        let system = |error| self.system("mapping a ring", error);
        let offsets = sockopt::xdp_mmap_offsets(socket).map_err(|error| system(error.into()))?;
        let size = layout.fill_ring();
        let ring = Ring::map(socket.as_fd(), XDP_UMEM_PGOFF_FILL_RING, &offsets.fr, size, 1)
            .map_err(system)?;
        for chunk in layout.first_receive_chunk()..layout.chunks() {
            let at = u64::from(chunk) * u64::from(layout.chunk_bytes);
            let fits = ring.push(Descriptor { at, bytes: 0 });
            assert!(fits, "the ring has room for all chunks");
        }
        Ok(())
    }

    fn address(&self, flags: SocketAddrXdpFlags) -> SocketAddrXdp {
        SocketAddrXdp::new(flags, self.interface.index, self.options.queue)
    }

    fn system(&self, doing: &'static str, error: io::Error) -> XdpError {
        XdpError::System { interface: self.interface.name.clone(), doing, error }
    }
}
