//! The simulated link: all ranks in one process, in virtual time.
//!
//! Every rank's program runs on a coroutine with a stack of its own, every NI as events; a
//! [`SimulatedNetwork`] runs all of them, each when its virtual time has come. A
//! [`MachineModel`], a file, says how long each part takes; [`Faults`] and a seed say what goes
//! wrong. Everything else is the same code as on real links, unchanged. One seed fixes everything:
//! the same setup has the same [`SimulatedNetwork::trace_hash`] on any machine.
//!
//! ```text
//!   program ─▶ host processor ─▶ NI ─▶ link ~~~~~▶ link ─▶ NI ─▶ bus ─▶ host processor ─▶ program
//! ```
//! Each of the four is a serial resource, so that occupancy, windows that stall and interrupts
//! appear by themselves.
//!
//! | module | what |
//! |---|---|
//! | [`machine`] | what every step costs |
//! | `state` | virtual time, the events to come, the parts of every node |
//! | `agenda` | events to come, by time |
//! | `network` | the scheduler |
//! | `coroutine` | stacks for programs (`unsafe`) |
//! | `host` | a host processor: charging for work, waiting, interrupts |
//! | `link`, `frames` | a rank's attachment; frames, whose bytes are never copied |
//! | `medium` | links that are one medium |
//! | [`faults`] | what goes wrong |
//! | [`trace`] | what happened |
//! | [`fuzzing`] | fuzz targets for what reads foreign bytes here |
//!
//! May use the link interface and wire; knows no protocol and no node. Keeps I9: buffers are
//! bounded by the machine, and a run in which nothing happens any more ends and says who waits.

#![deny(unsafe_code)]

mod agenda;
mod coroutine;
pub mod faults;
mod frames;
pub mod fuzzing;
mod host;
mod link;
pub mod machine;
mod medium;
mod network;
mod state;
pub mod trace;

pub use faults::{FaultError, Faults, Injected, Partition};
pub use host::{Interruptible, Processor};
pub use link::Sim;
pub use machine::{MachineError, MachineModel, Scheme};
pub use network::{RankEnd, RunEnd, Setup, SimulatedNetwork, Stuck};
pub use trace::{FrameEvent, Happened, Observer, in_words};
