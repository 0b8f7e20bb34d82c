//! Frames between hosts over AF_XDP: Ethernet without the kernel's network stack, beside it.
//!
//! A small program (`bpf/weft.bpf.c`) looks at each frame that an interface receives. Weft's own it
//! gives to the socket of the rank that they are for, those for nobody here it drops, everything
//! else passes on as ever. Frames lie in memory that the kernel, or the device itself, fills and
//! empties: a packet is filled and read where it lies.
//!
//! | module | what |
//! |---|---|
//! | `interface`, `features` | what must be true before an interface can be used, and what its driver can |
//! | `program` | the XDP program: attached, told which socket is for whom, asked what it counted |
//! | `host` | [`XdpHost`]: the program on an interface, and ports for the ranks of this host |
//! | `port` | [`XdpPort`]: what a rank needs, to be handed to its process; how memory is laid out |
//! | `ring`, `memory` | the rings, and chunks of memory (`unsafe`) |
//! | `rings` | one rank's end of the rings |
//! | `frames` | the frames that a program fills |
//! | `multicast` | frames that the network copies |
//! | `link` | [`Xdp`] |
//! | `raw` | [`Raw`]: the same rings without a protocol, for measuring |
//!
//! The kernel has one place for sockets at each queue of an interface, so the ranks of a host share
//! it, and with it the memory for frames; one process makes all of it, with the capabilities that
//! this takes, and hands each rank its [`XdpPort`], for which none is needed. When that process
//! ends, and no other has what keeps the program ([`XdpHost::keepers`]), the kernel takes it off.
//!
//! May use `links/api`, `links/datagram`, `links/seal` and `wire`. Keeps: nothing of a frame is
//! used before it was opened; a chunk has one owner; no rank can use up what others receive with;
//! nothing of it outlives the processes.

#![deny(unsafe_code)]

mod depth;
mod error;
mod features;
mod frames;
mod host;
mod interface;
mod link;
mod memory;
mod multicast;
mod port;
mod program;
mod raw;
mod ring;
mod rings;

pub use error::{MOST_MTU, XdpError};
pub use features::runs_programs;
pub use host::{ETHERTYPE, XdpHost, XdpOptions};
pub use interface::{Interface, MacAddress, give_up_capabilities, permitted};
pub use link::{Counters, Xdp, XdpSettings};
pub use multicast::group_of;
pub use port::{Mode, PortPlan, XdpPort, XdpSizes};
pub use program::{Attached, Seen, is_built};
pub use raw::Raw;
