//! Definition of an experiment.

use crate::claim::Claim;
use crate::counter::Counter;
use crate::results::Results;
use anyhow::Result;

/// A setting of the papers that an experiment uses: the target's id and its value as printed, which
/// a test compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting(pub &'static str, pub &'static str);

/// An experiment of the papers, done again.
pub trait Experiment: Send + Sync {
    /// Its name: what it measures, in a word or two.
    fn name(&self) -> &'static str;

    /// Title of its section.
    fn title(&self) -> &'static str;

    /// The targets it measures; each belongs to one experiment.
    fn claims(&self) -> &'static [Claim];

    /// The papers' settings that it uses.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// Notes for a reader of its tables, for the page; may be empty.
    fn notes(&self) -> &'static str {
        ""
    }

    /// The simulated machines that it runs on, by name.
    fn machines(&self) -> &'static [&'static str] {
        &["myrinet", "myrinet-compared"]
    }

    /// True if it measures this machine, so that nothing else may run meanwhile and no two runs
    /// give the same.
    fn alone(&self) -> bool {
        false
    }

    /// Counter-experiments about rows that miss: the same under other conditions.
    fn counters(&self) -> &'static [Counter] {
        &[]
    }

    /// Runs it, and records something for every claim.
    ///
    /// # Errors
    /// What a rank or the simulator says.
    fn run(&self, results: &mut Results) -> Result<()>;
}
