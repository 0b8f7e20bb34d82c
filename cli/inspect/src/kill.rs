//! `weft kill`: jobs are ended by their launchers, so that nothing of them is left.

use super::jobs::{no_job, none_of};
use anyhow::{Result, bail};
use clap::Args;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use weft_launch::{JobRoll, Launcher, Question, ask, jobs, signal_name};

const EXAMPLES: &str = "\
Examples:
  weft kill                      end the only job of yours on this host
  weft kill 4711                 end the job of that launcher, as `weft ps` lists it
  weft kill my-program           end the job that runs this program
  weft kill --all                end all jobs of yours on this host
  weft kill --signal KILL 4711   end one at once, that does not end by itself
  weft kill --signal USR1 4711   have the launcher pass a signal on to the ranks

Ranks have 2 s to end by themselves; then they are killed. The command waits until nothing of the
job is left. Of a job on several hosts the launcher's host is the one to ask. Of an MPI job the
listed rank is ended, and with it the job.";

/// Signals that end a job.
const ENDING: [Signal; 5] = [Signal::TERM, Signal::INT, Signal::QUIT, Signal::HUP, Signal::KILL];

/// Signals that a launcher passes on, or stops and goes on at together with its ranks.
const PASSED_ON: [Signal; 4] = [Signal::USR1, Signal::USR2, Signal::TSTP, Signal::CONT];

/// Longest wait for the end of jobs: ranks have 2 s before they are killed, which may take 10 s,
/// and other hosts 5 s to clean up; before that their launcher names the functions that they are
/// in.
const PATIENCE: Duration = Duration::from_secs(30);

/// End jobs, as their launchers do: nothing of them is left behind
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Kill {
    /// The jobs: processes of their `weft run`, as `weft ps` lists them, or names of their programs
    /// [default: the only one]
    #[arg(value_name = "JOB", allow_negative_numbers = true)]
    jobs: Vec<String>,
    /// All jobs of yours on this host
    #[arg(long, conflicts_with = "jobs")]
    all: bool,
    /// Signal for the launcher: TERM, INT, QUIT, HUP and KILL end the job, USR1, USR2, TSTP and
    /// CONT go on to its ranks
    #[arg(short, long, value_name = "NAME", default_value = "TERM", value_parser = signal)]
    signal: Signal,
}

fn signal(text: &str) -> Result<Signal, String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let is_named = |signal: &Signal| {
        let number = signal.as_raw();
        signal_name(number).strip_prefix("SIG") == Some(name) || name == number.to_string()
    };
    let found = ENDING.iter().chain(&PASSED_ON).copied().find(is_named);
    found.ok_or_else(|| {
        "TERM, INT, QUIT, HUP and KILL end a job, and USR1, USR2, TSTP and CONT go on to its ranks"
            .into()
    })
}

/// A job, with what it says of itself; `None` if it does not answer.
struct Known {
    job: u32,
    roll: Option<JobRoll>,
}

impl Known {
    fn ask(job: u32) -> Self {
        let roll = ask(job, Question::Why).ok().and_then(|answer| answer.roll().ok());
        Known { job, roll }
    }

    /// `4711 (4 ranks of asp, for 3.1 s)`.
    fn in_words(&self) -> String {
        match &self.roll {
            Some(roll) => format!("{} ({})", self.job, roll.title()),
            None => self.job.to_string(),
        }
    }

    /// True if one of its programs has this name, whole or without its folder.
    fn runs(&self, name: &str) -> bool {
        let programs = self.roll.as_ref().map(JobRoll::program).unwrap_or_default();
        programs
            .split(" : ")
            .any(|program| program == name || Path::new(program).file_name() == Some(name.as_ref()))
    }
}

/// Ends the jobs that are meant, or passes a signal on to them.
pub(crate) fn kill(arguments: &Kill) -> Result<ExitCode> {
    let meant = chosen(arguments)?;
    let until = Instant::now() + PATIENCE;
    let mut has_failed = false;
    let mut fail = |what: String| {
        eprintln!("weft: {what}");
        has_failed = true;
    };
    // All are told before one is waited for.
    let mut told = Vec::new();
    for known in meant {
        match tell(known.job, arguments.signal) {
            Ok(launcher) => told.push((known, launcher)),
            Err(what) => fail(what),
        }
    }
    for (known, launcher) in told {
        match end(&known, &launcher, arguments.signal, until) {
            Ok(line) => weft_app_common::say!("{line}"),
            Err(what) => fail(what),
        }
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The jobs that are meant.
///
/// # Errors
/// There are none, or several where one is meant, for a person.
fn chosen(arguments: &Kill) -> Result<Vec<Known>> {
    let all: Vec<_> = jobs()?.into_iter().map(Known::ask).collect();
    if all.is_empty() && arguments.jobs.is_empty() {
        return Err(no_job());
    }
    if arguments.all {
        return Ok(all);
    }
    if arguments.jobs.is_empty() {
        return match all.len() {
            1 => Ok(all),
            _ => bail!("several jobs of yours run here: say which, or --all, of {}", list(&all)),
        };
    }
    let mut numbers = BTreeSet::new();
    for word in &arguments.jobs {
        let _ = numbers.insert(found(word, &all)?);
    }
    Ok(all.into_iter().filter(|known| numbers.contains(&known.job)).collect())
}

/// The number of the job that a word names.
fn found(word: &str, all: &[Known]) -> Result<u32> {
    if let Ok(number) = word.parse() {
        return match all.iter().any(|known| known.job == number) {
            true => Ok(number),
            false => Err(none_of(number)),
        };
    }
    if word.starts_with('-') {
        bail!("{word}: a signal is given by --signal: weft kill --signal KILL JOB");
    }
    let named: Vec<_> = all.iter().filter(|known| known.runs(word)).collect();
    match named[..] {
        [known] => Ok(known.job),
        [] => bail!("no job of yours on this host runs {word}: `weft ps` lists them"),
        _ => bail!("several jobs of yours run {word}: say which, of {}", list(named)),
    }
}

fn list<'a>(jobs: impl IntoIterator<Item = &'a Known>) -> String {
    jobs.into_iter().map(Known::in_words).collect::<Vec<_>>().join(", ")
}

/// Sends the signal to the launcher of a job.
fn tell(job: u32, signal: Signal) -> Result<Launcher, String> {
    let launcher = Launcher::of(job).map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => format!("job {job} has ended by itself"),
        ErrorKind::NotFound => {
            format!(
                "job {job} is of a container, and its processes are not seen here: end it there"
            )
        }
        _ => format!("cannot reach job {job}: {error}"),
    })?;
    let failed = |error| format!("cannot send {} to job {job}: {error}", name(signal));
    launcher.signal(signal).map_err(failed)?;
    // One that is stopped does not learn of it before it goes on.
    if ENDING.contains(&signal) && signal != Signal::KILL {
        let _ = launcher.signal(Signal::CONT);
    }
    Ok(launcher)
}

/// Waits for the end of a job if it was told to end. Returns a line that says so.
fn end(
    known: &Known,
    launcher: &Launcher,
    signal: Signal,
    until: Instant,
) -> Result<String, String> {
    let (job, name) = (known.job, name(signal));
    let title = known.roll.as_ref().map(|roll| format!(": {}", roll.title())).unwrap_or_default();
    if !ENDING.contains(&signal) {
        return Ok(format!("{job}\twas sent {name}{title}"));
    }
    let left = until.saturating_duration_since(Instant::now());
    match launcher.ends_within(left) {
        Ok(true) => Ok(format!("{job}\twas ended by {name}{title}")),
        Ok(false) => {
            let advice = match signal {
                Signal::KILL => "the system holds it, such as for a disk that does not answer",
                _ => "weft kill --signal KILL ends it at once",
            };
            let (process, seconds) = (launcher.process(), PATIENCE.as_secs());
            Err(format!(
                "job {job} still runs {seconds} s after {name}, as process {process}: {advice}"
            ))
        }
        Err(error) => Err(format!("cannot wait for the end of job {job}: {error}")),
    }
}

fn name(signal: Signal) -> String {
    signal_name(signal.as_raw())
}
