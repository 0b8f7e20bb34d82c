//! The end of a command: what is wrong, in one line, and its exit status.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::output::written;

/// The status of a command that was not understood.
const MISUSED: u8 = 2;

/// The exit status of a command that came out so; of an error it says first what it is.
pub fn finish(done: anyhow::Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|error| match error.downcast_ref::<clap::Error>() {
        Some(error) => explain(error),
        None => {
            eprintln!("weft: {error:#}");
            ExitCode::FAILURE
        }
    })
}

/// Prints the help that was asked for, or one line about what was not understood.
pub fn explain(error: &clap::Error) -> ExitCode {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    match error.kind() {
        DisplayHelp | DisplayVersion => match written(error.print()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("weft: {error}");
                ExitCode::FAILURE
            }
        },
        DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(MISUSED)
        }
        _ => {
            eprintln!("weft: {}", one_line(&error.to_string()));
            ExitCode::from(MISUSED)
        }
    }
}

/// Joins the lines of an error up to its advice on usage.
fn one_line(error: &str) -> String {
    let said = error.lines().map(str::trim).take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let said: Vec<_> = said.filter(|line| !line.is_empty()).collect();
    let joined = said.join(" ");
    let joined = joined.strip_prefix("error: ").unwrap_or(&joined);
    format!("{joined} (weft --help shows examples)")
}

#[cfg(test)]
mod tests;
