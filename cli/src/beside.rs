//! The subcommands that are programs of their own, so that who only wants to run programs need not
//! build them: `weft bench` becomes `weft-bench`, which is found beside `weft` or in PATH.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use weft_launch::{FindError, find_program, own_directory};

/// Program of `weft ps`, `why`, `top`, `kill` and `report`, which names functions for launchers,
/// too.
pub const INSPECT: &str = "weft-inspect";

/// Arguments of the program, as they were typed.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

/// `weft help bench` as `weft bench --help`: the program knows its arguments, and this command does
/// not.
pub fn with_help_last(mut typed: Vec<OsString>) -> Vec<OsString> {
    if typed.len() == 3 && typed[1] == "help" {
        let _ = typed.remove(1);
        typed.push("--help".into());
    }
    typed
}

/// Becomes the program of the subcommand `name`; returns only if it cannot.
///
/// # Errors
/// It is not there, or cannot be run.
pub fn become_command(name: &str, Words { words }: &Words) -> Result<ExitCode> {
    let mut command = Command::new(found_for(name, &format!("weft-{name}"))?);
    // By this name it says how it could be started again.
    let mut own = env::args_os().next().unwrap_or_default();
    own.push(OsStr::new("-"));
    own.push(name);
    become_this(command.arg0(own).args(words))
}

/// Becomes `weft-inspect` with the subcommand `name`, which is one of several that it has; returns
/// only if it cannot.
///
/// # Errors
/// It is not there, or cannot be run.
pub fn become_inspect(name: &str, Words { words }: &Words) -> Result<ExitCode> {
    become_this(Command::new(found_for(name, INSPECT)?).arg(name).args(words))
}

fn found_for(name: &str, program: &str) -> Result<PathBuf> {
    find(program).with_context(|| format!("weft {name} is a program of its own"))
}

fn become_this(command: &mut Command) -> Result<ExitCode> {
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", command.get_program().display()))
}

/// A program that comes with `weft`: beside it, or in PATH.
///
/// # Errors
/// It is not there, or cannot be run.
pub fn find(program: &str) -> Result<PathBuf> {
    let own = own_directory().unwrap_or_default();
    match find_program(program.as_ref(), Some(&own), env::var_os("PATH").as_deref()) {
        Err(FindError::NotFound { .. }) => bail!(
            "{program} is neither beside weft ({}) nor in PATH; the packages have it, {}in a checkout \
             make build builds it",
            own.display(),
            if program == INSPECT { "cargo install weft-inspect installs it, " } else { "" }
        ),
        found => Ok(found?),
    }
}

#[cfg(test)]
mod tests;
