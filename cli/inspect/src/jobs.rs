//! `weft ps` and `weft why`: the jobs that run, and what their ranks wait for.

use anyhow::{Context, Error, Result, anyhow, bail};
use clap::Args;
use serde::Serialize;
use std::io::ErrorKind;
use std::process::ExitCode;
use weft_launch::{
    JobAnswer, JobReport, JobRoll, Question, ask, jobs, launcher_places, other_user_of,
};

use crate::stacks;

const PS_EXAMPLES: &str = "\
Examples:
  weft ps             a line for each job of yours on this host
  weft ps --json      the same for programs: an object a line, times in microseconds";

/// List the jobs of yours that run on this host: launcher, ranks, program, time
#[derive(Args)]
#[command(after_help = PS_EXAMPLES)]
pub(crate) struct Ps {
    /// Print a JSON object for each job, a line each
    #[arg(long)]
    json: bool,
}

/// A job, for programs. One that does not answer has its number alone.
#[derive(Serialize)]
struct Listed<'a> {
    /// Process of its launcher.
    job: u32,
    program: Option<&'a str>,
    ranks: Option<u16>,
    running_us: Option<u64>,
}

/// A job and what its ranks do, for programs.
#[derive(Serialize)]
struct Told {
    job: u32,
    #[serde(flatten)]
    report: JobReport,
}

const WHY_EXAMPLES: &str = "\
Examples:
  weft why            the only job of yours on this host
  weft why 4711       the job of that launcher, as `weft ps` lists it
  weft why --json     the same for programs: one object, times in microseconds";

/// Say what the ranks of a job wait for, the odd one first
#[derive(Args)]
#[command(after_help = WHY_EXAMPLES)]
pub(crate) struct Why {
    /// The job: the process of its `weft run` [default: the only one]
    #[arg(value_parser = job_number, allow_negative_numbers = true)]
    job: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The number of a job.
pub(crate) fn job_number(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "a job is a number, as `weft ps` lists it")
}

/// Lists the jobs of this user on this host.
pub(crate) fn list(arguments: &Ps) -> Result<ExitCode> {
    for job in jobs()? {
        let line = match ask(job, Question::Why) {
            Ok(answer) => listed(job, answer.roll().map_err(|bad| bad.to_string()), arguments.json),
            // One that has just ended is no job any more.
            Err(error) if error.kind() != ErrorKind::WouldBlock => continue,
            Err(_) => {
                listed(job, Err("does not answer: is it stopped?".to_owned()), arguments.json)
            }
        };
        weft_app_common::say!("{}", line?);
    }
    Ok(ExitCode::SUCCESS)
}

/// The line about a job, with its answer or what is wrong with that.
fn listed(job: u32, answer: Result<JobRoll, String>, json: bool) -> Result<String> {
    if !json {
        return Ok(format!("{job}\t{}", answer.map_or_else(|wrong| wrong, |roll| roll.title())));
    }
    let roll = answer.ok();
    let listed = Listed {
        job,
        program: roll.as_ref().map(JobRoll::program),
        ranks: roll.as_ref().map(JobRoll::ranks),
        running_us: roll.as_ref().map(|roll| roll.time().as_micros() as u64),
    };
    Ok(serde_json::to_string(&listed)?)
}

/// Prints what a job's ranks do.
pub(crate) fn why(arguments: &Why) -> Result<ExitCode> {
    let job = match arguments.job {
        Some(job) => job,
        None => only_job()?,
    };
    let answer = ask_job(job, Question::Why)?;
    let mut roll = answer.roll().with_context(|| says_something_else(job))?;
    roll.add_stacks(stacks::of_threads);
    if arguments.json {
        let told = Told { job, report: roll.report() };
        weft_app_common::say!("{}", serde_json::to_string(&told)?);
        return Ok(ExitCode::SUCCESS);
    }
    weft_app_common::say!("{}", roll.title());
    roll.lines().iter().for_each(|line| weft_app_common::say!("{line}"));
    Ok(ExitCode::SUCCESS)
}

/// The answer of a job.
///
/// # Errors
/// There is none, and why, for a person.
pub(crate) fn ask_job(job: u32, question: Question) -> Result<JobAnswer> {
    match ask(job, question) {
        Ok(answer) => Ok(answer),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Err(none_of(job)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            bail!("the launcher of job {job} does not answer: is it stopped?")
        }
        Err(error) => bail!("job {job} does not answer: {error}"),
    }
}

/// Error of who asks for a job, where there is none.
pub(crate) fn no_job() -> Error {
    anyhow!("no job of yours runs on this host{}", elsewhere(|_| true))
}

/// Error of who asks for this job, which is none here.
pub(crate) fn none_of(job: u32) -> Error {
    match other_user_of(job) {
        Ok(Some(user)) => {
            anyhow!("job {job} is another user's ({user}), who alone may ask and end it")
        }
        _ => {
            let elsewhere = elsewhere(|launcher| launcher == job);
            anyhow!("{job} is no job of yours on this host: `weft ps` lists them{elsewhere}")
        }
    }
}

/// Words about jobs that have ranks here, and whose launchers are on other hosts, if there are.
fn elsewhere(is_meant: impl Fn(u32) -> bool) -> String {
    let there = launcher_places().unwrap_or_default();
    let there: Vec<_> = there
        .iter()
        .filter(|place| is_meant(place.process))
        .map(|place| format!("job {} of host {} has ranks here", place.process, place.host))
        .collect();
    match there.is_empty() {
        true => String::new(),
        false => format!("; {}: ask there", there.join(", ")),
    }
}

/// Reason why an answer is none.
pub(crate) fn says_something_else(job: u32) -> String {
    format!("job {job} says something else: is it of another version of Weft?")
}

/// The only job of this user on this host.
///
/// # Errors
/// There is none, or there are several, for a person.
pub(crate) fn only_job() -> Result<u32> {
    let all = jobs()?;
    match all[..] {
        [job] => Ok(job),
        [] => Err(no_job()),
        _ => {
            let all: Vec<_> = all.iter().map(u32::to_string).collect();
            bail!("several jobs of yours run here: say which, of {}", all.join(", "))
        }
    }
}
