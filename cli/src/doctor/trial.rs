//! A job of two ranks, to see whether one runs.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use weft_launch::{JobSpec, Settings, Verdict};

use super::finding::Finding;

/// The hidden subcommand that the ranks of the trial run.
pub const TRIAL: &str = "doctor-rank";

/// Time that the ranks have to join.
const JOIN_LIMIT: Duration = Duration::from_secs(10);

/// Runs two ranks that meet and leave.
pub(super) fn run() -> Finding {
    const NAME: &str = "a job of 2 ranks";
    let advice = "if all else is fine, report this with the output of weft doctor";
    let own = match std::env::current_exe() {
        Ok(own) => OsString::from(own),
        Err(error) => return Finding::problem(NAME, error.to_string(), advice),
    };
    let mut spec = JobSpec::new(Settings::new(2), own);
    spec.arguments = vec![TRIAL.into()];
    spec.join_limit = Some(JOIN_LIMIT);
    match weft_launch::run(&spec, || {}) {
        Ok(outcome) if outcome.verdict == Verdict::Completed => {
            Finding::ok(NAME, "started, met, and left nothing behind")
        }
        Ok(outcome) => Finding::problem(NAME, outcome.to_string(), advice),
        Err(error) => Finding::problem(NAME, error.to_string(), advice),
    }
}

/// Main function of a rank of the trial: it joins, and leaves once it has met the others.
pub fn trial_rank() -> ExitCode {
    weft::run(|_| ())
}
