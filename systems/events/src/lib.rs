//! Events: the network service of the C* run-time system of *careful-protocols* (section 5), and
//! data-parallel arrays on it.
//!
//! A job goes through numbered events, all nodes through the same ones. In an event a node may send
//! a message to one other or to all; each node gets one message, or in a *crowd* event one from
//! every other. Messages are fragments, which arrive exactly once and in any order. There are two
//! protocols:
//!
//! | module | what |
//! |---|---|
//! | `frame` | the header before a fragment |
//! | `careful` | 5.3: windows, updates, what broadcasts take along; nothing is ever dropped |
//! | `traditional` | 5.2: implicit acknowledgements, holes asked for, fragments dropped when buffers are full |
//! | `ledger` | which fragments of which event have come: both protocols' |
//! | `machine` | a node: a protocol and its state, without clock, thread or network |
//! | `settings` | which protocol, how many buffers |
//! | `events` | [`Events`]: the machine on the packet layer |
//! | [`invariants`] | what always holds |
//! | [`fuzzing`] | fuzz target for frames of peers |
//! | [`parallel`] | arrays distributed over the nodes: element by element, shifts, reductions |
//!
//! **On what it stands.** The paper's protocols own an adaptor with 128 receive buffers, which
//! drops frames when these are full. Here that adaptor is the packet layer together with a bound on
//! the packets that are *kept* ([`Settings::receive_buffers`]): Weft's packets are themselves
//! reliable, on shared memory and over networks, so that a fragment is lost in one place only, at a
//! receiver whose buffers are full. The careful protocol never gets there; the traditional one
//! does, and repairs it. So both run on every link, the paper's experiments are the same code in
//! the simulator (`bench/paper`), and that they survive loss and reordering of the network is shown
//! without one, on machines in a vector (`machine/tests.rs`). Windows here are end to end, from
//! program to program; the packet layer's credits, from NI to NI, come back as soon as a fragment
//! is taken out of its packet.
//!
//! May use the packet layer. Keeps: windows (`careful_window`), theorem 1 (data never closes a
//! window), bounded buffers (I9), exactly once (I8).

#![forbid(unsafe_code)]

mod careful;
mod events;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
mod golden;
pub mod invariants;
mod ledger;
mod machine;
pub mod parallel;
mod settings;
mod traditional;

pub use events::{Destination, Error, Events, Fragment, Result, Source};
pub use frame::{Flags, Header, Kind};
pub use ledger::Status;
pub use machine::{Breach, Statistics};
pub use settings::{Protocol, Settings};
