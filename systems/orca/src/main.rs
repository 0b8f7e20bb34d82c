//! `orcac`: checks and formats Orca programs.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use weft_orca::command::{check_files, format_files};

/// Checks and formats programs in Orca.
#[derive(Parser)]
#[command(name = "orcac", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a program: the files named are one program
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// The files of the program
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Format files in place
    #[command(after_help = FORMAT_EXAMPLES)]
    Fmt {
        /// Change nothing; name the files that are not formatted, and fail if there are some
        #[arg(long)]
        check: bool,
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

const EXAMPLES: &str = "\
Examples:
  orcac check counter.orca              check a program of one file
  orcac check main.orca shapes.orca     check a program of two files
  orcac fmt counter.orca                format a file in place

Exit status: 0 if all is well, 1 if there are errors, 2 if the command line is wrong.";

const CHECK_EXAMPLES: &str = "\
Examples:
  orcac check counter.orca              check a program of one file
  orcac check main.orca shapes.orca     check a program of two files";

const FORMAT_EXAMPLES: &str = "\
Examples:
  orcac fmt counter.orca                format a file in place
  orcac fmt --check *.orca              name the files that are not formatted";

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Check { files } => check_files(&files, colored()),
        Command::Fmt { check, files } => format_files(&files, check, colored()),
    };
    print!("{}", outcome.output);
    eprint!("{}", outcome.errors);
    ExitCode::from(u8::from(!outcome.good))
}

/// True if errors go to a terminal whose user did not ask for plain text.
fn colored() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
