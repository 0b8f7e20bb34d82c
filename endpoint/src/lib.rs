//! The endpoint of a rank: one for all its systems, with the packet interface of thesis table 3.1.
//!
//! | thesis | here |
//! |---|---|
//! | `lfc_send_alloc` | [`Packets::packet`] |
//! | `lfc_ucast_launch` | [`SendPacket::unicast`] |
//! | `lfc_bcast_launch` | [`SendPacket::broadcast`] |
//! | `lfc_mcast_launch` | [`SendPacket::multicast`] |
//! | `lfc_group_create` | [`Packets::group`] |
//! | `lfc_poll` | [`Packets::poll`] |
//! | `lfc_intr_disable`, `lfc_intr_enable` | [`Packets::interrupts_off`], a guard |
//! | `lfc_upcall` | [`Packets::on_packet`] |
//! | its return value, `lfc_packet_free` | [`Packet::keep`], dropping a [`KeptPacket`] |
//! | `lfc_fetch_and_add` | [`Packets::fetch_and_add`], [`Packets::atomic`] |
//! | `upcalls_allowed` | [`Upcalls`] |
//!
//! Packets are filled in link memory and read in link memory: this layer copies nothing. Beside
//! packets there are puts and gets, whose sender names the receive buffer: [`Packets::puts`].
//!
//! | module | contents |
//! |---|---|
//! | `packets`, `send`, `receive` | the packet interface: one handle for each system |
//! | `handle` | what that, packets to send, puts and views have in common |
//! | `duties`, `progress` | packets and work that one system takes on for another |
//! | `deferred` | what a system sends by itself, and what of it waits for packets |
//! | `copy` | copies into frames and out of them (`unsafe`) |
//! | `memory` | memory that packets leave from, and that their bytes are read into (`unsafe`) |
//! | `trace` | spans of time, and what no packet tells of |
//! | `puts` | puts and gets, a system of the endpoint's own |
//! | `threads` | threads of a program, or its coroutines |
//! | [`machine`] | what a pause takes here, and a line from core to core |
//! | [`presence`] | which thread looks, sleeps, flushes and rings when, as machines |
//! | `ni` | the network interface: the only place where protocol, link and clock meet |
//! | [`biased`] | the lock around it (`unsafe`), thesis 6.2.1 |

#![deny(unsafe_code)]
#![cfg_attr(loom, allow(dead_code, reason = "the node is not built"))]

pub mod biased;
mod group;
pub mod presence;

// Under loom only what is above is built, for the collectives, which need no more.
#[cfg(not(loom))]
mod copy;
#[cfg(not(loom))]
mod deferred;
#[cfg(not(loom))]
mod duties;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(not(loom))]
mod handle;
#[cfg(not(loom))]
mod link_memory;
#[cfg(not(loom))]
pub mod machine;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
mod ni;
#[cfg(not(loom))]
mod packets;
#[cfg(not(loom))]
mod progress;
#[cfg(not(loom))]
mod puts;
#[cfg(not(loom))]
mod receive;
#[cfg(not(loom))]
mod send;
#[cfg(not(loom))]
mod threads;
#[cfg(not(loom))]
mod trace;
#[cfg(not(loom))]
mod variable;

#[cfg(not(loom))]
pub use copy::{copy_out, copy_out_to};
#[cfg(not(loom))]
pub use deferred::{Batch, DeferredSends};
#[cfg(not(loom))]
pub use duties::Progress;
#[cfg(not(loom))]
pub use error::{Error, Result};
#[cfg(not(loom))]
pub use memory::{Borrowed, Loan, Memory, POSTED_HEAD_BYTES, Posted, PostedHead};
#[cfg(not(loom))]
pub(crate) use ni::{
    AnyNode, Arrival, Destination, Endpoint, Handler, Polled, Verdict, WeakEndpoint,
};
#[cfg(not(loom))]
pub use ni::{
    Inspect, Node, Pauses, Place, Statistics, Taken, Upcalls, WaitPolicy, WatchThread,
    default_interrupt_delay, network_settings, quota,
};
#[cfg(not(loom))]
pub use packets::{
    AtomicOperations, HeldPacket, InterruptsOff, Losses, Packets, Presence, Sorting, System,
    WaitNotice,
};
#[cfg(not(loom))]
pub use presence::{backoff::Step, contention::Core};
#[cfg(not(loom))]
pub use puts::{
    Block, ClosedLanding, Heap, HeapName, Landing, LandingRefused, Puts, ReadBlock, RemoteHeap,
};
#[cfg(not(loom))]
pub use puts::{
    Connection, Notification, NotificationKind, Notifications, ReceiveBuffer, Refusal, Rights,
};
#[cfg(not(loom))]
pub use receive::{KeptPacket, Packet};
#[cfg(not(loom))]
pub use send::SendPacket;
#[cfg(not(loom))]
pub use threads::{Thread, this_coroutine};
#[cfg(not(loom))]
pub use trace::{Span, Trace};
#[cfg(not(loom))]
pub use variable::{SYSTEM_VARIABLES, USER_VARIABLES, Variable};

pub use group::Group;

// Re-exports of the link and the protocol for the layers above, which depend on neither.
pub use weft_link::bell::{Bells, Cause, Loss, Waiter};
pub use weft_link::status::{Awaited, TeamMeeting, Whom};
pub use weft_link::sync;
pub use weft_link::threads::Word;
pub use weft_link::{Gather, Link, SharedWords, ShortWords, copy_short};
#[cfg(feature = "planted")]
pub use weft_protocol::Bug;
pub use weft_protocol::tree::Shape;
pub use weft_protocol::{Broken, Preset, Pupa, Settings, Silence};
pub use weft_wire::{Atomic, Protocol, Rank};
