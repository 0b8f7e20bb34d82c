use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::command::line_of;
use crate::output::written;
use weft::prelude::Weft;

/// Reason why a program could not begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command line did not make sense; the text says what, and how to see more.
    #[error("{0}")]
    Usage(String),
    /// The answer to `--help` or `--version` could not be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// The ranks did not come together.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// A program on regions could not join.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
}

/// The ranks of a program, whatever they talk by.
pub trait Ranks {
    /// Error of coming together.
    type Error;

    /// True if this is rank 0.
    fn is_first(&self) -> bool;

    /// Waits until all ranks have called it as often.
    ///
    /// # Errors
    /// A lost rank.
    fn meet(&self) -> Result<(), Self::Error>;
}

impl Ranks for Weft {
    type Error = weft::Error;

    fn is_first(&self) -> bool {
        self.rank() == 0
    }

    fn meet(&self) -> Result<(), weft::Error> {
        self.barrier()
    }
}

/// The program's options, or `None` when it was asked for help or its version and rank 0 has
/// answered. A job says what is wrong with its command line once. Collective: every rank calls it.
pub fn arguments<O: Parser>(
    ranks: &impl Ranks<Error: Into<StartError>>,
) -> Result<Option<O>, StartError> {
    first_to_speak(ranks, parse(ranks.is_first(), O::try_parse()), Into::into)
}

/// The `main` of a program on messages: joins the job that this process was started in, reads the
/// command line, runs `program`, and leaves. Without a launcher it is a job of one rank.
pub fn run_messages<O: Parser, E: Error + 'static>(
    program: impl FnOnce(&Weft, &O) -> Result<(), E>,
) -> ExitCode {
    weft::run(|weft| match arguments(&weft)? {
        Some(options) => Ok(program(&weft, &options)?),
        None => Ok::<_, Box<dyn Error>>(()),
    })
}

/// Lets rank 0 speak first when something failed that usually fails on every rank alike.
///
/// A rank other than 0 that failed waits in a barrier: if rank 0 failed too, the job ends with the
/// error of rank 0 alone; if not, the barrier opens and this rank gives its own error. Collective:
/// every rank calls it, with its success or its failure.
pub fn agree<J: Ranks, T, E: From<J::Error>>(ranks: &J, outcome: Result<T, E>) -> Result<T, E> {
    first_to_speak(ranks, outcome, E::from)
}

fn first_to_speak<J: Ranks, T, E>(
    ranks: &J,
    outcome: Result<T, E>,
    apart: impl Fn(J::Error) -> E,
) -> Result<T, E> {
    if outcome.is_ok() || !ranks.is_first() {
        ranks.meet().map_err(apart)?;
    }
    outcome
}

fn parse<O>(answers: bool, parsed: Result<O, clap::Error>) -> Result<Option<O>, StartError> {
    let answer = match parsed {
        Ok(options) => return Ok(Some(options)),
        Err(answer) => answer,
    };
    if !matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Err(StartError::Usage(usage(&answer)));
    }
    if answers {
        written(answer.print())?;
    }
    Ok(None)
}

/// The text of an error: a line, or all that there is to say where nothing was typed.
fn usage(error: &clap::Error) -> String {
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.render().to_string().trim_end().to_owned()
        }
        _ => line_of(error),
    }
}

#[cfg(test)]
mod tests;
