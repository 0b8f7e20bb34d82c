//! Recordings that `weft top` makes of a job that runs: see [`Sampling`].

use anyhow::{Context, Result};
use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use weft_launch::{Sampled, Sampling, SamplingError, Snapshot, time_in};

/// Time that the key records.
const BY_KEY: Duration = Duration::from_secs(2);
/// Names that are tried for a file that is not there yet.
const NAMES: u32 = 1000;

/// A time with its unit, for which a recording may last.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    time_in(text, Duration::from_millis(100)..=Duration::from_secs(60))
}

/// Records a job, and says how far it is, if somebody sees that, and what came of it.
pub(super) fn print(job: u32, seen: &Snapshot, file: &Path, time: Duration) -> Result<ExitCode> {
    let sampling = begin(job, seen)?;
    if let Some(line) = whole_trace(&sampling) {
        eprintln!("weft: {line}");
    }
    let shows = stderr().is_terminal();
    let progress = |done: Duration| {
        if shows {
            // A user that cannot see it misses nothing.
            let _ = write!(stderr(), "\r{}", how_far(file, done, time));
        }
    };
    let sampled = sampling.record(file, time, progress);
    if shows {
        eprint!("\r\x1b[K");
    }
    weft_app_common::say!("{}", sampled?);
    Ok(ExitCode::SUCCESS)
}

/// A recording that is made while the table is shown.
pub(super) struct Recording {
    file: PathBuf,
    done_ms: Arc<AtomicU64>,
    /// `None` once its end was reported.
    thread: Option<JoinHandle<Result<Sampled, SamplingError>>>,
    whole: Option<String>,
}

impl Recording {
    /// Begins one, into a file of a new name here.
    pub fn begin(job: u32, seen: &Snapshot) -> Result<Self> {
        let sampling = begin(job, seen)?;
        let (file, whole) = (new_file(Path::new("."), job)?, whole_trace(&sampling));
        let done_ms = Arc::new(AtomicU64::new(0));
        let (to, done) = (file.clone(), Arc::clone(&done_ms));
        let progress = move |time: Duration| {
            done.store(time.as_millis() as u64, Ordering::Relaxed);
        };
        let thread = thread::spawn(move || sampling.record(&to, BY_KEY, progress));
        Ok(Recording { file, done_ms, thread: Some(thread), whole })
    }

    /// Line on how far it is, or on what came of it; `None` once that was said.
    pub fn line(&mut self) -> Option<String> {
        let thread = self.thread.take()?;
        if !thread.is_finished() {
            self.thread = Some(thread);
            let done = Duration::from_millis(self.done_ms.load(Ordering::Relaxed));
            return Some(how_far(&self.file, done, BY_KEY));
        }
        let said = match thread.join() {
            Ok(Ok(sampled)) => sampled.to_string(),
            Ok(Err(error)) => format!("no recording: {error}"),
            Err(_) => "no recording: it failed".into(),
        };
        Some(self.whole.take().map_or(said.clone(), |whole| format!("{said}; {whole}")))
    }

    /// True if its end was told.
    pub fn is_over(&self) -> bool {
        self.thread.is_none()
    }
}

fn begin(job: u32, seen: &Snapshot) -> Result<Sampling> {
    Sampling::of(job, seen).with_context(|| format!("job {job} cannot be recorded"))
}

/// `recording into run.weft: 1.2 of 2.0 s`.
fn how_far(file: &Path, done: Duration, time: Duration) -> String {
    let [done, time] = [done.min(time), time].map(|time| time.as_secs_f64());
    format!("recording into {}: {done:.1} of {time:.1} s", file.display())
}

/// Line on the trace that the job writes itself.
fn whole_trace(sampling: &Sampling) -> Option<String> {
    let file = sampling.trace()?;
    Some(format!(
        "this job was started with --trace: all of it, with each message, will be in {file}"
    ))
}

/// Creates a file for a recording of this job, with a name that none has here.
fn new_file(folder: &Path, job: u32) -> Result<PathBuf> {
    let name = |number: u32| match number {
        1 => format!("weft-{job}.trace"),
        _ => format!("weft-{job}-{number}.trace"),
    };
    let names = (1..=NAMES).map(|number| folder.join(name(number)));
    for path in names {
        match std::fs::File::create_new(&path) {
            Ok(_) => return Ok(path.strip_prefix(".").map_or(path.clone(), Path::to_path_buf)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot write {}", path.display()));
            }
        }
    }
    anyhow::bail!("there are {NAMES} recordings of this job here: remove some")
}

#[cfg(test)]
mod tests;
