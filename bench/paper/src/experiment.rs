//! What an experiment is.

use crate::claim::Claim;
use crate::results::Results;
use anyhow::Result;

/// A setting of the papers that an experiment uses: the target's id and its value as printed, which
/// a test compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting(pub &'static str, pub &'static str);

/// An experiment of the papers, done again.
pub trait Experiment {
    /// Its name: what it measures, in a word or two.
    fn name(&self) -> &'static str;

    /// What it measures, for a heading.
    fn title(&self) -> &'static str;

    /// The targets it measures; each belongs to one experiment.
    fn claims(&self) -> &'static [Claim];

    /// The papers' settings that it uses.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// Runs it, and records something for every claim.
    ///
    /// # Errors
    /// What a rank or the simulator says.
    fn run(&self, results: &mut Results) -> Result<()>;
}
