//! A folder by which jobs and this process agree on a time, and by which ranks hand over what they
//! measured: namespaces share files and clocks.

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for all to be ready, which takes a second for each dozen of hosts.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval at which it is looked for.
const NAP: Duration = Duration::from_millis(1);
/// Time between the last word of the last who was ready and the begin.
const RUN_UP: Duration = Duration::from_millis(20);

/// Time on the clock that all processes of a machine share, in nanoseconds.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Points in time of a measurement, as [`now`] has them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Everybody begins to send.
    pub begin: u64,
    /// Figures count from here, ...
    pub from: u64,
    /// ... to here, where sending ends.
    pub until: u64,
}

impl Interval {
    /// True if what happens at `time` counts.
    pub fn contains(&self, time: u64) -> bool {
        (self.from..self.until).contains(&time)
    }

    /// Bytes a second, of `bytes` that came meanwhile.
    pub fn rate(&self, bytes: u64) -> f64 {
        bytes as f64 * 1e9 / (self.until - self.from) as f64
    }
}

/// Sleeps until a point in time.
pub fn sleep_until(time: u64) {
    std::thread::sleep(Duration::from_nanos(time.saturating_sub(now())));
}

/// The folder.
#[derive(Clone, Debug)]
pub struct Board(PathBuf);

impl Board {
    /// Uses this folder.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Board(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves a value under a name, for others to find whole.
    ///
    /// # Errors
    /// Errors of the system's calls.
    pub fn put(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let (draft, path) = (self.0.join(format!(".{name}")), self.0.join(name));
        fs::write(&draft, serde_json::to_vec(value)?)?;
        Ok(fs::rename(draft, path)?)
    }

    /// The value of this name, if it is there.
    ///
    /// # Errors
    /// Errors of the system's calls.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        match fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("cannot read what a rank has left"),
        }
    }

    /// Waits until a job's ranks say that they are ready; `ended` says that it has ended before.
    ///
    /// # Errors
    /// It has, or took too long.
    pub fn await_ready(&self, job: &str, mut ended: impl FnMut() -> bool) -> Result<()> {
        let start = Instant::now();
        while self.get::<bool>(&format!("{job}.ready"))?.is_none() {
            if ended() {
                bail!("job {job} ended before it began");
            }
            if start.elapsed() > PATIENCE {
                bail!("job {job} is not ready after {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    /// Says when to begin; figures count after `warm_up`, for so long.
    ///
    /// # Errors
    /// Errors of the system's calls.
    pub fn begin(&self, warm_up: Duration, lasts: Duration) -> Result<Interval> {
        let begin = now() + RUN_UP.as_nanos() as u64;
        let from = begin + warm_up.as_nanos() as u64;
        let interval = Interval { begin, from, until: from + lasts.as_nanos() as u64 };
        self.put("interval", &interval)?;
        Ok(interval)
    }

    /// Says that a job is ready.
    ///
    /// # Errors
    /// Errors of the system's calls.
    pub fn be_ready(&self, job: &str) -> Result<()> {
        self.put(&format!("{job}.ready"), &true)
    }

    /// Waits to be told when to begin, and for that time; `meanwhile` is called now and then.
    ///
    /// # Errors
    /// Nobody says so, or what `meanwhile` says.
    pub fn await_begin(&self, mut meanwhile: impl FnMut() -> Result<()>) -> Result<Interval> {
        let start = Instant::now();
        let interval = loop {
            if let Some(interval) = self.get::<Interval>("interval")? {
                break interval;
            }
            if start.elapsed() > PATIENCE {
                bail!("nothing has begun after {} s", PATIENCE.as_secs());
            }
            meanwhile()?;
            std::thread::sleep(NAP);
        };
        sleep_until(interval.begin);
        Ok(interval)
    }
}
