//! The link of all networks of datagrams, for any device: packets travel sealed, several to a
//! datagram, over a network that may lose them.
//!
//! | module | what |
//! |---|---|
//! | `link` | [`DatagramLink`], one rank's attachment |
//! | `device` | [`Device`], what carries its datagrams |
//! | `outgoing` | datagrams that wait for the flush, their packing, and multicasts that share one |
//! | `incoming` | datagrams that arrived, and the places that hold them while somebody reads |
//! | `way` | the length of frames that reach a peer, found by probes |
//! | `pieces` | packets that are longer than that |
//! | `frames` | frames that a program fills, in places that leave and come back |
//! | [`memory`] | places (`unsafe`) |
//! | `bells` | sleeping in poll(2) |
//! | [`seal`] | who wrote a frame: keys, tags, replays |
//! | [`channel`] | datagrams with descriptors between processes of one host, which are handed sockets |
//!
//! A *place* is memory that holds one datagram, or several that arrived together: private memory,
//! or for AF_XDP a chunk of memory that the kernel shares. Devices bring the system calls.
//!
//! May use `links/api` and `wire`. Keeps: nothing of a datagram is used before it was
//! opened; queues and places are bounded (I9); one place is never lent to readers, so that packets
//! that need none always get through (I5); no message of the network's says how long frames may be,
//! only sealed answers of peers do.

#![deny(unsafe_code)]

mod bells;
pub mod channel;
mod device;
mod frames;
mod link;
pub mod memory;
mod pieces;
mod receive_queue;
pub mod seal;
mod send_queue;
mod way;

pub use bells::DatagramBells;
pub use device::{Device, InOnePiece, Queues};
pub use link::{Batches, Counters, DatagramLink, DatagramSettings, WAITING};
pub use receive_queue::{
    ArrivalCounters, ArrivalSource, Landed, OWN, PendingAnswers, ReceiveQueue,
};
pub use send_queue::{Datagram, SendQueue, Sent, WayChange};
