//! Layout of Weft's packets, and nothing else: no state, no memory, no I/O.
//!
//! Every packet is a header and at most one link frame of user bytes (thesis 3.4, fig. 3.1). A
//! [`Header`] has two encodings: the [`network`] form, which an adversary may have written, and the
//! [`compact`] form of links that are lossless, ordered, and know the sender from the place where a
//! packet was found. On Ethernet an [`envelope`] goes around packets in the network form, and one
//! packet may be for [`several`] ranks. Probes of what a [`path`] takes, and pieces of packets that
//! are longer, travel in frames of their own. The headers of packets that are placed in memory of
//! their sender's choice are in [`place`]. All are little-endian on every machine, their sizes are
//! asserted at compile time, and parsing any bytes whatever ends in a value or in what is wrong
//! with them. What packets ask of shared variables is an [`Atomic`].

#![forbid(unsafe_code)]

pub mod atomic;
pub mod compact;
pub mod envelope;
mod header;
mod ids;
pub mod network;
mod order;
pub mod path;
pub mod place;
pub mod several;

pub use atomic::Atomic;
pub use header::{Header, Malformed, Tag};
pub use ids::{Channel, GroupId, Protocol, Rank, TreeId};
pub use order::{Follows, Serial};
