//! Several programs of one job, with the ranks of each: `-n 1 ./a x : -n 3 ./b`.

use crate::mpi::libraries_of;
use clap::Parser;
use clap::error::ErrorKind;
use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use weft_app_common::TRACE_FILE;
use weft_launch::{FindError, JobSpec, LaunchError, Program, RANKS_MAX, find_program};

/// Word between two programs.
const BETWEEN: &str = ":";

/// A program after the first, with its ranks.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Later {
    #[arg(short = 'n', long, value_parser = super::ranks)]
    ranks: u16,
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Takes the later programs out of the words of the first, which is for `ranks` ranks. Returns them
/// and how many ranks all programs have.
///
/// # Errors
/// A program without a number of ranks, or nothing after a colon.
pub(super) fn divide(
    ranks: Option<u16>,
    command: &mut Vec<OsString>,
) -> Result<(Vec<Program>, Option<u16>), clap::Error> {
    let Some(end) = command.iter().position(|word| word == BETWEEN) else {
        return Ok((Vec::new(), ranks));
    };
    let words = command.split_off(end);
    let Some(mut first) = ranks.filter(|_| end > 0) else {
        return wrong("of several programs each needs its ranks: weft run -n 1 ./a : -n 3 ./b");
    };
    let mut later = Vec::new();
    for words in words[1..].split(|word| word == BETWEEN) {
        let Later { ranks, command } = Later::try_parse_from(words).or_else(|_| {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            wrong(&format!("after ':' comes -n P and a program, and not '{}'", words.join(" ")))
        })?;
        let mut command = command.into_iter();
        let program = command.next().unwrap_or_default();
        later.push(Program { first, program, arguments: command.collect() });
        match first.checked_add(ranks).filter(|all| *all <= RANKS_MAX) {
            Some(next) => first = next,
            None => return wrong(&format!("a job has 1 to {RANKS_MAX} ranks")),
        }
    }
    Ok((later, Some(first)))
}

/// Takes programs from the working directory that are nowhere else, as their names alone were
/// given, and says so.
pub(super) fn take_from_here(spec: &mut JobSpec) {
    let path = env::var_os("PATH");
    let beside = spec.beside.clone();
    let later = spec.later.iter_mut().map(|it| &mut it.program);
    for name in [&mut spec.program].into_iter().chain(later) {
        let here = spec.directory.as_deref().unwrap_or(Path::new(".")).join(&*name);
        let found = find_program(name, beside.as_deref(), path.as_deref());
        let is_nowhere = matches!(found, Err(FindError::NotFound { .. }));
        if is_nowhere && find_program(here.as_os_str(), None, None).is_ok() {
            eprintln!("weft: {0} is run: there is no {1} in PATH", here.display(), name.display());
            *name = here.into();
        }
    }
}

/// Says why a job cannot be started. A program that cannot be run has the status that shells have
/// for it.
pub(super) fn refused(spec: &JobSpec, error: LaunchError) -> anyhow::Result<ExitCode> {
    let LaunchError::Find(missing) = &error else { return Err(error.into()) };
    let advice = match missing {
        FindError::NotFound { .. } | FindError::NoFile(_) => advice(spec).unwrap_or_default(),
        _ => String::new(),
    };
    eprintln!("weft: {missing}{advice}");
    Ok(ExitCode::from(missing.status()))
}

/// Says how the program is started that has joined no job, if it is one of MPI's.
pub(super) fn say_if_mpi(spec: &JobSpec) {
    let path = env::var_os("PATH");
    let found = find_program(&spec.program, spec.beside.as_deref(), path.as_deref()).ok();
    if let Some(stack) = found.and_then(|file| libraries_of(&file).stack) {
        let name = spec.program.display();
        eprintln!("weft: {name} is linked with {stack}: weft mpirun -n {} {name}", spec.founders());
    }
}

/// Advice on the name of a program that is nowhere.
fn advice(spec: &JobSpec) -> Option<String> {
    let name = spec.program.to_string_lossy();
    let of_words = || name.split_once(' ').filter(|(first, _)| Path::new(first).is_file());
    let traces = spec.options.get("trace").is_some_and(|trace| trace == TRACE_FILE);
    // `--trace FILE` runs the file.
    if traces {
        return Some(format!("; if that is to be the file of the trace, write --trace={name}"));
    }
    if name.parse::<u16>().is_ok() {
        return Some(format!("; if that is the number of ranks, write -n {name}"));
    }
    if name.starts_with('-') {
        return Some("; options of weft run stand before --, and the program after it".into());
    }
    let (first, rest) = of_words()?;
    Some(format!("; a program and its words stand apart, without quotes: {first} {rest}"))
}

fn wrong<T>(what: &str) -> Result<T, clap::Error> {
    Err(clap::Error::raw(ErrorKind::ValueValidation, format!("{what}\n")))
}
