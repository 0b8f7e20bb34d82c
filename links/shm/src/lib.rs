//! Link between ranks of one host: memory that all of them map.
//!
//! Every rank has one *segment* in it, and all segments are in one sealed memfd, which each rank
//! receives over a socket. A segment:
//!
//! ```text
//! ┌──────────────── all ranks write ─────────────────┬────────── only the owner writes ─────────┐
//! │ control │ words      │ arena     │ releases      │ rings          │ frames    │ id.  │ trace │
//! │ bells,  │ atomic op- │ shared by │ per frame, a  │ one a peer, of │ for more  │ and  │ if    │
//! │ flags   │ erations   │ teams     │ byte a reader │ 128-byte slots │ than that │ wait │ asked │
//! └─────────┴────────────┴───────────┴───────────────┴────────────────┴───────────┴──────┴───────┘
//! ```
//!
//! A packet of up to 48 bytes costs one cache-line transfer: header, bytes and the flag that marks
//! it as written are one slot of the ring from its sender to its receiver. One of up to 112 bytes
//! costs two. A longer one stays where its sender wrote it, and the slot refers to it. Several
//! slots may refer to one frame, so that a multicast is written once. Peers map the owner's half
//! read-only, and every number that a peer wrote is checked before it is used.
//!
//! | module | what |
//! |---|---|
//! | `memory` | mappings of memfds, and typed views of them (`unsafe`) |
//! | [`segment`] | layout of the memory, its creation and mapping |
//! | [`ring`], `prefetch` | ring of slots between two ranks |
//! | `pool` | frames that this rank sends from |
//! | `inbox` | packets that were received and not released |
//! | `exported` | memory of this rank that a peer writes itself |
//! | `cross_memory`, `process` | copies by the kernel out of other ranks' processes (`unsafe`) |
//! | `rings` | rings to a rank, at which any thread may glance |
//! | `control`, `doorbell`, `futex` | rings to be polled, and sleepers to be woken |
//! | `words` | variables of atomic operations, and arenas |
//! | `link` | all of it as a [`weft_link::Link`] |
//! | `status` | what a rank waits for, which the launcher reads |
//! | `gauge` | counts of a rank, which the launcher asks for |
//! | `trace` | ring of what happened to a rank, which the launcher empties |
//! | `supervisor` | access of the launcher to all segments |
//! | `refused` | errors of calls that a filter refuses |

#![deny(unsafe_code)]
#![cfg_attr(loom, allow(dead_code, reason = "the link is not built"))]

mod control;
mod doorbell;
mod futex;
#[cfg(not(loom))]
pub mod memory;
#[cfg(loom)]
#[path = "memory/model.rs"]
pub mod memory;
mod prefetch;
#[cfg(not(loom))]
mod refused;
pub mod ring;
mod rings;

// Under loom only what is above is built: rings and doorbells, which are checked against all orders
// of their accesses.
#[cfg(not(loom))]
mod cross_memory;
#[cfg(not(loom))]
mod exported;
#[cfg(not(loom))]
mod gauge;
#[cfg(not(loom))]
mod inbox;
#[cfg(not(loom))]
mod link;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod process;
#[cfg(not(loom))]
pub mod segment;
#[cfg(not(loom))]
mod status;
#[cfg(not(loom))]
mod supervisor;
#[cfg(not(loom))]
mod trace;
#[cfg(not(loom))]
mod words;

#[cfg(not(loom))]
pub use cross_memory::cross_memory_restriction;
#[cfg(not(loom))]
pub use link::{AttachError, Shm};
#[cfg(not(loom))]
pub use refused::name_refusal;
#[cfg(not(loom))]
pub use segment::{FULL_WINDOW_RANKS, MAX_RANKS, Settings, create_memory};
#[cfg(not(loom))]
pub use supervisor::Supervisor;
#[cfg(not(loom))]
pub use trace::TraceRing;
