//! Frames between hosts over UDP: portable, unprivileged, and promising nothing.
//!
//! A datagram is a sealed frame ([`weft_datagram::seal`]) with one or more packets. On the way out
//! small packets to one peer share a datagram, and all datagrams since the last flush leave in one
//! system call, runs of equal ones to one peer as one buffer that the kernel cuts up (UDP_SEGMENT).
//! On the way in one call brings several, those of one run in one piece again (UDP_GRO), into
//! frames that their readers read in place; the first look after an empty one asks for one only, so
//! that a lone packet costs one small call.
//!
//! | module | what |
//! |---|---|
//! | `settings` | [`Udp`], and how it is attached |
//! | `socket` | handing what waits to the kernel |
//! | `landing` | buffers that the kernel may write to |
//! | `path_mtu` | the longest packets that a path takes |
//! | `multicast` | datagrams that the network copies |
//! | `batch` | sendmmsg, recvmmsg and socket options (`unsafe`) |
//!
//! A packet is copied once on its way out, from the frame where it was filled into the datagram:
//! then its frame is free for other destinations, each with a header of its own, and encryption may
//! change the bytes. The kernel copies them again; the first copy costs some ten nanoseconds of the
//! microsecond that this takes.
//!
//! May use `links/api`, `links/datagram`, which packs, seals and holds datagrams, and `wire`.

#![deny(unsafe_code)]

mod batch;
mod landing;
mod multicast;
mod path_mtu;
mod settings;
mod socket;

pub use multicast::{group_of, join};
pub use path_mtu::path_mtu;
pub use settings::{Udp, UdpSettings, attach};
pub use socket::Socket;
/// Ranks that one datagram reaches at most.
pub use weft_wire::several::MOST as RECEIVERS_MAX;
