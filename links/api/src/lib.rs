//! Interface of a link, which moves frames between ranks. A link knows no protocol: not which
//! packets may be sent, nor when, nor what to do about lost ones.
//!
//! Frames are in *link memory*, so that no layer copies them to hand them on:
//!
//! ```text
//!   out:  alloc ──▶ fill ──▶ transmit (to one, or to several in turn) ──▶ free
//!   in:   receive ──▶ read, transmit onwards ──▶ free
//! ```
//!
//! A [`Buffer`] names a frame of either kind. It is a number, because a protocol queues it
//! and several destinations share it. Each buffer has one owner and is freed once (invariant I4).
//! The move-only types of the protocol keep that, and a link may rely on it.
//!
//! | module | what |
//! |---|---|
//! | here | [`Link`], its [`Capabilities`], [`Buffer`]; packets |
//! | here | besides: [`ShortPackets`], [`Network`], [`Paths`], [`SharedFrames`], [`Services`] |
//! | [`bell`] | bells, by which a thread sleeps until a frame arrives |
//! | [`clock`] | time, and the cost of work |
//! | [`Gather`] | gather lists: bytes in pieces, put together where a packet leaves from |
//! | [`gauge`] | counts that others may see while a rank runs |
//! | [`memory`] | memory beside frames: that of peers, and of the program |
//! | [`ni`] | NI half of the protocols, where it runs apart from the host |
//! | [`sync`] | atomics and fences of threads that share memory, which loom can check |
//! | [`threads`] | threads of a rank, and words that each has to itself |
//! | [`wrap`] | faults, capture, counters and traces around any link |

#![forbid(unsafe_code)]

pub mod bell;
mod buffer;
pub mod clock;
mod frames;
mod gather;
pub mod gauge;
mod link;
pub mod memory;
mod network;
pub mod ni;
mod packet;
mod part;
mod services;
mod short;
pub mod status;
pub mod sync;
pub mod threads;
pub mod timer;
pub mod wrap;

pub use buffer::{Buffer, Layer};
pub use frames::SharedFrames;
pub use gather::{Gather, copy_short};
pub use link::{Capabilities, Link, TURN};
pub use network::{Network, NoNetwork, PathMtu, Paths, has_buffered, has_unflushed};
pub use packet::{BadFrame, LinkViolation, Payload, Plain, Received, ReceivedPlain, ShortWords};
pub use part::LinkPart;
pub use services::{Services, SharedWords};
pub use short::{Glance, NoGlance, NoShort, ShortPackets};
