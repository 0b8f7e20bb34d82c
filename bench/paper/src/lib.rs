//! The tables and figures of the papers, measured again: `make paper`.
//!
//! [`targets`] holds every figure, setting, order and finding that the papers print, as data, each
//! with an id. An [`Experiment`] claims some of them, each with the band it must fall in, runs
//! programs on the thesis's cluster, simulated ([`Setup`]), and puts what it saw into [`Results`].
//! A [`Report`] lays the two side by side, as text and as one page a paper, and lists what nobody
//! measures, with the reason where there is one ([`Targets::why_not`]). [`suite`] runs experiments
//! on as many threads as it is given. Where a row misses, a [`Counter`] turns what is suspected,
//! and runs the experiment again. [`counts`] reads the pages' verdicts, and [`fresh`] says
//! which pages are older than what they measure.
//!
//! What it keeps:
//! - what a machine is calibrated on, or was told, is shown as that, never as a prediction, nor
//!   what came out otherwise once an input was changed after a look ([`Role`]);
//! - a figure outside its band carries an explanation, and one inside carries none, or there is no
//!   report; counter-experiments are about rows that miss, and no others;
//! - nothing here knows an id by its value: paper values come from the data, in the data's units.
//!
//! It uses the packet interface, the simulator, and what the applications share to draw; for what
//! is measured on the machine itself ([`today`]) also nodes and real links.

#![forbid(unsafe_code)]

pub mod adaptive;
pub mod applications;
pub mod claim;
pub mod cluster;
pub mod conditions;
pub mod counter;
pub mod counts;
pub mod experiment;
pub mod experiments;
pub mod fit;
pub mod fresh;
mod lines;
pub mod objects;
pub mod picture;
pub mod plot;
pub mod regions;
pub mod rendezvous;
pub mod report;
pub mod results;
pub mod sections;
pub mod suite;
pub mod systems;
pub mod targets;
pub mod today;
pub mod zero_copy;

pub use claim::{Claim, Expected};
pub use cluster::{Calibration, Ran, Setup};
pub use conditions::Conditions;
pub use counter::Counter;
pub use counts::Counts;
pub use experiment::{Experiment, Setting};
pub use picture::Picture;
pub use plot::{Plot, Scale, Series};
pub use report::Report;
pub use results::{Quantity, Results};
pub use targets::{Kind, Paper, Role, Target, Targets};
