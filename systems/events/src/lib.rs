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
//! | `endpoint` | a node: a protocol and its books, without clock, thread or network |
//! | `settings` | which protocol, how many buffers |
//! | `events` | [`Events`]: an endpoint on the packet layer |
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
//! without one, on endpoints in a vector (`endpoint/tests.rs`). Windows here are end to end, from
//! program to program; the packet layer's credits, from NI to NI, come back as soon as a fragment
//! is taken out of its packet.
//!
//! May use the packet layer. Keeps: windows (`careful_window`), theorem 1 (data never closes a
//! window), bounded buffers (I9), exactly once (I8).

#![forbid(unsafe_code)]

mod careful;
mod endpoint;
mod events;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod invariants;
mod ledger;
pub mod parallel;
mod settings;
mod traditional;

pub use events::{Destination, Error, Events, Fragment, Result, Source};
pub use frame::{Flags, Header, Kind};
pub use settings::{Protocol, Settings};

use weft_endpoint::Rank;

/// Status of what follows a fragment (careful-protocols 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// `MORE`: more fragments of this message have come or will come.
    More,
    /// `NODE_DONE`: this was the last of this node, and other nodes' follow.
    NodeDone,
    /// `EVENT_DONE`: this was the last of the event.
    EventDone,
}

/// Violation of the protocol by a peer: no correct node does this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Breach {
    /// Not even a header.
    #[error("rank {0} sent something that is no event frame")]
    Frame(Rank),
    /// A frame of the other protocol.
    #[error("rank {0} speaks another protocol of events: all ranks take the same settings")]
    Protocol(Rank),
    /// More than its window allows.
    #[error("rank {0} sent beyond its window: all ranks take the same settings")]
    Window(Rank),
    /// A fragment of a message that is complete, or of one too many.
    #[error(
        "rank {0} sent more in event {1} than the event has: one message a node, or in a crowd one from \
         every other"
    )]
    Surplus(Rank, u32),
}

/// Counters of a node so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Fragments sent; a broadcast is one.
    pub fragments_sent: u64,
    /// Fragments that the program received.
    pub fragments_received: u64,
    /// Sends that had to wait.
    pub blocked_sends: u64,
    /// Fragments copied out of their receive buffer.
    pub copied_on_receipt: u64,
    /// Careful: window updates in frames of their own.
    pub updates: u64,
    /// Traditional: fragments that were copied to be kept.
    pub copied_on_send: u64,
    /// Traditional: fragments that found no receive buffer.
    pub dropped: u64,
    /// Traditional: fragments that had come before.
    pub duplicates: u64,
    /// Traditional: requests for what was missing.
    pub requests: u64,
    /// Traditional: fragments sent again.
    pub sent_again: u64,
    /// Traditional: explicit acknowledgements.
    pub acknowledgements: u64,
}
