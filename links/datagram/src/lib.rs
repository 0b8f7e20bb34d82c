//! Code shared by links that send datagrams: their packets travel sealed, several to a datagram,
//! over a network that may lose them.
//!
//! | module | what |
//! |---|---|
//! | `outgoing` | datagrams that wait for the flush, their packing, and multicasts that share one |
//! | `incoming` | datagrams that arrived, and the places that hold them while somebody reads |
//! | `bells` | sleeping in poll(2) |
//!
//! A *place* is memory that holds one datagram, or several that arrived together: a box for UDP, a
//! chunk of shared memory for AF_XDP. Links bring the places and the system calls.
//!
//! May use `links/api`, `links/seal` and `wire`. Keeps: nothing of a datagram is used before it was
//! opened; queues and places are bounded (I9); one place is never lent to readers, so that packets
//! that need none always get through (I5).

#![forbid(unsafe_code)]

mod bells;
mod incoming;
mod outgoing;

pub use bells::DatagramBells;
pub use incoming::{Arrived, Incoming, Landed, Source};
pub use outgoing::{Datagram, Outgoing, Sent};
