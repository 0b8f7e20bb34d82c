//! `weft ps` and `weft why`: the jobs that run, and what their ranks wait for.

use anyhow::{Context, Result, bail};
use clap::Args;
use std::io::ErrorKind;
use std::process::ExitCode;
use weft_launch::{JobAnswer, Question, ask, jobs};

use crate::stacks;

pub(crate) const PS_EXAMPLES: &str = "\
Examples:
  weft ps             a line for each job of yours on this host";

const WHY_EXAMPLES: &str = "\
Examples:
  weft why            the only job of yours on this host
  weft why 4711       the job of that launcher, as `weft ps` lists it";

/// Say what the ranks of a job wait for, the odd one first
#[derive(Args)]
#[command(after_help = WHY_EXAMPLES)]
pub(crate) struct Why {
    /// The job: the process of its `weft run` [default: the only one]
    #[arg(value_parser = job_number, allow_negative_numbers = true)]
    job: Option<u32>,
}

/// The number of a job.
pub(crate) fn job_number(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "a job is a number, as `weft ps` lists it")
}

/// Lists the jobs of this user on this host.
pub(crate) fn list() -> Result<ExitCode> {
    for job in jobs()? {
        // One that has just ended is no job any more.
        if let Ok(answer) = ask(job, Question::Why) {
            let title = answer.roll().map(|roll| roll.title());
            weft_app_common::say!("{job}\t{}", title.unwrap_or_else(|bad| bad.to_string()));
        }
    }
    Ok(ExitCode::SUCCESS)
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
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            bail!("{job} is no job of yours on this host: `weft ps` lists them")
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            bail!("the launcher of job {job} does not answer: is it stopped?")
        }
        Err(error) => bail!("job {job} does not answer: {error}"),
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
        [] => bail!("no job of yours runs on this host"),
        _ => {
            let all: Vec<_> = all.iter().map(u32::to_string).collect();
            bail!("several jobs of yours run here: say which, of {}", all.join(", "))
        }
    }
}
