//! An interface with Weft's program on it, and sockets for the ranks of its host.

use crate::capability::check_kernel;
use crate::kernel::accept;
use crate::program::{Program, Seen};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, SocketAddrXdpWithSharedUmem, XdpOptionsFlags, XdpUmemReg,
    XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use rustix::process::{Resource, getrlimit};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use weft_wire::Rank;
use weft_xdp::{
    Attached, Bound, ETHERTYPE, HEADROOM, Interface, Mode, PortLayout, SharedPlan, XdpError,
    XdpPort, XdpSizes, group_of, of_place, with_mapped,
};

/// A queue that was just given up stays busy for a moment, and its memory locked.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Options for the use of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XdpOptions {
    /// The protocol number of Weft's frames.
    pub ethertype: u16,
    /// The queue that they arrive on; of a protocol that it does not know a device makes one of 0.
    pub queue: u32,
    /// Hook for the program; without one the best that the interface has (`weft_xdp::hooks`).
    pub hook: Option<Attached>,
}

impl Default for XdpOptions {
    fn default() -> Self {
        XdpOptions { ethertype: ETHERTYPE, queue: 0, hook: None }
    }
}

/// An interface with Weft's program on it. The kernel takes the program off when this is dropped,
/// or the process that has it ends in any way, and nobody else has its [`link`](Self::link).
pub struct XdpHost {
    interface: Interface,
    program: Program,
    options: XdpOptions,
    /// Has the interface accept what goes to groups.
    groups: Option<OwnedFd>,
}

impl XdpHost {
    /// Loads the program and attaches it to `interface`.
    /// Everything but Weft's frames goes on as if nothing were there.
    ///
    /// # Errors
    /// [`XdpError`]: what is missing, and what to do about it.
    pub fn attach(interface: Interface, options: XdpOptions) -> Result<Self, XdpError> {
        check_kernel()?;
        let program = Program::attach(&interface, options)?;
        Ok(XdpHost { interface, program, options, groups: None })
    }

    /// The interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Counters of the XDP program: frames of Weft's protocol that it has seen so far.
    ///
    /// # Errors
    /// Errors of the kernel when it is asked.
    pub fn seen(&self) -> Result<Seen, XdpError> {
        self.program.seen()
    }

    /// Has the interface accept what the network copies for that many ranks of `job` on this host.
    /// Without this a device may drop it before anybody sees it.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn join(&mut self, job: u32, ranks: u16) -> Result<(), XdpError> {
        let socket = match self.groups.take() {
            Some(socket) => socket,
            // Of no protocol, so that it gets nothing: what it asked for ends with it.
            None => {
                socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
                    .map_err(|error| self.system("making a socket for groups", error.into()))?
            }
        };
        for place in 0..ranks {
            let address = of_place(group_of(job), place);
            accept(&socket, self.interface.index(), address.0)
                .map_err(|error| self.system("joining a group", error))?;
        }
        self.groups = Some(socket);
        Ok(())
    }

    /// Descriptor that keeps the program on the interface, as long as any process has it.
    pub fn link(&self) -> &OwnedFd {
        self.program.link()
    }

    /// The socket that keeps the interface in the groups that it has joined. It is not for others:
    /// whoever has it may hear everything on every interface.
    pub fn into_groups(self) -> Option<OwnedFd> {
        self.groups
    }

    /// Makes a port for each of these ranks of `job` that are on this host, in the order of their
    /// numbers.
    ///
    /// # Errors
    /// [`XdpError`], for instance if there are ports already.
    pub fn open(
        &mut self,
        job: u32,
        ranks: &[Rank],
        sizes: XdpSizes,
    ) -> Result<Vec<XdpPort>, XdpError> {
        let layout = PortLayout::new(&self.interface, ranks.len(), sizes, false)?;
        let seats = (0..).zip(ranks).map(|(place, rank)| (job, *rank, place));
        let ports = self.bind(layout, seats)?.into_ports();
        ports.map_err(|error| self.system("mapping a ring", error))
    }

    /// Makes a socket for each seat (a job, a rank, and which of its job's ranks here it is), and
    /// has the program give them their frames, those too that the network copied. They share one
    /// queue of the interface, and memory for frames, so this is done once for all of them.
    ///
    /// # Errors
    /// [`XdpError`], for instance if there are such sockets already.
    pub fn bind(
        &mut self,
        layout: PortLayout,
        seats: impl Iterator<Item = (u32, Rank, u16)>,
    ) -> Result<Bound, XdpError> {
        let memory = self.make_memory(&layout)?;
        let mut sockets: Vec<OwnedFd> = Vec::with_capacity(layout.ports() as usize);
        for (port, (job, rank, place)) in (0..layout.ports()).zip(seats) {
            let socket = self.socket(&layout, port)?;
            match sockets.first() {
                None => self.bind_first(&layout, &memory, &socket)?,
                Some(first) => self.bind_next(&socket, first)?,
            }
            self.program.add(job, rank, place, &socket)?;
            sockets.push(socket);
        }
        let options = sockets.first().map(sockopt::xdp_options).transpose();
        let options = options.map_err(|error| self.system("asking how it copies", error.into()))?;
        let zero_copy =
            options.is_some_and(|options| options.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY));
        let plan = SharedPlan {
            layout,
            mac: self.interface.mac(),
            mtu: self.interface.mtu() as u32,
            ethertype: self.options.ethertype,
            mode: Mode { attached: self.program.attached, zero_copy },
        };
        Ok(Bound { plan, sockets, memory })
    }

    /// Memory that cannot shrink, so that whoever maps it can always touch it.
    fn make_memory(&self, layout: &PortLayout) -> Result<OwnedFd, XdpError> {
        let make = || -> rustix::io::Result<OwnedFd> {
            let bytes = layout.bytes() as u64;
            if getrlimit(Resource::Fsize).current.is_some_and(|most| most < bytes) {
                // A process that exceeds it is killed before anything can be said.
                return Err(Errno::FBIG);
            }
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let memory = rustix::fs::memfd_create("weft-xdp", flags)?;
            rustix::fs::ftruncate(&memory, bytes)?;
            rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW)?;
            Ok(memory)
        };
        make().map_err(|error| self.system("making memory for frames", error.into()))
    }

    /// Has a socket give the kernel memory for frames, and take the queue.
    fn bind_first(
        &self,
        layout: &PortLayout,
        memory: &OwnedFd,
        socket: &OwnedFd,
    ) -> Result<(), XdpError> {
        let length = layout.bytes() - layout.chunks_start();
        let register = |address| {
            let region = XdpUmemReg {
                addr: address,
                len: length as u64,
                chunk_size: layout.chunk_bytes(),
                headroom: HEADROOM as u32,
                flags: XdpUmemRegFlags::empty(),
                tx_metadata_len: 0,
            };
            patiently(Errno::NOBUFS, || sockopt::set_xdp_umem_reg(socket, region))
        };
        // The kernel keeps the pages, not the mapping.
        let registered = with_mapped(memory, layout.chunks_start(), layout.bytes(), register)
            .map_err(|error| self.system("mapping memory for frames", error))?;
        registered.map_err(|error| match error {
            Errno::NOBUFS => XdpError::Sizes(format!(
                "{} KiB of memory for frames are more than may be locked (ulimit -l)",
                length / 1024
            )),
            error => self.system("giving the kernel memory for frames", error.into()),
        })?;
        sockopt::set_xdp_umem_fill_ring_size(socket, layout.fill_ring())
            .and_then(|()| {
                let size = layout.completion_ring();
                sockopt::set_xdp_umem_completion_ring_size(socket, size)
            })
            .map_err(|error| self.system("making rings", error.into()))?;
        // Without a word on copying the kernel does without if the driver can.
        let flags = SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
        let address = self.address(flags);
        patiently(Errno::BUSY, || bind(socket, &address)).map_err(|error| match error {
            Errno::BUSY => XdpError::Busy {
                interface: self.interface.name().into(),
                queue: self.options.queue,
            },
            error => self.system("binding a socket", error.into()),
        })
    }

    /// Has another socket take the same queue, with the same memory.
    fn bind_next(&self, socket: &OwnedFd, first: &OwnedFd) -> Result<(), XdpError> {
        let address = SocketAddrXdpWithSharedUmem {
            addr: self.address(SocketAddrXdpFlags::XDP_SHARED_UMEM),
            shared_umem_fd: first.as_fd(),
        };
        bind(socket, &address).map_err(|error| self.system("binding another socket", error.into()))
    }

    fn socket(&self, layout: &PortLayout, port: u32) -> Result<OwnedFd, XdpError> {
        let socket = socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None)
            .map_err(|error| self.system("making a socket", error.into()))?;
        sockopt::set_xdp_rx_ring_size(&socket, layout.receive_ring(port))
            .and_then(|()| sockopt::set_xdp_tx_ring_size(&socket, layout.send_ring(port)))
            .map_err(|error| self.system("making rings", error.into()))?;
        Ok(socket)
    }

    fn address(&self, flags: SocketAddrXdpFlags) -> SocketAddrXdp {
        SocketAddrXdp::new(flags, self.interface.index(), self.options.queue)
    }

    fn system(&self, doing: &'static str, error: io::Error) -> XdpError {
        XdpError::System { interface: self.interface.name().into(), doing, error }
    }
}

/// Does `what` until it fails no more with this error, or has done so for long.
fn patiently(passing: Errno, what: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    for _ in 1..ATTEMPTS {
        match what() {
            Err(error) if error == passing => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    what()
}
