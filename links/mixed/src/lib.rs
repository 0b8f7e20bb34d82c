//! A link made of two: a *near* one to the ranks of one's host, which loses nothing, and a *far*
//! one to all others. Ranks of a job on several hosts have it, and those that only a network joins:
//! to them nobody is near.
//!
//! | module | what |
//! |---|---|
//! | `link` | [`Mixed`]: which packet goes where |
//! | `short` | short packets between ranks of one host |
//! | `beside` | what else the two links have |
//! | `waiting` | packets for near ranks that wait until a frame is free for them |
//! | `turns` | turns of the two while both have packets |
//! | `bridge` | one bell for the arrivals of both |
//!
//! Programs fill frames of one of the two: of near memory if anybody is near, so that those are
//! sent without a copy. Packets that cross are copied: a packet for a far rank into its datagram,
//! and a packet that is forwarded into memory of this rank, once for all near ranks that get it,
//! because who owns the memory it is in does not know of other readers: of the members of a group a
//! tree may reach those of a host over another host.
//!
//! May use `links/api` and `wire`. Keeps: packets to a near rank arrive, and in order, even if they
//! had to wait; what waits is bounded by the near ranks' credits (I9).

#![forbid(unsafe_code)]

mod beside;
mod bridge;
mod link;
mod memory;
mod short;
mod turns;
mod waiting;

pub use link::{Mixed, Near};
pub use short::NearShort;
