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
//! | `engine` | what a program has of all these |
//! | `messages` | what a rank's ports, readers and senders share; `state` is what they lock |
//! | `poll`, `sort`, `run` | what packets become: messages at ports; handlers, one a port |
//! | `wait`, `seats`, `tasks` | which thread polls, and what is woken |
//! | [`Port`], [`Mailbox`] | sending; receiving by upcall, or by asking |
//! | [`Message`] | reading a stream message |
//! | `announced`, `arrived` | what becomes of a packet; a message's box |
//! | [`machine`] | what packets mean, sans-IO |
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
#[cfg(test)]
mod golden;
mod handler;
mod headers;
pub mod machine;
mod message;
mod messages;
mod numbers;
pub mod order;
mod parts;
mod poll;
mod popup;
mod port;
mod posted_receive;
mod reports;
pub mod rpc;
mod run;
mod seats;
mod selective;
mod send;
mod sharing;
mod short;
mod sleep;
mod sort;
mod state;
mod statistics;
pub mod sync;
mod tasks;
mod wait;

pub use barrier::Barrier;
/// Fuzz targets for what members of an order say.
pub mod fuzzing {
    pub use crate::order::fuzzing::{order, order_view};
}

pub use completion::{Completer, Completion};
pub use engine::Engine;
pub use error::{Error, Result};
pub use headers::HeaderStack;
pub use machine::WINDOW_BYTES;
pub use message::{Headers, Message};
pub use order::{
    Disorder, Order, OrderEvent, OrderMailbox, OrderStatistics, OrderWindow, OrderedMessage, Orders,
};
pub use parts::Parts;
pub use port::{Mailbox, Port};
pub use reports::Reports;
pub use selective::Selection;
pub use statistics::Statistics;
