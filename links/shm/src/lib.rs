//! The link between ranks of one host: memory that all of them map.
//!
//! Every rank has one *segment*, a sealed memfd that its peers receive over a socket (DESIGN 5):
//!
//! ```text
//! ┌────────────────── all ranks write ──────────────────┬────────────── only the owner writes ──────────────┐
//! │ control  │ words      │ board     │ releases        │ rings             │ frames          │ card        │
//! │ bells,   │ fetch-and- │ what they │ per frame, one  │ one per peer: 64- │ user bytes too  │ whose       │
//! │ flags    │ add, 64    │ agree on  │ byte per reader │ byte slots        │ long for a slot │ process     │
//! └──────────┴────────────┴───────────┴─────────────────┴───────────────────┴─────────────────┴─────────────┘
//! ```
//!
//! A packet of up to 48 bytes costs one cache-line transfer: header, bytes and the flag that says
//! "written" are one slot of the ring from its sender to its receiver. A longer one stays where
//! its sender wrote it, and the slot refers to it; several slots may refer to one frame, so that a
//! multicast is written once. Peers map the owner's half read-only, and every number that a peer
//! wrote is checked before it is used.
//!
//! | module | what |
//! |---|---|
//! | `memory` | mapping memfds; typed views of the map (`unsafe`) |
//! | [`segment`] | the layout of a segment, made and sealed, mapped |
//! | [`ring`], `prefetch` | the ring of slots between two ranks |
//! | `pool` | frames that this rank sends from |
//! | `inbox` | what this rank has received and not given back |
//! | `lent` | memory that a peer writes itself |
//! | `reach`, `process` | memory of other ranks' processes, out of which the kernel copies (`unsafe`) |
//! | `rings` | the rings to a rank, at which any thread may glance |
//! | `doorbell` | which rings to poll; who sleeps and wants to be woken |
//! | `link` | all of it as a [`weft_link::Link`] |
//! | `supervisor` | the launcher's view |

#![deny(unsafe_code)]

mod atomics;
mod prefetch;
pub mod ring;

// Under loom only the ring is built: it alone is checked against all orders of its accesses.
#[cfg(not(loom))]
mod doorbell;
#[cfg(not(loom))]
mod inbox;
#[cfg(not(loom))]
mod lent;
#[cfg(not(loom))]
mod link;
#[cfg(not(loom))]
pub mod memory;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod process;
#[cfg(not(loom))]
mod reach;
#[cfg(not(loom))]
mod rings;
#[cfg(not(loom))]
pub mod segment;
#[cfg(not(loom))]
mod supervisor;

#[cfg(not(loom))]
pub use link::{AttachError, Shm};
#[cfg(not(loom))]
pub use reach::out_of_reach;
#[cfg(not(loom))]
pub use segment::{MAX_RANKS, Settings, create_segment, create_segments};
#[cfg(not(loom))]
pub use supervisor::Supervisor;
