//! All tests of the workspace, jobs of them side by side.
//!
//! Cargo runs one program of tests after the other, most of which wait more than they compute. Here
//! Cargo is asked how it would run each (it hands them to a *runner*, which is this program and
//! writes down the words, the folder and the environment), and then several run at once. A program
//! in [`SPLIT`] runs several times, for the tests of one of its modules each. What each job writes
//! is kept until it has ended, and printed as a whole. A command may run beside them on what they
//! leave of the cores, at the lowest priority. Those in [`ALONE`] run afterwards, one after the
//! other.

mod job;
mod modules;
mod recorded;

use anyhow::{Context, Result, bail, ensure};
use job::{Job, can_own_shared_memory};
use recorded::Recorded;
pub use recorded::record;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Programs of which each module is a job, by the folder of their crate and their name: what one
/// module wants of the machine is not what the others want, nor do they end at once.
const SPLIT: [(&str, &str); 4] =
    [("bindings/c", "it"), ("cli", "it"), ("launch", "it"), ("testing/soak", "it")];

/// Jobs that stand no neighbour, by the folder of their crate and the name of their module, or of
/// their program if that is not split, and why.
const ALONE: [(&str, &str, &str); 4] = [
    ("cli", "loss", "has ranks name who was killed within 3 s, and compares all of /dev/shm"),
    ("cli", "crawlers", "tells ranks that wait for a core from those that are slow"),
    ("cli", "programs", "has ranks on networks that are given up after 0.8 s of silence"),
    ("cli", "compare", "has ranks of libraries that never give a core away"),
];

/// Jobs that have a `/dev/shm` of their own, beside the others, or run alone where the system gives
/// them none.
const OWN_SHARED_MEMORY: [(&str, &str); 5] = [
    ("cli", "across"),
    ("cli", "farm"),
    ("cli", "survivors"),
    ("cli", "tickets"),
    ("launch", "descriptors"),
];
const ALL_SHARED_MEMORY: &str = "compares all names in /dev/shm, where others put files, too";

/// Jobs that take longest, which begin first: whoever begins last ends last.
const LONGEST: [(&str, &str); 6] = [
    ("cli", "across"),
    ("bindings/c", "programs"),
    ("cli", "middle"),
    ("cli", "bench"),
    ("endpoint", "it"),
    ("cli", "xdp"),
];

/// Jobs at once for each core: most wait for one another, for the kernel, for timers.
const PER_CORE: f64 = 1.0;

/// Runs the tests of these packages, as Cargo is told of them (`--package weft-wire`), and beside
/// them a command, if it has words.
///
/// # Errors
/// Some have failed, or cannot be run, or the command has.
pub fn run(root: &Path, packages: &[&str], command: &[&str]) -> Result<()> {
    let folder = root.join("target/suite");
    let mut all = jobs(root, record_all(root, packages, &folder)?)?;
    all.push(Job::Documentation(packages));
    let place = |job: &Job| LONGEST.iter().position(|long| job.is(root, *long));
    all.sort_by_key(|job| place(job).unwrap_or(LONGEST.len()));
    let own_shared_memory = can_own_shared_memory();
    if own_shared_memory {
        all.iter_mut().filter(|job| compares(job, root)).for_each(Job::own_shared_memory);
    }
    let reason = |job: &Job| {
        let mut known = ALONE.iter().filter(|(folder, name, _)| job.is(root, (folder, name)));
        let other = (!own_shared_memory && compares(job, root)).then_some(ALL_SHARED_MEMORY);
        known.next().map(|(.., reason)| *reason).or(other)
    };
    let (alone, beside): (Vec<_>, Vec<_>) = all.into_iter().partition(|job| reason(job).is_some());
    for job in &alone {
        println!("{} runs alone: it {}", job.name(root), reason(job).unwrap_or_default());
    }
    let cores = thread::available_parallelism()?.get();
    let at_once = (cores as f64 * PER_CORE).ceil() as usize;
    let command = (!command.is_empty()).then_some(Job::Beside(command));
    let started = Instant::now();
    let mut report = Report::default();
    run_some(root, vec![(beside, at_once), (Vec::from_iter(command), 1)], &mut report)?;
    run_some(root, vec![(alone, 1)], &mut report)?;
    println!(
        "{} tests passed in {} jobs, in {:.0} s",
        report.passed,
        report.jobs,
        started.elapsed().as_secs_f64()
    );
    ensure!(report.failed.is_empty(), "tests failed in {}", report.failed.join(", "));
    Ok(())
}

/// Jobs of all programs.
fn jobs<'a>(root: &Path, programs: Vec<Recorded>) -> Result<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for program in programs {
        let is_split = |(folder, name): (&str, &str)| {
            program.folder_in(root) == Path::new(folder) && program.name() == name
        };
        match SPLIT.into_iter().any(is_split) {
            true => jobs.extend(Job::split(&program)?),
            false => jobs.push(Job::whole(program)),
        }
    }
    Ok(jobs)
}

/// True if it compares all names in `/dev/shm`.
fn compares(job: &Job, root: &Path) -> bool {
    OWN_SHARED_MEMORY.iter().any(|own| job.is(root, *own))
}

/// Counts of all that have ended, and names of those that failed.
#[derive(Default)]
struct Report {
    jobs: usize,
    passed: u64,
    failed: Vec<String>,
}

impl Report {
    /// Prints what a job has written, and remembers how it ended.
    fn add(&mut self, name: String, seconds: f64, output: &Output) -> io::Result<()> {
        let mut to = io::stdout().lock();
        writeln!(to, "\n     Running {name} ({seconds:.1} s)")?;
        to.write_all(&output.stdout)?;
        to.write_all(&output.stderr)?;
        to.flush()?;
        self.jobs += 1;
        self.passed += passed(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            writeln!(to, "{name}: {}", output.status)?;
            self.failed.push(name);
        }
        Ok(())
    }
}

/// Number of tests that have passed, by the closing lines of what a job has written.
fn passed(text: &str) -> u64 {
    let closing = text.lines().filter_map(|line| line.strip_prefix("test result: "));
    let counts = closing
        .filter_map(|line| line.split_once(". ")?.1.split_once(" passed;")?.0.parse::<u64>().ok());
    counts.sum()
}

/// Asks Cargo how it runs all programs of tests. They have been built, or are now.
fn record_all(root: &Path, packages: &[&str], folder: &Path) -> Result<Vec<Recorded>> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let own = std::env::current_exe()?;
    let [own, to] = [own.as_path(), folder].map(|path| path.to_str().context("a path is no text"));
    let runner = format!("target.'cfg(all())'.runner=[{:?}, \"record\", {:?}]", own?, to?);
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--locked", "--quiet", "--config", &runner]).args(packages);
    let status = cargo.args(["--lib", "--bins", "--tests"]).current_dir(root).status()?;
    if !status.success() {
        bail!("the tests cannot be built");
    }
    let mut files: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.sort();
    files.iter().map(|file| Recorded::read(file)).collect()
}

/// Runs the jobs of all queues, of each queue a number at once.
fn run_some(root: &Path, queues: Vec<(Vec<Job<'_>>, usize)>, report: &mut Report) -> Result<()> {
    let queues = queues.into_iter().map(|(jobs, at_once)| (Mutex::new(jobs.into_iter()), at_once));
    let queues: Vec<_> = queues.collect();
    let threads = queues.iter().flat_map(|(jobs, at_once)| std::iter::repeat_n(jobs, *at_once));
    thread::scope(|scope| {
        let (ended, all_ended) = channel();
        for jobs in threads {
            let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let ended = ended.clone();
            scope.spawn(move || {
                while let Some(job) = next() {
                    let started = Instant::now();
                    let output = job.command(root).output();
                    let seconds = started.elapsed().as_secs_f64();
                    // Whoever does not listen any more has failed.
                    let _ = ended.send((job.name(root), seconds, output));
                }
            });
        }
        drop(ended);
        for (name, seconds, output) in all_ended {
            let output = output.with_context(|| format!("cannot run {name}"))?;
            report.add(name, seconds, &output)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
