//! All tests of the workspace, programs of them side by side.
//!
//! Cargo runs one program of tests after the other, most of which wait more than they compute. Here
//! Cargo is asked how it would run each (it hands them to a *runner*, which is this program and
//! writes down the words, the folder and the environment), and then several run at once. What each
//! writes is kept until it has ended, and printed as a whole. Those in [`ALONE`] run afterwards,
//! one after the other.

mod recorded;

use anyhow::{Context, Result, bail, ensure};
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

/// Programs of tests that stand no neighbour, by the folder of their crate and their name, and why.
const ALONE: [(&str, &str, &str); 6] = [
    ("cli", "across", ALL_SHARED_MEMORY),
    ("cli", "loss", ALL_SHARED_MEMORY),
    ("launch", "descriptors", ALL_SHARED_MEMORY),
    ("cli", "crawlers", "tells ranks that wait for a core from those that are slow"),
    ("cli", "programs", "has ranks on networks that are given up after 0.8 s of silence"),
    ("cli", "compare", "has ranks of libraries that never give a core away"),
];
const ALL_SHARED_MEMORY: &str = "compares all names in /dev/shm, where others put files, too";

/// Programs that take longest, which begin first: whoever begins last ends last.
const LONGEST: [(&str, &str); 5] = [
    ("bindings/c", "programs"),
    ("cli", "middle"),
    ("cli", "bench"),
    ("endpoint", "it"),
    ("cli", "xdp"),
];

/// Programs at once for each core: most wait for one another, for the kernel, for timers.
const PER_CORE: f64 = 1.0;

/// Runs the tests of these packages, as Cargo is told of them (`--package weft-wire`).
///
/// # Errors
/// Some have failed, or cannot be run.
pub fn run(root: &Path, packages: &[&str]) -> Result<()> {
    let folder = root.join("target/suite");
    let programs = record_all(root, packages, &folder)?;
    let mut all: Vec<Job> = programs.into_iter().map(Job::Program).collect();
    all.push(Job::Documentation(packages));
    let place = |job: &Job| LONGEST.iter().position(|long| job.is(root, *long));
    all.sort_by_key(|job| place(job).unwrap_or(LONGEST.len()));
    let reason = |job: &Job| {
        let mut known = ALONE.iter().filter(|(folder, name, _)| job.is(root, (folder, name)));
        known.next().map(|(.., reason)| *reason)
    };
    let (alone, beside): (Vec<_>, Vec<_>) = all.into_iter().partition(|job| reason(job).is_some());
    for job in &alone {
        println!("{} runs alone: it {}", job.name(root), reason(job).unwrap_or_default());
    }
    let cores = thread::available_parallelism()?.get();
    let started = Instant::now();
    let mut report = Report::default();
    run_some(root, beside, (cores as f64 * PER_CORE).ceil() as usize, &mut report)?;
    run_some(root, alone, 1, &mut report)?;
    println!(
        "{} tests passed in {} programs, in {:.0} s",
        report.passed,
        report.programs,
        started.elapsed().as_secs_f64()
    );
    ensure!(report.failed.is_empty(), "tests failed in {}", report.failed.join(", "));
    Ok(())
}

/// A process that runs tests.
enum Job<'a> {
    Program(Recorded),
    /// Examples in comments of these packages, which Cargo builds and runs.
    Documentation(&'a [&'a str]),
}

impl Job<'_> {
    fn name(&self, root: &Path) -> String {
        match self {
            Job::Program(program) => {
                let folder = program.folder.strip_prefix(root).unwrap_or(&program.folder);
                format!("{} of {}", program.name(), folder.display())
            }
            Job::Documentation(_) => "examples in comments".into(),
        }
    }

    fn is(&self, root: &Path, (folder, name): (&str, &str)) -> bool {
        self.name(root) == format!("{name} of {folder}")
    }

    fn command(&self, root: &Path) -> Command {
        match self {
            Job::Program(program) => program.command(),
            Job::Documentation(packages) => {
                let mut command = Command::new("cargo");
                command.args(["test", "--locked", "--doc"]).args(*packages).current_dir(root);
                command
            }
        }
    }
}

/// Counts of all that have ended, and names of those that failed.
#[derive(Default)]
struct Report {
    programs: usize,
    passed: u64,
    failed: Vec<String>,
}

impl Report {
    /// Prints what a program has written, and remembers how it ended.
    fn add(&mut self, name: String, seconds: f64, output: &Output) -> io::Result<()> {
        let mut to = io::stdout().lock();
        writeln!(to, "\n     Running {name} ({seconds:.1} s)")?;
        to.write_all(&output.stdout)?;
        to.write_all(&output.stderr)?;
        to.flush()?;
        self.programs += 1;
        self.passed += passed(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            writeln!(to, "{name}: {}", output.status)?;
            self.failed.push(name);
        }
        Ok(())
    }
}

/// Number of tests that have passed, by the closing lines of what a program has written.
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

/// Runs these jobs, so many at once.
fn run_some(root: &Path, jobs: Vec<Job<'_>>, at_once: usize, report: &mut Report) -> Result<()> {
    let waiting = Mutex::new(jobs.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        let (ended, all_ended) = channel();
        for _ in 0..at_once {
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
