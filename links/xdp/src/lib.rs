//! Frames between hosts over AF_XDP: Ethernet without the kernel's network stack, beside it.
//!
//! A small program (`net/bpf/weft.bpf.c`) looks at each frame that an interface receives. Weft's
//! own it gives to the socket of the rank that they are for, those for nobody here it drops,
//! everything else passes on as ever. Frames lie in memory that the kernel, or the device itself,
//! fills and empties: a packet is filled and read where it lies.
//!
//! | module | what |
//! |---|---|
//! | `interface`, `features` | what must be true before an interface can be used, and what its driver can |
//! | `take` | interfaces had from `weft-net`, the program that has the capabilities (package `net/`) |
//! | `request` | what it is asked, and what it answers |
//! | `port` | [`XdpPort`]: what a rank needs, to be handed to its process; how memory is laid out |
//! | `ring` | one ring |
//! | `memory` | calls of the kernel (`unsafe`) |
//! | `rings` | one rank's end of the rings |
//! | `multicast` | frames that the network copies |
//! | `ethernet` | [`Xdp`], and how it is attached |
//! | `raw` | [`Raw`]: the same rings without a protocol, for measuring |
//!
//! The kernel has one place for sockets at each queue of an interface, so the ranks of a host share
//! it, and with it the memory for frames. `weft-net` makes all of it and hands it to whoever asked,
//! who hands each rank its [`XdpPort`]: nothing here needs a capability, or uses one. When nobody
//! has any more what keeps the XDP program ([`TakenInterface::program`]), the kernel takes it off.
//!
//! May use `links/api`, `links/datagram` and `wire`. Keeps: nothing of a frame is
//! used before it was opened; a chunk has one owner; no rank can use up what others receive with;
//! nothing of it outlives the processes.

#![deny(unsafe_code)]

mod depth;
mod error;
mod ethernet;
mod features;
mod interface;
mod memory;
mod multicast;
mod port;
mod raw;
pub mod request;
mod ring;
mod rings;
mod take;

pub use error::{MOST_MTU, XdpError};
pub use ethernet::{Ethernet, Xdp, XdpSettings, attach};
pub use features::{hooks, is_pair, runs_programs};
pub use interface::{Interface, MacAddress};
pub use memory::with_mapped;
pub use multicast::{group_of, of_place};
pub use port::{
    Attached, Bound, HEADROOM, Mode, PortLayout, PortPlan, SharedPlan, XdpPort, XdpSizes,
};
pub use raw::Raw;
pub use request::{Greeter, SocketRequest};
pub use take::{TakenInterface, permitted, take};

/// The protocol number of Weft's frames, unless told otherwise: IEEE's first for local experiments.
pub const ETHERTYPE: u16 = 0x88B5;
