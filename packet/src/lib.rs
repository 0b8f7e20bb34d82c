//! The packet interface: thesis table 3.1 in Rust.
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
//! Packets are filled in link memory and read in link memory: this layer copies nothing. Beside packets there are
//! puts and gets, whose sender names the place: [`Packets::offer`] and [`Packets::connect`].

#![deny(unsafe_code)]

#[doc(hidden)]
pub mod fuzzing;
mod packets;
mod place;
mod receive;
mod send;

pub use packets::{Group, InterruptsOff, Packets, Progress, Variable};
pub use place::{Block, Heap, HeapName, Landed, Landing, LandingRefused, Reach};
pub use place::{Connection, Notification, Notifications, ReceiveBuffer, Refusal, Rights, What};
pub use receive::{HeldPacket, KeptPacket, Packet};
pub use send::SendPacket;
pub use weft_node::{
    Cause, Error, Gather, Inspect, Loss, Result, SharedWords, Statistics, Step, Taken, Upcalls,
    copy_short,
};
pub use weft_wire::{Protocol, Rank};
