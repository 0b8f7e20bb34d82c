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

/// Joins the lines of an error up to its advice on usage, which names the command that has help.
/// Tips are left out that tell how to pass a word on: nobody who misspelt an option wants to run a
/// program of that name.
fn one_line(error: &str) -> String {
    let lines = || error.lines().map(str::trim);
    let said = lines().take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let mut joined = String::new();
    for line in said.filter(|line| !line.is_empty() && !line.starts_with("tip: to pass ")) {
        let between = match line.strip_prefix("tip: ") {
            _ if joined.is_empty() => "",
            Some(_) => "; ",
            None => " ",
        };
        joined = joined + between + line.strip_prefix("tip: ").unwrap_or(line);
    }
    let joined = joined.strip_prefix("error: ").unwrap_or(&joined);
    let usage = lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("weft");
    let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    let command: Vec<_> = usage.split_whitespace().take_while(is_name).collect();
    format!("{joined} ({} --help shows examples)", command.join(" "))
}

#[cfg(test)]
mod tests;
