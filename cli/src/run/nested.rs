//! Jobs in jobs: `weft run` that another launcher has started, or that is to start itself.

use clap::error::ErrorKind;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use weft_launch::JobSpec;

/// Variables by which launchers number and count what they start, with the launcher's name.
const LAUNCHERS: [(&str, &str, &str); 4] = [
    ("WEFT_RANK", "WEFT_SIZE", "weft run"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"),
    ("PMI_RANK", "PMI_SIZE", "mpiexec or srun"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"),
];

/// Refuses `weft run` as a program of a job.
pub(super) fn refuse(spec: &JobSpec) -> Result<(), clap::Error> {
    let starts = |name: &OsStr, words: &[OsString]| {
        let is_launcher = words.first().is_some_and(|word| word == "run" || word == "mpirun");
        is_launcher && Path::new(name).file_name() == Some(OsStr::new("weft"))
    };
    let is_nested = starts(&spec.program, &spec.arguments)
        || spec.later.iter().any(|it| starts(&it.program, &it.arguments));
    match is_nested {
        false => Ok(()),
        true => Err(clap::Error::raw(
            ErrorKind::ValueValidation,
            "weft run starts programs, and weft is none: leave out one of the two\n\nUsage: weft run",
        )),
    }
}

/// A remark on what has started this command several times, as whoever mixes two launchers has it
/// do: for the first of them to make. `variable` reads the environment.
pub(super) fn remark(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let number = |name| variable(name)?.parse::<u32>().ok();
    LAUNCHERS.iter().find_map(|(rank, size, launcher)| {
        let count = number(size).filter(|count| *count > 1 && number(rank) == Some(0))?;
        Some(format!(
            "{launcher} has started weft run {count} times, and each starts a job of its own: start the program \
             by one of the two alone"
        ))
    })
}

#[cfg(test)]
mod tests;
