//! Running experiments: all of them, on several threads.

use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::Experiment;
use crate::report::Report;
use crate::results::Results;
use crate::targets::Targets;
use anyhow::{Context, Result};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

/// Runs `experiments` and their counter-experiments on `threads` threads, and those that measure
/// this machine after them, one by one. With any number of threads the report is the same, in the
/// order given. `progress` hears of each that has ended, and how many of how many that makes.
///
/// # Errors
/// The first experiment, in the order given, that says something.
pub fn run<'a>(
    targets: &'a Targets,
    experiments: &[Box<dyn Experiment>],
    threads: usize,
    progress: impl Fn(&Run<'_>, usize, usize) + Sync,
) -> Result<Report<'a>> {
    let runs: Vec<Run<'_>> = experiments.iter().flat_map(|one| Run::all(&**one)).collect();
    let (alone, together): (Vec<usize>, Vec<usize>) =
        (0..runs.len()).partition(|&index| runs[index].experiment.alone());
    let results: Vec<Mutex<Option<Result<Results>>>> =
        runs.iter().map(|_| Mutex::new(None)).collect();
    let ended = AtomicUsize::new(0);
    let one = |index: usize| {
        let outcome = runs[index].results();
        *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        progress(&runs[index], ended.fetch_add(1, Ordering::Relaxed) + 1, runs.len());
    };
    on_threads(threads, &together, |&index| one(index));
    alone.into_iter().for_each(one);
    let mut report = Report::new(targets);
    for (run, results) in runs.iter().zip(results) {
        let outcome = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let results = outcome.with_context(|| format!("{run} did not run"))??;
        match run.counter {
            None => report.add(run.experiment, &results),
            Some(counter) => report.turn(counter, &results),
        }
    }
    Ok(report)
}

/// Run of an experiment: under its paper's conditions, or a counter-experiment's.
pub struct Run<'a> {
    experiment: &'a dyn Experiment,
    counter: Option<&'static Counter>,
}

impl<'a> Run<'a> {
    fn all(experiment: &'a dyn Experiment) -> impl Iterator<Item = Self> {
        let counters = experiment.counters().iter().map(Some);
        std::iter::once(None).chain(counters).map(move |counter| Run { experiment, counter })
    }

    fn results(&self) -> Result<Results> {
        let conditions = self.counter.map_or(Conditions::STATED, |counter| counter.conditions);
        let mut seen = Results::default();
        let outcome = conditions.hold(|| self.experiment.run(&mut seen));
        outcome.with_context(|| self.to_string()).map(|()| seen)
    }
}

impl fmt::Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.experiment.name())?;
        self.counter.map_or(Ok(()), |counter| write!(f, ", {}", counter.turned))
    }
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
