//! The study of the thesis's chapter 8: its ten applications on simulated ranks under all presets.
//!
//! - `model`: what a rank's computation takes, and what the systems add to packets;
//! - `inputs`: what no figure of the thesis fixes, as stated and as changed;
//! - `observe`: packets by type while an application computes;
//! - `run`: one application, once;
//! - `study`: all runs, and what is read off them;
//! - `kept`: a file of all runs;
//! - `judge`: rows of the thesis, and whether they came out;
//! - `parts`: where the time of a run goes;
//! - `page`: the page, and `choices`, its parts about what was chosen;
//! - `beyond`: more ranks than the thesis had, and protocols that came after it.
//!
//! Results are computed and checked, each time; virtual time knows only what
//! is declared. So a run is a function of its application, preset, size and seed.

mod beyond;
mod choices;
mod inputs;
mod judge;
mod kept;
mod model;
mod observe;
mod page;
mod parts;
mod run;
mod study;

pub use beyond::Beyond;
pub use inputs::Inputs;
pub use model::{Model, PRESETS, Problem, Variation};
pub use observe::{Kind, Rates};
pub use page::{PAGES, pages};
pub use run::{Cell, Seen};
pub use study::{Extent, Study};

/// Headings of sections that are measured apart.
pub const KEPT: [&str; 2] = [beyond::HEADING, crate::today::applications::HEADING];

#[cfg(test)]
mod tests;
