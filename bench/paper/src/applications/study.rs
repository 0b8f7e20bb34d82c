//! All runs, and what is read off them.

use super::model::{PRESETS, Problem, Variation};
use super::run::{Cell, Seen};
use crate::suite::{on_threads, threads};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
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
#[derive(Clone, Debug)]
pub struct Study {
    /// Its extent.
    pub extent: Extent,
    seen: Vec<(Cell, Seen)>,
    /// Nanoseconds of an operation on one processor.
    pub operation_ns: BTreeMap<Application, f64>,
}

impl Extent {
    /// The study of the thesis: 64 processors.
    pub const THESIS: Extent = Extent { ranks: 64, problem: Problem::Thesis, seed: 1 };

    /// Runs of these applications.
    fn cells(&self, applications: &[Application]) -> Vec<Cell> {
        let of = |&application: &Application| {
            let usual = PRESETS.map(|preset| Cell::new(application, self.ranks, preset));
            let varied = variations(application).iter().map(move |&(preset, variation)| Cell {
                variation,
                ..Cell::new(application, self.ranks, preset)
            });
            usual.into_iter().chain(varied)
        };
        applications.iter().flat_map(of).collect()
    }
}

/// Runs of an application beside those of figure 8.9.
fn variations(application: Application) -> &'static [(Preset, Variation)] {
    match application {
        Application::Asp => &[
            (Preset::NrxImc, Variation::Tree),
            (Preset::NrxHmc, Variation::NoPolls),
            (Preset::IrxHmc, Variation::NoPolls),
            (Preset::HrxHmc, Variation::NoPolls),
        ],
        Application::Qr => &[(Preset::NrxImc, Variation::Tree)],
        Application::Sor => {
            &[(Preset::NrxImc, Variation::Pairs), (Preset::HrxHmc, Variation::Pairs)]
        }
        Application::Fft => &[
            (Preset::IrxImc, Variation::LateAcknowledgements),
            (Preset::HrxHmc, Variation::LateAcknowledgements),
        ],
        _ => &[],
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
        let alone = on_threads(threads(), applications, |&application| {
            let operation_ns = Cell::operation_ns(application, extent.problem, extent.seed)?;
            progress(&format!("{application} on one rank, {} s", start.elapsed().as_secs()));
            Ok((application, operation_ns))
        });
        let operation_ns = alone.into_iter().collect::<Result<BTreeMap<_, _>>>()?;
        let (cells, done) = (extent.cells(applications), AtomicUsize::new(0));
        let seen = on_threads(threads(), &cells, |cell| {
            let began = Instant::now();
            let seen = cell.run(extent.problem, operation_ns[&cell.application], extent.seed)?;
            let (done, all) = (done.fetch_add(1, Ordering::Relaxed) + 1, cells.len());
            let Cell { application, preset, variation, .. } = cell;
            progress(&format!(
                "{done:2} of {all} after {:4} s: {application} {preset} {variation:?}: {:.3} s, in \
                 {:.1} s",
                start.elapsed().as_secs(),
                seen.seconds,
                began.elapsed().as_secs_f64(),
            ));
            Ok((*cell, seen))
        });
        let seen = seen.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Study { extent, seen, operation_ns })
    }

    /// Applications that were run.
    pub fn applications(&self) -> impl Iterator<Item = Application> + '_ {
        self.operation_ns.keys().copied()
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
        let cell = Cell { variation, ..Cell::new(application, self.extent.ranks, preset) };
        let found = self.seen.iter().find(|(one, _)| *one == cell);
        Ok(&found.with_context(|| format!("{cell:?} was not run"))?.1)
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

    /// All runs.
    pub fn all(&self) -> impl Iterator<Item = &(Cell, Seen)> {
        self.seen.iter()
    }
}
