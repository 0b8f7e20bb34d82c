//! Weft for Rust programs.
//!
//! ```no_run
//! use weft::prelude::*;
//!
//! #[weft::main] // found by `weft run`
//! fn main(weft: Weft) -> weft::Result<()> {
//!     let hello = weft.port("hello", |mut msg| println!("{} heard {:?}", msg.to(), msg.text()))?;
//!     weft.barrier()?;
//!     if weft.rank() == 0 {
//!         hello.broadcast("good morning")?;
//!     }
//!     weft.barrier()
//! }
//! ```
//!
//! `weft run -n 4 -- PROGRAM` starts four ranks of a program; started by itself it is a job of one
//! rank. [`join`] and [`Weft`] speak messages; [`join_packets`] and [`run_packets`] stay at the
//! packet interface, for runtime systems that need no more.

#![forbid(unsafe_code)]

mod backend;
mod error;
mod fabric;
mod network;
mod options;
mod program;
pub mod service;
mod session;
mod statistics;
mod weft;

#[doc(hidden)]
pub use backend::{Backend, Guard};
pub use error::{Error, Result};
pub use program::{Outcome, join, join_at, join_for, run, run_for};
pub use service::{CallError, Reply};
pub use session::{PacketJob, join_packets, run_packets};
pub use statistics::Statistics;
pub use weft::Weft;
#[doc(hidden)]
pub use weft_endpoint::quota;
pub use weft_endpoint::{
    Atomic, Cause, Connection, Group, KeptPacket, Loss, Notification, NotificationKind,
    Notifications, Packet, Packets, Rank, ReceiveBuffer, Refusal, Rights, SendPacket, Span, Step,
    Upcalls, Variable,
};
pub use weft_launch::OnLoss;
pub use weft_macros::{main, service};
pub use weft_messaging::collective;
pub use weft_messaging::rpc::{Call, Client, Request, Rpc, Service};
pub use weft_messaging::{
    Completion, HeaderStack, Mailbox, Message, Order, OrderEvent, OrderMailbox, OrderStatistics,
    OrderedMessage, Orders, Parts, Port, Selection, sync,
};

/// Names that most programs use.
pub mod prelude {
    pub use crate::collective::{Counter, Team};
    pub use crate::{Group, Mailbox, Message, Order, OrderedMessage, Port, Rank};
    pub use crate::{Statistics, Variable, Weft};
    pub use std::io::IoSlice;
}
