//! The endpoint of a rank: one for all its systems, with the packet interface of thesis table 3.1.
//!
//! | thesis | here |
//! |---|---|
//! | `lfc_send_alloc` | [`Packets::packet`] |
//! | `lfc_ucast_launch`, `lfc_bcast_launch`, `lfc_mcast_launch` | [`SendPacket::unicast`], [`SendPacket::broadcast`], [`SendPacket::multicast`] |
//! | `lfc_group_create` | [`Packets::group`] |
//! | `lfc_poll` | [`Packets::poll`] |
//! | `lfc_intr_disable`, `lfc_intr_enable` | [`Packets::interrupts_off`], a guard |
//! | `lfc_upcall` | [`Packets::on_packet`] |
//! | its return value, `lfc_packet_free` | [`Packet::keep`], dropping a [`KeptPacket`] |
//! | `lfc_fetch_and_add` | [`Packets::fetch_and_add`] |
//! | `upcalls_allowed` | [`Upcalls`] |
//!
//! Packets are filled in link memory and read in link memory: this layer copies nothing. Beside
//! packets there are puts and gets, whose sender names the receive buffer: [`Packets::offer`] and
//! [`Packets::connect`].
//!
//! | module | contents |
//! |---|---|
//! | `packets`, `send`, `receive` | the packet interface: one handle for each system |
//! | `puts` | puts and gets, a system of the endpoint's own |
//! | `ni` | the network interface: the only place where protocol, link and clock meet |
//! | [`biased`] | the lock around it (`unsafe`), thesis 6.2.1 |

#![deny(unsafe_code)]

pub mod biased;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod ni;
mod packets;
mod puts;
mod receive;
mod send;

pub use error::{Error, Result};
pub use ni::wait;
pub use ni::{
    AnyNode, Arrival, Destination, Endpoint, Handler, Inspect, Look, Node, Polled, Statistics,
    Step, Taken, USER_VARIABLES, Upcall, Upcalls, Verdict, WaitPolicy, WatchThread,
    default_interrupt_delay, network_settings,
};
pub use packets::{Group, InterruptsOff, Packets, Progress, Variable};
pub use puts::{Block, Heap, HeapName, Landed, Landing, LandingRefused, Reach};
pub use puts::{Connection, Notification, Notifications, ReceiveBuffer, Refusal, Rights, What};
pub use receive::{HeldPacket, KeptPacket, Packet};
pub use send::SendPacket;

// What the layers above need of the two that only this one joins.
pub use weft_link::bell::{Bells, Cause, Loss, Waiter};
pub use weft_link::memory::{MappedMemory, NAME_BYTES, SharedMemory};
pub use weft_link::ni::{NiEvent, NiHalf};
pub use weft_link::{Buffer, Capabilities, Gather, Link, SharedWords, ShortWords, copy_short};
#[cfg(feature = "planted")]
pub use weft_protocol::Bug;
pub use weft_protocol::tree::Shape;
pub use weft_protocol::{Preset, Pupa, Settings, Silence, VARIABLES};
pub use weft_wire::{Protocol, Rank};
