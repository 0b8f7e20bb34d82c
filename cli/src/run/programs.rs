//! Several programs of one job, with the ranks of each: `-n 1 ./a x : -n 3 ./b`.

use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;
use weft_launch::{Program, RANKS_MAX};

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

fn wrong<T>(what: &str) -> Result<T, clap::Error> {
    Err(clap::Error::raw(ErrorKind::ValueValidation, format!("{what}\n")))
}
