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

/// The line about words that were not understood.
pub(crate) fn line_of(error: &clap::Error) -> String {
    one_line(&error.to_string(), &typed(std::env::args()))
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
            eprintln!("weft: {}", line_of(error));
            ExitCode::from(MISUSED)
        }
    }
}

/// Joins the lines of an error up to its advice on usage, which names the command that has help.
/// Tips are left out that tell how to pass a word on: nobody who misspelt an option wants to run a
/// program of that name.
fn one_line(error: &str, typed: &str) -> String {
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
    let joined = plain(joined.strip_prefix("error: ").unwrap_or(&joined));
    let usage = lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or(typed);
    let command: Vec<_> = usage.split_whitespace().take_while(|word| is_name(word)).collect();
    format!("{joined} ({} --help shows examples)", command.join(" "))
}

/// The command that was typed: `weft run` of `weft run -n 4 ./program`, also by the program that
/// does it, `weft-inspect why` or `weft-sim`.
fn typed(mut words: impl Iterator<Item = String>) -> String {
    let name = words.next().unwrap_or_default();
    match name.rsplit('/').next().unwrap_or_default() {
        "weft" | "weft-inspect" => match words.next().filter(|word| is_name(word)) {
            Some(command) => format!("weft {command}"),
            None => "weft".into(),
        },
        "weft-sim" | "weft-bench" | "weft-compare" | "weft-application" => {
            name.rsplit('/').next().unwrap_or_default().replacen('-', " ", 1)
        }
        name => name.into(),
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase()) && !word.contains(['/', '.'])
}

/// A sentence in which what the parser says of numbers is said for those who write no Rust.
fn plain(error: &str) -> String {
    const PLAIN: [(&str, &str); 4] = [
        ("invalid digit found in string", "it is a whole number"),
        ("cannot parse integer from empty string", "it is a whole number"),
        ("number too large to fit in target type", "it is too large"),
        ("invalid float literal", "it is a number"),
    ];
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    let text = PLAIN.iter().fold(error.to_owned(), replace);
    match text.rsplit_once(": ").map(|(said, why)| (said, why.split_once(" is not in "))) {
        Some((said, Some((_, range)))) => format!("{said}: it is {}", range.replace("..=", " to ")),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
