//! Running experiments: all of them, on several threads.

use crate::experiment::Experiment;
use crate::report::Report;
use crate::results::Results;
use crate::targets::Targets;
use anyhow::{Context, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs `experiments` on `threads` threads, and those that measure this machine after them, one by
/// one. Whatever the threads, the report is the same, in the order given. `progress` hears of each
/// that has ended, and how many that makes.
///
/// # Errors
/// The first experiment, in the order given, that says something.
pub fn run<'a>(
    targets: &'a Targets,
    experiments: &[Box<dyn Experiment>],
    threads: usize,
    progress: impl Fn(&dyn Experiment, usize) + Sync,
) -> Result<Report<'a>> {
    let (alone, together): (Vec<usize>, Vec<usize>) =
        (0..experiments.len()).partition(|&index| experiments[index].alone());
    let results: Vec<Mutex<Option<Result<Results>>>> =
        experiments.iter().map(|_| Mutex::new(None)).collect();
    let ended = AtomicUsize::new(0);
    let one = |index: usize| {
        let experiment = &*experiments[index];
        let mut seen = Results::default();
        let outcome = experiment.run(&mut seen).context(experiment.name()).map(|()| seen);
        *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        progress(experiment, ended.fetch_add(1, Ordering::Relaxed) + 1);
    };
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(&index) = together.get(taken.fetch_add(1, Ordering::Relaxed)) {
                    one(index);
                }
            });
        }
    });
    alone.into_iter().for_each(one);
    let mut report = Report::new(targets);
    for (experiment, results) in experiments.iter().zip(results) {
        let outcome = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcome = outcome.with_context(|| format!("{} did not run", experiment.name()))?;
        report.add(&**experiment, &outcome?);
    }
    Ok(report)
}
