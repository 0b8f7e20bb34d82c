//! Programs on simulated ranks, in virtual time: the code of applications, messaging, packets,
//! nodes and protocols, unchanged, over [`weft_link_sim`].
//!
//! ```no_run
//! use weft_simulator::{Options, Simulation};
//!
//! let report = Simulation::new(Options::new(64)?)?.run(|weft| weft.barrier());
//! println!("{} ranks, {:?} of virtual time", report.outcomes.len(), report.virtual_time);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what |
//! |---|---|
//! | `options` | how a simulation is set up, and what cannot be |
//! | `simulation` | ranks, nodes and programs on a network |
//! | `report` | what came of it |
//! | `tape` | a trace of it, for `weft report` |
//! | [`scenarios`] | programs that do everything that packets and orders allow, and their judges |
//!
//! A rank's errors and panics are its outcome, never the simulator's. May use everything.

#![forbid(unsafe_code)]

mod options;
mod report;
pub mod scenarios;
mod simulation;
mod tape;

pub use options::{Options, OptionsError};
pub use report::{Outcome, Report, Statistics};
pub use simulation::Simulation;
pub use tape::Tape;

// The types that users of a simulation need of the layers that it joins.
pub use weft_endpoint::{Preset, Settings, Shape};
pub use weft_link_sim::{
    FaultError, Faults, FrameEvent, Happened, Injected, MachineError, MachineModel, Observer,
    Partition, RunEnd, Stuck, in_words,
};
pub use weft_wire::{Header, Rank, Tag};
