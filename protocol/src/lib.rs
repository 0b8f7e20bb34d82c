//! The NI half of Weft's packet protocols, as state machines that do no I/O.
//!
//! An [`Ni`] is told what happened (a packet to send, a packet received, a packet released) and
//! tells an [`Actions`] what to do about it: transmit, deliver, free. It knows no clock, thread,
//! socket or memory map; time is an argument, buffers are tokens of a type `B` that it never looks
//! into. The same `Ni` therefore runs inside a rank's own calls, on an engine thread, and in a
//! test that holds sixty-four of them in a vector.
//!
//! An `Ni` takes events and has its parts do what follows, each of which owns its state and knows
//! those below it only:
//!
//! ```text
//!   Ni ──▶ Multicast (groups, packets of groups to come)
//!    │        │
//!    ▼        ▼
//!   Traffic (what leaves, waits, is kept, becomes free) ──▶ Windows, Recoveries, Atomics
//!    │
//!    ▼
//!   Flows (numbers, acknowledgements, what is sent again, silence)
//!    │        └──▶ ReceiveBuffers, SendPool, Timers
//!    │
//!    ▼
//!   Peers (credits, numbers, and times of each pair) and Base (settings, time, counts)
//! ```
//!
//! | module | protocol | thesis |
//! |---|---|---|
//! | [`credit`], `traffic`, `unicast` | UCAST: credits between each pair of ranks, blocked-sends queues | 4.1 |
//! | `pool`, `windows` | windows that follow demand | careful-protocols 7 |
//! | [`tree`], `groups`, `multicast`, `early`, `holders` | MCAST: spanning trees, forwarding, release; groups not created yet | 4.2, Appendix A |
//! | `recovery` | RECOV: deadlock suspected, and a way out | 4.3, 5.3.2 |
//! | `flows`, `retransmit`, `sequence`, `numbered` | irx and hrx: go-back-N | 8.2.2, 8.3.2 |
//! | `asking`, `room`, `receive_buffers`, `send_pool` | pupa: acknowledgements when asked for, credits without limit | Pupa 2.2 |
//! | `congestion` | fewer packets under way where the network drops some | RFC 5681 |
//! | `round_trip` | time-outs that follow the network | RFC 6298 |
//! | `silence`, `hearing`, `farewell` | peers that are not heard of | |
//! | `burial` | peers that were lost, in a job that goes on | |
//! | `atomics` | fetch-and-add and its like, served by the NI | 3.8 |
//! | [`watchdog`] | INTR: the polling watchdog | 4.4 |
//! | [`invariants`], `checks` | what must always hold, a function each; what one NI sees of it | |
//!
//! Keeps I1 (credit conservation), I2 (careful), I3 (order), I4 (one owner), I5 (control never
//! blocks), I7 (recovery), I8 (exactly once) and I9 (bounded); see `ARCHITECTURE.md`.

#![forbid(unsafe_code)]

mod acknowledge;
mod actions;
mod atomics;
mod base;
mod burial;
mod checks;
mod congestion;
mod counters;
pub mod credit;
mod departure;
mod digest;
mod early;
mod farewell;
mod flows;
mod groups;
mod hearing;
mod holders;
pub mod invariants;
mod multicast;
mod ni;
mod numbered;
mod observation;
mod peers;
mod planted;
mod pool;
mod preset;
mod receive_buffers;
mod recovery;
mod retransmit;
mod room;
mod round_trip;
mod router;
mod send_pool;
mod sender_controlled;
mod sequence;
mod settings;
mod silence;
mod slab;
mod tally;
mod timer;
mod traffic;
pub mod tree;
mod unicast;
mod violation;
pub mod watchdog;
mod windows;

pub use actions::{Actions, Deferred, Delivery, PacketBody};
pub use congestion::Congestion;
pub use counters::Counters;
pub use invariants::Broken;
pub use ni::Ni;
pub use observation::Observation;
#[cfg(feature = "planted")]
pub use planted::Bug;
pub use preset::{Acknowledging, Forwarding, Preset, Reliability, UnknownPreset};
pub use settings::{Adaptive, Contradiction, Pupa, Recovery, SendBuffers, Settings, Silence};
pub use timer::{Nanoseconds, Timer};
pub use unicast::Looked;
pub use violation::Violation;

#[cfg(test)]
mod tests;
