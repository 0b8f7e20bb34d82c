//! Messages of any size between ports (thesis 6.1, 6.3).
//!
//! A message is gathered from an I/O vector straight into packets, and is a *stream message* at
//! the other end: its handler starts when the first packet is there, and reads on while the rest
//! arrives. Sending, the wire, and reading are a pipeline; nothing is reassembled and nothing is
//! copied but once into packets and once out of them, if the reader wants a copy at all.
//!
//! | module | what |
//! |---|---|
//! | [`format`](mod@format) | the message header in each packet |
//! | `engine` | what packets become: messages queued at ports; handlers run one a port |
//! | [`Port`], [`Mailbox`] | sending; receiving by upcall, or by asking |
//! | [`Message`] | reading a stream message |
//! | `announced`, `arrived` | what becomes of a packet; a message's box |
//! | `arriving`, `rendezvous` | messages that are not all here; those whose senders ask first |
//! | `owed` | control packets that wait for frames |
//! | [`HeaderStack`] | headers of several layers in one buffer |
//! | [`collective`] | what all members of a [`Team`](collective::Team) do together |
//! | [`rpc`] | remote procedure call |
//! | [`sync`] | locks and conditions that handlers may wait for |
//! | `barrier` | waiting for all ranks |
//! | [`order`] | totally-ordered broadcast |
//!
//! Packets of different messages may interleave (a handler may send while the program is in the
//! middle of sending), so every packet names its message; the thesis's Panda forbade that instead.

#![forbid(unsafe_code)]

mod announced;
mod arrived;
mod barrier;
mod cached;
pub mod collective;
mod completion;
mod engine;
mod error;
pub mod format;
mod handler;
mod headers;
pub mod machine;
mod message;
pub mod order;
mod parts;
mod popup;
mod port;
mod reports;
pub mod rpc;
mod seats;
mod send;
mod short;
mod state;
pub mod sync;
mod tasks;
mod wait;

pub use barrier::Barrier;
/// Fuzz target for what members of an order say.
pub mod fuzzing {
    pub use crate::order::fuzzing::order;
}

pub use completion::{Completer, Completion};
pub use engine::{Engine, Statistics};
pub use error::{Error, Result};
pub use headers::HeaderStack;
pub use machine::WINDOW_BYTES;
pub use message::{Headers, Message};
pub use order::{
    Disorder, Order, OrderMailbox, OrderStatistics, OrderWindow, OrderedMessage, Orders,
};
pub use parts::Parts;
pub use port::{Mailbox, Port};
