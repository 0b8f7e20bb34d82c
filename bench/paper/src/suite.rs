//! Running experiments: all of them, on several threads.

use crate::experiment::Experiment;
use crate::report::Report;
use crate::results::Results;
use crate::targets::Targets;
use anyhow::{Context, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

/// Runs `experiments` on `threads` threads, and those that measure this machine after them, one by
/// one. With any number of threads the report is the same, in the order given. `progress` hears of
/// each that has ended, and how many that makes.
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
    on_threads(threads, &together, |&index| one(index));
    alone.into_iter().for_each(one);
    let mut report = Report::new(targets);
    for (experiment, results) in experiments.iter().zip(results) {
        let outcome = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcome = outcome.with_context(|| format!("{} did not run", experiment.name()))?;
        report.add(&**experiment, &outcome?);
    }
    Ok(report)
}

/// Number of threads: as many as this process may have processors.
pub fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Results of `of` for each of `items`, in their order, on so many threads.
pub fn on_threads<I: Sync, T: Send>(
    threads: usize,
    items: &[I],
    of: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let taken = AtomicUsize::new(0);
    let part = || {
        let mut made = Vec::new();
        loop {
            let index = taken.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return made };
            made.push((index, of(item)));
        }
    };
    let mut made: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(part)).collect();
        let joined = threads.into_iter().flat_map(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    });
    made.sort_by_key(|(index, _)| *index);
    made.into_iter().map(|(_, value)| value).collect()
}
