//! All runs, and what is read off them.

use super::inputs::Inputs;
use super::kept;
use super::model::{PRESETS, Problem, Variation};
use super::run::{Cell, Seen};
use crate::suite::{on_threads, threads};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use weft_bench::suite::Application;
use weft_simulator::Preset;

/// Extent of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Ranks.
    pub ranks: u16,
    /// Size of the problems.
    pub problem: Problem,
    /// Fixes everything that is random.
    pub seed: u64,
}

/// Runs of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// Its extent.
    pub extent: Extent,
    /// Inputs whose outcome is read off.
    pub inputs: Inputs,
    runs: BTreeMap<Cell, Run>,
}

/// A run, and the nanoseconds of an operation in it on one processor.
pub(super) type Run = (f64, Seen);

impl Extent {
    /// The study of the thesis: 64 processors.
    pub const THESIS: Extent = Extent { ranks: 64, problem: Problem::Thesis, seed: 1 };

    /// Runs of these applications.
    fn cells(&self, applications: &[Application]) -> Vec<Cell> {
        let of = |&application: &Application| {
            let cell = move |preset| Cell::new(application, self.ranks, preset);
            let usual = PRESETS.map(cell);
            let varied = variations(application)
                .iter()
                .map(move |&(preset, variation)| Cell { variation, ..cell(preset) });
            usual.into_iter().chain(varied)
        };
        let changed: Vec<Cell> = applications.iter().flat_map(of).collect();
        let stated = changed.iter().map(|cell| Cell { inputs: Inputs::Stated, ..*cell });
        let stated: Vec<Cell> = stated.filter(differs).collect();
        [changed, stated].concat()
    }
}

/// True if a run with stated inputs is another one than with those that were changed, and any row
/// of the thesis is about it.
fn differs(cell: &Cell) -> bool {
    let is_puzzle = matches!(cell.application, Application::Puzzle4 | Application::Puzzle64);
    let is_other = matches!(
        cell.variation,
        Variation::Table | Variation::Dearer | Variation::Uncached | Variation::Adaptive
    );
    !is_other && cell.preset != Preset::HrxImc && (is_puzzle || cell.preset.retransmits())
}

/// Runs of an application beside those of figure 8.9.
fn variations(application: Application) -> &'static [(Preset, Variation)] {
    const DEARER: (Preset, Variation) = (Preset::NrxImc, Variation::Dearer);
    const UNCACHED: (Preset, Variation) = (Preset::NrxImc, Variation::Uncached);
    match application {
        Application::Asp => &[
            (Preset::NrxImc, Variation::Tree),
            (Preset::NrxHmc, Variation::NoPolls),
            (Preset::IrxHmc, Variation::NoPolls),
            (Preset::HrxHmc, Variation::NoPolls),
            DEARER,
            UNCACHED,
        ],
        Application::Leq => &[DEARER, UNCACHED],
        Application::Qr => &[(Preset::NrxImc, Variation::Tree), DEARER, UNCACHED],
        Application::Sor => {
            &[(Preset::NrxImc, Variation::Pairs), (Preset::HrxHmc, Variation::Pairs), DEARER]
        }
        Application::Fft => &[
            (Preset::IrxImc, Variation::LateAcknowledgements),
            (Preset::HrxHmc, Variation::LateAcknowledgements),
            DEARER,
        ],
        Application::Puzzle4 | Application::Puzzle64 => {
            &[(Preset::NrxImc, Variation::Table), (Preset::HrxHmc, Variation::Table), DEARER]
        }
        _ => &[DEARER],
    }
}

impl Study {
    /// Runs all `applications`, on as many threads as there are processors. `progress` hears of
    /// each run.
    ///
    /// # Errors
    /// Those of a rank or the simulator.
    pub fn of(
        extent: Extent,
        applications: &[Application],
        progress: impl Fn(&str) + Sync,
    ) -> Result<Self> {
        let start = Instant::now();
        let cells = extent.cells(applications);
        let mut alone: Vec<Cell> = cells.iter().map(Cell::alone).collect();
        alone.sort_unstable();
        alone.dedup();
        let operation_ns = on_threads(threads(), &alone, |cell| {
            let operation_ns = cell.operation_ns(extent.problem, extent.seed)?;
            progress(&format!("{} on one rank, {} s", cell.application, start.elapsed().as_secs()));
            Ok((*cell, operation_ns))
        });
        let operation_ns = operation_ns.into_iter().collect::<Result<BTreeMap<_, _>>>()?;
        let done = AtomicUsize::new(0);
        let runs = on_threads(threads(), &cells, |cell| {
            let operation_ns = operation_ns[&cell.alone()];
            let seen = cell.run(extent.problem, operation_ns, extent.seed)?;
            let (done, all) = (done.fetch_add(1, Ordering::Relaxed) + 1, cells.len());
            let Cell { application, preset, variation, inputs, .. } = cell;
            progress(&format!(
                "{done:2} of {all} after {:4} s: {application} {preset} {variation:?} {inputs:?}: {:.3} s",
                start.elapsed().as_secs(),
                seen.seconds,
            ));
            Ok((*cell, (operation_ns, seen)))
        });
        let runs = runs.into_iter().collect::<Result<BTreeMap<_, _>>>()?;
        Ok(Study { extent, inputs: Inputs::default(), runs })
    }

    /// A study as a folder keeps it.
    ///
    /// # Errors
    /// Its file is wrong.
    pub fn read(folder: &Path, extent: Extent) -> Result<Self> {
        Ok(Study { extent, inputs: Inputs::default(), runs: kept::read(folder, extent.ranks)? })
    }

    /// Keeps it in a folder, with runs of other applications that this has.
    ///
    /// # Errors
    /// The file is wrong, or cannot be written.
    pub fn keep(mut self, folder: &Path) -> Result<Self> {
        let mut all = kept::read(folder, self.extent.ranks)?;
        let mine: Vec<Application> = self.applications().collect();
        all.retain(|cell, _| !mine.contains(&cell.application));
        all.append(&mut self.runs);
        kept::write(folder, &all)?;
        Ok(Study { runs: all, ..self })
    }

    /// True if all applications were run.
    pub fn is_whole(&self) -> bool {
        self.applications().count() == Application::ALL.len()
    }

    /// This study, read off with other inputs.
    pub fn with(&self, inputs: Inputs) -> Self {
        Study { inputs, ..self.clone() }
    }

    /// Applications that were run, in the order of their names.
    pub fn applications(&self) -> impl Iterator<Item = Application> + '_ {
        let mut named: Vec<Application> = self.runs.keys().map(|cell| cell.application).collect();
        named.dedup();
        named.into_iter()
    }

    /// A run, with what it was given.
    fn run(&self, cell: Cell) -> Result<&Run> {
        // What is no other run with these inputs was run once.
        let with = |inputs| self.runs.get(&Cell { inputs, ..cell });
        let found = with(self.inputs).or_else(|| with(Inputs::Changed));
        found.with_context(|| format!("{cell:?} was not run"))
    }

    fn cell(&self, application: Application, preset: Preset, variation: Variation) -> Cell {
        Cell { variation, ..Cell::new(application, self.extent.ranks, preset) }
    }

    /// Nanoseconds of an operation on one processor, as figure 8.9 has it.
    ///
    /// # Errors
    /// Those of [`Self::seen`].
    pub fn operation_ns(&self, application: Application) -> Result<f64> {
        Ok(self.run(self.cell(application, Preset::NrxImc, Variation::Usual))?.0)
    }

    /// Result of a run.
    ///
    /// # Errors
    /// It is not part of the study.
    pub fn seen(
        &self,
        application: Application,
        preset: Preset,
        variation: Variation,
    ) -> Result<&Seen> {
        Ok(&self.run(self.cell(application, preset, variation))?.1)
    }

    /// Seconds of a run as figure 8.9 has it.
    ///
    /// # Errors
    /// Those of [`Self::seen`].
    pub fn seconds(&self, application: Application, preset: Preset) -> Result<f64> {
        Ok(self.seen(application, preset, Variation::Usual)?.seconds)
    }

    /// Part by which an application is slower than under the default preset, in percent.
    ///
    /// # Errors
    /// Those of [`Self::seen`].
    pub fn slower(&self, application: Application, preset: Preset) -> Result<f64> {
        let default = self.seconds(application, Preset::NrxImc)?;
        Ok(100.0 * (self.seconds(application, preset)? / default - 1.0))
    }

    /// All runs that are read off.
    pub fn all(&self) -> impl Iterator<Item = (&Cell, &Seen)> {
        let is_read = |cell: &&Cell| {
            cell.inputs == self.inputs || (cell.inputs == Inputs::Changed && !differs(cell))
        };
        self.runs.iter().filter(move |(cell, _)| is_read(cell)).map(|(cell, run)| (cell, &run.1))
    }
}
