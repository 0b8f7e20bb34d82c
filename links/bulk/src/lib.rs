//! Long packets between hosts over TCP, beside a link that sends datagrams.
//!
//! A *far* link carries packets that fit its datagrams. This one, around it, has longer ones too,
//! of 64 KiB, and sends those as records over a TCP connection to the rank that they are for: TCP
//! is what network cards and kernels cut up, put together and pace best. Systems know nothing of
//! it: they fill frames and get packets as ever, only that they are longer.
//!
//! | module | what |
//! |---|---|
//! | `link`, `link::receiving` | [`Bulk`]: the way of each packet, and the order of arrivals |
//! | `ways` | connections to others: begun, given up, begun again |
//! | `connection` | one of them, and the records that wait for it |
//! | `arrivals` | connections from others, and those that have not shown whose they are |
//! | `reader` | one of them, and the record that is being read |
//! | `posted` | memory of the program that bodies are read into (`unsafe`) |
//! | `record` | what a record must say before it is read |
//! | `unsent` | what the kernel still has of a connection (`unsafe`) |
//! | `frames`, `memory` | frames to send from (`unsafe`) |
//! | `runs` | a link beside the far one for packets of several datagrams |
//!
//! **Connections** go one way: whoever has a long packet for a rank connects to it. So two never
//! meet, and either side begins again without asking the other. The first record is a hello.
//!
//! **Order is as of one.** What a packet follows is the protocol's to say ([`weft_wire::Follows`]),
//! and all that this link knows of it. Once a long packet has gone to a rank, whatever follows
//! others goes there by the same connection, and has a serial number of this link's, until the
//! protocol says that all was taken, or that rank's kernel has all that was sent there. A rank
//! hands a record over only when a look at the datagrams after it was whole has found none; and
//! what comes by datagram with a gap before it only when a look at the connection has found no
//! record. What follows nothing goes by datagram always (I5). What goes as a run is a datagram in
//! this; by which of the two links a packet comes, one with a gap before it waits for a look at the
//! other.
//!
//! **Loss is as of one.** What a broken connection had is lost, and sent again by the protocol.
//! Where there is no connection long packets go in pieces by datagram, which is slower. Whether
//! something is under way still the link says when it is asked.
//!
//! **Trust.** Records are sealed as datagrams are, under keys of their own. Nothing of a connection
//! is believed before its hello is authentic; those without one are bounded in number and time.
//!
//! May use `links/api`, `links/datagram` and `wire`. Keeps: I5 and order as above;
//! what waits for a connection is bounded by frames and by a count (I9); a buffer that waits is
//! not given to others (I4).

#![deny(unsafe_code)]

mod arrivals;
mod connection;
mod frames;
mod link;
mod memory;
mod posted;
mod questions;
mod reader;
mod record;
mod runs;
mod unsent;
mod ways;

pub use link::{Bulk, BulkSettings, Counters, keys};
pub use record::{BadRecord, Expected, PAYLOAD_MAX};
pub use runs::{RunLink, RunSettings};
