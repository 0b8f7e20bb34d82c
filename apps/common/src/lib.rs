//! Code shared by the applications of this repository, so that each of them is about its problem.
//!
//! - [`Blocks`] divides rows among ranks in contiguous blocks;
//! - [`Exchange`] is the communication that a row-wise program needs: bytes to one rank or to all,
//!   bytes from a *named* rank in the order they were sent. [`Mailboxes`] gives it on Weft,
//!   [`Alone`] for one rank, [`on_threads`] between threads, for tests without a job; [`Tree`]
//!   broadcasts by its messages from rank to rank;
//! - [`run_messages`] is the `main` of a program on messages;
//! - [`RegionRank`] is a rank of a program on shared regions (`weft-region`) instead, and
//!   [`run_shared`] its `main`; [`Coherence`] says how they are kept coherent;
//! - [`crew`] runs a program by bare threads, which programs on Weft are compared with;
//! - [`measure`] measures a speed-up; [`Traffic`], [`summary`] and [`table`] report what every rank
//!   sent and received;
//! - [`Progress`] shows how far rank 0 is;
//! - [`Vector`] is a point in space;
//! - [`svg`] writes drawings and [`chart`] lines on axes, [`random`] and [`noise`] make input;
//! - [`write_out`] and [`say`] write to standard output, and say what cannot be;
//! - [`edit_distance`] is how near a misspelt name is to another;
//! - [`arguments`] and [`agree`] let a job say a thing once, not once per rank;
//! - [`Recorded`] is the option by which commands trace a run;
//! - [`finish`] and [`explain`] end a command such as `weft` or `weft bench`, which is no rank;
//!   [`command_line`] writes commands as somebody would type them.
//!
//! Everything here is above the façade crate `weft` and the regions: no protocol, no link, no
//! `unsafe`. Values cross as they lie in memory, so the ranks of one job must share a byte order.

#![forbid(unsafe_code)]

mod blocks;
pub mod chart;
mod coherence;
mod command;
mod crew;
mod edits;
mod exchange;
mod figures;
mod measure;
mod noise;
mod output;
mod progress;
mod recorded;
mod shared;
mod shell;
mod start;
mod stretch;
pub mod svg;
mod threads;
mod traffic;
mod tree;
mod vector;

pub use blocks::Blocks;
pub use coherence::{Coherence, DataName, HintName};
pub use command::{explain, finish};
pub use crew::{Crewmate, crew, locked};
pub use edits::edit_distance;
pub use exchange::{Alone, Error, Exchange, Mailboxes};
pub use figures::{seconds, thousands};
pub use measure::{Times, measure};
pub use noise::{noise, random};
pub use output::{say_line, write_out, write_to};
pub use progress::Progress;
pub use recorded::{Recorded, TRACE_FILE};
pub use shared::{Family, Measured, RegionRank, print, run_shared};
pub use shell::command_line;
pub use start::{Ranks, StartError, agree, arguments, run_messages};
pub use stretch::{MEASURED, Stretch, stretch};
pub use threads::{ThreadExchange, on_threads};
pub use traffic::{Traffic, gather_traffic, summary, table};
pub use tree::Tree;
pub use vector::Vector;
